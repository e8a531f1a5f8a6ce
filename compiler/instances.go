package compiler

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// instances reads the instances of a plan file.
func (c *compilation) instances(n *source.Node) {
	fields := c.Fields(n, "\"instances\"", "a mapping from ids to {input, state}")
	place := map[string]int{} // as a compiled plan says, whose mappings are sorted
	if order := c.plan.Root.Get(canonical.OrderKey); order != nil {
		for at, id := range order.Items {
			place[id.AsText()] = at
		}
	}
	inOrder := func(a, b source.Field) int { return place[a.Key.Text] - place[b.Key.Text] }
	for _, f := range slices.SortedStableFunc(slices.Values(fields), inOrder) {
		one := c.instance(f.Key)
		c.Keys(f.Value, "an instance", map[string]func(source.Field){
			"input": func(f source.Field) { c.give(one, "input", c.values(f.Value, "\"input\""), f.Value) },
			"state": func(f source.Field) { c.give(one, "state", c.values(f.Value, "\"state\""), f.Value) },
			"stateSchema": func(f source.Field) {
				one.StateSchema, one.StateSchemaNode = c.mappingSchema(f.Value, nil, "\"stateSchema\""), f.Value
			},
		})
	}
}

// instance is the instance of an id, a new one if none has it. It stays where it is until the next is asked for.
func (c *compilation) instance(id *source.Node) *plan.Instance {
	p := c.plan
	at, known := p.InstanceAt[id.Text]
	if !known {
		if p.InstanceAt == nil {
			p.InstanceAt = map[string]int{}
		}
		at = len(p.Instances)
		p.InstanceAt[id.Text] = at
		p.Instances = append(p.Instances, plan.Instance{ID: id.Text, Node: id})
	}
	return &p.Instances[at]
}

// instanceOf is the instance that a message is for; nil for all.
func (c *compilation) instanceOf(m *source.Node) *plan.Instance {
	id := m.Get("_instance")
	if id == nil || c.instanceID(id) == "" {
		return nil
	}
	return c.instance(id)
}

// valuesOf are the values that a message is about, of the instance that it is for, nil for all.
func (c *compilation) valuesOf(m *source.Node) (*plan.Instance, *plan.Values) {
	if own := c.instanceOf(m); own != nil {
		return own, &own.Values
	}
	return nil, &c.plan.Values
}

// An ownValue is what a document gives an instance at one place.
type ownValue struct {
	instance, kind string
	value          any
	node           *source.Node
}

// give lays input, state or data over what an instance has of it so far.
func (c *compilation) give(to *plan.Instance, kind string, value any, at *source.Node) {
	c.ownValues = append(c.ownValues, ownValue{to.ID, kind, value, at})
	lay(&to.Values, kind, value)
}

// lay lays input, state or data over what there is of it so far.
func lay(to *plan.Values, kind string, value any) {
	switch kind {
	case "input":
		to.Input = bind.Overlay(to.Input, value)
	case "state":
		to.State = bind.Overlay(to.State, value)
	case "data": // of no kind: it holds kinds itself
		to.Data, _ = bind.Overlay(to.Data, value).(map[string]any)
	default:
		to.Data, _ = bind.Overlay(to.Data, map[string]any{kind: value}).(map[string]any)
	}
}

// instanceID is the id that a message or a call names; "" for what can't be one.
func (c *compilation) instanceID(n *source.Node) string {
	if n.Kind == source.Number {
		c.Report(diag.WrongType, n.Span(), "the id of an instance is a text, not a number").
			Advise("write it in quotes: %q", n.Text).Offer("put it in quotes", n, 0, 0, "", true)
		return ""
	}
	return c.Text(n, "\"_instance\"")
}

// placesOf is where each of some instances stands, by id.
func placesOf(instances []plan.Instance) map[string]int {
	at := make(map[string]int, len(instances))
	for i := range instances {
		at[instances[i].ID] = i
	}
	return at
}

// judgeInstances reports calls for an instance that the document, or the run that a solution is for, doesn't have. A
// solution checked alone knows none, and so says nothing.
func (c *compilation) judgeInstances() {
	p, names := c.plan, (*naming.Suggester)(nil)
	for _, call := range p.Calls {
		if _, ok := p.InstanceAt[call.Instance]; ok || call.Instance == "" || p.AwaitsInstances ||
			p.Form == plan.Solution {
			continue
		}
		at := call.Node.Get("_instance")
		if names == nil { // made when one is misspelt
			names = naming.NewSuggester(p.InstanceIDs())
		}
		near, _ := names.Nearest(call.Instance)
		format, help := "there is no instance %q", "the instances are "+quotedList(p.InstanceIDs(), maxListed)
		if len(p.Instances) == 0 {
			format, help = "the call is for the instance %q, but there are no instances",
				"declare instances, or take \"_instance\" out"
		}
		f := c.Report(diag.BadInstance, at.Span(), format, Shown(call.Instance, near)).About(call.Label())
		c.closest(f, at, names, help)
	}
}

// maxListed is how many names a message lists.
const (
	maxListed = 20
	fewListed = 12 // where they are advice
)

// start notes for reads whether its path is known to be there before any call has run: in the values of the document,
// or of every instance that the reader runs for, or required by a schema. What a template's reads are bound to is
// therefore the same in every instance.
func (c *compilation) start(reads []plan.Read) {
	for i := range reads {
		reads[i].Start = reads[i].Path != pathtree.Root && c.startOf(&reads[i])
	}
}

func (c *compilation) startOf(r *plan.Read) bool {
	p := c.plan
	if len(p.Instances) == 0 || p.AwaitsInstances {
		return startsWith(p, &plan.Instance{}, r.Path)
	}
	if r.Call >= 0 && p.Calls[r.Call].Instance != "" {
		if at, ok := p.InstanceAt[p.Calls[r.Call].Instance]; ok {
			return startsWith(p, &p.Instances[at], r.Path)
		}
	}
	start, asked := c.everywhere[r.Path]
	if !asked {
		start = !slices.ContainsFunc(p.Instances, func(one plan.Instance) bool { return !startsWith(p, &one, r.Path) })
		c.everywhere[r.Path] = start
	}
	return start
}

// startsWith reports whether a path is known to be there from the start in one instance.
func startsWith(p *plan.Plan, one *plan.Instance, id pathtree.ID) bool {
	value, _ := BeginsWith(p, one, id)
	return value != nil || requiredAt(p, id, cmp.Or(one.StateSchema, p.StateSchema))
}

// BeginsWith is what stands at a path of the input, the state or the data when an instance of
// the plan begins: its own value, or what all of them share.
func BeginsWith(p *plan.Plan, one *plan.Instance, id pathtree.ID) (value any, there bool) {
	shared, kind := &p.Values, p.Paths.Kind(id)
	if p.Form == plan.Replan && len(p.Instances) > 0 {
		shared = &plan.Values{Data: p.Data} // what a run's instance holds is all that it holds
	}
	if kind != "input" && kind != "state" && kind != "data" {
		return nil, false
	}
	under, _ := shared.Of(kind)
	over, _ := one.Of(kind)
	return overlaid(under, over, p.Paths.Segments(id)[1:])
}

// overlaid is what stands at a path of one value laid over another ([bind.Overlay]), which isn't carried out for it.
func overlaid(under, over any, path []expression.Segment) (any, bool) {
	o, isObject := over.(map[string]any)
	u, areObjects := under.(map[string]any)
	switch {
	case over == nil:
		return pathtree.Walk(under, path)
	case !isObject || !areObjects || len(path) == 0 || path[0].IsIndex:
		return pathtree.Walk(over, path)
	}
	below, is := u[path[0].Key]
	above, here := o[path[0].Key]
	if !is && !here {
		return nil, false
	}
	return overlaid(below, above, path[1:])
}

// requiredAt reports whether a schema promises the path before any call has run.
// A run knows what it has, whatever a schema requires.
func requiredAt(p *plan.Plan, id pathtree.ID, state *schema.Schema) bool {
	s, kind := state, p.Paths.Kind(id)
	if kind == "input" {
		s = p.InputSchema
	}
	if p.Form == plan.Replan || s == nil || kind != "input" && kind != "state" || p.Paths.Depth(id) < 2 {
		return false
	}
	return s.At(p.Paths.Segments(id)[1:]).Required
}

// Offered is a call's alternatives as text, in order: what an activity may name.
func Offered(p *plan.Plan, call *plan.Call) []string {
	offered := make([]string, len(call.Output))
	for i, path := range call.Paths() {
		if offered[i] != "" {
			offered[i] += " && "
		}
		offered[i] += p.Paths.String(path.ID)
	}
	return offered
}
