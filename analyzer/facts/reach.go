package facts

import (
	"cmp"
	"maps"
	"path"
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

// An actor is a call, and the plan that it is in.
type actor struct {
	*Call
	plan string
}

// An index is the calls of a plan and of those that it runs.
type index struct {
	calls   []actor          // in the order of their plans
	first   map[string]int   // by path of a plan: the number of its first call
	runners map[string][]int // by path: the calls that run it
}

func indexOf(f *Facts) index {
	all := index{first: map[string]int{}, runners: map[string][]int{}}
	for _, path := range append([]string{""}, slices.Sorted(maps.Keys(f.Delegates))...) {
		all.first[path] = len(all.calls)
		of := cmp.Or(f.Delegates[path], f)
		for i := range of.Calls {
			call := &of.Calls[i]
			all.runners[call.Runs.Plan] = append(all.runners[call.Runs.Plan], len(all.calls))
			all.calls = append(all.calls, actor{call, path})
		}
	}
	delete(all.runners, "")
	return all
}

// spread is what calls have of their own, and what those that run their plans have of them.
func (x index) spread(own []weight) []weight {
	all := make([]weight, len(own))
	var add func(call int, w weight)
	add = func(call int, w weight) {
		if all[call]|w != all[call] {
			all[call] |= w
			for _, runner := range x.runners[x.calls[call].plan] {
				add(runner, w)
			}
		}
	}
	for call, w := range own {
		add(call, w)
	}
	return all
}

// impacts are what each call may do: one that runs a plan what its calls do.
func (x index) impacts() []weight {
	own := make([]weight, len(x.calls))
	for call, a := range x.calls {
		own[call] = map[string]weight{destroying: destroys, writing: writes}[a.group()]
		if a.Leaves() {
			own[call] |= leaves
		}
	}
	return x.spread(own)
}

// A graph is which of these calls receive what others give. Besides the calls its nodes are the lists of writers, which
// many reads share, and the ends of plans.
type graph struct {
	index
	next    [][]int  // by node: those that receive what it gives
	impacts []weight // by call
	met     []int    // by node: the last round that met it
	round   int
	named   []bool // the calls that a difference names
	steps   int    // that may still be taken
	all     weight // of all calls, when no steps are left; each is named then
}

func graphOf(f *Facts) *graph {
	g := &graph{index: indexOf(f), steps: mostSteps}
	g.impacts, g.named, g.next = g.index.impacts(), make([]bool, len(g.calls)), make([][]int, len(g.calls))
	nodes := map[any]int{}
	node := func(of any, from []int32, first int) int {
		at, known := nodes[of]
		if !known {
			at = len(g.next)
			nodes[of], g.next = at, append(g.next, nil)
			for _, w := range from {
				g.next[first+int(w)] = append(g.next[first+int(w)], at)
			}
		}
		return at
	}
	for call, a := range g.calls {
		for _, s := range a.reads() {
			list := node(listOf(s.writers), s.writers, g.first[a.plan])
			g.next[list] = append(g.next[list], call)
		}
		g.next[call] = append(g.next[call], node(a.plan, nil, 0))
	}
	for path, runners := range g.runners {
		end := node(path, nil, 0)
		for _, runner := range runners {
			g.next[end] = append(g.next[end], g.next[runner]...)
		}
	}
	g.met = make([]int, len(g.next))
	return g
}

// follow names in a difference the calls with an impact that receive what some calls give, or what a plan has at a
// path from the start, and these calls themselves where it isn't about one of them; it returns their impact. When no
// steps are left every call may receive it.
func (g *graph) follow(d *Difference, from string, calls []int) (h weight) {
	if g.steps <= 0 {
		return g.all
	}
	g.round++
	var queue []int
	visit := func(node int) {
		if g.steps--; g.met[node] == g.round {
			return
		}
		g.met[node] = g.round
		queue = append(queue, node)
		if node < len(g.calls) && g.impacts[node].risk() != "" {
			h |= g.impacts[node]
			if len(d.Reaches) < mostReached || !g.named[node] {
				g.named[node] = true
				d.Reaches = append(d.Reaches, join(g.calls[node].plan, g.calls[node].Name))
			}
		}
	}
	if d.Of == ItemCall { // which the difference is about
		queue = append(queue, calls...)
	} else {
		for _, call := range calls {
			visit(call)
		}
	}
	for call := g.first[d.In]; from != "" && call < len(g.calls) && g.calls[call].plan == d.In; call++ {
		if slices.ContainsFunc(g.calls[call].reads(),
			func(s *Source) bool { return s.Start && overlaps(s.Path, from) }) {
			visit(call)
		}
	}
	for at := 0; at < len(queue) && g.steps > 0; at++ {
		for _, node := range g.next[queue[at]] {
			visit(node)
		}
	}
	if g.steps <= 0 {
		for call := range g.calls {
			visit(call)
		}
		g.all = h
	}
	return h
}

// begins is the path at which plans read what a setting says, for those that say what exists
// at the start: all that lies below is meant. "" is none.
func (d *Difference) begins() string {
	switch {
	case d.Of != ItemSetting:
	case d.Name == "input" || d.Name == "state":
		return below("†"+d.Name, d.Path)
	case d.Name == "data":
		return "†" + d.Path
	case d.Name == "instances":
		return "†"
	}
	return ""
}

// below is a path with another within it.
func below(path, within string) string {
	if within != "" && within[0] != '[' {
		path += "."
	}
	return path + within
}

// Within reports whether a path is another one, or below it.
func Within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// overlaps reports whether one of two paths is the other or lies below it; "†" is above all.
func overlaps(a, b string) bool { return a == "†" || b == "†" || Within(a, b) || Within(b, a) }

// running are the calls that may run a file, given by its path from the plan's folder: those whose program has its
// name, or whose patterns match it.
func (x index) running(file string) (all []int) {
	base := path.Base(file)
	holds := func(text string) bool { return strings.Contains(text, base) }
	matches := func(pattern string) bool { return workspace.Pattern(path.Base(pattern)).MatchString(base) }
	for at, call := range x.calls {
		if slices.ContainsFunc(call.Runs.Program, holds) || slices.ContainsFunc(call.Runs.Files, matches) {
			all = append(all, at)
		}
	}
	return all
}
