package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var MaybeMissing = Register(Rule{Run: missingOutputs}.As("OB205", "maybe-missing", diag.Warning))

// missingOutputs finds leaves of the plan's output that some branch leaves out. Failures without a route and input
// that isn't given make no branch. A leaf that the output's schema doesn't require isn't reported where another one
// is there exactly when it isn't.
func missingOutputs(p *Pass) {
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
	missing, present := e.SolveAll(lacks, true), e.SolveAll(there, true)
	for i := range leaves {
		// That no value was found with which it is there doesn't show that none comes.
		tried := missing[i].Beyond ||
			missing[i].Possible && !present[i].Possible && !present[i].Impossible && !e.Exhausted()
		instead := false
		if (tried || missing[i].Possible && present[i].Possible) &&
			!requires(p.Plan.OutputSchema, p.Plan.Output, leaves[i]) {
			if other := missingInstead(e, there, i); other != lacks[i] {
				instead, lacks[i] = true, other
				missing[i] = e.SolveAll(lacks[i:i+1], true)[0]
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
		case missing[i].Possible && (present[i].Possible || p.Flow.Lacks != nil && // other instances have it
			!slices.ContainsFunc(leaves[i].Reads, func(r int) bool { return !p.Flow.MayBeThere(&p.Plan.Reads[r]) })):
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
			(e.Solve(both, true).Impossible || e.Solve(both, false).Impossible) {
			lacks = e.And(lacks, other.Not())
		}
	}
	return lacks
}

func ReportMissing(p *Pass, leaf *plan.Template, branch []choice, alone bool) {
	f := p.Report(leaf.Node.Span(), "the output lacks %q", short(leaf.Node.Text)).
		Advise("write it on every branch, or join the branches with \"||\"")
	if words := analysis.DescribeBranch(branch); words != "" {
		f.Message += " when " + words
	}
	f.Witness = evidence{Branch: branch}
	// A run whose whole output is null has failed. Elsewhere whether null will do is for the author to say.
	if leaf != p.Plan.Output && !requires(p.Plan.OutputSchema, p.Plan.Output, leaf) {
		f.Advise("add a fallback (\"… || null\"), or write it on every branch")
		if alone && leaf.Expr != nil && leaf.Expr.Plain() {
			f.Offer("use null if it is missing", leaf.Node, len(leaf.Node.Text), len(leaf.Node.Text), " || null", false)
		}
	}
	analysis.NoteWriters(p, f, leaf)
}

// requires reports whether a schema of a template requires a part of it.
func requires(s *schema.Schema, t, part *plan.Template) bool {
	for i, item := range t.Items {
		if requires(s.At([]schema.Step{schema.Index(i)}).Schema, item, part) {
			return true
		}
	}
	return slices.ContainsFunc(t.Fields, func(f plan.TemplateField) bool {
		at := s.Part(f.Key)
		return f.Value == part && at.Required || requires(at.Schema, f.Value, part)
	})
}

// UndecidedLeaves are the leaves of the output whose conditions don't decide about their presence.
type UndecidedLeaves []*plan.Template
