//go:build unix

package main

import (
	"regexp"
	"slices"
	"strings"
)

// The tools of the plans that are killed. Every one leaves a line in the file of effects; it
// is another process that writes it, and the test that counts. What may be run
// again has a name in capitals. "flaky" fails until its name stands in a file, and "fails" always.
const killedTools = `
activities:
  act: {exec: {argv: [sh, -c, 'read -r p; n=${p#*\"name\":\"}; n=${n%%\"*}; echo "$n" >> effects; echo "{\"by\": \"$n\"}"']}}
  flaky: {exec: {argv: [sh, -c, 'read -r p; n=${p#*\"name\":\"}; n=${n%%\"*}; echo "$n" >> effects; test -e "tried-$n" || { : > "tried-$n"; exit 1; }; echo "{\"by\": \"$n\"}"']}}
  fails: {exec: {argv: [sh, -c, 'read -r p; n=${p#*\"name\":\"}; n=${n%%\"*}; echo "$n" >> effects; exit 1']}}
  say: {expr: "name + \"!\""}
tools:
  act: {properties: {name: {type: string}, x: {}}, required: [name]}
  again: {properties: {name: {type: string}, x: {}}, required: [name], _activity: act, annotations: {idempotentHint: true}}
  flaky: {properties: {name: {type: string}, x: {}}, required: [name], annotations: {idempotentHint: true}}
  fails: {properties: {name: {type: string}, x: {}}, required: [name]}
  say: {properties: {name: {type: string}, x: {}}}
  judge: {properties: {name: {type: string}, x: {}}, required: [name]}
  chapter: {properties: {of: {type: string}, x: {}}}
`

// killedPage is what items of a chapter delegate to in turn.
const killedPage = "calls: [{_tool: act, name: †input.of, x: †input.x || 0, _outputPath: a}]\noutput: †state.a\n"

type killedPlan struct {
	name, calls, solutions string
	asks                   bool   // a person at a terminal approves what the plan does
	instances              string // a line each: what their calls leave, in the order of the calls
	list                   string // what the items of the last of two calls leave
	chapter                string // the plan that calls delegate to
}

var killedPlans = []killedPlan{
	{name: "instances", calls: `
- {_tool: act, name: †input.first, _outputPath: a}
- {_tool: again, name: †input.second, x: †state.a, _outputPath: b}
- {_tool: act, name: †input.third, x: †state.b, _outputPath: c}
output: †state
`, instances: `
{"id": "①", "input": {"first": "a1", "second": "B1", "third": "c1"}}
{"id": "②", "input": {"first": "a2", "second": "B2", "third": "c2"}}
{"id": "③", "input": {"first": "a3", "second": "B3", "third": "c3"}}
{"id": "④", "input": {"first": "a4", "second": "B4", "third": "c4"}}
{"id": "⑤", "input": {"first": "a5", "second": "B5", "third": "c5"}}
{"id": "⑥", "input": {"first": "a6", "second": "B6", "third": "c6"}}
`},
	{name: "chain", calls: `
- {_tool: act, name: a, _outputPath: a}
- {_tool: again, name: B, x: †state.a, _outputPath: b}
- {_tool: say, name: †state.b.by, _outputPath: c}
- {_tool: act, name: d, x: †state.c, _outputPath: d}
output: †state
`},
	{name: "fan", calls: `
- {_tool: act, name: a, _outputPath: list, _outputMethod: push}
- {_tool: act, name: b, _outputPath: list, _outputMethod: push}
- {_tool: again, name: C, _outputPath: list, _outputMethod: push}
- {_tool: again, name: D, _outputPath: "d || problem"}
- {_tool: act, name: e, x: †state.list, _outputPath: e}
output: †state
`},
	{name: "retries", calls: `
- {_tool: flaky, name: A, _retry: {attempts: 9, backoff: 1ms}, _outputPath: a}
- {_tool: act, name: b, x: †state.a, _outputPath: b}
- {_tool: flaky, name: C, x: †state.b, _retry: {attempts: 9, backoff: 20ms}, _outputPath: c}
output: †state
`},
	{name: "routed", calls: `
- {_tool: act, name: a, _outputPath: a}
- {_tool: fails, name: b, x: †state.a, _outputPath: "b || problem"}
- {_tool: act, name: c, x: †state.problem.code, _outputPath: c}
- {_tool: act, name: d, x: †state.b, _outputPath: d}
- {_tool: act, name: e, _when: †state.problem.code == "error", _outputPath: e}
output: †state
`},
	{name: "asked", asks: true, calls: `
- {_tool: act, name: a, _outputPath: a}
- {_tool: again, name: B, x: †state.a, _outputPath: b}
- {_tool: act, name: c, x: †state.b, _outputPath: c}
output: †state
`},
	{name: "items", list: "b c d e f", calls: `
- {_tool: act, name: a, _outputPath: a}
- {_tool: act, _each: [b, c, d, e, f], name: †item, x: [†state.a, †index], _outputPath: b}
output: †state
`},
	{name: "items-retried", list: "B C D E", calls: `
- {_tool: act, name: a, _outputPath: a}
- {_tool: flaky, _each: [B, C, D, E], name: †item, x: †state.a, _retry: {attempts: 9, backoff: 1ms}, _onItemFailure: collect, _outputPath: b}
output: †state
`},
	{name: "items-nested", calls: `
- {_tool: chapter, _each: [†input.first, †input.second], of: †item, _delegate: chapter.yaml, _outputPath: a}
- {_tool: chapter, of: †input.third, x: †state.a, _delegate: chapter.yaml, _retry: 3, _outputPath: b}
output: †state
`, chapter: `
tools: {page: {properties: {of: {type: string}, x: {}}}}
calls:
- {_tool: page, _each: [p, q], of: "†{input.of}†{item}", x: †index, _delegate: page.yaml, _outputPath: a}
- {_tool: again, _each: [X, Y], name: "†{input.of}†{item}", x: †state.a, _outputPath: b}
output: [†state.a, †state.b]
`, instances: `
{"id": "①", "input": {"first": "1", "second": "2", "third": "3"}}
{"id": "②", "input": {"first": "4", "second": "5", "third": "6"}}
`},
	{name: "once", calls: "[]\nwrites: once", solutions: `
- calls:
  - {_tool: act, name: a, _outputPath: best}
  - {_tool: act, name: b, _outputPath: best}
  output: null
- calls:
  - {_tool: act, name: c, _outputPath: best}
  - {_tool: act, name: d, x: †state.best, _outputPath: copy}
  output: {all: †state}
`},
	{name: "planned", calls: "[]", solutions: `
- solution:
    calls:
    - {_tool: act, name: a, _outputPath: a}
    - {_tool: again, name: B, x: †state.a, _outputPath: b}
    output: null
  chunks: 16
- calls:
  - {_tool: act, name: a, _outputPath: a}
  - {_tool: again, name: B, x: †state.a, _outputPath: b}
  - {_tool: act, name: c, x: †state.b, _outputPath: c}
  output: {all: †state}
`},
	{name: "latent", calls: "[]", solutions: `
- solution:
    calls:
    - {_tool: act, name: a, _outputPath: a}
    - {_tool: judge, name: B, x: †state.a, _outputPath: b}
    - {_tool: act, name: c, x: †state.b.verdict, _outputPath: c}
    output: {all: †state}
  chunks: 64
  latent: {judge: {verdict: good}}
`},
}

var namedCall = regexp.MustCompile(`_tool: \w+, name: ([^,}]+)`)

var namedValue = regexp.MustCompile(`"(?:first|second|third)": "(\w+)"`)

// names are the names of what the calls leave, in the order of the calls, which
// is the same in every tick, one instance after the other.
func (p killedPlan) names() []string {
	var names []string
	if p.instances != "" {
		for _, found := range namedValue.FindAllStringSubmatch(p.instances, -1) {
			names = append(names, found[1])
		}
		return names
	}
	for _, found := range namedCall.FindAllStringSubmatch(p.calls+p.solutions, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	if p.list != "" {
		names = append(append(names, ""), strings.Fields(p.list)...)
	}
	return names
}

// harmless tells whether what leaves a name may be run again without asking.
func harmless(name string) bool { return name == strings.ToUpper(name) }
