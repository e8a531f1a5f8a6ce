package bind

import (
	"cmp"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// targetsOf is nil when every call is for all instances.
func targetsOf(calls []*plan.Call) *plan.Targets {
	first := slices.IndexFunc(calls, func(c *plan.Call) bool { return c.Instance != "" })
	if first < 0 {
		return nil
	}
	t := &plan.Targets{Own: map[string][]int32{}}
	for i, call := range calls {
		if call.Instance == "" {
			t.Shared = append(t.Shared, int32(i))
		} else {
			t.Own[call.Instance] = append(t.Own[call.Instance], int32(i))
		}
	}
	return t
}

// ForInstance is the plan as one instance runs it: the calls without "_instance" and those for this one, bound as if
// the others had never been written, but that what counts as known from the start is what it is in the whole. The calls
// have indexes of their own, and so have reads; names, paths, tools and schemas are shared. Its schemas, data and
// errors are the instance's own, where it has such.
//
// Instances that run the same calls under the same schema have the same view, which is the plan itself where no call is
// left out. A view's Instances are those that share it.
func ForInstance(p *plan.Plan, instance string) *plan.Plan {
	view1, t := p, p.Targets
	switch {
	case CallsOf(p, instance) == len(p.Calls):
	case len(t.Own[instance]) == 0:
		t.Once.Do(func() { t.Common = Part(p, t.Shared, plain(p)) })
		view1 = t.Common
	default:
		calls := slices.Sorted(slices.Values(slices.Concat(t.Shared, t.Own[instance])))
		view1 = Part(p, calls, p.Only(instance))
	}
	if at, ok := p.InstanceAt[instance]; ok && IsParticular(p, &p.Instances[at]) {
		one, own := *view1, &p.Instances[at]
		one.Instances, one.Entire = p.Only(instance), p
		one.StateSchema, one.InputSchema = cmp.Or(own.StateSchema, p.StateSchema),
			cmp.Or(own.InputSchema, p.InputSchema)
		one.Data, _ = Overlay(p.Data, own.Data).(map[string]any)
		one.Errors = slices.Concat(p.Errors, own.Errors)
		one.DataSchemas = maps.Clone(p.DataSchemas)
		for kind, s := range own.DataSchemas {
			if one.DataSchemas == nil {
				one.DataSchemas = map[string]*schema.Schema{}
			}
			one.DataSchemas[kind] = s
		}
		return &one
	}
	return view1
}

// IsParticular reports whether an instance has schemas, data or errors of its own, so that its calls are judged by
// them. Those of a solution are judged for all instances alike: the run holds each to what is its own.
func IsParticular(p *plan.Plan, i *plan.Instance) bool {
	return p.Form != plan.Replan && (i.StateSchema != nil || i.InputSchema != nil || len(i.Data) > 0 ||
		len(i.DataSchemas) > 0 || len(i.Errors) > 0)
}

// CallsOf is how many calls an instance runs: those of its view. It costs nothing.
func CallsOf(p *plan.Plan, instance string) int {
	if p.Targets == nil {
		return len(p.Calls)
	}
	return len(p.Targets.Shared) + len(p.Targets.Own[instance])
}

// plain are the instances that have neither calls nor schemas, data or errors of their own.
func plain(p *plan.Plan) (plain []plan.Instance) {
	for i := range p.Instances {
		if len(p.Targets.Own[p.Instances[i].ID]) == 0 && !IsParticular(p, &p.Instances[i]) {
			plain = append(plain, p.Instances[i])
		}
	}
	return plain
}

// Part makes a plan of some calls of this one, ascending, bound anew, and the instances that run it.
func Part(p *plan.Plan, calls []int32, instances []plan.Instance) *plan.Plan {
	one := *p
	v := &viewer{full: p, view: &one, calls: calls}
	one.Entire, one.Instances, one.InstanceAt, one.Targets = p, instances, nil, nil
	one.Unordered, one.Graph, one.Index, one.PlaceIndex = nil, dag.Graph{}, nil, nil
	v.copy()
	(&binder{plan: &one}).bind()
	return &one
}

// A viewer copies calls into a view, with new numbers for calls and reads.
type viewer struct {
	full, view *plan.Plan
	calls      []int32 // of the whole, ascending
}

func (v *viewer) copy() {
	v.view.Calls = make([]*plan.Call, len(v.calls))
	reads := 0
	for _, i := range v.calls {
		reads += len(v.full.Calls[i].Reads)
	}
	output := len(v.full.Reads)
	for output > 0 && v.full.Reads[output-1].Call < 0 {
		output--
	}
	v.view.Reads = make([]plan.Read, 0, reads+len(v.full.Reads)-output)
	for at, i := range v.calls {
		v.view.Calls[at] = v.call(v.full.Calls[i], at)
	}
	shift := v.reads(output, len(v.full.Reads), -1)
	v.view.Output = v.template(v.full.Output, shift)
}

// call copies a call to its place in the view.
func (v *viewer) call(of *plan.Call, at int) *plan.Call {
	call := new(plan.Call)
	*call = *of
	call.Index, call.Choices, call.Waits, call.After, call.Ordered = at, nil, nil, nil, nil
	for _, other := range of.After {
		if i, ok := slices.BinarySearch(v.calls, int32(other.Call)); ok {
			other.Call = i
			call.After = append(call.After, other)
		}
	}
	for _, other := range of.Ordered {
		if i, ok := slices.BinarySearch(v.calls, other); ok {
			call.Ordered = append(call.Ordered, int32(i))
		}
	}
	if len(of.Reads) == 0 {
		return call
	}
	first, end := of.Reads[0], of.Reads[len(of.Reads)-1]+1
	shift := v.reads(first, end, at)
	call.Reads = shifted(of.Reads, shift)
	call.Params, call.When = v.template(of.Params, shift), v.template(of.When, shift)
	if of.Each != nil {
		each := *of.Each
		each.List, call.Each = v.template(each.List, shift), &each
	}
	call.Scopes = slices.Clone(of.Scopes)
	for i := range call.Scopes {
		call.Scopes[i].Read += shift
	}
	return call
}

// reads copies a reader's reads, which stand side by side, and tells by how much their numbers change.
func (v *viewer) reads(first, end, reader int) (shift int) {
	shift = len(v.view.Reads) - first
	for _, r := range v.full.Reads[first:end] {
		r.Call, r.Writers, r.Bound = reader, nil, plan.Initial
		v.view.Reads = append(v.view.Reads, r)
	}
	return shift
}

// template is a template whose reads have new numbers. What holds none is shared.
func (v *viewer) template(t *plan.Template, shift int) *plan.Template {
	if t == nil || !t.Live || shift == 0 {
		return t
	}
	one := new(plan.Template)
	*one = *t
	one.Reads = shifted(t.Reads, shift)
	if len(t.Fields) > 0 {
		one.Fields = make([]plan.TemplateField, len(t.Fields))
		for i, f := range t.Fields {
			f.Value = v.template(f.Value, shift)
			one.Fields[i] = f
		}
	}
	if len(t.Items) > 0 {
		one.Items = make([]*plan.Template, len(t.Items))
		for i, item := range t.Items {
			one.Items[i] = v.template(item, shift)
		}
	}
	return one
}

func shifted(reads []int, by int) (all []int) {
	for _, r := range reads {
		all = append(all, r+by)
	}
	return all
}

// Overlay lays one value over another, as an instance's own lies over the shared one and a message over those before
// it: objects key by key, anything else whole. Neither is changed.
func Overlay(under, over any) any {
	o, ok := over.(map[string]any)
	u, both := under.(map[string]any)
	if !ok || !both {
		if over == nil {
			return under
		}
		return over
	}
	merged := map[string]any{}
	maps.Copy(merged, u)
	for k, v := range o {
		merged[k] = Overlay(merged[k], v)
	}
	return merged
}
