package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// An Exploration is what the rehearsals of a plan's branches came to.
type Exploration struct {
	Usual    *Scenario // what comes when each choice has its first option
	Played   int       // combinations of options, each once
	Most     float64   // combinations there are, those that can't be reached among them
	Varied   bool      // all combinations of what is varied were played
	Complete bool      // and these are all that can be reached: nothing depends on computed values
	Pairs    int       // of options of two choices, of a sample; 0 where there are too many to count
	Together int       // of these, those that were played in one combination
	Stuck    int       // combinations in which calls never settled
	Cut      bool      // some were stopped since they took too many steps
	Untold   int       // causes for which there was no room among Problems
	Problems []Problem // the shortest path first
	Idle     []string  // calls of the plan that ran in no combination, in the order of the text

	Unreached  []analyzer.BranchChoice // ways that conditions, and what else decides, came out in no combination
	Computed   []string                // paths of calls that depend on computed values: others may lead elsewhere
	ValuesLeft bool                    // there was no room to try all values

	by *explorer
}

// Choices are the options of every choice that was met.
func (e *Exploration) Choices() (all [][]analyzer.BranchChoice) {
	for _, c := range e.by.choices {
		all = append(all, c.options)
	}
	return all
}

// A Problem is what goes wrong on a branch: one for each cause, with the shortest path
// that was found to it.
type Problem struct {
	Kind     ProblemKind
	Call     string // whose it is; "" for the plan's output
	Message  string
	Path     []analyzer.BranchChoice // what comes otherwise than usual, in the order of the run
	Seen     int                     // combinations played that it happens in
	Picks    [][2]int                // as those of an [Alternative]
	Scenario *Scenario

	code string
	path []pick
}

// ProblemKind is what goes wrong.
type ProblemKind string

// The kinds of problem.
const (
	Stuck     ProblemKind = "stuck"     // calls never settle
	NoOutput  ProblemKind = "no-output" // every failure is handled, and the plan's output has no value
	Unhandled ProblemKind = "failure"   // a failure that nothing handles, or an output that doesn't fit its schema
)

type cause struct {
	kind       ProblemKind
	call, code string
}

// is reports whether two problems have one cause. Of plans that end without output the
// paths tell causes apart.
func (p *Problem) is(other *Problem) bool {
	return p.Kind == other.Kind && p.Call == other.Call && p.code == other.code
}

// searching is how many times as many combinations are played of few changes to the usual one, of
// which many were played before, and to find the shortest path to each problem.
const searching = 4

// mostPaired bounds the choices whose pairs are counted.
const mostPaired = 300

// Explore simulates the branches of a plan: all combinations of how calls end, and of
// values with which its conditions hold or don't, that a run can reach. Where there are
// more than most, it plays a sample: combinations that bring every two options together
// where that is possible, and combinations that differ least from the usual one. made are
// the generated keys of input and state, which may vary. Options.Steps bounds each
// simulation; all of them together may take a small multiple.
func Explore(r *analyzer.Rehearsal, o Options, made MadeUp, most int) *Exploration {
	x := Begin(r, o, made).by
	x.decisionOf = map[string]*decision{}
	(&level{explorer: x, plan: x.plan}).trace(0)
	x.allow(most)
	if x.out.Varied = x.enumerate(); !x.out.Varied {
		x.allow(most)
		x.cover()
		x.out.Alternatives(searching*most, func(*Alternative) bool { return true })
	}
	x.allow(searching * most)
	x.conclude()
	return &x.out
}

// Begin is an exploration in which nothing was played yet.
func Begin(r *analyzer.Rehearsal, o Options, made MadeUp) *Exploration {
	x := &explorer{rehearsal: r, plan: r.Plan(), o: o, known: map[string]int{}, forks: map[string]*fork{}, turned: map[*plan.Plan]*turned{},
		names: map[string]int{}, options: map[pick][]*trial{}, met: map[int]*trial{}, trials: map[string]*trial{}, pairs: map[[2]pick]bool{}, started: make([]bool, len(r.Plan().Calls))}
	if x.making = o.Steps / 8; o.Steps == 0 {
		x.making = math.MaxInt
	}
	x.varying = x.making
	for i, call := range x.plan.Calls {
		x.looks += len(call.Reads) * len(x.plan.Graph.Deps(i)) / effortOfStep
		x.names[call.Name] = i
	}
	x.invented = made
	x.input, x.state = x.begins("input", o.Input, made.Input), x.begins("state", o.State, made.State)
	x.out.by = x
	return &x.out
}

type explorer struct {
	rehearsal *analyzer.Rehearsal
	plan      *plan.Plan
	o         Options
	invented  MadeUp
	input     *ending
	state     *ending
	forks     map[string]*fork // by the path of the call
	turned    map[*plan.Plan]*turned
	names     map[string]int // the plan's calls
	known     map[string]int // choices by key
	choices   []choice
	trials    map[string]*trial
	order     []*trial
	pairs     map[[2]pick]bool  // that were played together
	options   map[pick][]*trial // that were played, and in which combinations
	met       map[int]*trial    // the first with a choice
	started   []bool            // calls of the plan, in some combination
	now, last *course           // the combination that is played, and that was played last
	out       Exploration

	plays, steps int // that are left
	making       int // steps that are left for results
	varying      int // and for what they may be instead
	decisions    []*decision
	decisionOf   map[string]*decision // by the path of the call
	traced       int
	looks        int // what it costs that calls look at their reads, as often as one of those settles that they wait for
}

type trial struct {
	picks    []pick
	taken    map[int]int // the same by choice
	problems []Problem
}

// otherwise are the picks of a trial that aren't the usual ones.
func (t *trial) otherwise() []pick {
	return slices.DeleteFunc(slices.Clone(t.picks), func(p pick) bool { return p.option == 0 })
}

// has is what a trial has of the same cause as another problem; nil when it hasn't.
func (t *trial) has(p *Problem) *Problem {
	if at := slices.IndexFunc(t.problems, func(o Problem) bool { return o.is(p) }); at >= 0 {
		return &t.problems[at]
	}
	return nil
}

func (x *explorer) allow(most int) { x.plays, x.steps = most, x.o.Steps/3 }

// affords reports whether another combination may be played: the first always may.
func (x *explorer) affords() bool {
	return x.plays > 0 && (x.o.Steps == 0 || x.steps > 0) && (x.o.Watch == nil || x.out.Usual == nil || x.o.Watch(0))
}

// play rehearses the combination that has these options and elsewhere the usual ones, or
// those preferred.
func (x *explorer) play(forced []pick, prefer func(choice, n int) int) *trial {
	c := &course{explorer: x, forced: map[int]int{}, prefer: prefer, taken: map[int]int{}}
	for _, p := range forced {
		c.forced[p.choice] = p.option
	}
	o := x.o
	o.course, x.now = c, c
	if input, ok := c.comesTo(x.input).(map[string]any); ok {
		o.Input = input
	}
	if len(x.invented.State) > 0 {
		if state, ok := c.comesTo(x.state).(map[string]any); ok {
			o.State = state
		}
	}
	c.scenario = Run(x.rehearsal, o)
	x.last = c
	if x.out.Usual == nil {
		x.out.Usual = c.scenario
	}
	x.plays--
	x.steps -= c.scenario.Steps + x.looks
	t := &trial{picks: c.picks, taken: c.taken}
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
		if one.Started && one.Under == "" && one.Call.ItemOf == nil {
			x.started[x.names[one.Call.Name]] = true // a call of an instance has a number of its own
		}
		x.see(one)
	}
	for _, p := range t.picks {
		if x.options[p] = append(x.options[p], t); x.met[p.choice] == nil {
			x.met[p.choice] = t
		}
	}
	if len(x.choices) <= mostPaired {
		for i, a := range t.picks {
			for _, b := range t.picks[:i] {
				x.pairs[paired(a, b)] = true
			}
		}
	}
	return t
}

func paired(a, b pick) [2]pick {
	if a.choice > b.choice {
		a, b = b, a
	}
	return [2]pick{a, b}
}

// keyOf tells combinations apart, whatever order their choices were met in.
func keyOf(picks []pick) string {
	picks = slices.SortedFunc(slices.Values(picks), func(a, b pick) int { return a.choice - b.choice })
	return fmt.Sprint(picks)
}

// enumerate plays all combinations that can be reached, one after the other as an
// odometer counts, and reports whether it came to the end.
func (x *explorer) enumerate() bool {
	for picks := []pick(nil); ; {
		if !x.affords() {
			return false
		}
		x.play(picks, nil)
		picks = slices.Clone(x.last.picks)
		for len(picks) > 0 && picks[len(picks)-1].option+1 == len(x.choices[picks[len(picks)-1].choice].options) {
			picks = picks[:len(picks)-1]
		}
		if len(picks) == 0 {
			return true
		}
		picks[len(picks)-1].option++
	}
}

// cover plays combinations until every two options have come together: first those that
// bring most new pairs, choice by choice as they are met, then for each pair that is left
// one that has come near.
func (x *explorer) cover() {
	for stale := 0; stale < 3 && x.affords() && len(x.choices) <= mostPaired; {
		before := len(x.pairs)
		x.play(nil, func(choice, n int) int {
			best, most := 0, -1
			for option := range n {
				fresh := 0
				for _, p := range x.now.picks {
					if !x.pairs[paired(p, pick{choice, option})] {
						fresh++
					}
				}
				if fresh > most {
					best, most = option, fresh
				}
			}
			return best
		})
		if stale++; len(x.pairs) > before {
			stale = 0
		}
	}
	tried := map[[2]pick]bool{}
	for found := true; found; {
		found = false
		for at := 0; at < len(x.choices) && x.affords(); at++ { // each alone first: rehearsals bring further choices
			for option := range x.choices[at].options {
				if one := (pick{at, option}); x.options[one] == nil && !tried[paired(one, one)] && x.met[at] != nil && x.affords() {
					tried[paired(one, one)] = true
					x.play(replaced(x.met[at].picks, one), nil)
				}
			}
		}
		x.eachPair(func(p [2]pick) {
			if x.pairs[p] || tried[p] {
				return
			}
			tried[p] = true
			for _, near := range x.near(p) {
				if x.affords() && !x.pairs[p] {
					x.play(near, nil)
					found = true
				}
			}
		})
	}
}

func (x *explorer) eachPair(f func([2]pick)) {
	if len(x.choices) > mostPaired {
		return
	}
	for b := range x.choices {
		for a := range b {
			for i := range x.choices[a].options {
				for j := range x.choices[b].options {
					f([2]pick{{a, i}, {b, j}})
				}
			}
		}
	}
}

// near are combinations like some that were played, with a pair put in: of one that has
// the first option and met the second choice, and of one the other way round.
func (x *explorer) near(p [2]pick) (near [][]pick) {
	for i, other := range []int{1, 0} {
		var best []pick
		for _, t := range x.options[p[i]] {
			_, met := t.taken[p[other].choice]
			if best == nil || met {
				best = replaced(t.picks, p[other])
			}
			if met {
				break
			}
		}
		if best != nil {
			near = append(near, best)
		}
	}
	return near
}

func replaced(picks []pick, by pick) []pick {
	return append(slices.DeleteFunc(slices.Clone(picks), func(p pick) bool { return p.choice == by.choice }), by)
}

// within reports whether all of some picks are among others.
func within(few, many []pick) bool {
	return !slices.ContainsFunc(few, func(p pick) bool { return !slices.Contains(many, p) })
}

// mostKept bounds the calls of the scenarios of problems.
const mostKept = 50_000

func (x *explorer) conclude() {
	untold, room := map[cause]bool{}, mostKept
	if x.o.Steps == 0 {
		room = math.MaxInt
	}
	for _, t := range slices.SortedStableFunc(slices.Values(x.order), func(a, b *trial) int { return len(a.otherwise()) - len(b.otherwise()) }) {
		for _, p := range t.problems {
			if !slices.ContainsFunc(x.out.Problems, func(known Problem) bool {
				return known.is(&p) && (p.Kind != NoOutput || within(known.path, t.picks))
			}) {
				if room -= len(x.plan.Calls) * max(1, len(x.plan.Instances)); !x.affords() || room < 0 && len(x.out.Problems) > 0 {
					untold[cause{p.Kind, p.Call, p.code}] = true
					continue
				}
				x.out.Problems = append(x.out.Problems, x.shortest(p, t.otherwise()))
			}
		}
	}
	x.out.Untold = len(untold)
	x.account()
	for _, t := range x.order {
		for i := range x.out.Problems {
			p := &x.out.Problems[i]
			if t.has(p) != nil && (p.Kind != NoOutput || within(p.path, t.picks)) {
				p.Seen++
			}
		}
		if t.has(&Problem{Kind: Stuck}) != nil {
			x.out.Stuck++
		}
	}
	x.out.Most = 1
	for _, c := range x.choices {
		x.out.Most = min(x.out.Most*float64(len(c.options)), math.MaxFloat64)
	}
	if !x.out.Varied {
		x.eachPair(func(p [2]pick) {
			if x.out.Pairs++; x.pairs[p] {
				x.out.Together++
			}
		})
	}
	slices.SortStableFunc(x.out.Problems, func(a, b Problem) int {
		return cmp.Or(len(a.Path)-len(b.Path), slices.CompareFunc(a.path, b.path, func(p, q pick) int { return cmp.Or(p.choice-q.choice, p.option-q.option) }))
	})
}

// shortest leaves out of a problem's path what it doesn't need.
func (x *explorer) shortest(p Problem, path []pick) Problem {
	for i := len(path) - 1; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(path), i, i+1); len(path) > 1 && x.play(without, nil).has(&p) != nil {
			path = without
		}
	}
	p = *x.play(path, nil).has(&p)
	p.path, p.Scenario, p.Picks = path, x.last.scenario, pairsOf(x.last.picks)
	for _, one := range x.last.picks {
		if one.option > 0 {
			p.Path = append(p.Path, x.choices[one.choice].options[one.option])
		}
	}
	return p
}
