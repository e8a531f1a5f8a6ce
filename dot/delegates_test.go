package dot

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// compileFolder compiles plan.yaml of a workspace in memory.
func compileFolder(t testing.TB, files map[string]string) (*plan.Plan, []diag.Diagnostic) {
	t.Helper()
	return compiler.Compile(source.NewFile("plan.yaml", []byte(files["plan.yaml"])), compiler.Options{Name: "plan.yaml", Open: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}})
}

var nestedFiles = map[string]string{
	"plan.yaml": `
plan: book
advisors: [{id: editor, role: x, on: request}, {id: ed<i>tor, role: x}]
state: {style: plain, other: 1}
calls:
  - {_id: one, _tool: write, about: cranes, _delegate: chapter.yaml, _scopes: [†state.style], _outputPath: one || error}
  - {_tool: bind, chapters: [†state.one], _outputPath: book}
  - {_tool: mourn, why: †state.error, _after: [one]}
output: †state.book
`,
	"chapter.yaml": `
input: {about: x}
state: {style: none, own: 1}
calls:
  - {_tool: outline, about: †input.about, style: †state.style, _outputPath: outline}
  - {_id: text, _tool: write, _delegate: text.yaml, outline: †state.outline, _outputPath: text}
output: †state.text
`,
	"text.yaml": `
state: {seed: 1}
calls:
  - {_tool: draft, outline: †input.outline, seed: †state.seed, _outputPath: draft}
  - {_tool: log}
`,
}

// LANGUAGE.md#delegates-and-scopes: what a call delegates to is drawn in a frame around it. The call stands
// for the delegate's input and for what its scopes hand over; its readers wait for
// the delegate's output, and those of its failure for the call itself.
func TestDelegates(t *testing.T) {
	p, found := compileFolder(t, nestedFiles)
	v := FromPlan(p, found, Options{})
	var framed []string
	for _, n := range v.Nodes {
		framed = append(framed, strings.Join(append(slices.Clone(n.Frames), string(n.Kind)+" "+n.Label+" "+n.Call), "/"))
	}
	slices.Sort(framed)
	same(t, "nodes", framed, []string{
		"call bind#2 bind#2",
		"delegate one/call one one",
		"delegate one/call outline#1 one/outline#1",
		"delegate one/delegate text/call draft#1 one/text/draft#1",
		"delegate one/delegate text/call text one/text",
		"delegate one/delegate text/effect log#2 one/text/log#2",
		"delegate one/delegate text/initial initial state ",
		"delegate one/output output of one ",
		"effect mourn#3 mourn#3",
		"initial initial state ",
		"output output ",
	})
	var drawn []string
	for _, e := range v.Edges {
		drawn = append(drawn, fmt.Sprintf("%s -%s-> %s: %s", v.Nodes[e.From].Call, e.Kind, v.Nodes[e.To].Call, e.Label))
	}
	slices.Sort(drawn)
	same(t, "edges", drawn, []string{
		" -data-> bind#2: †state.one",
		" -data-> one/text/draft#1: †state.seed",
		" -data-> one: †state.style (if there)",
		" -after-> mourn#3: only if done",
		"bind#2 -data-> : †state.book",
		"one -data-> one/outline#1: †input.about\n†state.style",
		"one -failure-> mourn#3: †state.error",
		"one/outline#1 -data-> one/text: †state.outline",
		"one/text -data-> : †state.text",
		"one/text -data-> one/text/draft#1: †input.outline",
	})
	if !slices.Contains(v.Notes, "advised by editor (at every request), ed<i>tor (when asked)") {
		t.Errorf("the notes are %q", v.Notes)
	}
	if !v.Mark("one/text/draft#1", Mark{Kind: Running}) || v.Mark("draft#1", Mark{Kind: Running}) {
		t.Error("a call of a delegate isn't known by the calls above it and its name")
	}
	draw(t, "delegates", v)
}

// Delegates are unfolded where the drawing stays small.
func TestDelegatesAreUnfoldedWhereTheDrawingIsSmall(t *testing.T) {
	p, found := compileFolder(t, nestedFiles)
	for _, test := range []struct {
		options Options
		calls   int
	}{
		{Options{}, 7},
		{Options{Flat: true}, 3},
		{Options{Focus: "bind#2"}, 6},
	} {
		v, calls := FromPlan(p, found, test.options), 0
		for _, n := range v.Nodes {
			calls += n.Count
		}
		if calls != test.calls {
			t.Errorf("%+v: %d calls are drawn, and not %d", test.options, calls, test.calls)
		}
	}
}
