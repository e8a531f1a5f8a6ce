package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var _ = Register(Rule{Raises: true, Run: unknownFields}.As("OB513", "unknown-field", diag.Warning))

// unknownFields reports reads of a field that no bound call's _output names. Where a schema names nothing, says that
// there may be more, or isn't known, the field may be there and the rule is silent.
func unknownFields(p *Pass) {
	unknownMembers(p)
	for i := range p.Plan.Reads {
		r := &p.Plan.Reads[i]
		if compiler.ReadsItem(p.Plan, r) {
			unknownInItem(p, r)
			continue
		}
		if len(r.Writers) == 0 || len(r.Writers) > flow.MaxWriters || r.Start || p.Plan.Paths.Depth(r.Path) < 3 {
			continue
		}
		unknownField(p, r)
	}
}

func unknownField(p *Pass, r *plan.Read) {
	var first compiler.Origin
	var place schema.Place
	closed := true
	for _, o := range compiler.Origins(p.Plan, r) {
		if o.Below || len(o.Rest) == 0 || o.Call.Method != plan.Set || o.Call.Tool == nil || o.Call.Tool.Output == nil {
			return
		}
		if o.Failure && slices.Contains(failureFields, o.Rest[0].Key) {
			return
		}
		at := p.Flow.At(o.Call.Tool.Output, o.Rest) // which an activity may send to a failure route, too
		if at.Named || at.Required || at.Possible && (at.Silent || at.Open) {
			return
		}
		if o.Call.Produced != nil && flow.Holds(o.Call.Produced.Value(), o.Rest) {
			return
		}
		closed = closed && !at.Possible
		if first.Call == nil {
			first, place = o, at
		}
	}
	if first.Call == nil || declaredInDocument(p, r) {
		return
	}
	if first.Failure {
		p.ReportCall(p.Flow.Caller(r), r.Span(), "the failure record of %q has no %q: it has code, message and details",
			first.Call.ToolName, first.Rest[0].Key).
			Note(first.Path.Span(), "%q writes it to %q here", first.Call.Name, p.Path(first.Path.ID)).
			Advise("read one of these three")
		return
	}
	step := first.Rest[place.Depth]
	known := analysis.DeclarationOf(p, first.Call.Tool.Output, first.Rest, place)
	f := p.ReportCall(p.Flow.Caller(r), r.Span(), "the result of %q has no %q", first.Call.ToolName, step.Key)
	f.Note(first.Path.Span(), "%q writes its result to %q here", first.Call.Name, p.Path(first.Path.ID))
	f.Advise("read a field that the tool's \"_output\" names, or name this one there")
	if function, ok := expression.FunctionFor(step.Key); ok && known.List == "" && !step.IsIndex {
		object := r.Ref
		object.Path = r.Ref.Path[:len(r.Ref.Path)-len(first.Rest)+place.Depth]
		f.Advise("use a function: †(%s(%s))", function, object.String())
	}
	instead(p, f, r, first.Rest, missingField{first.Call.Tool.Output, place, known, closed, "there it is", "its"})
}

// A missingField is a part that a schema doesn't name, with what it names in its stead.
type missingField struct {
	of      *schema.Schema
	at      schema.Place
	known   *analysis.Declaration
	closed  bool   // it doesn't allow others either
	is, its string // how a message speaks of the values
}

// instead adds to a finding what there is in the place of a part that isn't, as the end of
// a reference names it, and which part may be meant.
func instead(p *Pass, f *diag.Diagnostic, r *plan.Read, rest []expression.Segment, m missingField) {
	switch end := analysis.PastEnd(m.of, rest); {
	case end != "":
		f.Message += ": " + end
		f.Advise("read an item that there may be")
	case m.known.List == "":
		f.Message += ": " + m.is + " " + m.of.At(rest[:m.at.Depth]).Schema.Kinds().String()
	case m.closed:
		f.Message += ": " + m.its + " schema allows only " + m.known.List
	default:
		f.Message += ": " + m.its + " schema names " + m.known.List
	}
	if m.closed && r.Ref.Required {
		f.As(diag.Error)
	}
	analysis.OfferKey(p, f, r.Node, r.Ref, len(r.Ref.Path)-len(rest)+m.at.Depth, m.known.Suggester)
}

// failureFields are what a failure record holds.
var failureFields = []string{"code", "message", "details"}

// declaredInDocument reports whether the document itself holds or names a path of the state, whatever the tools say.
func declaredInDocument(p *Pass, r *plan.Read) bool {
	path := p.Plan.Paths.Segments(r.Path)
	switch path[0].Key {
	case "state":
		if p.Plan.StateSchema != nil && p.Plan.StateSchema.At(path[1:]).Named {
			return true
		}
		return p.Flow.Begins("state", path[1:])
	case "data":
		return p.Flow.DescribesKind(path[1].Key) || p.Flow.Begins("data", path[1:])
	}
	return false
}

// unknownMembers reports fields that an expression reads inside what it works out, such as an item, where the
// schemas name fields and not that one.
func unknownMembers(p *Pass) {
	hasParts := func(read int) bool {
		known := p.Flow.Type(read)
		return known != nil && known.Kinds&(expression.Object|expression.Array) != 0
	}
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		if t.Expr.Plain() || !slices.ContainsFunc(t.Reads, hasParts) {
			return
		}
		if p.Flow.Check(t).Err != nil {
			return // a finding of its own
		}
		err := t.Expr.Check(func(i int) *expression.Type {
			if read := t.Reads[i]; hasParts(read) {
				return declaredType(p, read)
			}
			return p.Flow.Type(t.Reads[i])
		}).Err
		if err == nil {
			return
		}
		said := strings.Replace(err.Message, "there is no field", "no schema names a field", 1)
		f := p.ReportCall(call, t.Node.Within(err.Start, err.End), "%s here", said)
		if f.Help = err.Help; f.Help == "" {
			f.Advise("read a field that the source's schema names, or name this one there")
		}
	})
}

// declaredType is the type of a read whose objects have the fields that their
// schemas name and no others, where these say nothing of others.
func declaredType(p *Pass, read int) *expression.Type {
	flows := p.Flow.Read(read)
	if len(flows) != 1 || !flows[0].Sure() {
		return p.Flow.Type(read)
	}
	t := flow.NewType(flows[0].Schema)
	closeDeclared(t, flows[0].Schema)
	return t
}

func closeDeclared(t *expression.Type, s *schema.Schema) {
	if t == nil || s == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		closeDeclared(t.Fields[name], s.Part(name).Schema)
	}
	if t.Elem != nil {
		closeDeclared(t.Elem, s.Item().Schema)
	}
	if t.Open && len(t.Fields) > 0 {
		other := s.Part("\x00") // a name that no schema has
		t.Open = other.Named || other.Possible && (other.Silent || other.Open)
	}
}

// unknownInItem reports a field of an item that the list's schema doesn't name.
func unknownInItem(p *Pass, r *plan.Read) {
	call := p.Flow.Caller(r)
	if call == nil || call.Each == nil || len(r.Ref.Path) == 0 {
		return
	}
	if r.Ref.Kind == "index" {
		p.ReportCall(call, r.Span(), "%q is the place of an item, a number, and has no %q", "†index",
			r.Ref.Path[0].Key).As(diag.Error).
			Advise("the item itself is %q", "†item")
		return
	}
	all := p.Flow.Elements(call.Each.List)
	if len(all) == 0 {
		return
	}
	var at schema.Place
	for i := range all {
		if all[i].Schema == nil || all[i].Wide {
			return
		}
		if at = all[i].Schema.At(r.Ref.Path); at.Named || at.Possible && (at.Silent || at.Open) {
			return
		}
	}
	f := p.ReportCall(call, r.Span(), "the items of %q have no %q", short(call.Each.Text()), r.Ref.Path[at.Depth].Key)
	analysis.ShowAll(f, analysis.ItemPlace(p, r))
	if f.Advise(
		"read a field that the schema of the list names, or name this one there"); r.Ref.Path[0].Key == "index" &&
		at.Depth == 0 {
		f.Advise("the place of an item in its list is %q", "†index")
	}
	of := all[len(all)-1].Schema
	instead(p, f, r, r.Ref.Path, missingField{of, at, analysis.DeclarationOf(p, of, r.Ref.Path, at), !at.Possible,
		"they are", "their"})
}

// inItem reports whether a reference names a field that the items of a call's list have.
func inItem(p *Pass, call *plan.Call, ref expression.Reference) bool {
	if call == nil || call.Each == nil || ref.Kind != "item" && (ref.Kind != "index" || len(ref.Path) > 0) {
		return false
	}
	if len(ref.Path) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Flow.Elements(call.Each.List), func(v flow.Variant) bool {
		return v.Schema != nil && v.Schema.At(ref.Path[:1]).Named
	})
}
