// Package dot draws plans. A [View] is what is drawn: nodes, edges, and marks
// on both, with no word about any format. [FromPlan] makes one of a plan;
// [Formats] lists the formats that it is written in, each with the one escaper that it needs, so that nothing in a plan
// can break out of a label. The same view always gives the same bytes.
package dot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
)

// A View is a drawing before it has a format.
type View struct {
	Name  string
	Nodes []Node
	Edges []Edge
	// Detail shows in the boxes and on the edges what is otherwise shown on hover.
	Detail bool
	Notes  []string // what the reader should know of the whole: what was folded, which findings have no place
}

// A Node is a box of the drawing.
type Node struct {
	ID      string // n0, n1, …: never anything from the plan
	Label   string // what it is called; a line each
	Detail  string // smaller, below; a line each
	State   string // why it ended so, in a run; shown below the name, a line each
	Kind    Kind
	Frame   string   // the name of the frame that it is in; "" for none
	Call    string   // the call's name; "" when it isn't one call
	Calls   []string // the names of the calls that it represents
	Count   int      // how many calls it represents; 0 when it isn't calls
	Repeats bool     // it represents a call that runs once for each of several items or instances
	Marks   []Mark
}

// Kind is what a node represents.
type Kind string

// The kinds of node.
const (
	Call    Kind = "call"
	Effect  Kind = "effect"  // a call without output: run for what it does
	Latent  Kind = "latent"  // a call whose result a model produces
	Folded  Kind = "folded"  // several calls in one
	Input   Kind = "input"   // the plan's input
	Initial Kind = "initial" // what is there from the start: initial state, data of a context
	Missing Kind = "missing" // a path that is read and nothing writes
	Output  Kind = "output"  // the plan's output
)

// An Edge leads from what happens first to what waits for it.
type Edge struct {
	From, To int    // indexes of View.Nodes
	Label    string // the paths read; a line each
	When     string // the condition of the branch that it leads into; a line each
	Kind     EdgeKind
	Marks    []Mark

	further int // how many more paths the last line of Label counts
}

// EdgeKind is why one node waits for another.
type EdgeKind string

// The kinds of edge.
const (
	Data    EdgeKind = "data"    // a value is read
	After   EdgeKind = "after"   // no value, but only if the call is done: _after
	Order   EdgeKind = "order"   // only the order, however the call ends: _after with settled, or as listed
	Once    EdgeKind = "once"    // only if the call hasn't written: who is tried first under the policy once
	Failure EdgeKind = "failure" // what is read is there only when the writer failed
)

// A Mark is something to say about a node or an edge: a finding, how far a run got,
// or what became of it.
type Mark struct {
	Kind  MarkKind
	Code  string // of a finding; other effects of what changed; "" otherwise
	Text  string // the message of the first one
	Count int    // how many marks of this kind and code it represents; 0 counts as 1
}

// add adds a node, gives it its id and returns its index.
func (v *View) add(n Node) int {
	n.ID = "n" + strconv.Itoa(len(v.Nodes))
	v.Nodes = append(v.Nodes, n)
	return len(v.Nodes) - 1
}

// Mark puts a mark on a node.
func (n *Node) Mark(m Mark) { n.Marks = addMark(n.Marks, m) }

// Card notes what a reviewer needs first ([facts.Facts.Card]) above the drawing of a plan.
func (v *View) Card(f *facts.Facts) {
	card := strings.TrimPrefix(f.Card("", nil).Text(false), cmp.Or(v.Name, "plan"))
	card = strings.NewReplacer("\n    ", "\n· ", "✋", "?").Replace(strings.TrimSpace(strings.TrimPrefix(card, ":")))
	v.Notes = append(strings.Split(card, "\n"), v.Notes...)
}

// addMark keeps marks in the order of [signs], then by code, each kind and code once.
func addMark(marks []Mark, m Mark) []Mark {
	m.Count = max(1, m.Count)
	at := 0
	for ; at < len(marks); at++ {
		order := cmp.Or(cmp.Compare(m.Kind.rank(), marks[at].Kind.rank()), cmp.Compare(m.Code, marks[at].Code))
		if order == 0 {
			marks[at].Count += m.Count
			return marks
		} else if order < 0 {
			break
		}
	}
	return slices.Insert(marks, at, m)
}

// Formats are those that views are written in, by name.
var Formats = map[string]func(View) string{"dot": View.DOT, "mermaid": View.Mermaid, "svg": View.SVG, "text": View.Text}

// has reports whether there is a mark of one of these kinds.
func has(marks []Mark, kinds ...MarkKind) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return slices.Contains(kinds, m.Kind) })
}
