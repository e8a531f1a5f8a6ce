package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// EXECUTION.md#simulation: what a page tells of a plan is so. A call that a person rejects hasn't run; the
// critical path goes through the calls that run for a list, and its edges have no holes; what
// surely destroys is told first, and whether a person is asked, and what a no sets off; a call of a delegate has the
// conditions of the call that runs it; what a model is handed leaves, and what it has chosen is told;
// and the next failure is found from wherever one is.
func TestPageTellsWhatIsSo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plan := filepath.Join(folder, "drain.yaml")
	if err := os.WriteFile(filepath.Join(folder, "seat.yaml"), []byte(`
calls: [{_id: away, _tool: away, n: †input.n, bad: †input.bad, _when: †input.n != ""}]
tools: {away: {type: object, properties: {n: {type: string}, bad: {}}}}
activities: {away: {exec: {argv: [away, "{n}"]}, annotations: {destructiveHint: true}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plan, []byte(`
input: {node: n1, seats: [a]}
calls:
  - {_tool: look, _outputPath: verdict}
  - {_id: cordon, _tool: cordon, node: †input.node, _when: †state.verdict.bad, _outputPath: cordoned}
  - {_id: drain, _tool: drain, node: †input.node, cordoned: †state.cordoned, _confirm: true, _outputPath: drained || drainFailed}
  - {_id: uncordon, _tool: cordon, node: †input.node, why: †state.drainFailed.message}
  - {_id: each, _tool: work, _each: †state.verdict.pods, pod: †item, _outputPath: all}
  - {_id: seats, _tool: seat, _each: †input.seats, n: †item, bad: †state.verdict.bad, why: †state.drainFailed.message, _delegate: seat.yaml}
  - {_id: end, _tool: cordon, node: "†state.all[0]", _after: [each]}
tools:
  look: {type: object, properties: {_output: {type: object, properties: {bad: {type: boolean}, pods: {type: array, items: {type: string}}}, required: [bad, pods], examples: [{bad: true, pods: [a, b]}]}}, x-simulate: {duration: 1s}}
  cordon: {type: object, properties: {node: {type: string}, why: {}, _output: {type: boolean}}, x-simulate: {duration: 1s}}
  drain: {type: object, properties: {node: {type: string}, cordoned: {}, _output: {type: boolean}}, x-simulate: {duration: 1s}}
  seat: {type: object, properties: {n: {type: string}, bad: {}, why: {}}}
  work: {type: object, properties: {pod: {type: string}, _output: {type: string}}, x-simulate: {duration: 5m}}
activities:
  cordon: {exec: {argv: [cordon, "{node}"]}}
  drain: {exec: {argv: [drain, "{node}"]}, annotations: {destructiveHint: true}}
  work: {exec: {argv: [work, "{pod}"]}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startBrowser(t).visits(t, visit{File: pageFile(t, "--format", "html", plan), Evaluate: `(() => {
  const section = title => [...document.querySelectorAll('#panel section')].find(s => s.querySelector('h3').textContent === title);
  const first = section('What is destroyed').querySelector('li').textContent;
  const within = [...section('What is destroyed').querySelectorAll('li')].map(l => l.textContent).find(t => t.startsWith('seats/away')).split(' · ')[1];
  const model = [...section('What leaves this machine, and to where').querySelectorAll('li')].map(l => l.textContent).find(t => t.startsWith('look#1'));
  const chosen = [...section('What leaves this machine, and to where').querySelectorAll('li')].map(l => l.textContent).find(t => t.startsWith('each')).split(/; | · /).find(t => t.includes('chosen'));
  const handed = [...section('What leaves this machine, and to where').querySelectorAll('li')].find(l => l.textContent.startsWith('seats/away'));
  const chooses = [handed.textContent.split(/; | · /).find(t => t.includes('chosen')), [...handed.querySelectorAll('button')].map(b => b.textContent).slice(0, 2)];
  const path = now.play.path(), items = now.play.at('each', now.play.events.length - 1).sign; // a call is none of its items
  document.querySelector('#search').value = 'state.verdict.pods';
  const readers = search().map(c => c.key);
  view('time');
  const edge = document.querySelector('#time').getBoundingClientRect().right;
  const cut = [...document.querySelectorAll('#time .said')].filter(s => { // what is said stands within the timeline, and on no bar
    const a = s.getBoundingClientRect(), bars = [...s.parentNode.querySelectorAll('.bar')].map(b => b.getBoundingClientRect());
    return a.right > edge || bars.some(b => a.left < b.right - 1 && b.left + 1 < a.right);
  }).map(s => s.textContent);
  view('drawing');
  critical();
  const edges = shown.edges.filter(e => e.g.classList.contains('critical')).map(e => [shown.one(e.from), shown.one(e.to)].map(c => c ? c.key : '').join('>'));
  const n = data.scenarios.findIndex(s => /"drain" is rejected/.test(s.name) && !s.together);
  setScenario(n);
  const on = outcome(n).on, words = document.querySelector('#told').textContent;
  document.querySelector('#failure').click();
  return [first.startsWith('drain') && first.includes('a person is asked; a no, like a failure, may set off uncordon, seats'), model && model.includes('†input, †state'), path, edges, on.includes('drain'), /Only then[^.]*drain/.test(words), now.play.moments[now.moment].failed, within, chosen, items, readers, cut, chooses];
})()`})
	want := []any{true, true, []any{"look#1", "each", "end"}, []any{"look#1>each", "each>end"}, false, false, true,
		`for each of †input.seats, for seats; if drain fails, or writes †state.drainFailed, for seats; if †input.n != ""`, "pod chosen by look#1, a model", "2✓", []any{"each"}, []any{}, []any{"bad chosen by models", []any{"seats/away", "seats"}}}
	got, _ := s.Value.([]any)
	if len(got) == len(want) { // two edges lead from each to end
		if edges, ok := got[3].([]any); ok && len(edges) > 2 {
			got[3] = edges[:2]
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nand not\n%v", got, want)
	}
}
