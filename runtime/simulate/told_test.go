package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#branches: no two options, courses or problems of a plan's branches read alike: items of two lists, values
// of a delegate and of the plan around it, and long values that begin alike are told apart.
func TestCoursesAreToldApart(t *testing.T) {
	t.Parallel()
	words := func(path []analyzer.BranchChoice) string {
		words := make([]string, len(path))
		for i, choice := range path {
			words[i] = analyzer.InWords(choice)
		}
		return strings.Join(words, ", ")
	}
	apart := func(text string, r *analyzer.Simulation) (all []string) {
		x := simulate.Explore(r, simulate.Options{Seed: 1}, 300)
		seen := map[string]bool{}
		once := func(kind, words string) {
			if seen[kind+words] {
				t.Errorf("there are two of %s: %s\n%s", kind, words, text)
			}
			seen[kind+words] = true
			all = append(all, words)
		}
		for _, p := range x.Problems {
			once("the problems", fmt.Sprint(p.Kind, p.Call, p.Message, words(p.Path)))
		}
		for n, options := range x.Choices {
			once("the choices", words(options[1:]))
			for _, option := range options {
				once(fmt.Sprint("the options of choice ", n), analyzer.InWords(option))
			}
		}
		simulate.Begin(r, simulate.Options{Seed: 1}).Alternatives(60, func(a *simulate.Alternative) bool {
			once("the courses", words(a.Path))
			return true
		})
		return all
	}
	const tools = `
tools:
  get: {type: object, properties: {_output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}, x-simulate: {failure: 0}}
  list: {type: object, properties: {_output: {type: array, items: {type: object, properties: {description: {type: string}, identifier: {type: string, format: uuid}, n: {type: integer, minimum: 0, maximum: 9}}, required: [description, identifier, n]}}}, x-simulate: {failure: 0}}
  use: {type: object, properties: {n: {}, _output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}, x-simulate: {failure: 0}}
`
	delegate := compiler.Options{Open: func(string) ([]byte, error) {
		return []byte(tools + "calls:\n- {_tool: get, _outputPath: a}\n- {_tool: use, n: 1, _when: †state.a.n > 4, _outputPath: b}\noutput: †state.b || 0\n"), nil
	}}
	for calls, want := range map[string]string{
		"- {_tool: list, _outputPath: a}\n- {_tool: use, _each: †state.a, _when: †item.n > 4, n: †item.n, _outputPath: b}\n- {_tool: use, _each: †state.a, _when: †item.n <= 2, n: †item.n, _outputPath: c}\n":                                                                                                         `"†state.a[0].n" is `,
		"- {_tool: list, _outputPath: a}\n- {_tool: use, _id: b, _each: †state.a, n: †item.n, _outputPath: b}\n- {_tool: use, _id: c, _each: †state.b, _when: †item.n > 5, n: 1, _outputPath: c}\n- {_tool: use, _id: d, _each: †state.c, _when: †item.n > 5, n: 1, _outputPath: d}\noutput: '†state.d || \"none\"'\n": `"†item.n" of "d" is `,
		"- {_tool: get, _outputPath: a}\n- {_tool: use, n: 1, _when: †state.a.n > 4, _outputPath: b}\n- {_tool: use, _id: sub, n: 1, _delegate: sub.yaml, _outputPath: c}\n":                                                                                                                                           `"†state.a.n" of "sub" is `,
	} {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(tools+"calls:\n"+calls)), delegate)
		v := analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun}).Verified
		if v == nil {
			t.Fatalf("%s: %v", calls, found)
		}
		if all := strings.Join(apart(calls, v.Simulation()), "\n"); !strings.Contains(all, want) {
			t.Errorf("nothing reads %s in\n%s", want, all)
		}
	}
	for n := range amount.Of(20, 100, 3_000) {
		if text, r := branching(rand.New(rand.NewPCG(uint64(n), 77)), 8, n%2 > 0); r != nil {
			apart(text, r)
		}
	}
}
