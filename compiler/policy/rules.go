package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
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
		r.names("", n)
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
			r.names(cmp.Or(tool.Tool, tool.Text), f.Key)
		}
	}
	if slices.ContainsFunc(one.Tools, func(s Subject) bool { return s.Label != Label{} }) {
		r.Report(diag.WrongType, n.Get("tool").Span(), "the tools of %q are named by a label", rule.Name).
			Advise("name tools or effects")
		return nil
	}
	r.policy.Requires = append(r.policy.Requires, one)
	return func(example *source.Node) (string, *source.Node) {
		for _, f := range example.Fields {
			most, _ := one.Of(f.Key.Text)
			if label := saidOf(f.Value).Over(Label{}); !label.Within(most.Most()) {
				return fmt.Sprintf("%q is %s and may at most be %s", f.Key.Text, label, most.Most()), f.Value
			}
		}
		return "", nil
	}
}

func (r *reader) bounds(n *source.Node, rule Rule) trial {
	var all []Bound
	sound := true
	for _, tool := range n.Get("bounds").Fields {
		if s, _ := subject(tool.Key); s.Tool == "" {
			sound = false
			r.Report(diag.WrongType, tool.Key.Span(), "bounds are of single tools, and %q is none", tool.Key.Text).
				Advise("name each tool")
		}
		r.names("", tool.Key)
		for _, p := range tool.Value.Fields {
			s := r.schema(p.Value, p.Key.Text)
			sound = sound && s != nil
			r.names(tool.Key.Text, p.Key)
			all = append(all, Bound{rule, tool.Key.Text, p.Key.Text, p.Value, s})
		}
	}
	if !sound {
		return nil
	}
	r.policy.Bounds = append(r.policy.Bounds, all...)
	return func(example *source.Node) (string, *source.Node) {
		for _, tool := range example.Fields {
			parameters, _ := tool.Value.Value().(map[string]any)
			for _, b := range all {
				if b.Tool != tool.Key.Text {
					continue
				}
				if why := b.Refuses(parameters, &r.tried); why != nil {
					return fmt.Sprintf("%q: %s", b.Parameter, why.Error()), tool.Value.Get(b.Parameter)
				}
			}
		}
		return "", nil
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
		r.names("", item)
	}
	r.policy.Only = append(r.policy.Only, one)
	return func(example *source.Node) (string, *source.Node) {
		if one.Allows(example.Text) {
			return "", nil
		}
		return fmt.Sprintf("%q isn't among the tools that there may be", example.Text), example
	}
}

func (r *reader) orders(n *source.Node, rule Rule) trial {
	var all []Check
	for _, f := range n.Get("order").Fields {
		s, ok := r.subject(f.Key)
		per := f.Value.Get("per")
		if per != nil {
			r.names(cmp.Or(s.Tool, s.Text), per)
		}
		check := func(kind Kind, other Subject, most int) {
			if ok {
				all = append(all, Check{rule, kind, s, other, most, per.AsText()})
			}
		}
		for _, other := range r.subjects(f.Value.Get("only-after")) {
			check(OnlyAfter, other, 0)
		}
		for _, other := range r.subjects(f.Value.Get("never-after")) {
			check(NeverAfter, other, 0)
		}
		if most := f.Value.Get("at-most"); most != nil {
			check(AtMost, s, int(min(most.Float(), 1<<30)))
		}
	}
	r.policy.Checks = append(r.policy.Checks, all...)
	return func(example *source.Node) (string, *source.Node) {
		counts := NewCounts(&Policy{Checks: all})
		for i, item := range example.Items {
			step, parameters := r.step(item)
			if broken := counts.Forbids(step.IsMet, parameters, false); broken != nil {
				return fmt.Sprintf("%q can't be number %d", broken.Subject.Text, i+1), item
			}
			counts.Started(step.IsMet, parameters, false)
			counts.Done(step.IsMet, parameters)
		}
		return "", nil
	}
}

// step reads a call of an example: a tool, one with its parameters, or any of an effect or a label.
func (r *reader) step(n *source.Node) (step Step, parameters map[string]any) {
	parameters = map[string]any{}
	if n.Kind == source.Object {
		n, parameters = n.Fields[0].Key, n.Fields[0].Value.Value().(map[string]any)
		step.Tool = n.Text
	} else {
		s, _ := subject(n)
		step = Step{s.Tool, s.Effects, s.Label}
	}
	for _, t := range r.policy.Tools {
		if t.Name == step.Tool && t.Effects != nil {
			step.Effects |= *t.Effects
		}
	}
	return step, parameters
}

func (r *reader) endorse(n *source.Node, rule Rule) trial {
	of := n.Get("endorse")
	one := Endorse{Rule: rule, Tool: of.Get("tool").Text, Parameter: of.Get("parameter").AsText(),
		Person: of.Get("person") != nil}
	r.names("", of.Get("tool"))
	if n := of.Get("parameter"); n != nil {
		r.names(one.Tool, n)
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
	return func(example *source.Node) (string, *source.Node) {
		if one.Person && example.AsText() != one.Parameter {
			return fmt.Sprintf("a person is shown %q", one.Parameter), example
		}
		if one.As != nil {
			if why := one.As.ValidateWithin(example.Value(), &r.tried); why != nil {
				return why.Error(), example
			}
		}
		return "", nil
	}
}
