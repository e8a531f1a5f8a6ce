package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// subjects reads one or several, and reports those that mean nothing.
func (r *reader) subjects(n *source.Node) (all []Subject) {
	if n == nil {
		return nil
	}
	for _, item := range n.Several() {
		if s, ok := r.subject(item); ok {
			all = append(all, s)
		}
	}
	return all
}

func (r *reader) subject(n *source.Node) (Subject, bool) {
	s, ok := subject(n)
	if s.Tool != "" {
		r.names(n)
	}
	if !ok {
		r.Report(diag.WrongType, n.Span(), "there is no %q", n.Text).
			Advise("write a tool's name, effect: with %s, or label: with untrusted, private, secret",
				strings.Join(effects, ", "))
	}
	return s, ok
}

func (r *reader) requires(n *source.Node, rule Rule) trial {
	one := Requires{rule, r.subjects(n.Get("tool")), map[string]Said{}}
	for _, f := range n.Get("requires").Fields {
		one.Parameters[f.Key.Text] = saidOf(f.Value)
		for _, tool := range one.Tools {
			r.namesParameter(tool.Tool, f.Key)
		}
	}
	if slices.ContainsFunc(one.Tools, func(s Subject) bool { return s.Label != Label{} }) {
		r.Report(diag.WrongType, n.Get("tool").Span(), "the tools of %q are named by a label", rule.Name).
			Advise("name tools or effects")
		return nil
	}
	r.policy.Requires = append(r.policy.Requires, one)
	return func(example *source.Node) (string, *source.Node, bool) {
		applies := false
		for _, f := range example.Fields {
			most, ok := one.Of(f.Key.Text)
			applies = applies || ok
			if label := saidOf(f.Value).Over(Label{}); ok && !label.Within(most.Most()) {
				return fmt.Sprintf("%q is %s and may at most be %s", f.Key.Text, label, most.Most()), f.Value, true
			}
		}
		return "", nil, applies
	}
}

func (r *reader) bounds(n *source.Node, rule Rule) trial {
	one := Bounds{Rule: rule}
	sound := true
	for _, tool := range n.Get("bounds").Fields {
		if s, _ := subject(tool.Key); s.Tool == "" {
			sound = false
			r.Report(diag.WrongType, tool.Key.Span(), "bounds are of single tools, and %q is none", tool.Key.Text).
				Advise("name each tool")
		}
		r.names(tool.Key)
		for _, p := range tool.Value.Fields {
			s := r.schema(p.Value, p.Key.Text)
			sound = sound && s != nil
			r.namesParameter(tool.Key.Text, p.Key)
			one.All = append(one.All, Bound{tool.Key.Text, p.Key.Text, p.Value, s})
		}
	}
	if !sound {
		return nil
	}
	r.policy.Bounds = append(r.policy.Bounds, one)
	return func(example *source.Node) (string, *source.Node, bool) {
		applies := false
		for _, tool := range example.Fields {
			isTool := func(name string) bool { return name == tool.Key.Text }
			applies = applies || slices.ContainsFunc(one.All, func(b Bound) bool {
				return isTool(b.Tool) && tool.Value.Get(b.Parameter) != nil
			})
			parameters, _ := tool.Value.Value().(map[string]any)
			if bound, why := one.Refuses(isTool, parameters, &r.tried); why != nil {
				return fmt.Sprintf("%q: %s", bound.Parameter, why.Error()), tool.Value.Get(bound.Parameter), true
			}
		}
		return "", nil, applies
	}
}

// schema reads a JSON Schema; format counts in it, since a bound is there to be kept.
func (r *reader) schema(n *source.Node, what string) *schema.Schema {
	s := schema.New(n.Value(), schema.Options{AssertFormat: true})
	if err := s.Compile(); err != nil {
		at := n
		if bad, ok := err.(*schema.SchemaError); ok {
			at = n.Follow(bad.Path)
		}
		r.Report(diag.BadSchema, at.Span(), "the schema of %q isn't a valid JSON Schema: %s", what, err)
		return nil
	}
	return s
}

func (r *reader) only(n *source.Node, rule Rule) trial {
	one := Only{Rule: rule}
	for _, item := range n.Get("only").Items {
		one.Tools = append(one.Tools, item.Text)
		r.names(item)
	}
	r.policy.Only = append(r.policy.Only, one)
	return func(example *source.Node) (string, *source.Node, bool) {
		if one.Allows(example.Text) {
			return "", nil, true
		}
		return fmt.Sprintf("%q isn't among the tools that there may be", example.Text), example, true
	}
}

func (r *reader) orders(n *source.Node, rule Rule) trial {
	var all []Order
	for _, f := range n.Get("order").Fields {
		s, ok := r.subject(f.Key)
		one := Order{Rule: rule, Subject: s, OnlyAfter: r.subjects(f.Value.Get("only-after")),
			NeverAfter: r.subjects(f.Value.Get("never-after")), AtMost: -1, Per: f.Value.Get("per").AsText()}
		if per := f.Value.Get("per"); per != nil {
			r.namesParameter(s.Tool, per)
		}
		if most := f.Value.Get("at-most"); most != nil {
			one.AtMost = int(min(most.Float(), 1<<30))
		}
		if ok {
			all = append(all, one)
		}
	}
	r.policy.Orders = append(r.policy.Orders, all...)
	return func(example *source.Node) (string, *source.Node, bool) {
		steps := make([]Step, 0, len(example.Items))
		for _, item := range example.Items {
			steps = append(steps, r.step(item))
		}
		applies := false
		for i := range all {
			applies = applies || slices.ContainsFunc(steps, all[i].Subject.Meets)
			if at := all[i].Refuses(steps); at >= 0 {
				return fmt.Sprintf("%q can't be number %d", all[i].Subject.Text, at+1), example.Items[at], true
			}
		}
		return "", nil, applies
	}
}

// step reads a call of an example: a tool, one with its parameters, or any of an effect
// or a label.
func (r *reader) step(n *source.Node) Step {
	if n.Kind == source.Object {
		parameters, _ := n.Fields[0].Value.Value().(map[string]any)
		return Step{Tool: n.Fields[0].Key.Text, Effects: r.effectsOf(n.Fields[0].Key.Text), Parameters: parameters}
	}
	s, _ := subject(n)
	return Step{Tool: s.Tool, Effects: s.Effects | r.effectsOf(s.Tool), Label: s.Label}
}

func (r *reader) effectsOf(tool string) Effects {
	for _, t := range r.policy.Tools {
		if t.Name == tool && t.Effects != nil {
			return *t.Effects
		}
	}
	return 0
}

func (r *reader) endorse(n *source.Node, rule Rule) trial {
	of := n.Get("endorse")
	one := Endorse{Rule: rule, Tool: of.Get("tool").Text, Parameter: of.Get("parameter").AsText(),
		Person: of.Get("person") != nil}
	r.names(of.Get("tool"))
	if n := of.Get("parameter"); n != nil {
		r.namesParameter(one.Tool, n)
	}
	if output := of.Get("output").AsText(); output != "" {
		ref, err := reference.Parse(string(reference.Mark) + output)
		if err != nil {
			r.Report(diag.WrongType, of.Get("output").Span(), "%q isn't a part of a result: %s", output, err.Message).
				Advise("write the keys that lead to it, joined with dots")
			return nil
		}
		one.Output = append([]reference.Segment{{Key: ref.Kind}}, ref.Path...)
	}
	if as := of.Get("as"); as != nil {
		if one.As = r.schema(as, "as"); one.As == nil {
			return nil
		}
	}
	r.policy.Endorse = append(r.policy.Endorse, one)
	return func(example *source.Node) (string, *source.Node, bool) {
		switch {
		case one.Person && example.AsText() != one.Parameter:
			return fmt.Sprintf("a person is shown %q", one.Parameter), example, true
		case one.Person:
			return "", nil, true
		}
		if why := one.As.ValidateWithin(example.Value(), &r.tried); why != nil {
			return why.Error(), example, true
		}
		return "", nil, true
	}
}

// Live is what ticks of a run have left behind for the next: what was ever
// written to each path, and what the model that writes the next calls is shown.
type Live struct {
	Values []LiveValue
	Seen   Label
	From   string // what is the worst of it, in words
	// Started is, for each thing that orders ask for, how often what counts for it has
	// happened; in a run over instances, in the one in which it happened most often.
	Started []int

	at map[string]int // of values, by their paths as they are written
}

// A LiveValue is the join of all that was ever written to a path.
type LiveValue struct {
	Path  []expression.Segment // its kind first
	Label Label
	From  string // which call made it so
}

// Clone returns a copy that can be extended.
func (l *Live) Clone() *Live {
	return &Live{slices.Clone(l.Values), l.Seen, l.From, l.Started, maps.Clone(l.at)}
}

// Write notes what a call writes to a path.
func (l *Live) Write(path []expression.Segment, of Label, from string) {
	key := expression.Reference{Kind: path[0].Key, Path: path[1:]}.String()
	at, known := l.at[key]
	switch {
	case of == Label{}:
	case !known:
		if l.at == nil {
			l.at = map[string]int{}
		}
		l.at[key] = len(l.Values)
		l.Values = append(l.Values, LiveValue{path, of, from})
	case !of.Within(l.Values[at].Label):
		l.Values[at].Label, l.Values[at].From = l.Values[at].Label.Join(of), from
	}
}

// See notes what the model that writes the next calls is shown.
func (l *Live) See(of Label, from string) {
	if !of.Within(l.Seen) {
		l.Seen, l.From = l.Seen.Join(of), from
	}
}
