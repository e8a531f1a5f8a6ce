package dot

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
)

func (d *drawing) drawCalls(l level) {
	d.shown = slices.Repeat([]int{-1}, len(d.plan.Calls))
	for _, calls := range d.groups(l) {
		var n Node
		if len(calls) == 1 {
			n = d.callNode(d.plan.Calls[calls[0]])
		} else {
			n = d.groupNode(calls)
		}
		at := d.b.v.add(n)
		for _, i := range calls {
			d.shown[i] = at
		}
	}
}

func (d *drawing) callNode(c *plan.Call) Node {
	n := Node{Kind: Call, Call: c.Name, Label: diag.Escape(c.Name), Frame: frameOf(c), Count: 1,
		Calls: []string{c.Name}, Marks: d.marks(c, d.facts(c)),
		Repeats: d.repeats(c)}
	switch {
	case c.Latent() && has(n.Marks, Answers):
		n.Kind = Latent
	case len(c.Output) == 0:
		n.Kind = Effect
	}
	return n
}

// findEntrances chooses, for each call with a condition, the edge that shows it: that of the last of the values
// that the condition reads. Where the call needs a value of another with the same condition, it is shown there.
func (d *drawing) findEntrances() {
	d.entrances = map[int]string{}
	for _, c := range d.plan.Calls {
		if c.When == nil || c.When.Node == nil {
			continue
		}
		same := func(read int) bool {
			r := &d.plan.Reads[read]
			if !r.Ref.Required || len(r.Writers) != 1 {
				return false
			}
			when := d.plan.Calls[r.Writers[0]].When
			return when != nil && when.Node != nil && when.Node.Text == c.When.Node.Text
		}
		of, found := -1, slices.ContainsFunc(c.Reads, same)
		for e := range c.When.Expressions() {
			for _, read := range e.Reads {
				if !compiler.ReadsItem(d.plan, &d.plan.Reads[read]) {
					of = read
				}
			}
		}
		if of < 0 && len(c.Reads) > 0 {
			of = c.Reads[0]
		}
		if of >= 0 && !found {
			text := diag.Escape(compiler.Redact(d.plan, c.When.Node.Text)) // without what most references begin with
			d.entrances[of] = "if " +
				shorten(strings.NewReplacer("†state.", "", "(state.", "(", " state.", " ", "†", "").
					Replace(text), 3*maxLabel)
		}
	}
}

// marks are what a call may do to the world.
func (d *drawing) marks(c *plan.Call, fact *facts.Call) (marks []Mark) {
	if c.Latent() && c.Produced == nil && c.Tool != nil {
		marks = addMark(marks, Mark{Kind: Answers})
	}
	if c.Confirm {
		marks = addMark(marks, Mark{Kind: Asks})
	}
	for _, m := range d.marksWithin(d.plan.Delegates[c.Delegate]) {
		marks = addMark(marks, m)
	}
	if a := d.plan.Activities[c.Activity]; a == nil || kinds.IsPure(a) || c.Delegate != "" {
		return marks
	}
	kind := map[string]MarkKind{effects.Destructive: Destructive, effects.Writes: Writes,
		effects.Unknown: UnknownEffect}[fact.Effect.Kind]
	if kind != "" {
		marks = addMark(marks, Mark{Kind: kind})
	}
	if fact.Leaves() {
		marks = addMark(marks, Mark{Kind: Leaves})
	}
	return marks
}

// marksWithin is what the calls of a delegate may do, and those of its own delegates.
func (d *drawing) marksWithin(p *plan.Plan) []Mark {
	marks, known := d.within[p]
	if p != nil && !known {
		d.within[p] = nil // of a plan that runs itself
		inner := &drawing{plan: p, facts: facts.OfCalls(p), within: d.within}
		for _, c := range p.Calls {
			for _, m := range inner.marks(c, inner.facts(c)) {
				marks = addMark(marks, Mark{Kind: m.Kind})
			}
		}
		d.within[p] = marks
	}
	return marks
}

// repeats reports whether a call runs for each of several items or instances.
func (d *drawing) repeats(c *plan.Call) bool {
	return c.Each != nil || c.Instance == "" && (len(d.plan.Instances) > 0 || d.plan.AwaitsInstances)
}

// frameOf is the frame of a call that is for one instance.
func frameOf(c *plan.Call) string {
	if c.Instance == "" {
		return ""
	}
	return "instance " + diag.Escape(c.Instance)
}
