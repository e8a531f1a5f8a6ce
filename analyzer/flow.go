package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A flow is one source of a value, and what is known about the value before the run. A read or an
// expression has a list of flows; each run uses one. In an empty list, or without a schema, nothing is
// known.
type flow struct {
	schema *schema.Schema // accepts every value that may come; nil when nothing is known
	// partial: where nothing is known of all values that may come, it is of some of them: those of
	// the variants of a union that speak of it.
	partial *schema.Schema
	// overApproximate: the schema may accept more than can come, so that only what holds for
	// all of its values can be concluded.
	overApproximate bool
	// computed: it is what an expression works out.
	computed bool
	// uncounted: of how many items it is a list isn't known.
	uncounted bool
	// uncertain: items of the list, or of the list that it is an item of, may be null; or it is written
	// in parts, so that the state schema never checks all of it. Only a sample run decides.
	uncertain bool
	// rare: it may come, and isn't what the plan is about: a failure record, the
	// result of a call that another one may exclude. It keeps a mismatch from being
	// certain and never makes one.
	exceptional bool
	// brought: it comes with a run, and no call has written it.
	external bool
	// sample: the schema is one value that the document gives; another run may
	// have another, such as like describes.
	sample bool
	like   *schema.Schema

	read    *plan.Read // what reads it; nil for an operand that is no reference
	operand operand    // what it is then
	from    origin     // the writer; its call is nil for what no call writes
	parts   []origin   // the writers of what is put together from parts
	said    string     // the key of the document that says what it is: "inputSchema", "state"; or ""
}

// An operand is a part of an expression, or a value that isn't one.
type operand struct {
	node       *source.Node
	start, end int
}

// A remark is a related place with words of its own.
type remark struct {
	at   source.Span
	says string
}

// showAll adds related places to a finding.
func showAll(f *diag.Diagnostic, all []remark) {
	for _, one := range all {
		f.Note(one.at, "%s", one.says)
	}
}

var unknown = []flow{{}}

// at is where a flow's reference or operand stands.
func (f *flow) at() source.Span {
	if f.read != nil {
		return f.read.Span()
	}
	return f.operand.node.Within(f.operand.start, f.operand.end)
}

// name is the text of a flow's reference or operand; "" when it has none.
func (f *flow) name() string {
	switch {
	case f.read != nil:
		return f.read.Ref.String()
	case f.operand.node != nil && f.operand.node.Kind == source.String:
		return f.operand.node.Text[f.operand.start:f.operand.end]
	}
	return ""
}

// remarks are the places where the plan says what a flow is.
func (p *Pass) remarks(f *flow) []remark {
	var all []remark
	if f.read != nil {
		all = append(all, p.itemPlace(f.read)...)
	}
	if f.read != nil && f.said != "" {
		all = append(all, p.documentPlace(f.said, p.Plan.Paths.Segments(f.read.Path)[1:])...)
	}
	if call := f.from.call; call != nil {
		if hole := p.flowing().listings[call].hole; hole != nil {
			all = append(all, remark{hole.Span(), "an item such as " + brief(p.flows.listings[call].item) + " hasn't got it: it is skipped, and has null in the list"})
		}
		switch {
		case f.from.failure:
		case call.Produced != nil:
			all = append(all, remark{headOf(call.Produced.Span()), "the result is given here"})
		case call.Tool != nil && call.Tool.Output != nil:
			all = append(all, outputPlace(call.Tool, f.from.rest)...)
		}
		all = append(all, remark{f.from.path.Span(), quote(call.Name) + " writes it here"})
	}
	for _, o := range f.parts[:min(len(f.parts), 3)] {
		all = append(all, remark{o.path.Span(), quote(o.call.Name) + " writes a part of it here"})
	}
	return all
}

// flowsOfRead are the flows into one read: what its bound writers give and, where
// it can still be seen, what is there from the start.
func (p *Pass) flowsOfRead(index int) []flow {
	t := p.flowing()
	if t.reads[index] != nil {
		return t.reads[index]
	}
	r := &p.Plan.Reads[index]
	t.into = p.flowsInto(t.into[:0], r)
	flows := slices.Clone(t.into)
	for i := range flows {
		flows[i].read = r
	}
	t.reads[index] = flows
	return flows
}

// flowsInto puts the flows into a read to others.
func (p *Pass) flowsInto(flows []flow, r *plan.Read) []flow {
	if r.Path == pathtree.Root {
		return append(flows, flow{})
	}
	switch p.Plan.Paths.Kind(r.Path) {
	case "input":
		if !p.Unknown(diag.Input) {
			return append(flows, p.given(r.Path))
		}
	case "state", "data":
		if p.Unknown(diag.State|diag.Writes|diag.Order) || p.Plan.Paths.Depth(r.Path) < 2 {
			break
		}
		if len(r.Writers) == 0 {
			return append(flows, p.given(r.Path))
		}
		return p.flowsFromCalls(flows, r)
	case "item", "index":
		return p.flowsOfItem(flows, r)
	case "advice":
		if p.Plan.Paths.Depth(r.Path) == 2 {
			return append(flows, flow{schema: vote})
		}
	}
	return append(flows, flow{}) // errors come with a run
}

// vote is the result of the advisors' votes on a tool.
var vote = schema.OfKinds(schema.Number)

// said is the document's schema of a path, or its value there as an example. An empty text, and a null
// of the input, is a blank to be filled in. A null of the state may be read until a call writes there.
func (p *Pass) said(path []expression.Segment) flow {
	key, s, value, below := "inputSchema", p.Plan.InputSchema, p.Plan.Input, path[1:]
	switch path[0].Key {
	case "state":
		key, s, value = "stateSchema", p.Plan.StateSchema, p.Plan.State
	case "data":
		key, s, value = "", nil, anyMap(p.Plan.Data)
		if len(path) > 1 && p.Plan.DataSchemas[path[1].Key] != nil {
			s, below = p.Plan.DataSchemas[path[1].Key], path[2:]
		}
	}
	if s != nil {
		at := s.At(compiler.SchemaPath(below))
		if !at.Possible || at.Schema == nil {
			return flow{}
		}
		return flow{schema: at.Schema, said: key, external: key != ""}
	}
	value, ok := pathtree.Walk(value, path[1:])
	if !ok || value == nil && path[0].Key != "state" || value == "" || len(p.Plan.Instances) > 0 {
		return flow{}
	}
	return flow{schema: schema.Const(value), sample: true, like: p.likeness(typeOfValue(value, typeDepth)), said: path[0].Key}
}

func stepNode(n *source.Node, s expression.Segment) *source.Node {
	if n == nil || !s.IsIndex {
		return n.Get(s.Key)
	}
	if s.Index < len(n.Items) {
		return n.Items[s.Index]
	}
	return nil
}

// documentPlace is where the document describes a path, or gives its value.
func (p *Pass) documentPlace(key string, path []expression.Segment) []remark {
	if p.Plan.Root.Kind != source.Object {
		return nil
	}
	n := p.Plan.Root.Get(key)
	if words, isSchema := describes[key]; isSchema {
		if n = describing(n, path); n != nil {
			return []remark{{headOf(n.Span()), words}}
		}
		return nil
	}
	for _, s := range path {
		n = stepNode(n, s)
	}
	if n == nil {
		return nil
	}
	return []remark{{headOf(n.Span()), "the value is given here"}}
}

var describes = map[string]string{
	"inputSchema": "the input's schema describes it here",
	"stateSchema": "the state's schema describes it here",
}

// describing is the part of a schema's text that describes a path; properties and items are followed.
func describing(n *source.Node, path []expression.Segment) *source.Node {
	for _, s := range path {
		next := n.Get("properties").Get(s.Key)
		if s.IsIndex {
			next = n.Get("items")
		}
		if next == nil || next.Kind != source.Object {
			break
		}
		n = next
	}
	return n
}

// flowsFromCalls puts the flows into a read that calls write for to others.
func (p *Pass) flowsFromCalls(flows []flow, r *plan.Read) []flow {
	if len(r.Writers) > maxWriters {
		return append(flows, flow{})
	}
	for _, w := range r.Writers {
		p.giving(p.Plan.Calls[w]) // which asks for flows itself
	}
	t := p.flowing()
	all := t.writers[:0]
	p.origins(r, func(o origin) bool { all = append(all, o); return true })
	t.writers = all
	seen := all
	if len(all) > 1 {
		seen = slices.DeleteFunc(slices.Clone(all), func(o origin) bool {
			return slices.ContainsFunc(all, func(later origin) bool { return p.covers(later, o) })
		})
	}
	if first, ok := p.fromTheStart(r); ok && !slices.ContainsFunc(seen, p.always) {
		flows = append(flows, first)
	}
	if plain := !slices.ContainsFunc(seen, func(o origin) bool { return o.below || o.call.Method != plan.Set }); !plain {
		return append(flows, p.composed(r, slices.Clone(seen), flows))
	}
	for i := range seen {
		flows = p.results(flows, r, &seen[i])
	}
	if len(flows) == 0 {
		return append(flows, flow{}) // nothing can be there, which other rules tell
	}
	return flows
}

// covers reports whether a read that sees one write never sees another: a later
// call that waits for it sets the whole of what is read, whenever the earlier
// one runs.
func (p *Pass) covers(later, earlier origin) bool {
	if later.call == earlier.call || later.below || !sets(later.call) || p.Plan.Writes == plan.Once {
		return false
	}
	return p.waits(later.call, earlier.call) && p.alwaysWith(later.call, earlier.call)
}

// always reports whether a write happens in every run in which nothing fails, and
// covers all that is read.
func (p *Pass) always(o origin) bool { return !o.below && p.alwaysBelow(o) }

// fromTheStart is what may stand at a path before any call writes it, if there is
// such a thing.
func (p *Pass) fromTheStart(r *plan.Read) (flow, bool) {
	initial := p.Plan.State
	if p.Plan.Paths.Kind(r.Path) == "data" {
		initial = anyMap(p.Plan.Data)
	}
	held := func(value any) bool { _, ok := p.Plan.Paths.Walk(value, r.Path); return ok }
	if !r.Start && !held(initial) && !slices.ContainsFunc(p.Plan.Instances, func(i plan.Instance) bool { return held(i.State) }) {
		return flow{}, false
	}
	f := p.given(r.Path)
	f.exceptional = true
	return f, true
}

// results puts the flows from one write that sets what is read, or something
// above it, to others.
func (p *Pass) results(flows []flow, r *plan.Read, o *origin) []flow {
	declared := p.stateAt(r.Path)
	add := func(s *schema.Schema, said string, failure bool) *flow {
		flows = append(flows, flow{schema: p.meet(s, declared.Schema), exceptional: o.failure, from: *o, said: said})
		f := &flows[len(flows)-1]
		f.from.failure = failure
		if o.call.Each != nil {
			list := p.listing(o.call)
			f.uncounted, f.uncertain = len(o.rest) == 0 && list.uncounted, list.uncertain
		}
		return f
	}
	if o.failure {
		if at := compiler.FailureRecord.At(compiler.SchemaPath(o.rest)); at.Possible {
			add(at.Schema, "", true)
		}
	}
	switch {
	case o.call.Produced != nil:
		if value, ok := pathtree.Walk(o.call.Produced.Value(), o.rest); ok {
			add(schema.Const(value), "", false)
		}
	case o.call.Tool == nil || o.call.Tool.Output == nil:
		add(nil, "stateSchema", false)
	default:
		if at := p.inResultAt(p.giving(o.call), o.rest); at.Possible {
			if f := add(at.Schema, "", false); f.schema == nil {
				f.partial = at.Partial
			}
		}
	}
	return flows
}

// outputPlace is where a tool's _output describes a part of its result.
func outputPlace(tool *plan.Tool, rest []expression.Segment) []remark {
	if tool.OutputNode == nil {
		return nil
	}
	return []remark{{headOf(describing(tool.OutputNode, rest).Span()), "the result of " + quote(tool.Name) + " is described here"}}
}

// composed is what several writes make together: parts written below what is
// read, values pushed onto a list. Where that isn't modelled the state schema
// still holds.
func (p *Pass) composed(r *plan.Read, seen []origin, base []flow) flow {
	declared := p.stateAt(r.Path)
	inParts := declared.Schema != nil && slices.ContainsFunc(seen, func(o origin) bool { return o.below })
	rest := flow{schema: declared.Schema, overApproximate: true, said: "stateSchema", uncertain: inParts && !p.isRequiredAtStart(r)}
	if kinds := collected(seen, base); declared.Schema == nil && kinds != 0 {
		rest.schema, rest.parts = schema.OfKinds(kinds), seen
	}
	if len(base) > 0 || len(seen) == 0 || slices.ContainsFunc(seen, func(o origin) bool { return o.failure }) {
		return rest
	}
	var made flow
	ok := false
	switch {
	case !slices.ContainsFunc(seen, func(o origin) bool { return !o.below || o.call.Method != plan.Set }):
		made, ok = p.assembled(r, seen)
	case !slices.ContainsFunc(seen, func(o origin) bool { return o.below || o.call.Method != plan.Push }):
		made, ok = p.pushed(seen)
	}
	if !ok {
		return rest
	}
	made.schema = p.meet(made.schema, declared.Schema)
	made.parts, made.uncertain = seen, made.uncertain || rest.uncertain
	return made
}

// isRequiredAtStart reports whether a run must provide the key of the state that is read, and the
// document has no value for it.
func (p *Pass) isRequiredAtStart(r *plan.Read) bool {
	path := p.Plan.Paths.Segments(r.Path)
	if _, given := pathtree.Walk(p.Plan.State, path[1:min(2, len(path))]); given || path[0].Key != "state" || len(path) < 2 {
		return false
	}
	return p.Plan.StateSchema.At(compiler.SchemaPath(path[1:2])).Required
}

// collected is the certain kind of a value that is merged into objects or appended to lists; 0 if
// unknown.
func collected(seen []origin, base []flow) schema.Kinds {
	both := schema.Object | schema.Array
	for _, f := range base {
		if f.schema == nil {
			return 0
		}
		both &= f.schema.Kinds() // of several kinds none is sure
		if f.schema.Kinds() != both {
			return 0
		}
	}
	for _, o := range seen {
		if o.below || o.failure || len(o.rest) > 0 || o.call.Tool == nil || o.call.Tool.Output == nil {
			return 0
		}
		gives := o.call.Tool.Output.Kinds()
		switch {
		case o.call.Method == plan.Push:
			both &= schema.Array
		case gives == schema.Array && (o.call.Method == plan.Concat || o.call.Method == plan.Set):
			both &= schema.Array
		case gives == schema.Object && o.call.Method != plan.Concat:
			both &= schema.Object
		default:
			return 0
		}
	}
	if both == schema.Object|schema.Array {
		return 0
	}
	return both
}

// assembled is the object that writes below a path make.
func (p *Pass) assembled(r *plan.Read, seen []origin) (flow, bool) {
	value := &assembly{}
	depth := p.Plan.Paths.Depth(r.Path)
	exact := true
	for _, o := range seen {
		at := value
		for _, s := range p.Plan.Paths.Segments(o.path.ID)[depth:] {
			if s.IsIndex || at.set {
				return flow{}, false
			}
			at = at.part(s.Key)
		}
		if at.parts != nil {
			return flow{}, false
		}
		at.set = true
		var s *schema.Schema
		if o.call.Tool != nil {
			s = p.giving(o.call).Output
		}
		at.schemas = append(at.schemas, p.meet(s, p.stateAt(o.path.ID).Schema))
		at.sure = at.sure || p.alwaysBelow(o)
		exact = exact && len(at.schemas) == 1
	}
	s, sure := value.schema()
	return flow{schema: s, overApproximate: !exact || !sure}, true
}

func (p *Pass) alwaysBelow(o origin) bool { return sets(o.call) && p.certain(o.call) }

// An assembly is an object that is written in parts.
type assembly struct {
	keys    []string
	parts   map[string]*assembly
	set     bool
	sure    bool // written in every run
	schemas []*schema.Schema
}

func (a *assembly) part(key string) *assembly {
	if a.parts == nil {
		a.parts = map[string]*assembly{}
	}
	if a.parts[key] == nil {
		a.parts[key] = &assembly{}
		a.keys = append(a.keys, key)
	}
	return a.parts[key]
}

// schema is that of the assembled value, and whether all of its parts are there
// in every run.
func (a *assembly) schema() (*schema.Schema, bool) {
	if a.set {
		return schema.AnyOf(a.schemas...), a.sure
	}
	parts := map[string]*schema.Schema{}
	var required []string
	all := true
	for _, key := range a.keys {
		s, sure := a.parts[key].schema()
		parts[key] = s
		if all = all && sure; sure {
			required = append(required, key)
		}
	}
	return schema.ObjectOf(parts, required), all
}

// pushed is the list of what calls push onto nothing.
func (p *Pass) pushed(seen []origin) (flow, bool) {
	var items []*schema.Schema
	var rest []expression.Segment
	for i, o := range seen {
		if i > 0 && len(o.rest) != len(rest) {
			return flow{}, false
		}
		rest = o.rest
		var s *schema.Schema
		if o.call.Tool != nil {
			s = p.giving(o.call).Output
		}
		items = append(items, s)
	}
	list := schema.ListOf(schema.AnyOf(items...), 1, len(seen))
	f := flow{schema: list, overApproximate: len(seen) > 1}
	if len(rest) > 0 {
		at := list.At(compiler.SchemaPath(rest))
		if !at.Possible {
			return flow{}, false
		}
		f.schema = at.Schema
	}
	return f, true
}
