package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var _ = Register(Rule{Raises: true, Run: unknownFields}.As("OB513", "unknown-field", diag.Warning))

// unknownFields reports reads of a field that no source of the value names. Where a schema names nothing, says that
// there may be more, or isn't known, the field may be there and the rule is silent.
func unknownFields(p *Pass) {
	unknownMembers(p)
	for i := range p.Plan.Reads {
		r := &p.Plan.Reads[i]
		if compiler.ReadsItem(p.Plan, r) {
			unknownInItem(p, r)
		} else if r.Ref.Kind == "error" && p.Plan.Errors == nil {
			unknownInFailure(p, r)
		} else if len(r.Writers) > 0 && len(r.Writers) <= flow.MaxWriters && !r.Start &&
			p.Plan.Paths.Depth(r.Path) > 2 {
			unknownInResult(p, r)
		}
	}
}

// unknownInFailure reports what no item of †error has.
func unknownInFailure(p *Pass, r *plan.Read) {
	for i, step := range r.Ref.Path {
		switch {
		case i == 0 && step.IsIndex, i == 1 && slices.Contains([]string{"call", "error"}, step.Key),
			i == 2 && slices.Contains(failureFields, step.Key):
			continue
		case i < 2 || i == 2 && r.Ref.Path[1].Key == "error":
			p.ReportCall(p.Flow.Caller(r), r.Span(), "%q never has a value: †error is a list of {call, error: "+
				"{code, message, details}}", r.Ref.String()).Advise("read †error[0].error.message")
		}
		return
	}
}

func unknownInResult(p *Pass, r *plan.Read) {
	origins := compiler.Origins(p.Plan, r)
	var sources []fieldSource
	for _, o := range origins {
		if o.Below || len(o.Rest) == 0 || o.Call.Method != plan.Set || o.Call.Tool == nil ||
			o.Call.Tool.Output == nil || o.Failure && slices.Contains(failureFields, o.Rest[0].Key) ||
			o.Call.Produced != nil && flow.Holds(o.Call.Produced.Value(), o.Rest) {
			return
		}
		// An activity may send a result to a failure route, too.
		sources = append(sources, fieldSource{o.Call.Tool.Output, o.Rest})
	}
	if path := p.Plan.Paths.Segments(r.Path); len(origins) == 0 || p.Flow.Begins(path[0].Key, path[1:]) ||
		path[0].Key == "state" && p.Plan.StateSchema != nil && p.Plan.StateSchema.At(path[1:]).Named ||
		path[0].Key == "data" && p.Flow.DescribesKind(path[1].Key) {
		return
	}
	first := origins[0]
	what := "the result of " + quote(first.Call.ToolName)
	if first.Failure {
		what = "the failure record of " + quote(first.Call.ToolName)
	}
	if f := unknownField(p, r, sources, what); f != nil {
		if f.Note(first.Path.Span(), "%q writes it to %q here", first.Call.Name, p.Path(first.Path.ID)); first.Failure {
			f.Message = fmt.Sprintf("%s has no %q: it has code, message and details", what, first.Rest[0].Key)
			f.As(diag.Warning)
		}
	}
}

// unknownInItem reports a field of an item that the list's schema doesn't name.
func unknownInItem(p *Pass, r *plan.Read) {
	call := p.Flow.Caller(r)
	if call == nil || call.Each == nil || len(r.Ref.Path) == 0 {
		return
	}
	if r.Ref.Kind == "index" {
		p.ReportCall(call, r.Span(), "%q is the place of an item, a number: it has no fields", "†index").
			As(diag.Error).Advise("the item itself is %q", "†item")
		return
	}
	var sources []fieldSource
	for _, v := range p.Flow.Elements(call.Each.List) {
		if v.Schema == nil || v.Wide {
			return
		}
		sources = append(sources, fieldSource{v.Schema, r.Ref.Path})
	}
	unknownField(p, r, sources, "an item of "+quote(short(call.Each.Text())))
}

// A fieldSource is what a value that is read may be, and the path in it.
type fieldSource struct {
	schema *schema.Schema
	rest   []expression.Segment
}

// unknownField reports a read whose path none of its sources names, and what they name in its stead.
func unknownField(p *Pass, r *plan.Read, sources []fieldSource, what string) *diag.Diagnostic {
	var at schema.Place
	closed := true
	for _, s := range slices.Backward(sources) {
		if at = p.Flow.At(s.schema, s.rest); at.Named || at.Required || at.Possible && (at.Silent || at.Open) {
			return nil
		}
		closed = closed && !at.Possible
	}
	if len(sources) == 0 {
		return nil
	}
	s, rest := sources[0].schema, sources[0].rest
	above := len(r.Ref.Path) - len(rest) + at.Depth // of the read's own path
	step, known := rest[at.Depth], analysis.DeclarationOf(p, s, rest, at)
	f := p.ReportCall(p.Flow.Caller(r), r.Span(), "%s has no %q", what, step.Key).
		Advise("read a field that the schema of the source names, or name this one there")
	switch {
	case len(known.All) == 0:
		f.Message += ": it is " + s.At(rest[:at.Depth]).Schema.Kinds().String()
		if function, ok := expression.FunctionFor(step.Key); ok && !step.IsIndex {
			object := r.Ref
			object.Path = r.Ref.Path[:above]
			f.Advise("use a function: †(%s(%s))", function, object.String())
		}
	case closed:
		f.Message += ": the schema allows only " + known.List()
	default:
		f.Message += ": the schema names " + known.List()
	}
	if closed && r.Ref.Required {
		f.As(diag.Error)
	}
	analysis.OfferKey(p, f, r.Node, r.Ref, above, known.Suggester, true)
	return f
}

// unknownMembers reports fields that an expression reads inside what it works out, such as an item, where the
// schemas name fields and not that one.
func unknownMembers(p *Pass) {
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		if t.Expr.Plain() || p.Flow.Check(t).Err != nil { // a finding of its own
			return
		}
		err := t.Expr.Check(func(i int) *expression.Type {
			if all := p.Flow.Read(t.Reads[i]); len(all) == 1 && all[0].Sure() {
				s := all[0].Schema
				return analysis.Once(p.Shared, s, func() *expression.Type { return flow.DeclaredType(s) })
			}
			return p.Flow.Type(t.Reads[i])
		}).Err
		if err != nil {
			p.ReportCall(call, t.Node.Within(err.Start, err.End), "%s in what the schemas name", err.Message).
				Advise("%s", cmp.Or(err.Help, "read a field that the source's schema names, or name this one there"))
		}
	})
}
