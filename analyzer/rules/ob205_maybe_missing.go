package rules

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var MaybeMissing = Register(Rule{Run: missingOutputs}.As("OB205", "maybe-missing", diag.Warning))

// missingOutputs finds leaves of the plan's output that some branch leaves out. Failures without a route and input
// that isn't given make no branch. A leaf that the output's schema doesn't require isn't reported where another one
// is there exactly when it isn't.
func missingOutputs(p *Pass) {
	missingInSomeInstances(p)
	if p.Plan.Output == nil || p.Unknown(branch.Needed) || !p.Flow.HasBranches() {
		return
	}
	e := p.Flow.Conditions()
	var leaves []*plan.Template
	var there []logic.Literal
	p.Expressions(func(call *plan.Call, t *plan.Template) {
		switch {
		case call != nil:
		case t == p.Plan.Output && t.Expr != nil && !t.FallsBack(): // a run whose whole output is null has failed
			leaves, there = append(leaves, t), append(there, e.Solid(t))
		default:
			leaves, there = append(leaves, t), append(there, e.There(t))
		}
	})
	lacks := make([]logic.Literal, len(there))
	for i, l := range there {
		lacks[i] = l.Not()
	}
	missing, present := e.Solve(lacks, true), e.Solve(there, true)
	for i := range leaves {
		// That no value was found with which it is there doesn't show that none comes.
		tried := missing[i].Beyond ||
			missing[i].Possible && !present[i].Possible && !present[i].Impossible && !e.Exhausted()
		instead := false
		if (tried || missing[i].Possible && present[i].Possible) && !requiredInOutput(p, leaves[i]) {
			if other := missingInstead(e, there, i); other != lacks[i] {
				instead, lacks[i] = true, other
				missing[i] = e.Solve(lacks[i:i+1], true)[0]
			}
		}
		switch {
		case tried && instead:
		case tried:
			undecided := analysis.Kept[UndecidedLeaves](p.Store)
			*undecided = append(*undecided, leaves[i])
		case !missing[i].Possible && !missing[i].Impossible && !e.Exhausted():
			what := "on which branches " + quote(short(leaves[i].Node.Text)) + " is there"
			analysis.Unanswered(p, leaves[i].Node.Span(), nil, what)
		case missing[i].Possible && present[i].Possible:
			// A condition that no value was found for can most likely go either way; of
			// two it isn't known whether they can together.
			if branch := e.Decisions(lacks[i], missing[i].Assignment); Undecided(branch) < 2 {
				ReportMissing(p, leaves[i], branch, true)
			}
		}
	}
}

// GivesOutput reports whether it is the plan's own output that a run gives, and that it fails without any.
func GivesOutput(p *Pass) bool {
	return p.Plan.Form == plan.PlanFile || p.Plan.Form == plan.CallList
}

// Undecided counts the conditions of a branch for which there are no values.
func Undecided(branch []choice) (n int) {
	for _, d := range branch {
		if d.Condition != "" {
			n++
		}
	}
	return n
}

// maxLeaves bounds how many leaves are held against one.
const maxLeaves = 50

// missingInstead is that a leaf is missing and none of those is there that is there only while it is missing.
func missingInstead(e *branch.Conditions, there []logic.Literal, leaf int) logic.Literal {
	lacks := there[leaf].Not()
	for i, other := range there[:min(len(there), maxLeaves)] {
		if both := e.And(there[leaf], other); i != leaf &&
			(e.SolveOne(both, true).Impossible || e.SolveOne(both, false).Impossible) {
			lacks = e.And(lacks, other.Not())
		}
	}
	return lacks
}

func ReportMissing(p *Pass, leaf *plan.Template, branch []choice, alone bool) {
	f := p.Report(leaf.Node.Span(), "the output lacks %q when %s", short(leaf.Node.Text),
		analysis.DescribeBranch(branch)).
		Advise("add a fallback (\"… || null\"), or write it on every branch")
	f.Witness = evidence{Branch: branch}
	if leaf == p.Plan.Output { // a run whose whole output is null has failed
		f.Advise("write it on every branch, or join the branches with \"||\": without a value the run has no output")
		// whether null will do is for the author to say
	} else if alone && leaf.Expr != nil && leaf.Expr.Plain() && !requiredInOutput(p, leaf) {
		f.Offer("use null if it is missing", leaf.Node, len(leaf.Node.Text), len(leaf.Node.Text), " || null", false)
	}
	analysis.NoteWriters(p, f, leaf)
}

// requiredInOutput reports whether the output's schema wants a leaf to be there.
func requiredInOutput(p *Pass, leaf *plan.Template) bool {
	required := false
	l := analysis.Literals{
		Refused: func(source.Span, string, string) {},
		Given:   func(f plan.TemplateField, _ string) { required = required || f.Value == leaf },
	}
	l.Judge(p.Plan.Output, nil, p.Plan.OutputSchema, "")
	return required
}

// missingInSomeInstances finds reads of what only some instances have, and no call writes.
func missingInSomeInstances(p *Pass) {
	if len(p.Plan.Instances) < 2 || p.Unknown(diag.State|diag.Input|diag.Writes) {
		return
	}
	for i := range p.Plan.Reads {
		r := &p.Plan.Reads[i]
		if len(r.Writers) > 0 || r.Start || !r.Ref.Required || r.Path == pathtree.Root ||
			r.Call >= 0 && p.Plan.Calls[r.Call].Instance != "" {
			continue
		}
		path := p.Plan.Paths.Segments(r.Path)
		if len(path) < 2 || path[0].Key != "input" && path[0].Key != "state" {
			continue
		}
		shared, _ := analysis.Initial(p, path[:1])
		if flow.Holds(shared, path[1:]) {
			continue
		}
		var without []string
		for k := range p.Plan.Instances {
			own := p.Plan.Instances[k].State
			if path[0].Key == "input" {
				own = p.Plan.Instances[k].Input
			}
			if !flow.Holds(own, path[1:]) && !keptAway(p, r, &p.Plan.Instances[k]) {
				without = append(without, p.Plan.Instances[k].ID)
			}
		}
		if len(without) == 0 || len(without) == len(p.Plan.Instances) {
			continue
		}
		InSomeOnly(p, r, without, false).About(p.Flow.Caller(r).Label())
		noteMissing(p, r, without)
	}
}

// keptAway reports whether the condition of the call that reads something isn't true with what an instance begins with.
func keptAway(p *Pass, r *plan.Read, one *plan.Instance) bool {
	call := p.Flow.Caller(r)
	if call == nil || compiler.Condition(call) == nil || compiler.Condition(call).Expr == nil {
		return false
	}
	when := compiler.Condition(call)
	value, presence, err := when.Expr.Eval(func(i int) (any, expression.Presence) {
		looks := &p.Plan.Reads[when.Reads[i]]
		if len(looks.Writers) > 0 || looks.Path == pathtree.Root {
			return nil, expression.Pending
		}
		value, there := compiler.BeginsWith(p.Plan, one, looks.Path)
		if !there {
			return nil, expression.Absent
		}
		return value, expression.There
	})
	return err == nil && presence != expression.Pending && (presence != expression.There || value != true)
}

// InSomeOnly reports a reference that some instances can't satisfy.
func InSomeOnly(p *Pass, r *plan.Read, without []string, unnamed bool) *diag.Diagnostic {
	return p.Report(r.Span(), "%q has a value in some instances only: %s", r.Ref.String(), lacking(without, unnamed)).
		Advise("set it in every instance or in the shared %s, or add a fallback", r.Ref.Kind)
}

// noteMissing remembers what is judged again over all views of the plan.
func noteMissing(p *Pass, r *plan.Read, without []string) {
	if p.View != nil {
		p.View.Missing[r.Span()] = analysis.MissingReference{Read: r, Ids: without}
	}
}

func lacking(instances []string, unnamed bool) string {
	switch {
	case unnamed && len(instances) == 0:
		return "those that no call names lack it"
	case unnamed:
		return analysis.NamedInstances(instances) + " and those that no call names lack it"
	case len(instances) == 1:
		return analysis.NamedInstances(instances) + " lacks it"
	}
	return analysis.NamedInstances(instances) + " lack it"
}

// UndecidedLeaves are the leaves of the output whose conditions don't decide about their presence.
type UndecidedLeaves []*plan.Template
