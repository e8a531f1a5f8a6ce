package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// doubled is a plan that runs another twice, which runs another twice, and so on.
func doubled(deep int) (*mason, map[string]any) {
	m := &mason{files: map[string][]byte{}}
	twice := func(i int) map[string]any {
		call := map[string]any{"_tool": "next", "_delegate": fmt.Sprintf("d%d.json", i)}
		return map[string]any{"calls": []any{call, call}}
	}
	for i := 1; i < deep; i++ {
		m.files[fmt.Sprintf("d%d.json", i)] = []byte(inJSON(twice(i + 1)))
	}
	m.files[fmt.Sprintf("d%d.json", deep)] = []byte(`{"calls":[{"_tool":"fetch"}]}`)
	return m, twice(1)
}

// LANGUAGE.md#delegates-and-scopes: of delegates within delegates no more are open than keep every place busy,
// and a call that delegates counts in limits.calls.
func TestNestedDelegatesAreOpenedAsThereIsWork(t *testing.T) {
	const deep, parallel = 9, 3
	m, doc := doubled(deep)
	for _, limit := range []int{0, 40} {
		if limit > 0 {
			doc["limits"] = map[string]any{"calls": limit}
		}
		r := &simulator{t: t, act: perform, order: rand.New(rand.NewPCG(1, 14)), options: runtime.Options{Parallel: parallel}}
		var why string
		if r.verified, why = m.compile(t, doc); r.verified == nil {
			t.Fatal(why)
		}
		open, most, started := 0, 0, 0
		machine := runtime.New(r.verified, r.options)
		var due []runtime.Command
		step := func(e runtime.Event) {
			for _, c := range machine.Step(e) {
				switch {
				case c.Kind == runtime.Enter:
					open++
					started++
				case c.Kind == runtime.Start:
					started++
					due = append(due, c)
				case c.Kind == runtime.Settle && c.Of.Delegate != "" && c.Settlement.Status == runtime.Done:
					open--
				}
				most = max(most, open)
			}
		}
		for step(runtime.Event{Kind: runtime.RunBegan}); len(due) > 0 && !machine.Over(); {
			c := due[0]
			due = due[1:]
			step(runtime.Event{Kind: runtime.Ended, Try: c.Try, Route: -1})
		}
		if all := 1<<(deep+1) - 2 + 1<<deep; limit == 0 && started != all || limit > 0 && started != limit {
			t.Errorf("limit %d: %d calls have started", limit, started)
		}
		if !machine.Over() || most > deep*(parallel+1) {
			t.Errorf("limit %d: %d delegates were open at once", limit, most)
		}
	}
}
