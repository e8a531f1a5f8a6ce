package rules

import (
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var StateMismatchRule = &diag.Rule{Code: "OB508", Name: "state-mismatch", Default: diag.Error}

var _ = Register(Rule{Rule: StateMismatchRule, Needs: diag.State, Run: stateMismatches})

// stateMismatches reports results that the state schema refuses, always or for some values.
func stateMismatches(p *Pass) {
	if p.Plan.StateSchema == nil && p.Plan.DataSchemas == nil ||
		p.Plan.StateSchema != nil && p.Plan.StateSchema.Compile() != nil {
		return
	}
	for _, call := range p.Plan.Calls {
		if len(call.Output) == 0 || call.Produced == nil && (call.Tool == nil || call.Tool.Output == nil) {
			continue
		}
		gives, into := p.Flow.Gives(call), p.Flow.StateAt(call.Output[0][0].ID).Schema
		if len(call.Output) > 1 || len(call.Output[0]) > 1 {
			into = nil
		}
		isList := into != nil && into.Kinds()&schema.Array != 0 && flow.Uniform(into)
		switch {
		case call.Method == plan.Set && call.Produced != nil:
			producedMismatch(p, call)
		case call.Produced != nil:
		case call.Method == plan.Set:
			stateMismatch(p, call, gives, acceptedSomewhere(p, call), "")
		case call.Method == plan.Push && isList:
			stateMismatch(p, call, gives, into.Item().Schema, "")
		case call.Method == plan.Concat && isList && gives.Kinds() == schema.Array && flow.Uniform(gives):
			stateMismatch(p, call, gives.Item().Schema, into.Item().Schema, "")
		case call.Method == plan.Merge, call.Method == plan.Assign:
			partsMismatch(p, call, call.Tool.Output, into, "")
		}
	}
}

// acceptedSomewhere is what the state schema accepts at all paths of at least one alternative.
func acceptedSomewhere(p *Pass, call *plan.Call) *schema.Schema {
	var any []*schema.Schema
	for _, route := range call.Output {
		var all *schema.Schema
		for _, path := range route {
			all = p.Flow.Meet(all, p.Flow.StateAt(path.ID).Schema)
		}
		if all == nil {
			return nil
		}
		any = append(any, all)
	}
	if len(any) == 1 {
		return any[0]
	}
	return schema.AnyOf(any...)
}

// stateMismatch reports a result, or a part of it, that isn't accepted where it goes.
func stateMismatch(p *Pass, call *plan.Call, produced, wanted *schema.Schema, part string) {
	if produced == nil || wanted == nil {
		return
	}
	path := call.Output[0][0]
	what := "the result of " + quote(call.ToolName)
	if part != "" {
		what = quote(part) + " of " + what
	}
	where := "the state schema at " + quote(p.Path(path.ID))
	if len(call.Output) > 1 {
		where = "what the state schema accepts at any of the alternatives"
	}
	switch j := analysis.Compare(p, call, produced, wanted); {
	case j.Relation == schema.Never, j.Relation == schema.MayNotFit:
		f := analysis.Mismatch(p, p.Rule, path.Span(), what, j, where).
			Advise(
				"make the two schemas agree, write the result to another path, or add an alternative that " +
					"accepts the rest")
		analysis.NoteResult(f, call.Tool)
	case j.CutShort != "":
		analysis.CutShort(p, path.Span(), "whether %s fits %s isn't fully analysed: %s", what, where, j.CutShort).
			About(call.Label())
	}
}

// producedMismatch judges a result that the solution already holds.
func producedMismatch(p *Pass, call *plan.Call) {
	if call.Takes > 0 { // none but this
		one := *call
		one.Output = call.Output[call.Takes-1 : call.Takes]
		call = &one
	}
	wanted, path := acceptedSomewhere(p, call), call.Output[0][0]
	if wanted == nil {
		return
	}
	if v := wanted.Validate(call.Produced.Value()); v != nil {
		p.ReportCall(call, analysis.PlaceAt(nil, call.Produced, v.Path),
			"the result of %q doesn't fit the state schema at %q: %s", call.Name, p.Path(path.ID), v.Error()).
			Advise("give a result that the state schema accepts, or write it elsewhere").
			Note(path.Span(), "it would be written here").Witness = call.Produced.Value()
	}
}

// maxParts bounds how deep the parts of a merged object are looked into.
const maxParts = 8

// partsMismatch judges what is merged into an object property by property.
func partsMismatch(p *Pass, call *plan.Call, given, into *schema.Schema, above string) {
	if into == nil || given.Kinds() != schema.Object || into.Kinds() != schema.Object ||
		strings.Count(above, ".") > maxParts {
		return
	}
	for _, name := range given.Properties() {
		from, to := given.Part(name), into.Part(name)
		switch {
		case !from.Possible:
		case !to.Possible:
			path := call.Output[0][0]
			f := p.ReportCall(call, path.Span(), "the state schema at %q allows no %q of the result of %q",
				p.Path(path.ID), above+name, call.ToolName).
				Advise("allow it in the state schema, or remove it from the tool's \"_output\"")
			if analysis.NoteResult(f, call.Tool); !from.Required {
				f.As(diag.Warning)
			}
		case call.Method == plan.Merge && from.Schema != nil && from.Schema.Kinds()&schema.Object != 0:
			partsMismatch(p, call, from.Schema, to.Schema, above+name+".") // it is merged in its turn
		default:
			stateMismatch(p, call, from.Schema, to.Schema, above+name)
		}
	}
}
