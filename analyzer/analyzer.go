// Package analyzer checks a compiled plan. It finds what would fail in a run, or means something else
// than its author intended, before anything has run.
//
// A rule is a value in a file with its code and name, rules/ob203_dangling_reference.go, and has a page beside it. Its
// file registers it; [rules.Registered] lists all. The compiler reports the findings of some rules; these have no file.
// Here are those that compare runs or policies. Package flow computes which values may occur at each place.
//
// Every rule prefers silence to a false finding. It reports nothing that depends on a part that couldn't be read.
package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/suppress"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Verified is a plan without errors: the only thing that is ever run. Only
// [Analyze] makes one.
type Verified struct {
	plan      *plan.Plan
	own       []*Rule
	delegates map[string]*Verified
}

// Plan is the plan that was found free of errors.
func (v *Verified) Plan() *plan.Plan { return v.plan }

// Rules are those of [Config.Rules] that it was held to, as solutions of it are.
func (v *Verified) Rules() []*Rule { return v.own }

// Delegate is one of the plan's own delegates, by [plan.Call.Delegate]: it was found free of errors along with the
// plan. It is nil where there is none. A solution's are those of the plan that it is a solution of.
func (v *Verified) Delegate(path string) *Verified { return v.delegates[path] }

// applied runs the rules over a plan and puts their findings to those given. Ordered
// are the pairs of calls that are to run as listed, by index.
func applied(p *plan.Plan, found []diag.Diagnostic, c Config) (all []diag.Diagnostic,
	unjudged []string, ordered [][2]int) {
	all, unjudged = slices.Clone(found), kindsOfJudgement
	if p.Root != nil { // what couldn't be read at all isn't judged
		groups := groupsOf(p)
		judged := p
		if len(groups) == 1 {
			judged = planFor(p, groups[0].members)
		}
		pass := analysis.NewPass(judged, analysis.UnknownFacts(p, found))
		*analysis.Kept[Replay](pass.Shared), *analysis.Kept[SampleRun](pass.Shared) = c.Replay, c.SampleRun
		pass.Surroundings = analysis.Surroundings{
			Shared: pass.Shared, Delegates: c.delegates, Within: c.within, Machine: c.Machine, Permit: c.Permit,
			Asks: c.asksFor,
		}
		c.apply(pass, func(r *Rule) bool { return len(groups) < 2 || !r.ByInstance() })
		all = append(all, pass.Found...)
		if len(groups) > 1 {
			all = append(all, byGroup(p, groups, found, pass, c)...)
		}
		unjudged, ordered = unjudgedKinds(pass), pass.Ordered
	}
	diag.Sort(all)
	return all, unjudged, ordered
}

// kindsOfJudgement are what a plan is judged for when it is known as a whole.
var kindsOfJudgement = []string{"branches", "conflicts", "types"}

// unjudgedKinds names those of them that errors keep from being judged everywhere.
func unjudgedKinds(p *Pass) (kinds []string) {
	if p.Flow.Hidden == diag.Everything {
		return kindsOfJudgement
	}
	ordered := p.Plan.Graph.Acyclic()
	for i, hidden := range []bool{
		(p.Unknown(branch.Needed) || !ordered) && p.Flow.HasBranches(),
		(p.Unknown(diag.Order) || !ordered) && len(p.Plan.Calls) > 1 || p.Strayed,
		p.Unknown(diag.State|diag.Writes|diag.Order|diag.Tools) || p.Plan.ToolsDeclared &&
			slices.ContainsFunc(p.Plan.Calls, func(call *plan.Call) bool { return rules.UsesUnknownTool(p, call) }),
	} {
		if hidden {
			kinds = append(kinds, kindsOfJudgement[i])
		}
	}
	return kinds
}

// Config is what an analysis takes from outside the plan. The zero value judges by the rules alone.
type Config struct {
	// StrictProtocol reports what the base protocol doesn't have.
	StrictProtocol bool
	// Rules are looked for besides those that [rules.Registered] lists: a program's own.
	Rules []*Rule
	// Settings are those of an obelus.yaml, or nil.
	Settings *Settings
	// Path gives a file's path from the folder of the settings, with forward slashes, for the name under which findings
	// show it. Without it that name is the path.
	Path func(shown string) string
	// Replay confirms the evidence of OB401. Without it a conflict comes with the
	// branch in which it happens, and without schedules.
	Replay Replay
	// SampleRun shows what only values show. Without it such findings are missing.
	SampleRun SampleRun

	// Machine is where the plan is to be run; nil says nothing of that.
	Machine *Machine
	// Permit is what the plan may do (OB703); nil holds it to nothing.
	Permit *permit.Permit

	delegates *analysis.Delegates      // of the plan
	judged    map[*plan.Plan]Judgement // so far, of them
	within    bool                     // the plan is a delegate of one that is judged
}

// apply runs the rules that are asked for. Sample runs then check the calls that have no finding and
// aren't known to succeed.
func (c *Config) apply(p *Pass, counts func(*Rule) bool) {
	for _, r := range c.rules() {
		if counts(r) && c.asksFor(r) {
			c.run(p, r)
		}
	}
	if counts(rules.OutputMismatch) {
		runSamples(p)
	}
}

// run runs one rule, where what it concludes from is known.
func (c *Config) run(p *Pass, r *Rule) {
	if p.Unknown(r.Needs) {
		return
	}
	p.Rule = r.Rule
	switch {
	case r.Call != nil:
		for _, call := range p.Plan.Calls {
			r.Call(p, call)
		}
	case r.Run != nil:
		r.Run(p)
	}
}

// A Judgement is all that an analysis has to say of a plan.
type Judgement struct {
	// Plan is the plan with the order that findings speak of, in it and in the plans that it delegates to, if it has no
	// errors. It is the one that was judged where there is none.
	Plan *plan.Plan
	// Verified is the plan, if no finding is an error by its rule; else nil.
	Verified *Verified
	// Findings are those to show, with the severities that the settings give
	// them, in the order in which findings are always shown.
	Findings []diag.Diagnostic
	// Suppressed are those that the plan or the settings suppress.
	Suppressed []diag.Suppressed
	// Errors are the findings that keep the plan from being verified, as their
	// rules have them, suppressed or lowered or not.
	Errors []diag.Diagnostic
	// Unjudged names what errors keep from being judged yet, in part or whole: types, branches, conflicts.
	Unjudged []string
}

// Analyze judges a plan, given the findings that compiling it made. The plan is verified when no finding is an error by
// its rule: to suppress or lower an error doesn't make a plan sound. The time that it takes grows with the plan's text
// and dependencies, not faster.
func Analyze(p *plan.Plan, found []diag.Diagnostic, c Config) Judgement {
	if c.delegates == nil {
		c.delegates, c.judged = judgedDelegates(c)
	}
	all, unjudged, ordered := applied(p, found, c)
	final := c.delegates.WithOrder(p)
	if !diag.HasErrors(all) {
		inOrder := final
		if len(ordered) > 0 { // else schedules that show an error wouldn't be those of the plan
			inOrder = bind.WithOrder(final, ordered)
		}
		if d := canonical.NotAsCompiled(inOrder); d != nil {
			all = append(all, *d)
		} else {
			final = inOrder
		}
	}
	compiler.RedactFindings(p, all)
	j := Judgement{Plan: final, Unjudged: unjudged}
	suppressions := suppress.Of(p, func(word string) (*diag.Rule, string) {
		if rule, near := rules.Find(c.rules(), word); rule == nil {
			return nil, near
		} else {
			return rule.Rule, ""
		}
	})
	var kept []diag.Diagnostic
	suppressed := suppressions.Assign(all)
	for i := range all {
		d := all[i]
		if d.Severity == diag.Error {
			j.Errors = append(j.Errors, d)
		}
		if by := suppressed[i]; by != nil {
			j.Suppressed = append(j.Suppressed, diag.Suppressed{Diagnostic: d, Reason: by.Reason, At: by.At})
			continue
		}
		kept = append(kept, d)
	}
	if p.Root != nil && analysis.UnknownFacts(p, found) == 0 {
		asked := map[*diag.Rule]bool{}
		for _, r := range c.rules() {
			asked[r.Rule] = c.asksFor(r)
		}
		suppressions.Useless(func(r *diag.Rule) bool { return asked[r] })
	}
	kept = append(kept, suppressions.Found...)
	diag.Sort(kept)
	for _, d := range kept {
		if by := c.ignores(&d); by != nil {
			j.Suppressed = append(j.Suppressed,
				diag.Suppressed{Diagnostic: d, Reason: by.Reason, At: by.Node.Span(), Outside: true})
			continue
		}
		if c.Settings != nil {
			if level, set := c.Settings.Rules[d.Rule]; set {
				if level.Off {
					continue
				}
				d.Severity = level.Severity
			}
		}
		j.Findings = append(j.Findings, d)
	}
	if len(j.Errors) == 0 {
		j.Verified = &Verified{j.Plan, c.Rules, nil}
		if p.Form != plan.Replan && len(p.Delegates) > 0 {
			j.Verified.delegates = make(map[string]*Verified, len(p.Delegates))
			for path, one := range p.Delegates {
				c.delegates.Judge(one)
				j.Verified.delegates[path] = c.judged[one].Verified
			}
		}
	}
	return j
}

// ignores is the ignore of the settings that suppresses a finding, or nil.
func (c *Config) ignores(d *diag.Diagnostic) *Ignore {
	if c.Settings == nil || !d.Span.Known() {
		return nil
	}
	for _, one := range c.Settings.Ignores {
		if one.Rule == d.Rule && (one.Call == "" || one.Call == d.Call) {
			path := d.Span.File.Name
			if c.Path != nil {
				path = c.Path(path)
			}
			if one.Covers(path) {
				return one
			}
		}
	}
	return nil
}

// asksFor reports whether a rule has its say: an optional one only where the settings give it a severity.
func (c *Config) asksFor(r *Rule) bool {
	switch {
	case r.Strict:
		return c.StrictProtocol
	case !r.Optional:
		return true
	case c.Settings == nil:
		return false
	}
	level, set := c.Settings.Rules[r.Rule]
	return set && !level.Off
}

// judgedDelegates begins the judgement of the plans below one, at most once each.
func judgedDelegates(c Config) (*analysis.Delegates, map[*plan.Plan]Judgement) {
	known := map[*plan.Plan]Judgement{}
	below := Config{Rules: c.Rules, Machine: c.Machine, Replay: c.Replay, SampleRun: c.SampleRun, within: true,
		judged: known}
	judge := func(p *plan.Plan) analysis.DelegateJudgement {
		j := flow.Once(known, p, func() Judgement { return Analyze(p, slices.Clone(p.Found), below) })
		sound := j.Verified != nil
		return analysis.DelegateJudgement{Plan: j.Plan, Sound: sound, Errors: j.Errors, Findings: j.Findings}
	}
	below.delegates = &analysis.Delegates{Store: analysis.Store{}, Judge: judge}
	return below.delegates, known
}
