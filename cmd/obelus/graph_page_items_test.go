package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// LANGUAGE.md#calls: a page counts the items of a list, and not the call that has them; it
// says which are skipped, of which call and instance a row and a moment are, how many were at
// work together as the drawing does, which calls ran in no simulation, what a request takes
// from the environment, and the parameters.
func TestPageCountsItemsAndNamesInstances(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "pack.yaml")
	if err := os.WriteFile(plan, []byte(`
input: {sizes: [1, 100]}
instances: {acme: {}, bolt: {}}
limits: {parallel: 3}
calls:
  - {_id: pack, _tool: pack, _each: †input.sizes, z: 1, a: †item, _when: †item < 100, _outputPath: packed}
  - {_id: erase, _tool: erase, _each: †input.sizes, a: †item, packed: †state.packed, _confirm: true, _outputPath: erased || kept}
  - {_id: never, _tool: pack, a: "†state.erased[0]", _when: "†input.sizes[0] > 5", _outputPath: more}
tools:
  pack: {type: object, properties: {a: {}, z: {}, _output: {type: integer}}, x-simulate: {duration: 1s}}
  erase: {type: object, properties: {a: {}, packed: {}, _output: {type: integer}}, x-simulate: {duration: 1s}}
activities:
  pack: {http: {url: "https://pack.example/", headers: {X-Key: "Bearer {$PACK_KEY}"}}}
  erase: {exec: {argv: [rm, "{a}"]}, annotations: {destructiveHint: true}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startBrowser(t).visits(t, visit{File: pageFile(t, "--format", "html", plan), Evaluate: `(() => {
  const section = title => [...document.querySelectorAll('#panel section')].find(s => s.querySelector('h3').textContent === title);
  const idle = /Ran in no simulation here: never/.test(section('When something fails, or goes otherwise').textContent);
  choose('pack');
  const order = [...section('Parameters').querySelectorAll('dt')].map(d => d.textContent).join();
  const sends = section('What it does').textContent.includes('X-Key with {$PACK_KEY}');
  overview();
  const last = now.play.events.length - 1, counted = [now.play.at('pack', last).words, now.play.at('erase', last).words];
  view('time');
  const rows = [...document.querySelectorAll('#time .row button')].map(b => b.textContent).filter(t => !/^(acme|bolt): (pack|erase|never)/.test(t)).join();
  setScenario(data.scenarios.findIndex(s => /^"erase[^,]* rejected$/.test(s.name)));
  const skipped = [...document.querySelectorAll('#skipped li')].map(l => l.textContent.split(' is skipped')[0]).sort().join();
  document.querySelector('#failure').click();
  const moment = /(acme|bolt): erase\[\d\] rejected/.test(document.querySelector('#moment').textContent);
  return [idle, order, sends, ...counted, rows, skipped, now.play.at('erase', 1e9).words, moment];
})()`})
	want := []any{true, "a,z", true, "2 done, 2 skipped", "4 done", "", "acme: pack[1],bolt: pack[1]", "2 rejected, 2 cancelled", true}
	if !reflect.DeepEqual(s.Value, want) {
		t.Errorf("%v\nand not\n%v", s.Value, want)
	}
}
