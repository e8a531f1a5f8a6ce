package dot

import (
	"slices"
	"strings"
)

// A LegendEntry explains one sign that a drawing uses: the look of a kind of node
// or of edge, of what repeats or can be done without, or the border of a mark. One of the
// five is set.
type LegendEntry struct {
	Node     Kind
	Edge     EdgeKind
	Mark     MarkKind
	Repeats  bool
	Optional bool
	Look     string // in words, for formats that draw no sample
	Words    string // what it means
}

// String is the entry in words. What is a word in the drawing itself has no look.
func (e LegendEntry) String() string { return strings.TrimPrefix(e.Look+": "+e.Words, ": ") }

// signs are all that there is to explain, in the order in which it is explained.
// What says of itself what it is, such as a finding's code, isn't among it.
var signs = []LegendEntry{
	{Node: Effect, Look: "teal box", Words: "a call whose result nothing takes: it runs for what it does"},
	{Node: Latent, Look: "violet box", Words: "a call whose result a model makes up: what it reads goes to the model"},
	{Node: Folded, Look: "double box", Words: "several calls, drawn as one"},
	{Repeats: true, Look: "stacked box", Words: "a call that runs once for each of several items or instances"},
	{Node: Path, Look: "white box", Words: "a path of the state, as its readers see it"},
	{Node: Missing, Look: "dashed box", Words: "a path that is read and nothing writes"},
	{Edge: Data, Look: "line", Words: "a value: of the path beside it"},
	{Edge: Write, Look: "thick line", Words: "a call writes the path; thin lines read it"},
	{Edge: Failure, Look: "dashed red line", Words: "only if the call that it comes from fails or is rejected, or chooses that path"},
	{Optional: true, Look: "open arrowhead", Words: "a value that can be done without, or that another takes the place of"},
	{Edge: After, Look: "dashed line", Words: "no value, but only if the call that it comes from is done: else this one is skipped"},
	{Edge: Order, Look: "dotted line", Words: "only the order (once settled, or as listed): once the call that it comes from has ended, however it does"},
	{Edge: Once, Look: "dotted line", Words: "unless it wrote: only if the call that it comes from has written nothing there: the first that does is taken"},
	{Mark: Critical, Look: "blue outline", Words: "on the critical path: what the shortest time of the whole hangs on"},
	{Mark: Destructive, Look: "red outline", Words: "destroys: what the call does can't be undone, or puts something in the place of another"},
	{Mark: UnknownEffect, Look: "amber outline", Words: "effect unknown: nobody whose word counts says what the call does, so that it may destroy, too"},
	{Mark: Leaves, Words: "may leave the machine: what the call is given; nobody whose word counts says that it stays"},
}

// Legend explains the signs that the view uses, and no others. A view that only
// has calls and the values that they read explains itself.
func (v View) Legend() []LegendEntry {
	var used []LegendEntry
	node := func(uses func(n Node) bool) bool { return slices.ContainsFunc(v.Nodes, uses) }
	edge := func(uses func(e Edge) bool) bool { return slices.ContainsFunc(v.Edges, uses) }
	for _, sign := range signs {
		var there bool
		switch {
		case sign.Node != "":
			there = node(func(n Node) bool { return n.Kind == sign.Node })
		case sign.Repeats:
			there = node(func(n Node) bool { return n.Repeats })
		case sign.Optional:
			there = edge(func(e Edge) bool { return e.Optional })
		case sign.Edge == Data: // beside other lines it is to be told from them
			there = edge(func(e Edge) bool { return e.Kind == Data }) && edge(func(e Edge) bool { return e.Kind != Data }) && !edge(func(e Edge) bool { return e.Kind == Write })
		case sign.Edge != "":
			there = edge(func(e Edge) bool { return e.Kind == sign.Edge })
		default:
			there = node(func(n Node) bool { return has(n.Marks, sign.Mark) })
		}
		if sign.Mark == Destructive || sign.Mark == UnknownEffect {
			if node(func(n Node) bool {
				o := outline(n.Marks, true)
				return len(o) > 0 && !slices.Contains(effects, o[0].Kind)
			}) {
				sign.Look = "" // outlines say what became of calls here, and words what they do
			}
		}
		if there {
			used = append(used, sign)
		}
	}
	return used
}
