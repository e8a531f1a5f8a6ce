package dot

import "slices"

// A LegendEntry explains one sign that a drawing uses.
type LegendEntry struct {
	Of    any    // a Kind, an EdgeKind, a MarkKind, or the sign of what repeats
	Look  string // its sign, or how it looks in words
	Words string // what it means
}

// String is the entry in words.
func (e LegendEntry) String() string { return e.Look + ": " + e.Words }

// legend is all that there is to explain, in the order in which it is explained.
// What says of itself what it is, such as a finding's code, isn't among it.
var legend = []LegendEntry{
	{Destructive, "▲", "destroys: what the call does can't be undone, or replaces something"},
	{UnknownEffect, "△",
		"effect unknown: no trusted source declares what the call does, so it may destroy"},
	{Leaves, "↗", "may leave the machine: the values of the call"},
	{Asks, "?", "a person is asked before the call"},
	{Answers, "✦", "a model answers: what the call reads goes to the model"},
	{Added, "+", "only in the new plan"},
	{Removed, "−", "only in the old plan"},
	{Changed, "±", "other values, conditions or effects than in the old plan"},
	{Effect, "teal box", "a call whose result nothing reads"},
	{Folded, "double box", "several calls, drawn as one"},
	{repeats, repeats, "a call that runs once for each of several items or instances"},
	{Missing, "dashed box", "a path that is read and nothing writes"},
	{Data, "line", "a value"},
	{Failure, "dashed amber line", "only if the call fails, is rejected, or chooses that path"},
	{After, "dashed line", "no value; runs only if the call is done"},
	{Order, "dotted line", "only the order; runs however the call ends"},
	{Once, "dotted line", "runs only if the call wrote nothing there"},
}

// Legend explains the signs that the view uses, and no others. A view that only
// has calls and the values that they read explains itself.
func (v View) Legend() []LegendEntry {
	used, others := map[any]bool{}, false
	for _, n := range v.Nodes {
		used[n.Kind], used[repeats] = true, used[repeats] || n.Repeats
		for _, m := range n.Marks {
			used[m.Kind] = true
		}
	}
	for _, e := range v.Edges {
		used[e.Kind] = true
		others = others || e.Kind != Data
	}
	used[Data] = used[Data] && others // beside other lines it is to be told from them
	return slices.DeleteFunc(slices.Clone(legend), func(e LegendEntry) bool { return !used[e.Of] })
}
