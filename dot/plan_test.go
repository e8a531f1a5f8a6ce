package dot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

func compile(t testing.TB, name, text string) (*plan.Plan, []diag.Diagnostic) {
	t.Helper()
	return compiler.Compile(source.NewFile(name, []byte(text)), compiler.Options{})
}

// edges lists a view's edges in words: from -kind-> to: paths !marks.
func edges(v View) []string {
	var out []string
	for _, e := range v.Edges {
		s := fmt.Sprintf("%s -%s-> %s", v.Nodes[e.From].Label, e.Kind, v.Nodes[e.To].Label)
		if e.Label != "" {
			s += ": " + strings.ReplaceAll(e.Label, "\n", ", ")
		}
		for _, m := range e.Marks {
			s += " !" + m.words()
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func nodes(v View) []string {
	var out []string
	for _, n := range v.Nodes {
		s := string(n.Kind) + " " + n.Label
		for _, m := range n.Marks {
			s += " !" + m.words()
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const refundPlan = `
plan: refund
input: {order: A-1, customer: Jane}
calls:
  - {_tool: findOrder, id: †input.order, _outputPath: order}
  - {_tool: refund, amount: †state.order.total, _outputPath: receipt || error}
  - {_tool: sendReceipt, to: †input.customer, what: †state.receipt}
  - {_id: apology, _tool: sendMail, to: †input.customer, why: †state.error, _outputPath: letter}
output: †state.receipt || †state.letter
`

// LANGUAGE.md#the-graph: calls are nodes, the paths that they read stand on the edges,
// failure routes are told apart, and input and output are there.
func TestFromPlan(t *testing.T) {
	p, _ := compile(t, "refund.yaml", refundPlan)
	v := FromPlan(p, nil, Options{})
	same(t, "nodes", nodes(v), []string{
		"call apology", "call findOrder#1", "call refund#2", "effect sendReceipt#3", "input input", "output output",
	})
	same(t, "edges", edges(v), []string{
		"apology -data-> output: †state.letter (if there)",
		"findOrder#1 -data-> refund#2: †state.order.total",
		"input -data-> apology: †input.customer",
		"input -data-> findOrder#1: †input.order",
		"input -data-> sendReceipt#3: †input.customer",
		"refund#2 -data-> output: †state.receipt (if there)",
		"refund#2 -data-> sendReceipt#3: †state.receipt",
		"refund#2 -failure-> apology: †state.error",
	})
	draw(t, "refund", v)
}

// draw holds a view's drawings against the golden files, and has the real
// tools draw them.
func draw(t *testing.T, name string, v View) {
	t.Helper()
	golden(t, name+".dot", v.DOT())
	golden(t, name+".mmd", v.Mermaid())
	golden(t, name+".txt", v.Text())
	noneOverlap(t, v, readSVG(t, v.SVG()))
	t.Run("graphviz", func(t *testing.T) {
		page := parseSVG(t, graphviz(t, v.DOT()))
		if len(page.nodes) != len(v.Nodes) {
			t.Errorf("%d nodes drawn, not %d", len(page.nodes), len(v.Nodes))
		}
	})
	t.Run("mermaid", func(t *testing.T) {
		d := mermaid(t, v.Mermaid())[0]
		edges, nodes := len(v.Edges), 0
		for _, n := range v.Nodes {
			if _, ok := d.Nodes[n.ID]; ok {
				nodes++
			}
		}
		if d.Error != "" || nodes != len(v.Nodes) || d.Links != edges {
			t.Errorf("%d nodes and %d edges drawn, not %d and %d: %s", nodes, d.Links, len(v.Nodes), edges, d.Error)
		}
	})
}

const faultyPlan = `
plan: faulty
calls:
  - {_tool: first, x: †state.second, _outputPath: first}
  - {_tool: second, x: †state.first, _outputPath: second}
  - {_tool: alone, x: †state.alone, _outputPath: alone}
  - {_tool: lost, x: †state.gone.far, _outputPath: found}
  - {_tool: last, x: †state.found || †state.never || 1, y: †nokind.z}
output: {a: †state.alone, b: †state.nothing}
`

// EXECUTION.md#events (graph): a plan that doesn't check is drawn: cycles in red with
// their code, what nothing writes as nodes of their own, findings at their
// calls.
func TestFromFaultyPlan(t *testing.T) {
	p, found := compile(t, "faulty.yaml", faultyPlan)
	dangling := diag.New(diag.DanglingReference, source.Span{}, `nothing writes "†state.gone.far"`)
	dangling.Call = "lost#4"
	cycle := diag.New(diag.Cycle, source.Span{}, "two calls wait for each other")
	cycle.Call = "first#1"
	unused := diag.New(&diag.Rule{Code: "OB207", Name: "unused-output"}, source.Span{}, "never read")
	unused.Call = "lost#4"
	ofOutput := diag.New(diag.DanglingReference, p.Reads[len(p.Reads)-1].Span(), `nothing writes "†state.nothing"`)
	general := diag.New(diag.NoActivity, source.Span{}, "no such activity")
	v := FromPlan(p, append(found, dangling, cycle, unused, dangling, ofOutput, general), Options{})
	same(t, "nodes", nodes(v), []string{
		"call alone#3 !error OB301", "call first#1 !error OB301", "effect last#5 !error OB202", "call lost#4 !error OB203 ×2", "call second#2",
		"missing †nokind.z", "missing †state.gone.far", "missing †state.never", "missing †state.nothing", "output output",
	})
	same(t, "edges", edges(v), []string{
		"alone#3 -data-> output: †state.alone",
		"first#1 -data-> second#2: †state.first !error OB301",
		"lost#4 -data-> last#5: †state.found (if there)",
		"second#2 -data-> first#1: †state.second !error OB301",
		"†nokind.z -data-> last#5",
		"†state.gone.far -data-> lost#4",
		"†state.never -data-> last#5",
		"†state.nothing -data-> output",
	})
	if got := v.Nodes[slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Kind == Missing })].Detail; got != "nothing writes it" {
		t.Errorf("a missing path says %q", got)
	}
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "2 findings about no call") {
		t.Errorf("notes are %q", v.Notes)
	}
	draw(t, "faulty", v)
}

// LANGUAGE.md#calls: what a call comes after without a value of it is told by what becomes of
// it when that doesn't end well: skipped, run all the same, or run for that very reason. Who
// is tried first under the policy once is drawn where it doesn't follow from a longer way.
func TestOrder(t *testing.T) {
	p, _ := compile(t, "once.yaml", `
plan: once
writes: once
calls:
  - {_id: cache, _tool: cache, _outputPath: price}
  - {_id: shop, _tool: shop, _outputPath: price}
  - {_id: guess, _tool: guess, _outputPath: price}
  - {_id: say, _tool: say, price: †state.price}
  - {_id: log, _tool: log, _after: [say]}
  - {_id: tidy, _tool: tidy, _after: {settled: [say]}}
`)
	v := FromPlan(p, nil, Options{})
	same(t, "edges", edges(v), []string{
		"cache -data-> say: †state.price", "shop -data-> say: †state.price", "guess -data-> say: †state.price",
		"cache -once-> shop: unless it wrote", "shop -once-> guess: unless it wrote", "say -after-> log: only if done", "say -order-> tidy: once settled",
	})
	draw(t, "once", v)
}

// LANGUAGE.md#instances: the calls for one instance stand in one frame, and those for all in none and
// say for how many they are.
func TestInstances(t *testing.T) {
	p, _ := compile(t, "instances.yaml", `
plan: instances
instances: {①: {}, employee_B: {}}
calls:
  - {_tool: read, _instance: ①, _outputPath: text}
  - {_tool: judge, _instance: ①, text: †state.text, _outputPath: mood}
  - {_tool: read, _instance: employee_B, _outputPath: text}
  - {_tool: file, text: †state.text}
`)
	v := FromPlan(p, nil, Options{})
	var frames []string
	for _, n := range v.Nodes[:4] {
		frames = append(frames, n.Frame)
	}
	if !slices.Equal(frames, []string{"instance ①", "instance ①", "instance employee_B", ""}) {
		t.Errorf("frames are %q", frames)
	}
	if !v.Nodes[3].Repeats || v.Nodes[0].Repeats {
		t.Error("the call for all instances doesn't repeat, or another does")
	}
	for _, e := range v.Edges { // 0→1, 0→3, 2→3: nothing leads from one instance to another
		if e.From == 2 && e.To == 1 {
			t.Error("a call of one instance reads what another's writes")
		}
	}
	draw(t, "instances", v)
}

// chain is a plan of calls that read what the ones before them wrote: layers
// of equal width.
func layered(layers, width int) string {
	var b strings.Builder
	b.WriteString("plan: large\ncalls:\n")
	for l := range layers {
		for w := range width {
			fmt.Fprintf(&b, "  - {_id: c%d_%d, _tool: tool%d, _outputPath: p%d_%d", l, w, w%3, l, w)
			if l > 0 {
				fmt.Fprintf(&b, ", a: †state.p%d_%d, b: †state.p%d_%d", l-1, w, l-1, (w+1)%width)
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// Mermaid refuses what is too large; so a view of any size is folded, or cut,
// until it takes it.
func TestMermaidTakesEverySize(t *testing.T) {
	b := newBuilder(View{Name: "wide"})
	for i := range 900 {
		at := b.v.add(Node{Label: strings.Repeat("<&\"#", 30), Detail: strings.Repeat("*", 200), Kind: Call, Count: 1})
		if i > 0 {
			b.edge(at/2, at, Data).read(strings.Repeat("`\"", 99))
		}
	}
	wide := b.view()
	b = newBuilder(View{Name: "crowded"})
	for i := range 290 {
		b.v.add(Node{Label: strings.Repeat("\"<", 30), Detail: "x", Kind: Call, Count: 1})
		for j := max(0, i-1); j < i; j++ {
			b.edge(j, i, Data).read(strings.Repeat("#", 60))
		}
	}
	crowded := b.view()
	b = newBuilder(View{Name: "many kinds"})
	for i := range 400 {
		b.v.add(Node{Label: fmt.Sprint(i), Kind: Input})
	}
	kinds := b.view()
	jobs := []string{kinds.Mermaid(), crowded.Mermaid(), wide.Mermaid()}[:amount.Of(1, 3, 3)]
	for i, d := range mermaid(t, jobs...) {
		if len(jobs[i]) > mermaidChars {
			t.Errorf("drawing %d has %d characters", i, len(jobs[i]))
		}
		if d.Error != "" || len(d.Nodes) == 0 {
			t.Errorf("drawing %d: %d nodes: %s", i, len(d.Nodes), d.Error)
		}
	}
}

// Focus draws a call and what is near it; Depth says how near.
func TestFocusAndDepth(t *testing.T) {
	p, _ := compile(t, "large.yaml", layered(6, 4))
	v := FromPlan(p, nil, Options{Focus: []string{"c2_0"}})
	same(t, "nodes", nodes(v), []string{"call c2_0", "call c1_0", "call c1_1", "call c3_0", "call c3_3"})
	if len(v.Notes) != 1 || v.Notes[0] != `5 of 24 calls: those near "c2_0"` {
		t.Errorf("notes are %q", v.Notes)
	}
	if v = FromPlan(p, nil, Options{Focus: []string{"c2_0"}, Depth: 2}); len(v.Nodes) != 1+4+2+3+3 {
		t.Errorf("two steps reach %q", nodes(v))
	}
	if v = FromPlan(p, nil, Options{Focus: []string{"nobody"}}); len(v.Nodes) != 24 {
		t.Errorf("without such a call there are %d nodes and %q", len(v.Nodes), v.Notes)
	}
}

// Between draws the calls on the ways from one call to another, and says when there are none.
func TestBetween(t *testing.T) {
	p, _ := compile(t, "large.yaml", layered(6, 4))
	v := FromPlan(p, nil, Options{Between: [2]string{"c1_0", "c3_3"}})
	same(t, "nodes", nodes(v), []string{"call c1_0", "call c2_0", "call c2_3", "call c3_3"})
	if len(v.Notes) != 1 || v.Notes[0] != `4 of 24 calls: those between "c1_0" and "c3_3"` {
		t.Errorf("notes are %q", v.Notes)
	}
	if v = FromPlan(p, nil, Options{Between: [2]string{"c3_3", "c1_0"}}); len(v.Nodes) != 0 || !strings.Contains(strings.Join(v.Notes, "\n"), `"c1_0" doesn't wait for "c3_3"`) {
		t.Errorf("against the order there are %d nodes and %q", len(v.Nodes), v.Notes)
	}
}

// A box for many calls shows how many of them destroy and before how many a person is asked.
func TestFoldingKeepsEffects(t *testing.T) {
	text := "calls:\n" + strings.Repeat("  - {_tool: wipe}\n", 250) + strings.Repeat("  - {_tool: wipe, _confirm: true}\n", 150)
	p, _ := compile(t, "many.yaml", text+"activities: {wipe: {exec: {argv: [rm]}, annotations: {destructiveHint: true}}}\n")
	v := FromPlan(p, nil, Options{})
	if len(v.Nodes) != 1 || v.Nodes[0].signs() != "▲400 ↗400 ?150 " {
		t.Fatalf("%d nodes, the first with %q", len(v.Nodes), v.Nodes[0].signs())
	}
	for name, write := range Formats {
		if drawn := write(v); !strings.Contains(drawn, "destroys") {
			t.Errorf("%s says nothing of what destroys:\n%s", name, drawn)
		}
	}
}

// The condition of a branch is on the edge that enters it, and not on those inside.
func TestConditionsAreOnEdges(t *testing.T) {
	p, _ := compile(t, "branch.yaml", `
calls:
  - {_id: look, _tool: t, _outputPath: n}
  - {_id: one, _tool: t, _when: †state.n > 3, _outputPath: a}
  - {_id: two, _tool: t, _when: †state.n > 3, x: †state.a, _outputPath: b}
`)
	var got []string
	for _, e := range FromPlan(p, nil, Options{}).Edges {
		got = append(got, fmt.Sprintf("%d %d %s", e.From, e.To, e.When))
	}
	same(t, "edges", got, []string{"0 1 if n > 3", "0 2 ", "1 2 "})
}

// A run can be drawn in: Mark puts a status on a call.
func TestMark(t *testing.T) {
	p, _ := compile(t, "refund.yaml", refundPlan)
	v := FromPlan(p, nil, Options{})
	status := map[string]MarkKind{"findOrder#1": Done, "refund#2": Failed, "sendReceipt#3": Skipped, "apology": Running}
	for i := range v.Nodes {
		if kind := status[v.Nodes[i].Call]; kind != "" {
			v.Nodes[i].Mark(Mark{Kind: kind})
		}
	}
	draw(t, "run", v)
}

// An embedding program gets the view as a graph with its own algorithms.
func TestGraph(t *testing.T) {
	p, _ := compile(t, "refund.yaml", refundPlan)
	v := FromPlan(p, nil, Options{})
	g := v.Graph()
	if n, _ := g.Order(); n != len(v.Nodes) {
		t.Errorf("%d vertices of %d nodes", n, len(v.Nodes))
	}
	if n, _ := g.Size(); n != len(v.Edges) {
		t.Errorf("%d edges of %d", n, len(v.Edges))
	}
	for _, n := range v.Nodes {
		if got, err := g.Vertex(n.ID); err != nil || got.Label != n.Label {
			t.Errorf("vertex %q is %q, %v", n.ID, got.Label, err)
		}
	}
}

// LANGUAGE.md#documents: whatever a document holds, it is drawn without a panic, within
// bounds, and every line of its Mermaid has one of our forms.
func FuzzFromPlan(f *testing.F) {
	for _, s := range []string{refundPlan, faultyPlan, layered(3, 3), "- {_tool: a, x: †state.b, _outputPath: 'b && c || d'}", "calls: [{_tool: \"\\\"<\", _id: \"a\\nb\", _when: †input.x, _instance: end}]"} {
		f.Add(s, uint8(0), "")
		f.Add(s, uint8(3), "a")
	}
	f.Fuzz(func(t *testing.T, text string, options uint8, focus string) {
		p, found := compile(t, "plan.yaml", text)
		v := FromPlan(p, found, Options{Depth: int(options >> 1 & 3), Focus: []string{focus}, MaxNodes: int(options >> 3)})
		tokenKinds(t, v.DOT())
		noneOverlap(t, v, readSVG(t, v.SVG()))
		for _, line := range strings.Split(strings.TrimSuffix(v.Mermaid(), "\n"), "\n") {
			if !mermaidLine.MatchString(line) {
				t.Fatalf("breaks out: %s", line)
			}
		}
	})
}

// LANGUAGE.md#calls: a call that runs for each item of a list is one node, which says so; what it reads of
// an item comes from no other node.
func TestEach(t *testing.T) {
	p, _ := compile(t, "each.yaml", `
calls:
  - {_tool: list, _outputPath: †state.pages}
  - {_tool: fetch, _each: †state.pages, _when: †item.size > 3, url: †item.url, at: †index, _outputPath: †state.texts}
output: †state.texts
`)
	v := FromPlan(p, nil, Options{})
	same(t, "edges", edges(v), []string{"list#1 -data-> fetch#2: †state.pages", "fetch#2 -data-> output: †state.texts"})
	at := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Call == "fetch#2" })
	for _, want := range []string{"\nfor each of †state.pages", "†item.size > 3"} {
		if !strings.Contains(v.Nodes[at].Detail, want) {
			t.Errorf("it says %q, want %q", v.Nodes[at].Detail, want)
		}
	}
}
