package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// EXECUTION.md#signers: the nearest obelus.yaml above the plan's folder says whose approval counts, also where the
// repository, and with it the workspace, ends below; others' folders don't count.
func TestSignersAreFoundAboveTheRepository(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"obelus.yaml": "signers: service/signers\n", "service/signers": "", "repository/.git/HEAD": "",
		"repository/plans/refund/obelus.yaml": "signers: evil\n", "shared/obelus.yaml": "signers: evil\n", "shared/repository/plans/x/y": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(top, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(top, "shared"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	for _, plan := range []string{"repository/plans/refund/plan.yaml", "repository/plans/plan.yaml", "repository/plan.yaml", "shared/repository/plans/x/plan.yaml"} {
		_, _, err := (&approvers{}).judge([]string{plan}, &project.Reader{})
		if err == nil || !strings.Contains(err.Error(), `"obelus.yaml" says whose approval counts, and isn't trusted`) {
			t.Errorf("%s: %v", plan, err)
		}
	}
}
