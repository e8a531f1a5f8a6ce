package dot

import (
	"slices"
	"strings"
)

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
	used, hasRoutes := map[any]bool{}, false
	for _, n := range v.Nodes {
		used[n.Kind], used[repeats] = true, used[repeats] || n.Repeats
		for _, m := range n.Marks {
			used[m.Kind] = true
		}
	}
	for _, e := range v.Edges {
		used[e.Kind] = true
		hasRoutes = hasRoutes || e.Kind != Data
	}
	used[Data] = used[Data] && hasRoutes // beside other lines it is to be told from them
	return slices.DeleteFunc(slices.Clone(legend), func(e LegendEntry) bool { return !used[e.Of] })
}

// The colours are quiet ones that keep their contrast on white and in print;
// what matters is always said in words, by signs, or by dashes, too. Red is for danger alone.
const (
	ink        = "#24292f"
	muted      = "#59636e"
	line       = "#8c959f"
	dangerFill = "#fbdad5"
	caution    = "#9a6700"
	frameLine  = "#afb8c1"
)

// A paint is how a kind of node looks: its colours, and how round its corners are.
type paint struct {
	fill, border, text string
	round              int
}

var paints = map[Kind]paint{
	Call:    {"#f6f8fa", "#8c959f", ink, 5},
	Effect:  {"#eaf7f5", "#5a9f97", ink, 0},
	Latent:  {"#f7f2fd", "#9a7fd1", ink, 12},
	Folded:  {"#eaeef2", "#6e7781", ink, 5},
	Input:   {"#eaf4ff", "#6ea8dc", ink, 15},
	Initial: {"#eaf4ff", "#6ea8dc", ink, 15},
	Missing: {"#ffffff", "#8c959f", muted, 5},
	Output:  {"#ebf8ee", "#68b37c", ink, 15},
}

// A tone is a colour that says how grave something is.
type tone struct{ name, colour string }

var tones = []tone{{"danger", "#b42318"}, {"caution", caution}, {"fine", "#1a7f37"}, {"working", "#0969da"},
	{"differs", "#8250df"}, {"quiet", muted}}

// tone is the colour of a mark.
func (k MarkKind) tone() tone {
	switch k {
	case Destructive:
		return tones[0]
	case Error, Failed, Rejected, Cancelled, Warning, Writes, Leaves, Asks, UnknownEffect:
		return tones[1]
	case Done:
		return tones[2]
	case Running:
		return tones[3]
	case Added, Removed, Changed:
		return tones[4]
	}
	return tones[5]
}

// frames are the names of the frames of the view, and by node which is its own; the first has no name and isn't drawn.
func (v *View) frames() (names []string, of []int) {
	names = []string{""}
	for _, n := range v.Nodes {
		at := slices.Index(names, n.Frame)
		if at < 0 {
			at = len(names)
			names = append(names, n.Frame)
		}
		of = append(of, at)
	}
	return names, of
}

// framed writes the nodes of the view, a line each, within their frames.
func (v *View) framed(b *strings.Builder, box func(*Node) string, begin func(number int, name string) string,
	end string) {
	names, of := v.frames()
	for number, name := range names {
		indent := "  "
		if number > 0 {
			b.WriteString(indent + begin(number, name) + "\n")
			indent = "    "
		}
		for i := range v.Nodes {
			if of[i] == number {
				b.WriteString(indent + box(&v.Nodes[i]) + "\n")
			}
		}
		if number > 0 {
			b.WriteString("  " + end + "\n")
		}
	}
}
