package dot

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// dense are plans of less than 100 kB in which far more calls wait for each other
// than can be drawn.
func dense() map[string]string {
	repeat := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "%", fmt.Sprint(i)) + "\n")
		}
		return b.String()
	}
	return map[string]string{
		"every call reads the whole state": "calls:\n" + repeat(1900, "- {_tool: t, x: †state, _outputPath: p%}"),
		"one chain of rewrites":            "calls:\n" + repeat(2000, "- {_tool: t, x: †state.p, _outputPath: p}"),
		"offers below one path":            "writes: once\ncalls:\n" + repeat(2000, "- {_tool: t, x: †state.a, _outputPath: a.b%}"),
		"offers of alternatives":           "writes: once\ncalls:\n" + repeat(1800, "- {_tool: t, _outputPath: †state.a || †state.b%}"),
		"a knot":                           "calls:\n" + repeat(1400, "- {_tool: t, x: †state, y: †state.p%0, _outputPath: p%}"),
		"many writers, few who read all":   "calls:\n" + repeat(1600, "- {_tool: t, _outputPath: p%}") + "- {_tool: t, x: [" + strings.Repeat("†state,", 4000) + "1]}\n",
		"few calls, each of many offers":   "writes: once\ncalls:\n" + repeat(290, "- {_tool: t, _outputPath: †state.b%"+manyOffers(20)+"}"),
		"many kinds of data": `[` + strings.Join(strings.Split(strings.TrimSpace(repeat(2000, `{"kind":"k%"}`)), "\n"), ",") +
			`,{"type":"plan","plan":[` + strings.Join(strings.Split(strings.TrimSpace(repeat(2000, `{"_tool":"t","x":"†k%"}`)), "\n"), ",") + `]}]`,
	}
}

func manyOffers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " || †state.a%d", i)
	}
	return b.String()
}

// EXECUTION.md#limits: a drawing costs about as much as its plan is long, not as there are pairs of
// calls that wait for each other, and is collapsed where it would be too large.
func TestDrawingIsBounded(t *testing.T) {
	views := map[string]Options{"": {}, "focus": {Focus: []string{"t#7"}, Depth: 2}}
	for name, text := range dense() {
		file := "plan.yaml"
		if text[0] == '[' {
			file = "plan.json"
		}
		p, found := compile(t, file, text)
		for how, o := range views {
			if amount.Of(0, 1, 1) == 0 && how != "" && name != "every call reads the whole state" {
				continue
			}
			var v View
			for _, draw := range []func(){func() { v = FromPlan(p, found, o) }, func() { v.SVG(); v.Text() }} {
				var before, after runtime.MemStats
				took, soon := cputime.Within(time.Second, func() {
					runtime.ReadMemStats(&before)
					draw()
					runtime.ReadMemStats(&after)
				})
				if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 || !soon {
					t.Errorf("%s, %s: %d nodes and %d edges took %v and %d MiB", name, how, len(v.Nodes), len(v.Edges), took, mb)
				}
			}
			if len(v.Nodes) > mermaidNodes || len(v.Edges) > mermaidEdges {
				t.Errorf("%s, %s: %d nodes and %d edges", name, how, len(v.Nodes), len(v.Edges))
			}
			folded := slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Count > 1 })
			if said := strings.Join(v.Notes, "\n"); folded && !strings.Contains(said, "drawn as one") && how != "depth" {
				t.Errorf("%s, %s: nothing is said of the collapse: %q", name, how, said)
			}
		}
	}
}

// Which edges of order follow from others is one answer, and the right one: those
// with a longer way beside them.
func TestImpliedEdges(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 9))
	for range 300 {
		v := View{Nodes: make([]Node, 2+chance.IntN(12))}
		if chance.IntN(20) == 0 {
			v.Nodes = make([]Node, 70) // more than a word has bits
		}
		for i := range v.Nodes {
			v.Nodes[i].ID = fmt.Sprint("n", i)
		}
		place := chance.Perm(len(v.Nodes)) // edges lead to later places
		droppable := map[int]bool{}
		for range chance.IntN(3 * len(v.Nodes)) {
			a, b := chance.IntN(len(v.Nodes)), chance.IntN(len(v.Nodes))
			if place[a] == place[b] || chance.IntN(50) > 0 && place[a] > place[b] {
				continue // and seldom back, which makes a cycle
			}
			kind := Order
			if chance.IntN(3) == 0 {
				kind = Data
			}
			if droppable[len(v.Edges)] = kind == Order; !droppable[len(v.Edges)] {
				delete(droppable, len(v.Edges))
			}
			v.Edges = append(v.Edges, Edge{From: a, To: b, Kind: kind})
		}
		var want []Edge
		for i, e := range v.Edges {
			if !droppable[i] || !longerWay(v, e) || cyclic(v) {
				want = append(want, e)
			}
		}
		if got := v.withoutImplied(droppable).Edges; len(got) != len(want) {
			t.Fatalf("%v without what follows, of %v, is %v, not %v", v.Edges, droppable, got, want)
		}
	}
}

// leads reports whether a way leads from one node to another.
func leads(v View, from, to int, seen map[int]bool) bool {
	for _, e := range v.Edges {
		if e.From == from && !seen[e.To] {
			seen[e.To] = true
			if e.To == to || leads(v, e.To, to, seen) {
				return true
			}
		}
	}
	return false
}

func longerWay(v View, e Edge) bool {
	return slices.ContainsFunc(v.Edges, func(first Edge) bool {
		return first.From == e.From && first.To != e.To && leads(v, first.To, e.To, map[int]bool{})
	})
}

func cyclic(v View) bool {
	return slices.ContainsFunc(v.Edges, func(e Edge) bool { return leads(v, e.To, e.From, map[int]bool{e.To: true}) })
}
