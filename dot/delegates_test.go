package dot

import (
	"fmt"
	"maps"
	"os"
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

// LANGUAGE.md#delegates-and-scopes: the box of a call that runs a plan shows what the calls of that plan may do, and of
// those that these run.
func TestDelegates(t *testing.T) {
	files := maps.Clone(nestedFiles)
	files["text.yaml"] += "  - {_tool: wipe, _confirm: true}\nactivities: {wipe: {exec: {argv: [rm]}, annotations: {destructiveHint: true}}}\ntools: {draft: {properties: {}}}\n"
	p, found := compileFolder(t, files)
	v := FromPlan(p, found, Options{})
	same(t, "nodes", nodes(v), []string{
		"call bind#2", "call one !destroys !may leave the machine !a person is asked !a model answers", "effect mourn#3",
		"initial initial state", "output output",
	})
	same(t, "edges", edges(v), []string{
		"bind#2 -data-> output: †state.book", "initial state -data-> one: †state.style (if there)",
		"one -after-> mourn#3: only if done", "one -data-> bind#2: †state.one", "one -failure-> mourn#3: †state.error",
	})
	draw(t, "delegates", v)
}

// LANGUAGE.md#documents: delegates that double at every level are looked at once each, and a plan that reaches itself is
// drawn.
func TestHostileDelegates(t *testing.T) {
	files := map[string]string{"plan.yaml": "calls: [{_tool: a, _delegate: d0.yaml}, {_tool: a, _delegate: d0.yaml}]"}
	for i := range 30 {
		files[fmt.Sprintf("d%d.yaml", i)] = fmt.Sprintf("calls: [{_tool: a, _delegate: d%d.yaml}, {_tool: a, _delegate: d%d.yaml}]", i+1, i+1)
	}
	p, found := compileFolder(t, files)
	if n := len(FromPlan(p, found, Options{}).Nodes); n > mermaidNodes {
		t.Errorf("%d nodes", n)
	}
	p, found = compileFolder(t, map[string]string{"plan.yaml": "calls: [{_tool: a, _delegate: other.yaml}]", "other.yaml": "calls: [{_tool: b, _delegate: plan.yaml}]"})
	if v := FromPlan(p, found, Options{}); len(v.Nodes) == 0 || len(v.Nodes) > mermaidNodes {
		t.Errorf("%d nodes of a plan that reaches itself", len(v.Nodes))
	}
}
