package simulate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// S15.3: what comes when one thing goes otherwise than usual is rehearsed for each thing,
// those among them that only another brings about, and what has no room is counted.
func TestAlternatives(t *testing.T) {
	plan := verified(t, `
tools:
  pay: {type: object, properties: {_output: {type: integer}}, x-simulate: {failure: 0.9}}
  use: {type: object, properties: {of: {}}, required: [of]}
calls:
- {_id: pay, _tool: pay, _outputPath: paid || failed}
- {_id: ship, _tool: use, of: †state.paid}
- {_id: sorry, _tool: use, of: †state.failed}
`)
	rehearse := func(most int) (told []string, left int) {
		left = simulate.Alternatives(plan, simulate.Options{Seed: 1}, nil, most, func(path []analyzer.BranchChoice, s *simulate.Scenario) {
			words := []string{}
			for _, choice := range path {
				words = append(words, analyzer.InWords(choice))
			}
			for i := range s.Calls {
				words = append(words, s.Calls[i].Status.String())
			}
			told = append(told, strings.Join(words, " "))
		})
		return told, left
	}
	want := []string{
		"done done skipped",
		`"pay" fails failed skipped done`,
		`"ship" fails done failed skipped`,
		`"pay" fails "sorry" fails failed skipped failed`,
	}
	told, left := rehearse(100)
	if !slices.Equal(told, want) || left != 0 {
		t.Errorf("%d left; rehearsed are\n%s\nwant\n%s", left, strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if told, left := rehearse(2); len(told) != 2 || left == 0 {
		t.Errorf("with room for two: %d left, of %q", left, told)
	}
}
