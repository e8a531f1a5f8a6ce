package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// LANGUAGE.md#tools-and-activities: a page says of what a person's no in a delegate sets off around it,
// marks the critical path of the one instance whose it is, names as a model's what a model gives, and not
// what the plan gives, and shows a call as done whose items are all skipped.
func TestPageSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"wipe.yaml": `
calls: [{_id: wipe, _tool: wipe, _confirm: true, _outputPath: gone}]
tools: {wipe: {type: object, properties: {_output: {type: string}}}}
activities: {wipe: {exec: {argv: [rm, x]}}}
output: †state.gone
`, "plan.yaml": `
instances: {acme: {state: {n: [1]}}, bolt: {state: {n: [1, 5, 6]}}}
limits: {parallel: 2}
calls:
  - {_id: known, _tool: ask, _output: "x", _outputPath: k}
  - {_id: asked, _tool: ask, k: †state.k, _outputPath: q}
  - {_id: each, _tool: use, _each: †state.n, n: †item, q: †state.q, _outputPath: x}
  - {_id: extra, _tool: use, _instance: bolt, n: †state.x, _outputPath: w}
  - {_id: none, _tool: use, _each: †state.n, n: †item, q: †state.x, _when: †item > 9, _outputPath: y}
  - {_id: sub, _tool: sub, _outputPath: z || failed, _delegate: wipe.yaml}
  - {_id: sorry, _tool: use, n: †state.failed.message}
tools:
  ask: {type: object, properties: {k: {}, _output: {type: string}}, x-simulate: {duration: 1s}}
  use: {type: object, properties: {n: {}, q: {}, _output: {type: string}}, x-simulate: {duration: 3s}}
  sub: {type: object, properties: {_output: {type: string}}}
activities: {use: {exec: {argv: [use]}}}
`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startBrowser(t).visits(t, visit{File: pageFile(t, "--format", "html", filepath.Join(folder, "plan.yaml")), Evaluate: `(() => {
  const section = title => [...document.querySelectorAll('#panel section')].find(s => s.querySelector('h3').textContent === title);
  const models = [...section('What came from a model').querySelectorAll('li')].map(l => l.textContent.split(',')[0]);
  const path = /critical path of bolt: /.test(section('Time and cost').textContent);
  const no = section('What is destroyed').textContent.includes('a person is asked; a no, like a failure, may set off sorry, since sub fails');
  choose('known');
  const given = section('What it does').textContent.includes('nothing: its result is given "x"');
  const rows = () => { view('time'); return [...document.querySelectorAll('#time .row')].filter(r => r.querySelector('.critical')).map(r => r.querySelector('button').textContent.split(': ')[0]); };
  const given_ = [...new Set(rows())];
  delete now.play.critical; delete now.play.criticalInstance; // as of a run
  const found = [...new Set(rows())];
  return [models, path, no, given, given_, found, now.play.at('none', 1e9).state, now.play.at('none', 1e9).words];
})()`})
	want := []any{[]any{"asked"}, true, true, true, []any{"bolt"}, []any{"bolt"}, "done", "done, with every item skipped"}
	if !reflect.DeepEqual(s.Value, want) {
		t.Errorf("%v\nand not\n%v", s.Value, want)
	}
}
