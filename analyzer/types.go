package analyzer

import (
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// expressionTypes holds every expression against what is known of the types of
// its references (S4.5), and every _when against being a boolean.
func expressionTypes(p *Pass) {
	p.activityCode()
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		when := call != nil && t == call.When
		result, err := t.Expr.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) })
		if err != nil {
			f := p.report(t.Node.Within(err.Start, err.End), "%s", err.Message).of(call)
			if f.Help = err.Help; f.Help == "" {
				f.help("the types come from the values and schemas of the input and the state, and from the tools' \"_output\"")
			}
			return
		}
		if when && result != nil && result.Kinds != 0 && result.Kinds&expression.Bool == 0 {
			p.report(t.Node.Span(), "\"_when\" must be true or false; this is %s", result.Kinds).of(call).
				help("compare it with something: †state.total > 100")
		}
	})
}

// maxWriters bounds how many writers of one read are looked at for its type; of
// a value with more nothing is concluded.
const maxWriters = 16

// An origin is one output path of a call that a read is bound to.
type origin struct {
	call    *compiler.Call
	path    *compiler.Path
	failure bool                 // it is the call's failure route
	below   bool                 // it stands below what is read
	rest    []expression.Segment // what is read of it, when it stands above
}

// origins goes over the output paths that a read is bound to, until f returns
// false; it returns false then, and true otherwise.
func (p *Pass) origins(r *compiler.Read, f func(origin) bool) bool {
	paths := p.Plan.Paths
	above := paths.Depth(r.Path) - len(r.Ref.Path) // the kind, and for kinds of data "data" above it
	for _, w := range r.Writers {
		call := p.Plan.Calls[w]
		failure := call.FailureRoute()
		for i, route := range call.Output {
			for k := range route {
				path := &route[k]
				if !paths.Overlap(path.ID, r.Path) {
					continue
				}
				s := origin{call: call, path: path, failure: i == failure}
				if depth := paths.Depth(path.ID) - above; depth <= len(r.Ref.Path) {
					s.rest = r.Ref.Path[max(0, depth):]
				} else {
					s.below = true
				}
				if !f(s) {
					return false
				}
			}
		}
	}
	return true
}

const (
	typeDepth = 6   // levels of a schema that a type tells of
	maxFields = 200 // names of an object that a type tells of
)

// kindPairs are the kinds as schemas and as expressions tell them apart.
var kindPairs = []struct {
	from schema.Kinds
	to   expression.KindSet
}{
	{schema.Null, expression.Null}, {schema.Boolean, expression.Bool}, {schema.Number, expression.Number},
	{schema.String, expression.String}, {schema.Array, expression.Array}, {schema.Object, expression.Object},
}

// typeOfSchema is the type of what a schema accepts.
func typeOfSchema(s *schema.Schema, depth int) *expression.Type {
	kinds := s.Kinds()
	if kinds == schema.Anything || kinds == 0 || depth == 0 {
		return nil
	}
	t := &expression.Type{Open: true}
	for _, k := range kindPairs {
		if kinds&k.from != 0 {
			t.Kinds |= k.to
		}
	}
	if kinds&schema.Object != 0 {
		if names := s.Properties(); len(names) <= maxFields {
			t.Fields = make(map[string]*expression.Type, len(names))
			for _, name := range names {
				t.Fields[name] = typeOfSchema(s.At([]schema.Step{schema.Key(name)}).Schema, depth-1)
			}
			t.Open = !s.Closed()
		}
	}
	if kinds&schema.Array != 0 && uniform(s) {
		t.Elem = typeOfSchema(s.At([]schema.Step{schema.Index(0)}).Schema, depth-1)
	}
	return t
}

// uniform tells whether a schema plainly says one thing of all items.
func uniform(s *schema.Schema) bool {
	raw, ok := s.Raw().(map[string]any)
	if !ok {
		return false
	}
	if _, one := raw["items"].(map[string]any); !one {
		return false
	}
	for _, more := range []string{"prefixItems", "additionalItems", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "enum", "const"} {
		if raw[more] != nil {
			return false
		}
	}
	return true
}

// typeOfValue is the type of values such as a given one: a number may be
// replaced by another number, an object by one with more keys.
func typeOfValue(v any, depth int) *expression.Type {
	if depth == 0 {
		return nil
	}
	t := &expression.Type{Open: true}
	switch v := v.(type) {
	case bool:
		t.Kinds = expression.Bool
	case float64:
		t.Kinds = expression.Number
	case string:
		t.Kinds = expression.String
	case []any:
		t.Kinds = expression.Array
		if len(v) > 0 {
			t.Elem = typeOfValue(v[0], depth-1)
			for _, item := range v[1:] {
				if other := typeOfValue(item, depth-1); !reflect.DeepEqual(other, t.Elem) {
					t.Elem = nil
					break
				}
			}
		}
	case map[string]any:
		t.Kinds = expression.Object
		if len(v) > maxFields {
			break
		}
		t.Fields = make(map[string]*expression.Type, len(v))
		for _, key := range sortedKeys(v) {
			t.Fields[key] = typeOfValue(v[key], depth-1)
		}
	default:
		return nil // null stands for a value that is filled in later
	}
	return t
}

// join is the type of a value that is of one of several types.
func join(all []*expression.Type) *expression.Type {
	first := all[0]
	for _, t := range all {
		if t == nil {
			return nil
		}
	}
	if !slices.ContainsFunc(all[1:], func(t *expression.Type) bool { return !reflect.DeepEqual(t, first) }) {
		return first
	}
	joined := &expression.Type{Open: true}
	for _, t := range all {
		joined.Kinds |= t.Kinds
	}
	return joined
}

// failureFields are what a failure record holds (S9.2).
var failureFields = []string{"code", "message", "details"}

// unknownFields reports reads of a field that no bound call's _output names.
// Where a schema names nothing, says that there may be more, or isn't known, the
// field may be there and the rule is silent.
func unknownFields(p *Pass) {
	p.unknownMembers()
	for i := range p.Plan.Reads {
		r := &p.Plan.Reads[i]
		if len(r.Writers) == 0 || len(r.Writers) > maxWriters || r.Start || p.Plan.Paths.Depth(r.Path) < 3 {
			continue
		}
		p.unknownField(r)
	}
}

func (p *Pass) unknownField(r *compiler.Read) {
	var first origin
	var place schema.Place
	closed := true
	silent := !p.origins(r, func(s origin) bool {
		if s.below || len(s.rest) == 0 || s.call.Method != compiler.Set || s.call.Tool == nil || s.call.Tool.Output == nil {
			return false
		}
		if s.failure && slices.Contains(failureFields, s.rest[0].Key) {
			return false
		}
		at := p.inOutput(s.call.Tool, s.rest)
		if at.Named || at.Possible && (at.Silent || at.Open) {
			return false
		}
		if s.call.Produced != nil && holds(s.call.Produced.Value(), s.rest) {
			return false
		}
		closed = closed && !at.Possible
		if first.call == nil {
			first, place = s, at
		}
		return true
	})
	if silent || first.call == nil || p.declaredElsewhere(r) {
		return
	}
	step := first.rest[place.Depth]
	known := p.inResultOf(first, place)
	f := p.report(r.Span(), "the result of %q has no %q", first.call.ToolName, step.Key).of(p.caller(r))
	switch {
	case known.list == "":
		f.Message += ": there it is " + first.call.Tool.Output.At(compiler.SchemaPath(first.rest[:place.Depth])).Schema.Kinds().String()
	case closed:
		f.Message += ": its schema allows only " + known.list
	default:
		f.Message += ": its schema names " + known.list
	}
	if closed && r.Ref.Required {
		f.as(diag.Error)
	}
	f.note(first.path.Span(), "%q writes its result to %q here", first.call.Name, p.path(first.path.ID))
	f.help("read a field that the tool's \"_output\" names, or name this one there")
	if step.IsIndex {
		return
	}
	if near, ok := known.Nearest(step.Key); ok {
		meant := r.Ref
		meant.Path = slices.Clone(r.Ref.Path)
		meant.Path[len(meant.Path)-len(first.rest)+place.Depth].Key = near
		f.help("did you mean %q?", meant.String())
		f.rename(r.Node, r.Ref.Start, r.Ref.End, meant.String(), known.Sure(step.Key))
	}
}

// A field is a part of a tool's result, one step down.
type field struct {
	tool *compiler.Tool
	step expression.Segment
}

// inOutput is what a tool's _output says of a part of its result. Fields of
// results are read again and again, so what is said of them is kept.
func (p *Pass) inOutput(tool *compiler.Tool, rest []expression.Segment) schema.Place {
	if len(rest) != 1 {
		return tool.Output.At(compiler.SchemaPath(rest))
	}
	key := field{tool, rest[0]}
	at, ok := p.fields[key]
	if !ok {
		at = tool.Output.At(compiler.SchemaPath(rest))
		p.fields[key] = at
	}
	return at
}

// A resultPlace is a place in the results of a tool.
type resultPlace struct {
	tool *compiler.Tool
	path string
}

// inResultOf is what the schema of a result names where a read leaves it.
func (p *Pass) inResultOf(o origin, place schema.Place) *declaration {
	at := resultPlace{o.call.Tool, expression.Reference{Path: o.rest[:place.Depth]}.String()}
	d, ok := p.inResult[at]
	if !ok {
		d = declarationOf(place)
		p.inResult[at] = d
	}
	return d
}

// declaredElsewhere tells whether the document itself holds or names a path of
// the state, whatever the tools say.
func (p *Pass) declaredElsewhere(r *compiler.Read) bool {
	path := p.Plan.Paths.Segments(r.Path)
	switch path[0].Key {
	case "state":
		if p.Plan.StateSchema != nil && p.Plan.StateSchema.At(compiler.SchemaPath(path[1:])).Named {
			return true
		}
		return p.begins("state", path[1:])
	case "data":
		return p.describesKind(path[1].Key) || holds(anyMap(p.Plan.Data), path[1:])
	}
	return false
}
