package analyzer

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"golang.org/x/tools/txtar"
)

// LANGUAGE.md#documents: the place of a finding inside a string is the text that is meant,
// however the string is written.
func TestPlacesInsideScalars(t *testing.T) {
	const head = "inputSchema: {type: object, properties: {note: {type: string}, price: {type: number}}}\ncalls:\n  - _tool: pay\n    ①: \"†† 🙂\"\n    amount: "
	cases := []struct{ name, scalar, code, text string }{
		{"plain", "†state.prise", "OB203", "†state.prise"},
		{"plain, over two lines", "†input.price *\n      †state.prise", "OB203", "†state.prise"},
		{"single quotes", "'†state[\"it''s\"]'", "OB203", "†state[\"it''s\"]"},
		{"double quotes with escapes", `"†(\"\u2020\" + †state.prise)"`, "OB203", "†state.prise"},
		{"double quotes over two lines", "\"†input.price\n      * †input.note\"", "OB510", "†input.note"},
		{"folded", ">-\n      †input.price *\n      †input.note", "OB510", "†input.note"},
		{"literal", "|-\n      †input.price\n        * †input.note", "OB510", "†input.note"},
		{"behind emoji", "†(\"① 🙂\" + †state.prise)", "OB203", "†state.prise"},
		{"in a flow mapping", "{a: [1, †state.prise]}", "OB203", "†state.prise"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, found := judged("places.yaml", head+c.scalar+"\n")
			at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule.Code == c.code })
			if at < 0 {
				t.Fatalf("%s isn't found:\n%s", c.code, every(found))
			}
			if got := found[at].Span.Text(); got != c.text {
				t.Errorf("the place is %q, want %q", got, c.text)
			}
		})
	}
}

// everyCase adds all plans of the cases and pages to a fuzz target.
func everyCase(f *testing.F) {
	f.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("there are no cases: %v", err)
	}
	some := amount.Of(6, 1, 1)
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing != nil && fuzzing.Value.String() != "" {
		some = 1
	}
	n := 0
	add := func(text string) {
		if n++; n%some == 0 {
			f.Add(text)
		}
	}
	for _, archive := range archives {
		text, err := os.ReadFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(text).Files {
			add(string(file.Data))
		}
	}
	for _, r := range rules.Registered {
		page, _ := rules.Page(r.Code)
		for _, plan := range fenced(page) {
			add(plan)
		}
	}
}

// FuzzAnalyze: whatever the text, there is no panic; findings are in the file, in
// form, in order, and the same every time; only a plan without errors is
// verified, and such a plan can run to its end: its graph has no cycle and
// each of its calls a known tool, where tools are known at all.
func FuzzAnalyze(f *testing.F) {
	everyCase(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		analyse := func() (*plan.Plan, *Verified, []diag.Diagnostic) { return judged("plan.yaml", text) }
		plan, verified, found := analyse()
		wellFormed(t, found)
		sorted := slices.Clone(found)
		diag.Sort(sorted)
		for i := range found {
			if found[i].Rule != sorted[i].Rule || found[i].Span != sorted[i].Span {
				t.Fatalf("findings aren't in order: %s", every(found))
			}
		}
		_, _, again := analyse()
		if !reflect.DeepEqual(strings.Split(every(found), "\n"), strings.Split(every(again), "\n")) {
			t.Fatalf("findings differ:\n%s\n%s", every(found), every(again))
		}
		if verified != nil && diag.HasErrors(found) || verified == nil && !diag.HasErrors(found) && !strings.Contains(text, "obelus") {
			t.Fatalf("verified: %v\n%s", verified != nil, every(found))
		}
		if verified == nil {
			return
		}
		if verified.Plan() != plan && verified.Plan() == nil {
			t.Fatal("a verified plan has no plan")
		}
		if !verified.Plan().Graph.Acyclic() {
			t.Fatalf("a verified plan has a cycle:\n%s", text)
		}
		for _, call := range verified.Plan().Calls {
			if plan.ToolsDeclared && call.Tool == nil && plan.Activities[call.ToolName] == nil && call.ToolName != "ConsultAdvisor" {
				t.Fatalf("%s has no tool:\n%s", call.Name, text)
			}
		}
	})
}

// FuzzFixes: a fix that is offered leaves a text that can still be read.
func FuzzFixes(f *testing.F) {
	everyCase(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 5_000 {
			return
		}
		_, _, found := judged("plan.yaml", text)
		if slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == diag.Syntax }) {
			return
		}
		for _, d := range found[:min(len(found), 20)] {
			for _, fix := range d.Fixes {
				changed := text
				for _, e := range slices.Backward(fix.Edits) {
					changed = changed[:e.Span.Start] + e.Text + changed[e.Span.End:]
				}
				if _, problems := source.Parse(source.NewFile("plan.yaml", []byte(changed)), source.DefaultLimits()); slices.ContainsFunc(problems, func(p source.Problem) bool { return p.Code == "OB101" }) {
					t.Errorf("the fix %q of %s breaks the text:\n%s\n%s", fix.Message, shown(d), text, changed)
				}
			}
		}
	})
}
