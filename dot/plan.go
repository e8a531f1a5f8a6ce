package dot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Options say what of a plan is drawn.
type Options struct {
	// Detail shows in the boxes and on the edges what is otherwise shown on hover.
	Detail bool
	// Focus draws only the calls of these names or _ids and what is near them, and Depth
	// is how many steps from the calls the drawing reaches; 0 is one step, and less is none.
	Focus []string
	Depth int
	// Between draws only two calls, by their names or _ids, and those on the ways from the first to the second.
	Between [2]string
	// MaxNodes and MaxEdges bound the drawing: past them calls of one tool and
	// layer are drawn as one, then layers, and a note says so. 0 is what
	// Mermaid takes, 300 and 450.
	MaxNodes, MaxEdges int
	// Scheme doesn't mark cycles: nobody is going to run what is drawn.
	Scheme bool
}

// maxSources is how many paths that nothing writes, and kinds of data, are drawn one by one.
const maxSources = 20

// FromPlan is the drawing of a plan, sound or not: calls, who waits for whom
// and for which path, the plan's input and output, paths that nothing writes,
// and findings at their calls. Findings about no call in particular are
// counted in a note. A plan too large for the options is folded.
func FromPlan(p *plan.Plan, findings []diag.Diagnostic, o Options) View {
	o.MaxNodes, o.MaxEdges = cmp.Or(o.MaxNodes, mermaidNodes), cmp.Or(o.MaxEdges, mermaidEdges)
	d := &drawing{plan: p, options: o, findings: findings, facts: facts.OfCalls(p), graph: &p.Graph,
		within: map[*plan.Plan][]Mark{}, byName: map[string]int{}}
	if p.Graph.Len() != len(p.Calls) { // it couldn't be made
		none := dag.Of(make([][]int32, len(p.Calls)))
		d.graph = &none
	}
	d.layer = layers(d.graph)
	for i, c := range slices.Backward(p.Calls) {
		d.byName[c.Name] = i // the first of a name
	}
	d.findEntrances()
	d.selectCalls()
	if len(p.Calls) == 0 {
		d.notes = append(d.notes, "no calls: nothing is planned yet")
	}
	coarse := levels
	if d.near == nil && len(p.Calls) > o.MaxNodes {
		coarse = levels[1:]
	}
	for {
		d.last = len(coarse) == 1
		v, fits := d.draw(coarse[0])
		if fits || d.last {
			return v
		}
		coarse = coarse[1:]
	}
}

// A drawing is the work on one view of a plan.
type drawing struct {
	plan     *plan.Plan
	options  Options
	findings []diag.Diagnostic
	facts    func(*plan.Call) *facts.Call
	within   map[*plan.Plan][]Mark // by delegate: what its calls may do
	graph    *dag.Graph
	// by read: the condition of its call where the edge of this read is the one that shows it
	entrances map[int]string
	near      map[int]bool // by call: it is drawn; nil when all are
	layer     []int32      // by call
	byName    map[string]int
	notes     []string
	last      bool // there is no coarser drawing: this one is taken as it is

	b       *builder
	shown   []int          // by call: its node, -1 when it isn't drawn
	sources map[string]int // the nodes of what no call writes
	output  int
}

// draw makes the view at one level of coarseness, and reports whether it is
// small enough. One of too many nodes or edges is given up before all edges are drawn,
// whose number may be the square of that of the calls.
func (d *drawing) draw(l level) (v View, fits bool) {
	d.b = newBuilder(View{Name: diag.Escape(d.plan.Name), Notes: d.notes, Detail: d.options.Detail})
	d.sources, d.output = map[string]int{}, -1

	d.drawCalls(l)
	if d.drawReads(); d.crowded() {
		return View{}, false
	}
	implied := d.drawOrder()
	d.drawFindings()

	v = d.b.view()
	if l.whose == "" && !d.options.Scheme {
		v = v.frameCycles()
	} else if l.whose != "" {
		v.Notes = append(v.Notes, fmt.Sprintf("%d calls: those of %s are drawn as one", len(d.plan.Calls), l.whose))
	}
	v = v.withoutImplied(implied)
	for i, at := range d.shown {
		if at >= 0 && v.Nodes[at].Call != "" {
			v.Nodes[at].Detail = strings.TrimSpace(d.facts(d.plan.Calls[i]).Rows().Text(false))
		}
	}
	return v, len(v.Nodes) <= d.options.MaxNodes && len(v.Edges) <= d.options.MaxEdges && v.passed() <= maxPassed
}

// crowded reports whether the drawing has too many nodes, or edges that values take, already,
// and a coarser one can be drawn instead.
func (d *drawing) crowded() bool {
	return !d.last && (len(d.b.v.Nodes) > d.options.MaxNodes || len(d.b.v.Edges) > d.options.MaxEdges)
}

func (d *drawing) drawReads() {
	for i := range d.plan.Reads {
		if d.crowded() {
			return
		}
		r := &d.plan.Reads[i]
		reader := -1
		if r.Call >= 0 {
			if reader = d.shown[r.Call]; reader < 0 {
				continue
			}
		} else if d.near != nil && !slices.ContainsFunc(r.Writers, func(w int32) bool { return d.near[int(w)] }) {
			continue // the output's, of what isn't drawn
		} else {
			if d.output < 0 {
				d.output = d.b.v.add(Node{Kind: Output, Label: "output"})
			}
			reader = d.output
		}
		switch {
		case compiler.ReadsItem(d.plan, r):
		case len(r.Writers) == 0:
			d.drawUnbound(i, reader)
		default:
			label := d.named(r)
			for _, w := range r.Writers {
				if from := d.shown[w]; from >= 0 && from != reader {
					e := d.b.edge(from, reader, d.writeKind(int(w), r.Path))
					e.read(label)
					e.enters(d.entrances[i])
				}
			}
		}
	}
}

// writeKind is Failure when a call writes what overlaps a path only in its
// failure route.
func (d *drawing) writeKind(call int, path pathtree.ID) EdgeKind {
	c := d.plan.Calls[call]
	route := c.FailureRoute()
	if route < 0 {
		return Data
	}
	for i, alternative := range c.Output {
		if i != route && alternative.Overlaps(d.plan.Paths, path) {
			return Data
		}
	}
	return Failure
}

func (d *drawing) pathName(r *plan.Read) string {
	if r.Path <= pathtree.Root { // its kind is unknown
		return diag.Escape(r.Span().Text())
	}
	return diag.Escape(d.plan.Paths.String(r.Path))
}

// named is the path of a read, and whether its reader can do without.
func (d *drawing) named(r *plan.Read) string {
	if r.Ref.Required {
		return d.pathName(r)
	}
	return d.pathName(r) + " (if there)"
}

// drawUnbound draws a read that no call writes for: of the input, of what is
// there from the start, or of nothing.
func (d *drawing) drawUnbound(read, reader int) {
	r := &d.plan.Reads[read]
	n := Node{Kind: Initial, Label: diag.Escape(r.Ref.Kind)}
	switch {
	// its kind is unknown, or it is missing from the start in a document that is checked with its state
	case r.Path <= pathtree.Root || r.Ref.Kind == "state" && !r.Start && d.plan.Form != plan.Solution:
		if _, alone := slices.BinarySearch(d.graph.SelfCycles(), int32(r.Call)); alone {
			d.b.v.Nodes[reader].Mark(cycleMark) // it reads what it writes itself
			return
		}
		d.b.edge(d.source(Node{Kind: Missing, Label: d.pathName(r), Detail: "nothing writes it"}), reader, Data)
		return
	case r.Ref.Kind == "input":
		n.Kind = Input
	case r.Ref.Kind == "state":
		n.Label = "initial state"
	}
	e := d.b.edge(d.source(n), reader, Data)
	e.read(d.named(r))
	e.enters(d.entrances[read])
}

// source is the one node of its label; of too many it is that of the rest.
func (d *drawing) source(n Node) int {
	if _, drawn := d.sources[n.Label]; !drawn && len(d.sources) >= maxSources {
		n.Label = "more"
	}
	at, drawn := d.sources[n.Label]
	if !drawn {
		at = d.b.v.add(n)
		d.sources[n.Label] = at
	}
	return at
}

// drawOrder draws who waits for whom without reading from them. It tells which
// of these edges come from the write policy and may be dropped when they follow
// from others.
func (d *drawing) drawOrder() (implied map[int]bool) {
	implied = map[int]bool{}
	waited := make([]int, len(d.plan.Calls)) // by call: 1 + the last one that is drawn waiting for it
	for i, c := range d.plan.Calls {
		to := d.shown[i]
		if to < 0 {
			continue
		}
		for _, r := range c.Reads {
			for _, w := range d.plan.Reads[r].Writers {
				waited[w] = i + 1
			}
		}
		for _, a := range c.After {
			if from := d.shown[a.Call]; from >= 0 && from != to {
				kind, how := After, "only if done"
				if a.Settled {
					kind, how = Order, "once settled"
				}
				d.b.edge(from, to, kind).read(how)
			}
			waited[a.Call] = i + 1
		}
		for _, w := range d.graph.Deps(i) {
			from := d.shown[w]
			if waited[w] == i+1 || from < 0 || from == to || d.follows(from, int(w), to, i) {
				continue
			}
			before := len(d.b.v.Edges)
			kind, why := Once, "unless it wrote"
			if _, listed := slices.BinarySearch(c.Ordered, w); listed || d.plan.Writes != plan.Once {
				kind, why = Order, "as listed"
			}
			d.b.edge(from, to, kind).read(why)
			if len(d.b.v.Edges) > before {
				implied[before] = true
			}
		}
	}
	return implied
}

// follows reports whether it follows from other edges of the drawing that one call waits for
// another: the last that it waits for does, too. Then the square of their number isn't drawn
// first, and dropped.
func (d *drawing) follows(from, earlier, to, later int) bool {
	if !d.graph.Acyclic() {
		return false
	}
	deps := d.graph.Deps(later)
	between := int(deps[len(deps)-1])
	if at := d.shown[between]; at < 0 || at == from || at == to {
		return false
	}
	_, waits := slices.BinarySearch(d.graph.Deps(between), int32(earlier))
	return waits
}

// drawFindings marks the calls that errors and warnings are about, and notes how many are about none.
func (d *drawing) drawFindings() {
	unplaced := 0
	for _, f := range d.findings {
		if i, ok := d.byName[f.Call]; f.Severity == diag.Info {
			continue
		} else if f.Call == "" {
			unplaced++
		} else if ok && d.shown[i] >= 0 {
			d.b.v.Nodes[d.shown[i]].Mark(
				Mark{Kind: MarkKind(f.Severity.String()), Code: f.Rule.Code, Text: diag.Escape(f.Message)})
		}
	}
	if unplaced > 0 {
		d.b.v.Notes = append(d.b.v.Notes,
			wording.Count(unplaced, "finding")+" about no call in particular: see obelus check")
	}
}
