package facts

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/workspace"
)

// mostReached is how many calls each difference names that it reaches, besides those that no earlier
// difference names.
const mostReached = 20

// mostSteps bounds the work of following values, in calls that are visited. Past it every call of a
// plan may receive them.
const mostSteps = 5_000_000

// An impact is whether a call, or one of the plan that it runs, destroys something or may,
// and whether what it receives leaves the machine.
type impact struct{ destroys, leaves bool }

func (h impact) and(o impact) impact { return impact{h.destroys || o.destroys, h.leaves || o.leaves} }

func (h impact) risk() Risk {
	switch {
	case h.destroys:
		return Destroys
	case h.leaves:
		return Leaves
	}
	return ""
}

// A graph is which calls of a plan, and of those that it runs, receive what others give.
type graph struct {
	plans   map[string]*Facts // by path
	first   map[string]int    // by path: the number of its first call
	paths   []string          // by call
	calls   []*Call
	of      [][]int           // by call: the lists of writers that it is in
	users   [][]int           // by list: the calls that read what these write
	runners map[string][]int  // by path: the calls that run it
	below   map[string]impact // of plans
	impacts []impact          // by call
	met     []int             // by call, and then by list: the last round that met it
	round   int
	named   []bool // the calls that a difference names
	steps   int    // that may still be taken

	exhausted bool   // every call was named since there were no steps left
	all       impact // of these
}

func graphOf(f *Facts) *graph {
	g := &graph{plans: map[string]*Facts{}, first: map[string]int{}, runners: map[string][]int{},
		below: map[string]impact{}, steps: mostSteps}
	known := map[writerList]int{}
	for _, p := range f.plans() {
		first, at := len(g.calls), byName(p.facts)
		g.plans[p.path], g.first[p.path] = p.facts, first
		g.of = append(g.of, make([][]int, len(p.facts.Calls))...)
		for i := range p.facts.Calls {
			call := &p.facts.Calls[i]
			g.runners[call.Runs.Plan] = append(g.runners[call.Runs.Plan], first+i)
			g.calls, g.paths = append(g.calls, call), append(g.paths, p.path)
			for _, s := range call.reads() {
				shared := listOf(s.writers)
				id, met := known[shared]
				if !met || len(s.writers) == 0 {
					id = len(g.users)
					g.users = append(g.users, nil)
					known[shared] = id
					for _, w := range s.indexes(at) {
						g.of[first+w] = append(g.of[first+w], id)
					}
				}
				g.users[id] = append(g.users[id], first+i)
			}
		}
	}
	for _, call := range g.calls {
		g.impacts = append(g.impacts, g.impactOf(call))
	}
	g.named, g.met = make([]bool, len(g.calls)), make([]int, len(g.calls)+len(g.users))
	return g
}

// impactOf is the impact of a call.
func (g *graph) impactOf(call *Call) impact {
	plan := call.Runs.Plan
	if plan == "" {
		return impact{call.group() == destroying, call.Leaves()}
	}
	all, known := g.below[plan]
	if d := g.plans[plan]; d != nil && !known {
		g.below[plan] = all // a plan that runs itself adds nothing
		for i := range d.Calls {
			all = all.and(g.impactOf(&d.Calls[i]))
		}
		g.below[plan] = all
	}
	return all
}

// indexes are the calls that wrote what is read from a source.
func (s *Source) indexes(at map[string]int) (all []int) {
	for _, w := range s.writers {
		all = append(all, int(w))
	}
	if s.writers == nil { // the facts were read from a file
		for _, name := range s.Calls {
			if i, known := at[name]; known {
				all = append(all, i)
			}
		}
	}
	return all
}

// follow names in a difference the calls with an impact that receive what some calls give, by plan, or what is at a
// path from the start of its plan, and returns their impact.
func (g *graph) follow(d *Difference, from string, calls map[string][]int) (h impact) {
	g.round++
	var queue []int
	visit := func(call int) {
		if g.steps--; g.met[call] == g.round {
			return
		}
		g.met[call] = g.round
		queue = append(queue, call)
		if one := g.impacts[call]; one != (impact{}) {
			h = h.and(one)
			if len(d.Reaches) < mostReached || !g.named[call] {
				g.named[call] = true
				d.Reaches = append(d.Reaches, join(g.paths[call], g.calls[call].Name))
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(calls)) {
		for _, i := range calls[path] {
			queue = append(queue, g.first[path]+i)
		}
		if from == "" {
			continue
		}
		for i := range g.plans[path].Calls {
			if slices.ContainsFunc(g.calls[g.first[path]+i].reads(),
				func(s *Source) bool { return s.Start && overlaps(s.Path, from) }) {
				visit(g.first[path] + i)
			}
		}
	}
	left := map[string]bool{"": true} // plans whose runners were added
	for at := 0; at < len(queue) && g.steps > 0; at++ {
		call := queue[at]
		for _, list := range g.of[call] {
			if g.met[len(g.calls)+list] != g.round {
				g.met[len(g.calls)+list] = g.round
				for _, user := range g.users[list] {
					visit(user)
				}
			}
		}
		if path := g.paths[call]; !left[path] {
			left[path] = true
			queue = append(queue, g.runners[path]...)
		}
	}
	if g.steps > 0 {
		return h
	}
	for call := range g.calls {
		if visit(call); g.exhausted && len(d.Reaches) >= mostReached {
			return g.all
		}
	}
	g.exhausted, g.all = true, h
	return h
}

// ofInstance is the path of a value in the input or the state of one instance.
var ofInstance = regexp.MustCompile(`^(?:[^.\[]+|\["(?:[^"\\]|\\.)*"\])\.(input|state)(.*)$`)

// begins is the path at which plans read what a setting says, for those that say what exists
// at the start: all that lies below is meant. "" is none.
func (d *Difference) begins() string {
	if d.Of != ItemSetting {
		return ""
	}
	switch d.Name {
	case "input", "state":
		if d.Path == "" || d.Path[0] == '[' {
			return "†" + d.Name + d.Path
		}
		return "†" + d.Name + "." + d.Path
	case "data":
		return "†" + d.Path
	case "instances":
		if found := ofInstance.FindStringSubmatch(d.Path); found != nil {
			return "†" + found[1] + found[2]
		}
		return "†"
	}
	return ""
}

// overlaps reports whether one of two paths is the other or lies below it.
func overlaps(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "†" || strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '.' || b[len(a)] == '[')
}

// callsOf are the calls, by plan, that may run a file, given by its path from the plan's folder: those
// whose program has its name, or whose patterns match it.
func (f *Facts) callsOf(file string) map[string][]int {
	base, all := path.Base(file), map[string][]int{}
	holds := func(text string) bool { return strings.Contains(text, base) }
	matches := func(pattern string) bool { return workspace.Pattern(path.Base(pattern)).MatchString(base) }
	for _, p := range f.plans() {
		for i := range p.facts.Calls {
			if e := &p.facts.Calls[i].Runs; slices.ContainsFunc(e.Program, holds) || slices.ContainsFunc(e.Files, matches) {
				all[p.path] = append(all[p.path], i)
			}
		}
	}
	return all
}
