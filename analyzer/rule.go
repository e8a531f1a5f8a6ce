package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// What rules, and a program's own, are written with.
type (
	Pass    = analysis.Pass
	Rule    = analysis.Rule
	Machine = analysis.Machine
)

// What [Rule.Scope] may be.
const (
	Idle     = analysis.Idle
	Document = analysis.Document
)

// What findings give as evidence.
type (
	Branch       = analysis.Branch
	BranchChoice = analysis.BranchChoice
	Schedule     = analysis.Schedule
	ScheduledEnd = analysis.ScheduledEnd
)

// InWords is a decision as text.
func InWords(d BranchChoice) string { return analysis.InWords(d) }

// rules are all that are looked for.
func (c *Config) rules() []*Rule {
	if len(c.Rules) == 0 {
		return rules.Registered
	}
	return slices.Concat(rules.Registered, c.Rules)
}

// A Turn is a value on which conditions of a plan turn.
type Turn = branch.Turn

// Turns are the values that conditions of a plan, or of one of its delegates, are about, with samples
// for which conditions hold and don't hold, if the schemas allow both.
func Turns(p *plan.Plan) []Turn { return branch.Turns(p, analysis.NewPass(p, 0).Flow) }
