package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// An Exploration is what the simulations of a plan's branches came to.
type Exploration struct {
	Usual    *Scenario // what comes when each choice has its first option
	Played   int       // combinations of options, each once
	Most     float64   // combinations there are, those that can't be reached among them
	Complete bool      // all combinations of what is varied were played
	Stuck    int       // combinations in which calls never settled
	Cut      bool      // some were stopped since they took too many steps
	Untold   int       // causes for which there was no room among Problems
	Problems []Problem // the shortest path first
	Idle     []string  // calls of the plan that ran in no combination, in the order of the text

	Unreached  []analyzer.BranchChoice // conditions that came out only one way, with the other
	ValuesLeft bool                    // there was no room to try all values

	by *explorer
}

// Choices are the options of every choice that was met.
func (e *Exploration) Choices() [][]analyzer.BranchChoice { return e.by.choices }

// A Problem is what goes wrong on a branch: one for each cause, with the shortest path that was found to it.
type Problem struct {
	Kind     ProblemKind
	Call     string // whose it is; "" for the plan's output
	Message  string
	Path     []analyzer.BranchChoice // what comes otherwise than usual, in the order of the run
	Seen     int                     // combinations played that it happens in
	Scenario *Scenario

	code string
	path []pick
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

// is reports whether two problems have one cause. Of plans that end without output the paths tell causes apart.
func (p Problem) is(other Problem) bool {
	return p.Kind == other.Kind && p.Call == other.Call && p.code == other.code
}

// Explore simulates the branches of a plan: all combinations of how calls end, and of values with which its conditions
// hold or don't, that a run can reach. Of more than most it plays those that differ least from the usual one. made are
// the generated keys of input and state, which may vary.
// Options.Steps bounds each simulation, and all of them together.
func Explore(r *analyzer.Simulation, o Options, made MadeUp, most int) *Exploration {
	x := Begin(r, o, made).by
	x.out.Alternatives(most, func(*Alternative) bool { return true })
	x.allow(most)
	x.conclude()
	return &x.out
}

// Begin is an exploration in which nothing was played yet.
func Begin(r *analyzer.Simulation, o Options, made MadeUp) *Exploration {
	x := &explorer{simulation: r, plan: r.Plan(), o: o, known: map[string]int{}, forks: map[string]*fork{},
		turned: map[*plan.Plan]*turned{},
		trials: map[string]*trial{}, started: map[string]bool{}, decisionOf: map[string]*decision{}}
	if x.making = o.Steps / 8; o.Steps == 0 {
		x.making = math.MaxInt
	}
	x.varying = x.making
	for i, call := range x.plan.Calls {
		x.looks += len(call.Reads) * len(x.plan.Graph.Deps(i)) / effortOfStep
		if call.When != nil {
			x.looks += 2
		}
	}
	x.invented = made
	x.input, x.state = x.begins("input", o.Input, made.Input), x.begins("state", o.State, made.State)
	x.out.by = x
	return &x.out
}

type explorer struct {
	simulation *analyzer.Simulation
	plan       *plan.Plan
	o          Options
	invented   MadeUp
	input      *ending
	state      *ending
	forks      map[string]*fork // by the path of the call
	turned     map[*plan.Plan]*turned
	known      map[string]int            // choices by key
	choices    [][]analyzer.BranchChoice // the options of each
	trials     map[string]*trial
	order      []*trial
	started    map[string]bool // calls of the plan, in some combination
	last       *course         // the combination that is played, or was played last
	out        Exploration

	plays, steps int // that are left
	making       int // steps that are left for results
	varying      int // and for what they may be instead
	decisions    []*decision
	decisionOf   map[string]*decision // by the path of the call
	// what it costs that calls look at their reads, as often as one of those settles that they wait for, and that
	// conditions are evaluated
	looks int
}

type trial struct {
	picks    []pick
	problems []Problem
}

// otherwise are the picks of a trial that aren't the usual ones.
func (t *trial) otherwise() []pick {
	return slices.DeleteFunc(slices.Clone(t.picks), func(p pick) bool { return p.option == 0 })
}

func (x *explorer) allow(most int) { x.plays, x.steps = most, x.o.Steps/3 }

// affords reports whether another combination may be played: the first always may.
func (x *explorer) affords() bool {
	return x.plays > 0 && (x.o.Steps == 0 || x.steps > 0) && (x.o.Watch == nil || x.out.Usual == nil || x.o.Watch(0))
}

// play simulates the combination that has these options and elsewhere the usual ones.
func (x *explorer) play(forced []pick) *trial {
	c := &course{explorer: x, forced: map[int]int{}, taken: map[int]int{}}
	for _, p := range forced {
		c.forced[p.choice] = p.option
	}
	o := x.o
	o.course, x.last = c, c
	if input, ok := c.comesTo(x.input).(map[string]any); ok {
		o.Input = input
	}
	if len(x.invented.State) > 0 {
		if state, ok := c.comesTo(x.state).(map[string]any); ok {
			o.State = state
		}
	}
	c.scenario = Run(x.simulation, o)
	if x.out.Usual == nil {
		x.out.Usual = c.scenario
	}
	x.plays--
	x.steps -= c.scenario.Steps + x.looks
	t := &trial{picks: c.picks}
	key := keyOf(c.picks)
	if was := x.trials[key]; was != nil {
		return was
	}
	x.trials[key] = t
	if c.void {
		return t
	}
	x.order = append(x.order, t)
	x.out.Played++
	t.problems = c.judge()
	for i := range c.scenario.Calls {
		one := &c.scenario.Calls[i]
		if one.Started && one.Under == "" {
			x.started[one.Call.Name] = true
		}
		x.see(one)
	}
	return t
}

// keyOf tells combinations apart, whatever order their choices were met in.
func keyOf(picks []pick) string {
	picks = slices.SortedFunc(slices.Values(picks), func(a, b pick) int { return a.choice - b.choice })
	return fmt.Sprint(picks)
}

// An Alternative is a simulation in which something goes otherwise than usual.
type Alternative struct {
	Path     []analyzer.BranchChoice // what does; empty of the usual course
	Picks    [][2]int                // every choice that it met, and the option
	Together bool                    // several things go otherwise that needn't all do
	Scenario *Scenario
}

// Alternatives plays combinations, each once and at most so many, as long as each asks for more. First comes the usual
// one, in which nothing fails. Then comes for each other option of a choice that one of these meets the combination
// that has it: the last of its path is the option, what comes before is what brings the choice about. Then come those
// in which several things go otherwise. left is how many options had no room. Options.Steps bounds each simulation, and
// a third as many steps all.
func (e *Exploration) Alternatives(most int, each func(*Alternative) (more bool)) (left int) {
	x := e.by
	x.allow(most)
	type meeting struct{ forced, later []pick } // what a course was told, and what it came by after that
	var queue []meeting
	var fresh [][]pick
	first := map[pick]int{} // by option: the course in the queue that met its choice first
	more := true
	take := func(forced []pick, together bool) {
		x.play(forced)
		a, later := &Alternative{Together: together, Scenario: x.last.scenario}, x.last.picks
		for i, p := range x.last.picks {
			if a.Picks = append(a.Picks, [2]int{p.choice, p.option}); p.option > 0 {
				a.Path, later = append(a.Path, x.choices[p.choice][p.option]), x.last.picks[i+1:]
			}
		}
		for _, p := range later {
			for option := 1; option < len(x.choices[p.choice]); option++ {
				one := pick{p.choice, option}
				if _, known := first[one]; !known {
					first[one] = len(queue)
					fresh = append(fresh, append(slices.Clip(forced), one))
				}
			}
		}
		queue = append(queue, meeting{forced, later})
		more = x.last.void || each(a)
	}
	take(nil, false)
	for at := 0; at < len(queue); at++ {
		for _, p := range queue[at].later {
			for option := 1; option < len(x.choices[p.choice]); option++ {
				for ; len(fresh) > 0 && more && x.affords(); fresh = fresh[1:] {
					take(fresh[0], false)
				}
				if !more || !x.affords() {
					return len(fresh)
				}
				if one := (pick{p.choice, option}); first[one] != at {
					take(append(slices.Clip(queue[at].forced), one), true)
				}
			}
		}
	}
	x.out.Complete = true
	return 0
}

// within reports whether all of some picks are among others.
func within(few, many []pick) bool {
	return !slices.ContainsFunc(few, func(p pick) bool { return !slices.Contains(many, p) })
}

// mostKept bounds the calls of the scenarios of problems.
const mostKept = 50_000

func (x *explorer) conclude() {
	var untold []Problem
	room := mostKept
	if x.o.Steps == 0 {
		room = math.MaxInt
	}
	for _, t := range slices.SortedStableFunc(slices.Values(x.order),
		func(a, b *trial) int { return len(a.otherwise()) - len(b.otherwise()) }) {
		for _, p := range t.problems {
			if p.Kind == Stuck {
				x.out.Stuck++
			}
			isKnown := false
			for i := range x.out.Problems {
				known := &x.out.Problems[i]
				if known.is(p) && (p.Kind != NoOutput || within(known.path, t.picks)) {
					known.Seen++
					isKnown = true
				}
			}
			if isKnown {
				continue
			}
			room -= len(x.plan.Calls) * max(1, len(x.plan.Instances))
			if x.affords() && (room >= 0 || len(x.out.Problems) == 0) {
				x.out.Problems = append(x.out.Problems, x.shown(p, t.otherwise()))
			} else if !slices.ContainsFunc(untold, p.is) {
				untold = append(untold, p)
			}
		}
	}
	x.out.Untold = len(untold)
	for _, call := range x.plan.Calls {
		if !x.started[call.Name] {
			x.out.Idle = append(x.out.Idle, call.Name)
		}
	}
	for _, d := range x.decisions {
		if d.held != d.not {
			d.as.Holds = &d.not
			x.out.Unreached = append(x.out.Unreached, d.as)
		}
	}
	x.out.Most = 1
	for _, options := range x.choices {
		x.out.Most = min(x.out.Most*float64(len(options)), math.MaxFloat64)
	}
	slices.SortStableFunc(x.out.Problems, func(a, b Problem) int {
		return cmp.Or(len(a.Path)-len(b.Path), slices.CompareFunc(a.path, b.path, func(p, q pick) int {
			return cmp.Or(p.choice-q.choice, p.option-q.option)
		}))
	})
}

// shown is a problem with the simulation that has it: once more, as those aren't kept that were played.
func (x *explorer) shown(p Problem, path []pick) Problem {
	x.play(path)
	p.Seen, p.path, p.Scenario = 1, path, x.last.scenario
	for _, one := range path {
		p.Path = append(p.Path, x.choices[one.choice][one.option])
	}
	return p
}

// A decision is the condition of a call, and how it came out in some combination.
type decision struct {
	as        analyzer.BranchChoice
	held, not bool
}

// see notes how the condition of a call came out.
func (x *explorer) see(one *CallReport) {
	planned := compiler.RepeatedCall(one.Call)
	if planned.When == nil || planned.When.Expr == nil || planned.When.PerItem() && one.Call.ItemOf == nil ||
		strings.Contains(one.Under, "[") {
		return
	}
	path := runtime.Path(one.Under, planned.Name)
	d := x.decisionOf[path]
	if d == nil {
		d = &decision{as: analyzer.BranchChoice{Call: path, Condition: planned.When.Node.Text}}
		x.decisions, x.decisionOf[path] = append(x.decisions, d), d
	}
	d.held = d.held || one.Started || one.Status == runtime.Done
	d.not = d.not || one.Status == runtime.Skipped && strings.HasPrefix(one.Reason, "its condition")
}
