package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

func verified(t *testing.T, plan string) *analyzer.Simulation {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(plan)), compiler.Options{})
	analysis := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s: %s", found[0].Rule.Code, found[0].Message)
	}
	return v.Simulation()
}

// tell writes a scenario with all its numbers.
func tell(s *simulate.Scenario) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Outcome.Status, s.Makespan, s.Cost, len(s.CriticalPath), s.Outcome.State)
	for _, c := range s.Calls {
		fmt.Fprintln(&b, c.Call.Name, c.Status, c.From, c.To, c.Attempts, c.Reason)
	}
	return b.String()
}

// EXECUTION.md#simulation: the critical path is made of what calls have waited for: of "a || b", of "??" and of conditions not what
// they could do without. Where every call has a place at once it is as long as the whole.
func TestCriticalPathIsOfWhatWasWaitedFor(t *testing.T) {
	early := 0
	for n := range amount.Of(75, 500, 10_000) {
		random := rand.New(rand.NewPCG(uint64(n), 15))
		text, _ := branching(random, 9, true)
		head, calls, _ := strings.Cut(text, "calls:\n")
		lines := strings.Split(calls, "\n")
		for i := range lines {
			more, ok := strings.CutPrefix(lines[i], "- {")
			if !ok {
				break
			}
			after := ""
			if i > 0 {
				after = []string{"_after: [c%d], ", "_after: {settled: [c%d]}, ", "", "", "", ""}[random.IntN(6)]
			}
			if after != "" {
				after = fmt.Sprintf(after, random.IntN(i))
			}
			if lines[i] = fmt.Sprintf("- {_id: c%d, %s%s", i, after, more); random.IntN(2) == 0 {
				lines[i] = strings.Replace(lines[i], "of: '†", "of: '†state.none ?? †", 1)
			}
		}
		text = head + "calls:\n" + strings.Join(lines, "\n")
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		j := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun})
		if j.Verified == nil {
			continue
		}
		for schedule := range 3 {
			o := simulate.Options{Seed: uint64(n), Schedule: schedule + 1, Options: runtime.Options{Parallel: 1 << 20}}
			s := simulate.Run(j.Verified.Simulation(), o)
			end := time.Duration(0)
			for _, c := range s.CriticalPath {
				if c.From != end {
					t.Fatalf("plan %d, schedule %d: %s of the critical path begins at %v and not at %v\n%s\n%s", n, o.Schedule, c.Call.Name, c.From, end, tell(s), text)
				}
				end = c.To
			}
			if end != s.Makespan {
				t.Fatalf("plan %d, schedule %d: the critical path ends at %v of %v\n%s\n%s", n, o.Schedule, end, s.Makespan, tell(s), text)
			}
			ended := map[int32]time.Duration{}
			for _, c := range s.Calls {
				if c.Under == "" {
					ended[int32(c.Call.Index)] = c.To
				}
			}
			for _, c := range s.Calls {
				if c.Started && c.Under == "" && slices.ContainsFunc(p.Graph.Deps(c.Call.Index), func(d int32) bool { return c.From < ended[d] }) {
					early++
				}
			}
		}
	}
	if early < 20 {
		t.Errorf("only %d calls began before all was there that they name", early)
	}
}
