package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// An Exploration is what the simulations of a plan's branches came to.
type Exploration struct {
	*Explorer
	Played   int       // combinations of options, each once
	Most     float64   // combinations there are, those that can't be reached among them
	Problems []Problem // the shortest path first
	Idle     []string  // calls of the plan that ran in no combination, in the order of the text
}

// A Problem is what goes wrong on a branch: one for each cause, with the shortest path that was found to it.
type Problem struct {
	Kind     ProblemKind
	Call     string // whose it is; "" for the plan's output
	Message  string
	Path     []analyzer.BranchChoice // what comes otherwise than usual, in the order of the run
	Seen     int                     // combinations played that it happens in
	Scenario *Scenario

	code string
	path []pick // of it
}

// ProblemKind is what goes wrong.
type ProblemKind string

// The kinds of problem.
const (
	Stuck    ProblemKind = "stuck"     // calls never settle
	NoOutput ProblemKind = "no-output" // every failure is handled, and the plan's output has no value
	// a failure that nothing handles, a limit that stops the run, or an output that doesn't fit its schema
	Unhandled ProblemKind = "failure"
)

// covers reports whether another problem has the same cause and no shorter path. Of plans that end without output the
// paths tell causes apart.
func (p *Problem) covers(other *Problem) bool {
	return p.Kind == other.Kind && p.Call == other.Call && p.code == other.code && len(p.path) <= len(other.path) &&
		(p.Kind != NoOutput ||
			!slices.ContainsFunc(p.path, func(one pick) bool { return !slices.Contains(other.path, one) }))
}

// Explore simulates the branches of a plan: all combinations of how calls end, and of values with which its conditions
// hold or don't, that a run can reach. Of more than most it plays those that differ least from the usual one.
// Options.Steps bounds each simulation, and all of them together.
func Explore(r *analyzer.Simulation, o Options, most int) *Exploration {
	e, started := &Exploration{Explorer: Begin(r, o), Most: 1}, map[string]bool{}
	e.Alternatives(most, func(a *Alternative) bool {
		e.Played++
		for _, one := range a.Scenario.Calls {
			if one.Started && one.Under == "" {
				started[one.Call.Name] = true
			}
		}
		why := a.Scenario.Outcome.Reason
		e.Cut = e.Cut || why == TooLong || why == Unwatched
		otherwise := slices.DeleteFunc(slices.Clone(a.Picks), func(p pick) bool { return p[1] == 0 })
		for _, p := range judge(a.Scenario) {
			p.Seen, p.Path, p.Scenario, p.path = 1, a.Path, a.Scenario, otherwise
			e.note(p)
		}
		return true
	})
	all := e.Problems
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(len(a.Path)-len(b.Path), slices.CompareFunc(a.path, b.path, func(p, q pick) int {
			return slices.Compare(p[:], q[:])
		}))
	})
	e.Problems = nil
	for _, p := range all { // one with a shorter path may have come later
		e.note(p)
	}
	for _, call := range e.plan.Calls {
		if !started[call.Name] {
			e.Idle = append(e.Idle, call.Name)
		}
	}
	for _, options := range e.Choices {
		e.Most = min(e.Most*float64(len(options)), math.MaxFloat64)
	}
	e.Complete = e.Complete && !e.Cut
	return e
}

// note adds a problem, unless a known one has its cause.
func (e *Exploration) note(p Problem) {
	at := slices.IndexFunc(e.Problems, func(known Problem) bool { return known.covers(&p) })
	if at < 0 {
		e.Problems = append(e.Problems, p)
	} else {
		e.Problems[at].Seen += p.Seen
	}
}

// An Explorer plays combinations of what may come in a plan.
type Explorer struct {
	Choices  [][]analyzer.BranchChoice // the options of every choice that was met
	Usual    *Scenario                 // what comes when each choice has its first option
	Complete bool                      // all combinations of what is varied were played
	Cut      bool                      // there was no room for some, or for all values

	simulation *analyzer.Simulation
	plan       *plan.Plan
	o          Options
	input      *ending
	forks      map[string]*fork // by the path of the call, and "?" before that of a question
	turned     map[*plan.Plan][]analyzer.Turn

	plays, steps int // that are left
}

// Begin is an exploration in which nothing was played yet. Options.Steps bounds each simulation, and a third as many
// steps all of them.
func Begin(r *analyzer.Simulation, o Options) *Explorer {
	x := &Explorer{simulation: r, plan: r.Plan(), o: o, steps: cmp.Or(o.Steps/3, math.MaxInt),
		forks: map[string]*fork{}, turned: map[*plan.Plan][]analyzer.Turn{}}
	x.input = x.given()
	return x
}

// affords reports whether another combination may be played: the first always may.
func (x *Explorer) affords() bool {
	return x.plays > 0 && (x.Usual == nil || x.steps > 0 && (x.o.Abandoned == nil || !x.o.Abandoned()))
}

// play simulates the combination that has these options and elsewhere the usual ones.
func (x *Explorer) play(forced []pick) *course {
	c := &course{Explorer: x, forced: map[int]int{}, taken: map[int]int{}}
	for _, p := range forced {
		c.forced[p[0]] = p[1]
	}
	o := x.o
	o.course = c
	if input, ok := c.comesTo(x.input).(map[string]any); ok {
		o.Input = input
	}
	c.scenario = Run(x.simulation, o)
	if x.Usual == nil {
		x.Usual = c.scenario
	}
	x.plays--
	x.steps -= c.scenario.Steps
	return c
}

// An Alternative is a simulation in which something goes otherwise than usual.
type Alternative struct {
	Path     []analyzer.BranchChoice // what does; empty of the usual course
	Picks    []pick                  // every choice that it met, and the option
	Together bool                    // several things go otherwise that needn't all do
	Scenario *Scenario
}

// Alternatives plays combinations, each once and at most so many, as long as each asks for more. First comes the usual
// one, in which nothing fails. Then comes for each other option of a choice that one of these meets the combination
// that has it: the last of its path is the option, what comes before is what brings the choice about. Then come those
// in which several things go otherwise.
func (x *Explorer) Alternatives(most int, each func(*Alternative) (more bool)) {
	x.plays = most
	fresh, rest := [][]pick{nil}, [][]pick(nil) // what is prescribed: with an option that none had, and others
	met := map[pick]bool{}
	for len(fresh)+len(rest) > 0 {
		if !x.affords() {
			return
		}
		from, together := &fresh, len(fresh) == 0
		if together {
			from = &rest
		}
		forced := (*from)[0]
		*from = (*from)[1:]
		c := x.play(forced)
		a, later := &Alternative{Picks: c.picks, Together: together, Scenario: c.scenario}, c.picks
		for i, p := range c.picks {
			if p[1] > 0 {
				a.Path, later = append(a.Path, x.Choices[p[0]][p[1]]), c.picks[i+1:]
			}
		}
		for _, p := range later {
			for option := 1; option < len(x.Choices[p[0]]); option++ {
				one := pick{p[0], option}
				if next := append(slices.Clip(forced), one); met[one] {
					rest = append(rest, next)
				} else {
					fresh, met[one] = append(fresh, next), true
				}
			}
		}
		if !c.void && !each(a) {
			return
		}
	}
	x.Complete = true
}

// judge is what went wrong in a simulation.
func judge(s *Scenario) (all []Problem) {
	if s.Outcome.Reason == TooLong {
		return nil
	}
	if at := slices.IndexFunc(s.Calls, func(one *CallReport) bool { return !one.Status.Settled() }); at >= 0 {
		return []Problem{{Kind: Stuck, Message: fmt.Sprintf("%q never settles", s.Calls[at].Call.Name)}}
	}
	if s.Outcome.Status == runtime.RunStopped {
		all = append(all, Problem{Kind: Unhandled, Message: fmt.Sprintf("the run stops: %s", s.Outcome.Reason),
			code: string(s.Outcome.Reason)})
	}
	failed := slices.ContainsFunc(s.Outcome.Errors, func(e runtime.CallError) bool { return e.Call != "" })
	for _, e := range s.Outcome.Errors {
		if failed && e.Call == "" {
			continue // for want of what the calls didn't give
		}
		p := Problem{Kind: Unhandled, Call: e.Call, Message: e.Message, code: e.Code}
		if e.Code == "no-output" {
			p.Kind = NoOutput
		}
		if !slices.ContainsFunc(all, func(known Problem) bool { return known.covers(&p) }) {
			all = append(all, p)
		}
	}
	return all
}
