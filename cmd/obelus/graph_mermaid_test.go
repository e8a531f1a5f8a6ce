package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#events: in what Mermaid draws of a plan, no box, no label and no edge lies over the title of a frame: of a
// delegate, of an instance, of branches within branches, or of a branch that goes wrong; and a condition
// stands there whole.
func TestMermaidLeavesTitlesFree(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	library := os.Getenv("OBELUS_MERMAID")
	if library == "" {
		library = filepath.Join(here, "..", "..", ".tools", "mermaid")
	}
	script, err := filepath.Abs(filepath.Join(library, "node_modules", "mermaid", "dist", "mermaid.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Skip("Mermaid isn't installed: .ci/install installs it, or OBELUS_MERMAID names the folder that has its node_modules")
	}
	folder := t.TempDir()
	const tools = `
tools:
  a: {type: object, properties: {n: {}, _output: {type: object, properties: {ok: {type: boolean}, score: {type: number}}, required: [ok, score]}}}
  b: {type: object, properties: {n: {}, m: {}, _output: {type: string}}}
activities: {a: {exec: {argv: [echo]}}, b: {exec: {argv: [echo]}}}
`
	for name, text := range map[string]string{"branches.yaml": `
inputSchema: {type: object, properties: {n: {type: integer}, express: {type: boolean}}, required: [n, express]}
calls:
- {_tool: a, _id: check, n: †input.n, _outputPath: check}
- {_tool: b, _id: pay, n: †state.check.score, _when: '†state.check.ok and †state.check.score > 0.75 and †input.express', _outputPath: paid}
- {_tool: b, _id: receipt, n: †state.paid, _when: '†state.check.ok and †state.check.score > 0.75 and †input.express', _outputPath: receipt}
- {_tool: b, _id: refuse, n: †state.check.score, _when: '†(not (†state.check.ok and †state.check.score > 0.75 and †input.express))', _outputPath: refused}
- {_tool: b, _id: small, n: †input.n, _when: †input.n < 5, _outputPath: s}
- {_tool: b, _id: large, n: †input.n, _when: †input.n >= 5, _outputPath: l}
- {_tool: b, _id: end, n: †state.receipt || †state.refused, m: †state.s || †state.l, _outputPath: end}
output: †state.end
`, "instances.yaml": `
instances: {acme-corporation-of-the-north: {state: {n: 1}}, bolt: {state: {n: 2}}, crane: {state: {n: 2}}}
calls:
- {_tool: b, _id: all, n: †state.n, _outputPath: x}
- {_tool: b, _id: a1, _instance: acme-corporation-of-the-north, n: †state.x, _outputPath: y}
- {_tool: b, _id: b1, _instance: bolt, n: †state.x, _outputPath: y}
- {_tool: b, _id: each, n: '†state.y || †state.x', _delegate: inner.yaml, _outputPath: e}
output: †state.e
`, "inner.yaml": `
calls:
- {_tool: b, _id: one, n: †input.n, _outputPath: x}
- {_tool: b, _id: two, n: †state.x, _outputPath: y}
output: †state.y
`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text+tools), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"graph", "branches.yaml"}, {"graph", "instances.yaml"}, {"graph", "--paths", "branches.yaml"}}[:amount.Of(1, 3, 3)] {
		args[len(args)-1] = filepath.Join(folder, args[len(args)-1])
		out := filepath.Join(folder, "drawing.mmd")
		if _, stderr, status := obelus(nil, append(args, "-o", out, "--format", "mermaid")...); status > 1 {
			t.Fatal(stderr)
		}
		drawing, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(string(drawing))
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.Join(folder, "page.html")
		if err := os.WriteFile(page, []byte(`<!DOCTYPE html><meta charset="utf-8"><div id="panel"><section></section></div><div id="g"></div><script src="file://`+script+`"></script>`), 0o600); err != nil {
			t.Fatal(err)
		}
		s := b.visits(t, visit{File: page, Evaluate: `(async () => {
  mermaid.initialize({ startOnLoad: false });
  const g = document.querySelector('#g');
  g.innerHTML = (await mermaid.render('x', ` + string(text) + `)).svg;
  const svg = g.querySelector('svg'), size = svg.viewBox.baseVal;
  svg.style.maxWidth = 'none'; svg.setAttribute('width', size.width); svg.setAttribute('height', size.height);
  const box = e => { const b = e.getBoundingClientRect(); return { x: b.left, y: b.top, right: b.right, bottom: b.bottom, text: e.textContent.trim() }; };
  const isTitle = e => /flowchart-t\d/.test(e.id), nodes = [...g.querySelectorAll('.node')];
  const titles = [...g.querySelectorAll('.cluster-label'), ...nodes.filter(isTitle).map(e => e.querySelector('.label'))].map(box).filter(b => b.text);
  const others = [...nodes.filter(e => !isTitle(e)), ...g.querySelectorAll('.edgeLabel')].map(box).filter(b => b.text);
  const over = [];
  for (const t of titles) {
    for (const o of others) if (t.x < o.right - 1 && o.x < t.right - 1 && t.y < o.bottom - 1 && o.y < t.bottom - 1) over.push(t.text + ' under ' + o.text);
    for (const path of g.querySelectorAll('path.flowchart-link:not(.edge-thickness-invisible)')) {
      const m = path.getScreenCTM();
      for (let at = 0; at <= path.getTotalLength(); at += 3) {
        const p = path.getPointAtLength(at).matrixTransform(m);
        if (p.x > t.x && p.x < t.right && p.y > t.y + 2 && p.y < t.bottom - 2) { over.push(t.text + ' under ' + path.id); break; }
      }
    }
  }
  return !titles.length || titles.some(t => t.text.includes('…')) ? titles.map(t => t.text) : over;
})()`})
		if over, _ := s.Value.([]any); over == nil || len(over) > 0 {
			t.Errorf("%s: %v", args, s.Value)
		}
	}
}
