package analyzer

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var _ = register(Rule{
	Rule:   &diag.Rule{Code: "OB513", Name: "unknown-field", Default: diag.Warning},
	Raises: true,
	Run:    unknownFields,
})

// unknownFields reports reads of a field that no bound call's _output names.
// Where a schema names nothing, says that there may be more, or isn't known, the
// field may be there and the rule is silent.
func unknownFields(p *Pass) {
	p.unknownMembers()
	for i := p.fromRead; i < len(p.Plan.Reads); i++ {
		r := &p.Plan.Reads[i]
		if compiler.ReadsItem(p.Plan, r) {
			p.unknownInItem(r)
			continue
		}
		if len(r.Writers) == 0 || len(r.Writers) > maxWriters || r.Start || p.Plan.Paths.Depth(r.Path) < 3 {
			continue
		}
		p.unknownField(r)
	}
}

func (p *Pass) unknownField(r *plan.Read) {
	var first origin
	var place schema.Place
	closed := true
	silent := !p.origins(r, func(s origin) bool {
		if s.below || len(s.rest) == 0 || s.call.Method != plan.Set || s.call.Tool == nil || s.call.Tool.Output == nil {
			return false
		}
		if s.failure && slices.Contains(failureFields, s.rest[0].Key) {
			return false
		}
		at := p.inResultAt(s.call.Tool, s.rest) // which an activity may send to a failure route, too
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
	if silent || first.call == nil || p.declaredInDocument(r) {
		return
	}
	if first.failure {
		p.Report(r.Span(), "the failure record of %q has no %q: it has code, message and details", first.call.ToolName, first.rest[0].Key).About(p.caller(r).Label()).
			Note(first.path.Span(), "%q writes it to %q here", first.call.Name, p.path(first.path.ID)).Advise("read one of these three")
		return
	}
	step := first.rest[place.Depth]
	known := once(p.inResult, placeIn(first.call.Tool, first.rest[:place.Depth]), func() *declaration { return declarationOf(place) })
	f := p.Report(r.Span(), "the result of %q has no %q", first.call.ToolName, step.Key).About(p.caller(r).Label())
	f.Note(first.path.Span(), "%q writes its result to %q here", first.call.Name, p.path(first.path.ID))
	f.Advise("read a field that the tool's \"_output\" names, or name this one there")
	if function, ok := expression.FunctionFor(step.Key); ok && known.list == "" && !step.IsIndex {
		object := r.Ref
		object.Path = r.Ref.Path[:len(r.Ref.Path)-len(first.rest)+place.Depth]
		f.Advise("use a function: †(%s(%s))", function, object.String())
	}
	p.instead(f, r, first.rest, missingField{first.call.Tool.Output, place, known, closed, "there it is", "its"})
}

// A missingField is a part that a schema doesn't name, with what it names in its stead.
type missingField struct {
	of      *schema.Schema
	at      schema.Place
	known   *declaration
	closed  bool   // it doesn't allow others either
	is, its string // how a message speaks of the values
}

// instead adds to a finding what there is in the place of a part that isn't, as the end of
// a reference names it, and which part may be meant.
func (p *Pass) instead(f *diag.Diagnostic, r *plan.Read, rest []expression.Segment, m missingField) {
	step := rest[m.at.Depth]
	switch {
	case m.known.list == "":
		f.Message += ": " + m.is + " " + m.of.At(compiler.SchemaPath(rest[:m.at.Depth])).Schema.Kinds().String()
	case m.closed:
		f.Message += ": " + m.its + " schema allows only " + m.known.list
	default:
		f.Message += ": " + m.its + " schema names " + m.known.list
	}
	if m.closed && r.Ref.Required {
		f.As(diag.Error)
	}
	if near, ok := m.known.Nearest(step.Key); ok && !step.IsIndex {
		suggested := r.Ref
		suggested.Path = slices.Clone(r.Ref.Path)
		suggested.Path[len(suggested.Path)-len(rest)+m.at.Depth].Key = near
		f.Advise("did you mean %q?", suggested.String())
		f.Rename(r.Node, r.Ref.Start, r.Ref.End, respelt(r.Node.Text[r.Ref.Start:r.Ref.End], step.Key, near, suggested), compiler.Misspelt(p.Plan, step.Key, near, m.known.Suggester, true))
	}
}

// failureFields are what a failure record holds.
var failureFields = []string{"code", "message", "details"}

// declaredInDocument reports whether the document itself holds or names a path of the state, whatever
// the tools say.
func (p *Pass) declaredInDocument(r *plan.Read) bool {
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

// unknownMembers reports fields that an expression reads inside what it works out, such as an item, where the
// schemas name fields and not that one.
func (p *Pass) unknownMembers() {
	hasParts := func(read int) bool {
		known := p.typeOf(read)
		return known != nil && known.Kinds&(expression.Object|expression.Array) != 0
	}
	p.calculations(func(call *plan.Call, t *plan.Template) {
		if t.Expr.Plain() || !slices.ContainsFunc(t.Reads, hasParts) {
			return
		}
		if _, err := t.Expr.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) }); err != nil {
			return // a finding of its own
		}
		_, err := t.Expr.Check(func(i int) *expression.Type {
			if read := t.Reads[i]; hasParts(read) {
				return p.declaredType(read)
			}
			return p.typeOf(t.Reads[i])
		})
		if err == nil {
			return
		}
		said := strings.Replace(err.Message, "there is no field", "no schema names a field", 1)
		f := p.Report(t.Node.Within(err.Start, err.End), "%s here", said).About(call.Label())
		if f.Help = err.Help; f.Help == "" {
			f.Advise("read a field that the source's schema names, or name this one there")
		}
	})
}

// declaredType is the type of a read whose objects have the fields that their
// schemas name and no others, where these say nothing of others.
func (p *Pass) declaredType(read int) *expression.Type {
	flows := p.flowsOfRead(read)
	if len(flows) != 1 || flows[0].schema == nil || flows[0].sample || flows[0].overApproximate {
		return p.typeOf(read)
	}
	t := typeOfSchema(flows[0].schema, false, typeDepth)
	closeDeclared(t, flows[0].schema)
	return t
}

func closeDeclared(t *expression.Type, s *schema.Schema) {
	if t == nil || s == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		closeDeclared(t.Fields[name], s.At([]schema.Step{schema.Key(name)}).Schema)
	}
	if t.Elem != nil {
		closeDeclared(t.Elem, s.At([]schema.Step{schema.Index(0)}).Schema)
	}
	if t.Open && len(t.Fields) > 0 {
		other := s.At([]schema.Step{schema.Key("\x00")}) // a name that no schema has
		t.Open = other.Named || other.Possible && (other.Silent || other.Open)
	}
}
