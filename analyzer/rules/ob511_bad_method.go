package rules

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Run: badMethods}.As("OB511", "bad-method", diag.Error))

// badMethods reports methods that can't work on what stands at the path, or with what the tool gives.
func badMethods(p *Pass) {
	for _, call := range p.Plan.Calls {
		if call.Method == plan.Set || len(call.Output) == 0 {
			continue
		}
		if call.Tool != nil && call.Tool.Output != nil && call.Produced == nil {
			if gives, takes := call.Tool.Output.Kinds(), PatchKinds[call.Method]; gives != 0 && gives&takes == 0 {
				f := p.ReportCall(call, methodPlace(call), "%q needs %s to write, but the result of %q is %s",
					call.Method, takes, call.ToolName, gives).
					Advise("use another \"_outputMethod\", or make the tool return %s", takes)
				analysis.NoteResult(f, call.Tool)
				continue
			}
		}
		if len(call.Output) == 1 && !p.Flow.StateVaries() {
			badBase(p, call)
		}
	}
}

// badBase reports a method that can't work on what stands at one of a call's paths.
func badBase(p *Pass, call *plan.Call) {
	for _, path := range call.Output[0] {
		if kinds := baseOf(p, call, path); kinds != 0 && kinds&(flow.BaseKinds[call.Method]|schema.Null) == 0 {
			p.ReportCall(call, methodPlace(call), "%q needs %s at %q, but it is %s", call.Method,
				flow.BaseKinds[call.Method], p.Path(path.ID), kinds).
				Advise("use another \"_outputMethod\", or another path")
			return
		}
	}
}

// PatchKinds are what methods can write.
var PatchKinds = map[plan.Method]schema.Kinds{
	plan.Merge: schema.Anything, plan.Assign: schema.Object, plan.Push: schema.Anything, plan.Concat: schema.Array,
}

func methodPlace(call *plan.Call) source.Span {
	if n := call.Node.Get("_outputMethod"); n != nil {
		return n.Span()
	}
	return call.OutputNode.Span()
}

// baseOf returns the possible kinds of value that a method is applied to; 0 if unknown.
func baseOf(p *Pass, call *plan.Call, path plan.Path) (kinds schema.Kinds) {
	if p.Plan.Paths.Depth(path.ID) < 2 || p.Unknown(diag.State|diag.Writes) {
		return 0
	}
	if s := p.Flow.StateAt(path.ID).Schema; s != nil {
		return s.Kinds()
	}
	if p.Plan.Paths.Kind(path.ID) != "state" {
		return 0
	}
	for _, w := range p.Plan.Writers(path.ID) {
		other := p.Plan.Calls[w.Call]
		switch {
		case w.Path == path.ID && w.Method == call.Method, other == call, w.Failure, !isBefore(p, w.Call, call):
			// it makes no difference
		case w.Path != path.ID, other.Method != plan.Set, other.Tool == nil, other.Tool.Output == nil:
			return 0
		default:
			kinds |= other.Tool.Output.Kinds()
		}
	}
	if kinds != 0 && !p.Flow.HasBranches() {
		return kinds // what the state began with is gone
	}
	if value, ok := p.Plan.Paths.Walk(p.Plan.State, path.ID); ok && value != nil {
		kinds |= schema.KindOf(value)
	}
	return kinds
}
