package compiler

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A folder is a workspace in memory, which counts what is read of it.
type folder struct {
	files map[string]string
	read  map[string]int
}

func (f *folder) open(name string) ([]byte, error) {
	if f.read == nil {
		f.read = map[string]int{}
	}
	f.read[name]++
	if text, ok := f.files[name]; ok {
		return []byte(text), nil
	}
	return nil, os.ErrNotExist
}

func (f *folder) compile(name string) (*plan.Plan, []diag.Diagnostic) {
	return Compile(source.NewFile(name, []byte(f.files[name])), Options{Name: name, Open: f.open, Functions: []string{"given"}})
}

// LANGUAGE.md#delegates-and-scopes: a delegate is compiled once, whoever names it and however, with
// the same options, and stands under its path from the workspace root.
func TestDelegates(t *testing.T) {
	f := &folder{files: map[string]string{
		"plan.yaml": `
import: lib/tools.yaml
activities: {digest: {plan: lib/leaf.yaml}}
calls:
  - {_tool: a, _delegate: lib/middle.yaml}
  - {_tool: b, _delegate: "./lib/../lib/leaf.yaml"}
  - {_tool: brief}
  - {_tool: digest}
  - {_tool: given}
  - {_tool: other, _activity: digest}
`,
		"lib/tools.yaml":  "tools: {brief: {type: object, _delegate: leaf.yaml}}",
		"lib/middle.yaml": "calls: [{_tool: x, _delegate: leaf.yaml}, {_tool: given}]",
		"lib/leaf.yaml":   "calls: [{_tool: given}]",
	}}
	p, found := f.compile("plan.yaml")
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	if got := slices.Sorted(maps.Keys(p.Delegates)); !slices.Equal(got, []string{"lib/leaf.yaml", "lib/middle.yaml"}) {
		t.Fatalf("delegates are %v", got)
	}
	if f.read["lib/leaf.yaml"] != 1 || f.read["lib/middle.yaml"] != 1 {
		t.Errorf("read: %v", f.read)
	}
	middle := p.Delegates["lib/middle.yaml"]
	if middle.Delegates["lib/leaf.yaml"] != p.Delegates["lib/leaf.yaml"] || diag.HasErrors(middle.Found) || middle.Activities["given"] == nil {
		t.Errorf("the delegate of a delegate isn't the same plan, or has no functions: %v", middle.Found)
	}
	var got []string
	for _, call := range p.Calls {
		got = append(got, fmt.Sprintf("%s %s %q %v", call.ToolName, call.Delegate, call.Activity, call.Latent()))
	}
	want := []string{
		`a lib/middle.yaml "" false`, `b lib/leaf.yaml "" false`, `brief lib/leaf.yaml "" false`, `digest lib/leaf.yaml "digest" false`,
		`given  "given" false`, `other lib/leaf.yaml "digest" false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// LANGUAGE.md#delegates-and-scopes: whatever names whatever, compiling ends, and says why not.
func TestDelegatesAreBounded(t *testing.T) {
	loop := func(name string) ([]byte, error) { // a folder that holds itself, by a symbolic link
		return []byte("calls: [{_tool: a, _delegate: l/" + path.Base(name) + "}, {_tool: b, _delegate: r/" + path.Base(name) + "}]"), nil
	}
	for name, open := range map[string]func(string) ([]byte, error){
		"a folder in itself": loop,
		"many": func(name string) ([]byte, error) {
			var calls strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&calls, "- {_tool: a, _delegate: %d.yaml}\n", i)
			}
			if name == "plan.yaml" {
				return []byte(calls.String()), nil
			}
			return []byte("calls: []"), nil
		},
		"much": func(name string) ([]byte, error) {
			if name == "plan.yaml" {
				return []byte("calls: [{_tool: a, _delegate: a.yaml}, {_tool: a, _delegate: b.yaml}]"), nil
			}
			return []byte("calls: []\n#" + strings.Repeat("x", 600)), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := open("plan.yaml")
			limits := source.DefaultLimits()
			if name == "much" {
				limits.Bytes = 1000
			}
			reads := 0
			p, found := Compile(source.NewFile("plan.yaml", text), Options{Name: "plan.yaml", Limits: limits, Open: func(name string) ([]byte, error) {
				if reads++; reads > 2*maxDelegates {
					t.Fatal("it goes on and on")
				}
				return open(name)
			}})
			for _, d := range p.AllDelegates() {
				found = append(found, d.Found...)
			}
			if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == diag.Limit }) {
				t.Errorf("nobody says that there is a limit: %v", found[:min(len(found), 5)])
			}
		})
	}
}

// LANGUAGE.md#delegates-and-scopes: what only is on offer may lead back to the plan; what is called may not.
func TestOfferedDelegatesMayLeadBack(t *testing.T) {
	f := &folder{files: map[string]string{
		"plan.yaml":   "import: tools.yaml\ncalls: [{_tool: digest}]",
		"tools.yaml":  "tools: {digest: {type: object, _delegate: digest.yaml}, again: {type: object, _delegate: plan.yaml}}",
		"digest.yaml": "import: tools.yaml\ncalls: []",
		"self.yaml":   "tools: {again: {type: object, _delegate: self.yaml}}\ncalls: []",
	}}
	for _, name := range []string{"plan.yaml", "self.yaml"} {
		p, found := f.compile(name)
		for _, d := range p.AllDelegates() {
			found = append(found, d.Found...)
		}
		if diag.HasErrors(found) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// EXECUTION.md#delegates-and-scopes: a call of a solution runs the plans that its tool names or offers,
// and no others that the setting knows.
func TestDelegatesOfASolution(t *testing.T) {
	f := &folder{files: map[string]string{
		"plan.yaml": `
tools:
  brief: {type: object, properties: {text: {type: string}, _delegate: {enum: [a.yaml, b.yaml]}}}
  fixed: {type: object, _delegate: a.yaml}
  free: {type: object}
calls: []
`,
		"a.yaml": "inputSchema: {type: object, properties: {text: {type: string}}, required: [text]}\noutputSchema: {type: string}\ncalls: []\noutput: †input.text",
		"b.yaml": "calls: []", "c.yaml": "calls: []",
	}}
	base, found := f.compile("plan.yaml")
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	s := Setting{Plan: base, Paths: base.Paths.Clone()}
	p, found := s.Solve(source.NewFile("tick.json", []byte(`{"calls": [
		{"_tool": "brief", "text": "x", "_delegate": "a.yaml"}, {"_tool": "brief", "_delegate": "b.yaml"}, {"_tool": "fixed"}]}`)), Options{})
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	for i, want := range []string{"a.yaml", "b.yaml", "a.yaml"} {
		if got := p.Calls[i].Delegate; got != want || p.Delegates[got] == nil {
			t.Errorf("call %d runs %q, not %q", i, got, want)
		}
	}
	read := make(chan int)
	go func() { read <- len(base.AllDelegates()) }() // as what records a run does
	s.Solve(source.NewFile("tick.json", []byte(`{"calls": [{"_tool": "fixed"}]}`)), Options{})
	<-read // go test -race: nothing is written meanwhile
	if out := p.Calls[2].Tool.Output; out == nil || !out.Accepts("text") || out.Accepts(3.0) {
		t.Error("the delegate's output isn't the call's type")
	}
	for _, one := range []string{`{"_tool": "free", "_delegate": "a.yaml"}`, `{"_tool": "free", "_delegate": "c.yaml"}`, `{"_tool": "fixed", "_delegate": "b.yaml"}`, `{"_tool": "free", "_delegate": "../a.yaml"}`, `{"_tool": "brief", "_delegate": "c.yaml"}`} {
		_, found := s.Solve(source.NewFile("tick.json", []byte(`{"calls": [`+one+`]}`)), Options{})
		if len(found) != 1 || found[0].Rule != diag.BadDelegate {
			t.Errorf("%s: %v", one, found)
		}
	}
}

// LANGUAGE.md#delegates-and-scopes: scopes are reads of their call, bound like any other, and never
// required; none at all isn't the same as an empty list.
func TestScopesAreReads(t *testing.T) {
	p := compiledPlan(t, `
tools:
  t: {type: object}
  fixed: {type: object, properties: {_scopes: {const: [†state.a, input]}}}
input: {x: 1}
calls:
  - {_tool: t, _outputPath: †state.a}
  - {_tool: fixed}
  - {_tool: t, _outputPath: †state.a.b, _after: []}
  - {_tool: t, _scopes: [†state.a.b, state, †input.x]}
  - {_tool: t, _scopes: []}
  - {_tool: t}
`)
	var got []string
	for _, call := range p.Calls {
		for _, s := range call.Scopes {
			r := &p.Reads[s.Read]
			got = append(got, fmt.Sprintf("%s: %s %s %v %v %v", call.Name, s.Kind, p.Paths.String(r.Path), r.Writers, r.Ref.Required, slices.Contains(call.Reads, s.Read)))
		}
	}
	want := []string{
		"fixed#2: state †state.a [0] false true", "fixed#2: input †input [] false true",
		"t#4: state †state.a.b [0 2] false true", "t#4: state †state [0 2] false true", "t#4: input †input.x [] false true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p.Calls[4].Scopes == nil || p.Calls[5].Scopes != nil {
		t.Errorf("no scopes %v, an empty list %v", p.Calls[5].Scopes, p.Calls[4].Scopes)
	}
	if !slices.Equal(p.Graph.Deps(3), []int32{0, 2}) {
		t.Errorf("the graph: %v", p.Graph.Deps(3))
	}
}

// LANGUAGE.md#compiled-plans-and-digests: the compiled plan names its delegates with their digests, stands by
// itself where imports named them from elsewhere, and compiles to the same bytes.
func TestCompiledDelegates(t *testing.T) {
	f := &folder{files: map[string]string{
		"plans/plan.yaml": `
import: ../lib/tools.yaml
calls:
  - {_tool: fixed, _delegate: middle.yaml}
  - {_tool: fixed}
  - {_tool: chosen, _delegate: leaf.yaml}
  - {_tool: named}
`,
		"lib/tools.yaml": `
tools:
  fixed: {type: object, _delegate: leaf.yaml}
  chosen: {type: object, properties: {_delegate: {enum: [leaf.yaml]}}}
activities: {named: {plan: leaf.yaml}}
advisors: [{id: a, role: r}]
`,
		"plans/middle.yaml": "calls: [{_tool: x, _delegate: ../lib/leaf.yaml}]",
		"lib/leaf.yaml":     "calls: []",
	}}
	p, found := f.compile("plans/plan.yaml")
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	first, err := canonical.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	for path, d := range p.AllDelegates() {
		digest, _ := canonical.Digest(d)
		fromPlan, err := filepath.Rel("plans", path) // wherever the workspace begins
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`{"digest":%q,"kind":"delegate","name":%q}`, digest, filepath.ToSlash(fromPlan)); !strings.Contains(string(first), want) {
			t.Errorf("%s isn't in\n%s", want, first)
		}
	}
	if len(p.AllDelegates()) != 2 || strings.Contains(string(first), "question") {
		t.Errorf("%d delegates; the tool that consults advisors mustn't be in\n%s", len(p.AllDelegates()), first)
	}
	delete(f.files, "plans/middle.yaml")
	delete(f.files, "lib/leaf.yaml")
	f.files["plans/compiled.json"] = string(first)
	again, found := f.compile("plans/compiled.json")
	if diag.HasErrors(found) {
		t.Fatalf("%v in\n%s", found, first)
	}
	if second, _ := canonical.Plan(again); string(second) != string(first) {
		t.Errorf("compiled again it is\n%s\nnot\n%s", second, first)
	}
}
