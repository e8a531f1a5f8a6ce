package main

import (
	"encoding/json"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

const paying = `plan: pay
input: {to: bob, amount: 5}
tools:
  fetch: {properties: {of: {type: string}, _output: {type: object}}}
  pay: {properties: {to: {type: string}, amount: {type: number}, _output: {}}, annotations: {destructiveHint: true}, _delegate: deep.yaml}
activities:
  fetch: {exec: {argv: [sh, fetch.sh, "{of}"]}}
calls:
- {_tool: fetch, of: †input.to, _outputPath: account}
- {_tool: pay, to: †state.account.iban, amount: †input.amount, _when: "†input.amount > 0", _outputPath: paid}
output: {paid: †state.paid}
`

// factsOf are those of a plan with a delegate.
func factsOf(t testing.TB, text string) *facts.Facts {
	t.Helper()
	d := project.Document{File: source.NewFile("plan.yaml", []byte(text)), Config: &project.Configuration{}}
	d.Options.Name, d.Options.Limits = "plan.yaml", source.DefaultLimits()
	d.Options.Open = func(string) ([]byte, error) {
		return []byte("inputSchema: {}\ncalls: [{_tool: send, to: †input.to, _outputPath: x}]\noutput: †state.x\n"), nil
	}
	return facts.Of(d.Compile().Plan, facts.Options{})
}

// What an approval says that was shown is compared with what there is, whatever it says:
// anybody may have written it.
func FuzzShownBefore(f *testing.F) {
	now := factsOf(f, paying)
	text, err := json.Marshal(now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"plan":"pay","calls":[{"call":"pay#2","effect":{"kind":"destructive"},"runs":{"kind":"plan","plan":"deep.yaml"}}],"delegates":{"deep.yaml":{"calls":[{"runs":{"kind":"plan","plan":"deep.yaml"}}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := &approval.Approval{Statement: approval.Statement{Predicate: approval.Predicate{Shown: text}}}
		if before := shownBy(a); before != nil {
			differs := facts.Compare(before, now)
			_, _ = differs.Rows().Text(true), differs.Rows().Markdown()
		}
	})
}
