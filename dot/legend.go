package dot

// A LegendEntry explains one sign that a drawing uses: the look of a kind of node
// or of edge, of what repeats or can be done without, or the sign of a mark. One of the
// five is set.
type LegendEntry struct {
	Node     Kind
	Edge     EdgeKind
	Mark     MarkKind
	Repeats  bool
	Optional bool
	Look     string // its sign, or how it looks in words
	Words    string // what it means
}

// String is the entry in words.
func (e LegendEntry) String() string { return e.Look + ": " + e.Words }

// legend is all that there is to explain, in the order in which it is explained.
// What says of itself what it is, such as a finding's code, isn't among it.
var legend = []LegendEntry{
	{Mark: Destructive, Look: "▲", Words: "destroys: what the call does can't be undone, or replaces something"},
	{Mark: UnknownEffect, Look: "△",
		Words: "effect unknown: no trusted source declares what the call does, so it may destroy"},
	{Mark: Leaves, Look: "↗", Words: "may leave the machine: the values of the call"},
	{Mark: Asks, Look: "?", Words: "a person is asked before the call"},
	{Node: Latent, Look: modelSign, Words: "a model answers: what the call reads goes to the model"},
	{Mark: Added, Look: "+", Words: "only in the new plan"},
	{Mark: Removed, Look: "−", Words: "only in the old plan"},
	{Mark: Changed, Look: "±", Words: "other values, conditions or effects than in the old plan"},
	{Node: Effect, Look: "teal box", Words: "a call whose result nothing reads"},
	{Node: Folded, Look: "double box", Words: "several calls, drawn as one"},
	{Repeats: true, Look: "stacked box", Words: "a call that runs once for each of several items or instances"},
	{Node: Missing, Look: "dashed box", Words: "a path that is read and nothing writes"},
	{Edge: Data, Look: "line", Words: "a value"},
	{Edge: Failure, Look: "dashed amber line", Words: "only if the call fails, is rejected, or chooses that path"},
	{Optional: true, Look: "open arrowhead", Words: "an optional value"},
	{Edge: After, Look: "dashed line", Words: "no value; runs only if the call is done"},
	{Edge: Order, Look: "dotted line", Words: "only the order; runs however the call ends"},
	{Edge: Once, Look: "dotted line", Words: "runs only if the call wrote nothing there"},
}

// Legend explains the signs that the view uses, and no others. A view that only
// has calls and the values that they read explains itself.
func (v View) Legend() (entries []LegendEntry) {
	used := map[any]bool{}
	for _, n := range v.Nodes {
		used[n.Kind], used["repeats"] = true, used["repeats"] || n.Repeats
		for _, m := range n.Marks {
			used[m.Kind] = true
		}
	}
	for _, e := range v.Edges {
		used[e.Kind], used["optional"] = true, used["optional"] || e.Optional
		used["others"] = used["others"] || e.Kind != Data
	}
	used[Data] = used[Data] && used["others"] // beside other lines it is to be told from them
	for _, nothing := range []any{Kind(""), EdgeKind(""), MarkKind("")} {
		delete(used, nothing)
	}
	for _, e := range legend {
		if used[e.Node] || used[e.Edge] || used[e.Mark] || e.Repeats && used["repeats"] ||
			e.Optional && used["optional"] {
			entries = append(entries, e)
		}
	}
	return entries
}
