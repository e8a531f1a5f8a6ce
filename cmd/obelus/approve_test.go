package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/testdata/cputime"
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

// aKey writes a key of the test's own, with its public key beside it.
func aKey(t testing.TB, folder string) (file string) {
	t.Helper()
	file = filepath.Join(folder, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Skipf("ssh-keygen makes no key: %v %s", err, out)
	}
	return file
}

// manyCalls is a plan that reads, writes, branches and destroys.
func manyCalls(n int) string {
	var b strings.Builder
	b.WriteString("plan: large\ninput: {q: x}\ntools:\n  get: {properties: {a: {}, b: {}, _output: {type: string}}}\n  put: {properties: {a: {}, b: {}}, annotations: {destructiveHint: true}}\n" +
		"activities:\n  get: {exec: {argv: [get, \"{a}\"]}}\n  put: {exec: {argv: [put, \"{a}\"]}}\ncalls:\n")
	for i := range n {
		switch {
		case i == 0:
			b.WriteString("- {_tool: get, a: †input.q, b: 1, _outputPath: p0}\n")
		case i%5 == 4:
			fmt.Fprintf(&b, "- {_tool: put, a: †state.p%d, b: {text: \"†{state.p%d} and more\", to: [a, b]}, _when: \"†state.p%d != ''\"}\n", i-1, i/2/5*5, i-2)
		default:
			fmt.Fprintf(&b, "- {_tool: get, a: †state.p%d, b: literal %d, _outputPath: p%d}\n", max(0, i-3)/5*5, i, i)
		}
	}
	return b.String()
}

// The whole of approve for a plan of 1,000 calls: reading, checking, facts, the statement,
// and its signature; and with an approval of an earlier plan that it is compared with.
func BenchmarkApprove(b *testing.B) {
	folder := b.TempDir()
	key, plan := aKey(b, folder), filepath.Join(folder, "plan.yaml")
	approve := func(b *testing.B, args ...string) {
		if _, stderr, status := obelus(strings.NewReader(""), append([]string{"approve", plan, "--key", key, "--yes", "--replace", "--as", "alice"}, args...)...); status != 0 {
			b.Fatal(stderr)
		}
	}
	write := func(text string) {
		if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	write(manyCalls(1000))
	for _, format := range []string{"text", "json"} {
		b.Run(format, func(b *testing.B) {
			spent(b, func() {
				os.Remove(filepath.Join(folder, "plan.approval.json"))
				approve(b, "--format", format)
			})
		})
	}
	b.Run("compared", func(b *testing.B) {
		approve(b)
		write(strings.ReplaceAll(manyCalls(1000), "and more", "and less"))
		spent(b, func() { approve(b, "--show") })
	})
}

// spent reports the processor time of an operation besides its wall time.
func spent(b *testing.B, op func()) {
	used := cputime.Spent(func() {
		for b.Loop() {
			op()
		}
	})
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}
