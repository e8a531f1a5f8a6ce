package compiler

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// FuzzCompile: whatever the text, compiling ends, every finding has its place in
// the file, and a plan without errors compiles to the same bytes again.
func FuzzCompile(f *testing.F) {
	examples, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples to begin with")
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, false)
	}
	for _, text := range []string{
		`[{"_tool":"a","x":"†state.b || (†input.c && 3)","_outputPath":"b && c.d[0] || error"}]`,
		`{"calls":[{"_tool":"a","_id":"x","_when":"†state.y > 1","_after":["x"],"_retry":{"attempts":3,"backoff":"1s"}},{"_tool":"b","_retry":3,"_after":["x",{"settled":"a"},{"settled":["b"]}]}],"writes":"once","output":{"z":["†state"]}}`,
		`[{"type":"tool","tool":{"t":{"type":"object"}}},{"type":"data","kind":"user","data":{"a":1}},{"type":"plan","plan":[{"_tool":"t","u":"†user.a"}]}]`,
		`{"input":{"a":1},"calls":[{"_tool":"a","x":"††{b} †{input.a}, †{†state.c || 'no'}: {{state.c}}","_outputPath":"c"}],"output":"†{state.c.d}"}`,
		`{"context":[{"type":"state","text":"x","_instance":"①"}],"solution":{"calls":[],"output":null}}`,
		`{"instances":{"a":{"state":{"x":1}},"b":{"stateSchema":{"required":["x"]}}},"calls":[{"_tool":"t","x":"†state.x","_outputPath":"x"},{"_tool":"t","_instance":"a","_scopes":["state"],"_outputPath":"x"},{"_tool":"t","_instance":"b","y":["†state.x"]}]}`,
	} {
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, asJSON bool) {
		name := "plan.yaml"
		if asJSON {
			name = "plan.json"
		}
		file := source.NewFile(name, text)
		begun := cputime.Used()
		p, found := Compile(file, Options{})
		if took := cputime.Used() - begun; took > 10*time.Second { // EXECUTION.md#limits's 2 s, and as much again for being watched and in company
			t.Fatalf("took %v", took)
		}
		inside := func(s source.Span, what string) {
			if s.File == file && (s.Start < 0 || s.End < s.Start || s.End > len(text)) {
				t.Fatalf("%s at %d..%d of %d bytes", what, s.Start, s.End, len(text))
			}
		}
		for _, d := range found {
			inside(d.Span, d.Message)
			for _, r := range d.Related {
				inside(r.Span, r.Message)
			}
			for _, fix := range d.Fixes {
				for _, e := range fix.Edits {
					inside(e.Span, fix.Message)
				}
			}
		}
		for i := range p.Instances[:min(len(p.Instances), 3)] {
			inItself(t, bind.ForInstance(p, p.Instances[i].ID))
		}
		if diag.HasErrors(found) {
			return
		}
		first, err := canonical.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		again, found := Compile(source.NewFile("again.json", first), Options{})
		if diag.HasErrors(found) {
			t.Fatalf("the compiled plan has errors: %s\n%s", found[0].Message, first)
		}
		if second, err := canonical.Plan(again); err != nil || string(second) != string(first) {
			t.Fatalf("compiled again, it differs (%v):\n%s\n%s", err, first, second)
		}
	})
}

// inItself holds the numbers in a plan or a view against what they are numbers of.
func inItself(t *testing.T, p *plan.Plan) {
	t.Helper()
	for i, call := range p.Calls {
		if call.Index != i || call.Place < i {
			t.Fatalf("call %d says that it is %d of the view and %d of the whole", i, call.Index, call.Place)
		}
		for _, r := range call.Reads {
			if p.Reads[r].Call != i {
				t.Fatalf("read %d of %q belongs to %d", r, call.Name, p.Reads[r].Call)
			}
		}
		for _, after := range call.After {
			if after.Call >= len(p.Calls) {
				t.Fatalf("%q comes after call %d of %d", call.Name, after.Call, len(p.Calls))
			}
		}
	}
	for i := range p.Reads {
		for _, w := range p.Reads[i].Writers {
			if int(w) >= len(p.Calls) {
				t.Fatalf("read %d is bound to call %d of %d", i, w, len(p.Calls))
			}
		}
	}
}
