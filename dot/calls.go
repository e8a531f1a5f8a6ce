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
	"github.com/obelus-dev/obelus/compiler/wording"
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
	n := Node{Kind: Call, Call: c.Name, Label: diag.Escape(c.Name),
		Frame: frameOf(c), Count: 1, Calls: []string{c.Name}}
	fact := d.facts(c)
	harmless, marks := d.effect(c, fact)
	latent := c.Latent() && has(marks, Answers)
	switch n.Marks = marks; {
	case latent:
		n.Kind = Latent
	case len(c.Output) == 0:
		n.Kind = Effect
	}
	var detail, tooltip []string
	if c.ID != "" && c.ID != c.ToolName {
		detail = append(detail, diag.Escape(c.ToolName))
	}
	switch {
	case latent:
		detail = append(detail, "leaves to it: "+seen(fact))
	case c.Produced != nil:
		detail = append(detail, "nothing runs: its result is given")
	case fact.Runs.Kind == "expr":
		detail = append(detail, "computes "+diag.Escape(shorten(fact.Runs.Text, maxTip)))
	case !c.Latent():
		detail = append(detail, "runs "+diag.Escape(shorten(fact.Runs.Destination(), maxTip)))
	}
	detail = append(detail, harmless...)
	if c.Each != nil {
		detail = append(detail, "for each of "+diag.Escape(compiler.Redact(d.plan, shorten(c.Each.Text(), maxTip))))
	}
	if c.When != nil && c.When.Node != nil {
		detail = append(detail, "when "+diag.Escape(compiler.Redact(d.plan, c.When.Node.Text)))
	}
	if c.Tool != nil && c.Tool.Description != "" {
		tooltip = append(tooltip, diag.Escape(c.Tool.Description))
	}
	if c.Reason != "" {
		tooltip = append(tooltip, diag.Escape(compiler.Redact(d.plan, c.Reason)))
	}
	words := inEvery(d.plan)
	if words != "" && c.Instance == "" {
		detail = append(detail, words)
	}
	if d.options.Detail {
		for _, value := range fact.Values {
			detail = append(detail, diag.Escape(value.Path+": "+shorten(value.String(), 3*maxDetail)))
		}
	}
	n.Repeats = c.Each != nil || words != "" && c.Instance == ""
	n.Detail, n.Tooltip = strings.Join(detail, "\n"), strings.Join(tooltip, "\n")
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

// seen is what a model is handed that answers a call.
func seen(fact *facts.Call) string {
	all := []string{"its parameters"}
	for _, s := range fact.Context {
		if s.Path == facts.OtherKinds {
			s.Path = "all other data"
		}
		all = append(all, diag.Escape(s.Path))
	}
	return strings.Join(all, ", ")
}

// effect is what a call may do to the world, and who declares it: as marks, or in words
// that it changes nothing.
func (d *drawing) effect(c *plan.Call, fact *facts.Call) (words []string, marks []Mark) {
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
		return nil, marks
	}
	declared := diag.Escape(fact.Effect.String())
	kind, harmful := map[string]MarkKind{effects.Destructive: Destructive, effects.Writes: Writes,
		effects.Unknown: UnknownEffect}[fact.Effect.Kind]
	if !harmful {
		words = append(words, declared)
	} else {
		at := strings.IndexAny(declared+";", ",;")
		marks = addMark(marks, Mark{Kind: kind, Code: declared[at:]})
	}
	if fact.Leaves() {
		marks = addMark(marks, Mark{Kind: Leaves})
	}
	return words, marks
}

// marksWithin is what the calls of a delegate may do, and those of its own delegates.
func (d *drawing) marksWithin(p *plan.Plan) []Mark {
	marks, known := d.within[p]
	if p != nil && !known {
		d.within[p] = nil // of a plan that runs itself
		inner := &drawing{plan: p, facts: facts.OfCalls(p), within: d.within}
		for _, c := range p.Calls {
			_, all := inner.effect(c, inner.facts(c))
			for _, m := range all {
				marks = addMark(marks, Mark{Kind: m.Kind})
			}
		}
		d.within[p] = marks
	}
	return marks
}

// inEvery says for how many instances a call is run that names none.
func inEvery(p *plan.Plan) string {
	switch {
	case len(p.Instances) > 0:
		return "for each of " + wording.Count(len(p.Instances), "instance")
	case p.AwaitsInstances:
		return "for each instance"
	}
	return ""
}

// frameOf is the frame of a call that is for one instance.
func frameOf(c *plan.Call) string {
	if c.Instance == "" {
		return ""
	}
	return "instance " + diag.Escape(c.Instance)
}
