package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A BranchChoice is one decision of a branch.
type BranchChoice = branch.Choice

// A Branch is the evidence that goes with a finding about branches: the
// decisions that lead into it, in the order of the run. Where something is the
// other way on another branch, Instead leads there.
type Branch struct {
	Branch    []branch.Choice `json:"branch"`
	Instead   []branch.Choice `json:"instead,omitempty"`
	Schedules []Schedule      `json:"schedules,omitempty"` // two that end in different states
}

// conditions are the conditions of the plan's calls, worked out when first asked for.
func (p *Pass) conditions() *branch.Conditions {
	if p.branches == nil || !p.branches.Covers() && !p.branches.Extend() {
		p.branches = branch.New(p.Plan, branchFacts{p})
	}
	return p.branches
}

// branchFacts are what a pass knows of its plan, as [branch.Facts].
type branchFacts struct{ *Pass }

func (f branchFacts) MayBeThere(r *plan.Read) bool { return f.mayBeThere(r) }

func (f branchFacts) Begins(path []expression.Segment) bool { return f.begins("state", path) }

func (f branchFacts) InResult(tool *plan.Tool, at pathtree.ID, below int) schema.Place {
	if below == 1 { // as it mostly is
		return f.inResultAt(tool, []expression.Segment{f.Plan.Paths.Segment(at)})
	}
	path := f.Plan.Paths.Segments(at)
	return f.inResultAt(tool, path[len(path)-below:])
}

func (f branchFacts) InState(id pathtree.ID) *schema.Schema { return f.stateAt(id).Schema }

func (f branchFacts) Given(id pathtree.ID) (s *schema.Schema, sure bool) {
	given := f.given(id)
	if given.sample {
		return given.like, false
	}
	return given.schema, given.schema != nil
}

func (f branchFacts) Item(r *plan.Read) (s *schema.Schema, sure bool) {
	var all []*schema.Schema
	for _, one := range f.flowsOfItem(nil, r) {
		if one.schema == nil || one.sample || one.overApproximate {
			return nil, false
		}
		all = append(all, one.schema)
	}
	return schema.AnyOf(all...), len(all) > 0
}

func (f branchFacts) Both(a, b *schema.Schema) *schema.Schema { return f.meet(a, b) }

func (f branchFacts) NotNull(s *schema.Schema) *schema.Schema { return f.notNull(s) }

// hasBranches reports whether anything in the plan decides what runs.
func (p *Pass) hasBranches() bool {
	known := &p.branching
	if !known.yes {
		more := p.Plan.Calls[known.upTo:]
		known.yes = p.Plan.Writes == plan.Once || slices.ContainsFunc(more, func(c *plan.Call) bool {
			return len(c.Output) > 1 || compiler.Condition(c) != nil || p.mayEndEmpty(c.Params)
		}) ||
			p.Plan.Output != nil && slices.ContainsFunc(p.Plan.Reads, p.isBelowNull)
		known.upTo += len(more)
	}
	return known.yes
}

// mayEndEmpty reports whether a template holds a fallback or a gate that has no value where
// what it reads is null.
func (p *Pass) mayEndEmpty(t *plan.Template) bool {
	for e := range t.Expressions() {
		fallback, literal := e.Expr.Alternatives()
		if fallback && !literal && slices.ContainsFunc(e.Reads, func(r int) bool { return len(p.Plan.Reads[r].Writers) > 0 || p.beginsNull(&p.Plan.Reads[r]) }) {
			return true
		}
		if !fallback && !e.Expr.Plain() && slices.ContainsFunc(e.Reads, func(r int) bool { return p.meetsNull(p.Plan.Reads[r], true) }) {
			return true
		}
	}
	return false
}

// isBelowNull reports whether a read looks into a value that a schema allows to be null: then it is
// absent, and its reader is skipped.
func (p *Pass) isBelowNull(r plan.Read) bool { return p.meetsNull(r, false) }

// meetsNull reports whether a schema allows null above a read or, with itself set, at the read.
func (p *Pass) meetsNull(r plan.Read, itself bool) bool {
	paths := p.Plan.Paths
	along := func(rest []expression.Segment, at func([]expression.Segment) *schema.Schema) bool {
		for i := range len(rest) + 1 {
			if i == len(rest) && !itself {
				break
			}
			if s := at(rest[:i]); s != nil && s.Kinds()&schema.Null != 0 && s.Kinds() != schema.Anything {
				return true
			}
		}
		return false
	}
	if s := p.Plan.InputSchema; s != nil && !compiler.ReadsItem(p.Plan, &r) && r.Path != pathtree.Root && paths.Kind(r.Path) == "input" {
		return along(paths.Segments(r.Path)[1:], func(path []expression.Segment) *schema.Schema {
			at := s.At(compiler.SchemaPath(path))
			return at.Schema
		})
	}
	return slices.ContainsFunc(r.Writers, func(w int32) bool {
		call := p.Plan.Calls[w]
		rest, ok := p.lookedInto(call, r.Path)
		return ok && along(rest, func(rest []expression.Segment) *schema.Schema { return p.inResultAt(call.Tool, rest).Schema })
	})
}

// noteWriters shows where alternatives write what some expressions read; nil is none.
func (p *Pass) noteWriters(f *diag.Diagnostic, templates ...*plan.Template) {
	noted := map[source.Span]bool{}
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, r := range t.Reads {
			read := &p.Plan.Reads[r]
			for _, w := range read.Writers {
				call := p.Plan.Calls[w]
				if path, ok := p.outputOver(call, read.Path); ok && len(noted) < maxShown && !noted[path.Span()] {
					noted[path.Span()] = true
					f.Note(path.Span(), "%q may write %q here", call.Name, p.path(path.ID))
				}
			}
		}
	}
}

// maxChoices limits the decisions in a message.
const maxChoices = 4

// told is a branch in words: "judge#1" takes "†state.bad" and "†input.size" is 11.
func describeBranch(branch []branch.Choice) string {
	var words []string
	for i, d := range branch {
		if i == maxChoices && len(branch) > maxChoices+1 {
			words = append(words, fmt.Sprintf("%d more conditions", len(branch)-i))
			break
		}
		words = append(words, InWords(d))
	}
	return wording.And(words)
}

// InWords is a decision as text.
func InWords(d BranchChoice) string {
	switch {
	case d.Takes != "":
		return quote(d.Call) + " chooses " + quote(d.Takes)
	case d.Fails:
		return quote(d.Call) + " fails"
	case d.Approved != nil && *d.Approved:
		return quote(d.Call) + " is approved"
	case d.Approved != nil:
		return quote(d.Call) + " is rejected"
	case d.Condition != "" && *d.Holds:
		return quote(d.Condition) + " holds"
	case d.Condition != "":
		return quote(d.Condition) + " doesn't hold"
	case d.Reference != "":
		who := quote(d.Reference)
		if d.Call != "" {
			who += " of " + quote(d.Call)
		}
		if d.Absent {
			return who + " has no value"
		}
		return who + " is " + shortly(*d.Value) + d.Apart
	}
	return quote(d.Call) + " ends well"
}

func shortly(value any) string {
	if text, ok := value.(string); ok {
		return quote(text)
	}
	return brief(value)
}
