package facts

import (
	"cmp"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"strings"
)

// A matching says which call of one plan is which of another. It is the same from both
// sides, and takes time in proportion to the calls and who reads from whom.
type matching struct {
	old, new *Facts
	oldTo    []int // by call of the old plan: its place in the new one, -1 without
	newTo    []int
	oldAt    map[string]int // by name, the place
	newAt    map[string]int
	oldReads [][]int // by call: those that it reads from or comes after
	newReads [][]int
	oldUsers [][]int
	newUsers [][]int
}

// match finds which calls are the same: by what its author calls it, then by all that it
// does, then by most of that and by those around it.
func match(old, new *Facts) *matching {
	m := &matching{old: old, new: new, oldTo: unmatched(old), newTo: unmatched(new), oldAt: byName(old), newAt: byName(new)}
	m.oldReads, m.oldUsers = neighbours(old, m.oldAt)
	m.newReads, m.newUsers = neighbours(new, m.newAt)
	each := func(of func(*Call) string) (keys [2][]string) {
		for side, f := range []*Facts{old, new} {
			keys[side] = make([]string, len(f.Calls))
			for i := range f.Calls {
				keys[side][i] = of(&f.Calls[i])
			}
		}
		return keys
	}
	alone := each(wholly)
	m.pair(each(func(c *Call) string { return c.ID }), true)
	m.pair([2][]string{surrounded(alone[0], m.oldReads), surrounded(alone[1], m.newReads)}, false)
	m.pair(alone, false)
	written, put, named := each(paths), each(func(c *Call) string { return key(c.Tool, given(c)) }), each(func(c *Call) string { return key(c.Tool, c.Instance, parameters(c)) })
	tools := each(func(c *Call) string { return key(c.Tool, c.Instance) })
	for round := 0; round < mostRounds && m.resemble(written, put, named, tools); round++ {
	}
	m.pair(named, false)
	return m
}

func unmatched(f *Facts) []int {
	return slices.Repeat([]int{-1}, len(f.Calls))
}

func byName(f *Facts) map[string]int {
	at := make(map[string]int, len(f.Calls))
	for i := range f.Calls {
		at[f.Calls[i].Name] = i
	}
	return at
}

// neighbours are, by call, the first of those that it reads from or comes after, and the
// first of those that read from it or come after it.
func neighbours(f *Facts, at map[string]int) (reads, users [][]int) {
	const few = 8
	reads, users = make([][]int, len(f.Calls)), make([][]int, len(f.Calls))
	for i := range f.Calls {
		note := func(name string) {
			w, known := at[name]
			if !known || len(reads[i]) >= few || slices.Contains(reads[i], w) {
				return
			}
			reads[i] = append(reads[i], w)
			if len(users[w]) < few {
				users[w] = append(users[w], i)
			}
		}
		for v := range f.Calls[i].inputs() {
			for _, s := range v.Sources {
				for _, name := range s.Calls[:min(few, len(s.Calls))] {
					note(name)
				}
			}
		}
		for _, a := range f.Calls[i].After {
			note(a.Call)
		}
	}
	return reads, users
}

// inputs are all values that a call reads.
func (c *Call) inputs() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		for i := range c.Values {
			if !yield(&c.Values[i]) {
				return
			}
		}
		_ = (c.When == nil || yield(c.When)) && (c.Each == nil || yield(&c.Each.List)) && (len(c.Context) == 0 || yield(&Value{Sources: c.Context}))
	}
}

// pair matches the calls that have a key in common, the nth with the nth; those without a
// key stay, and so do all of a key that isn't one call's alone where only is true.
func (m *matching) pair(keys [2][]string, only bool) {
	old, new := left(m.oldTo, keys[0]), left(m.newTo, keys[1])
	for k, is := range old {
		if others := new[k]; !only || len(is) == 1 && len(others) == 1 {
			for i := range min(len(is), len(others)) {
				m.set(is[i], others[i])
			}
		}
	}
}

// left are the calls that aren't matched, by key.
func left(to []int, keys []string) map[string][]int {
	all := map[string][]int{}
	for i, k := range keys {
		if to[i] < 0 && k != "" {
			all[k] = append(all[k], i)
		}
	}
	return all
}

// surrounded are keys of calls together with those of what they read from, and what that
// does (Weisfeiler and Leman 1968), so that calls that do the same are told apart by their
// places in the graph.
func surrounded(alone []string, reads [][]int) []string {
	const rounds = 3
	keys := alone
	for range rounds {
		next := make([]string, len(keys))
		for i, k := range keys {
			around := make([]string, len(reads[i]))
			for at, w := range reads[i] {
				around[at] = keys[w]
			}
			slices.Sort(around)
			sum := fnv.New64a()
			_, _ = io.WriteString(sum, key(append(around, k)...))
			next[i] = string(sum.Sum(nil))
		}
		keys = next
	}
	return keys
}

func (m *matching) set(i, j int) { m.oldTo[i], m.newTo[j] = j, i }

// key is one text for several.
func key(parts ...string) string { return strings.Join(parts, "\x00") }

// wholly is all that a call does, as far as it can be told without its name and those of
// others.
func wholly(c *Call) string {
	return key(c.Tool, c.Instance, c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, given(c), paths(c), c.Timeout, c.Reason)
}

// given is what a call is given.
func given(c *Call) string {
	var b strings.Builder
	for v := range c.inputs() {
		b.WriteString(v.Path + "\x00" + v.String() + "\x00")
	}
	return b.String()
}

// parameters are the names of what it is given.
func parameters(c *Call) string {
	var b strings.Builder
	for _, v := range c.Values {
		b.WriteString(v.Path + "\x00")
	}
	return b.String()
}

// paths is what a call writes, "" for nothing.
func paths(c *Call) string {
	var b strings.Builder
	for _, route := range c.Writes {
		b.WriteString(strings.Join(route, "\x00") + "\x01")
	}
	return b.String()
}

// What two calls may have in common, and how much that counts. Two are taken for the
// same from enoughAlike on.
const (
	sameTool    = 3
	samePaths   = 4
	sameGiven   = 4
	sameValue   = 1
	sameAround  = 1
	enoughAlike = 4
)

// mostRounds is how often is looked for calls that are alike.
const mostRounds = 8

// A likeness is two calls that may be the same.
type likeness struct{ old, new, points int }

// resemble matches calls that are alike, the most alike first, and reports whether there
// was one: what stands around others is known better then.
func (m *matching) resemble(by ...[2][]string) bool {
	seen := map[[2]int]bool{}
	var all []likeness
	consider := func(i, j int) {
		if seen[[2]int{i, j}] || m.oldTo[i] >= 0 || m.newTo[j] >= 0 {
			return
		}
		seen[[2]int{i, j}] = true
		if points := m.points(i, j); points >= enoughAlike {
			all = append(all, likeness{i, j, points})
		}
	}
	for _, keys := range by {
		old, new := left(m.oldTo, keys[0]), left(m.newTo, keys[1])
		for k, is := range old {
			eachPair(is, new[k], consider)
		}
	}
	for i, to := range m.oldTo {
		if to >= 0 {
			eachPair(m.oldReads[i], m.newReads[to], consider)
			eachPair(m.oldUsers[i], m.newUsers[to], consider)
		}
	}
	// No two that exclude each other are equal here, so that it is the same from both sides.
	slices.SortFunc(all, func(a, b likeness) int {
		return cmp.Or(b.points-a.points, abs(a.old-a.new)-abs(b.old-b.new), a.old+a.new-b.old-b.new, a.old-b.old)
	})
	found := false
	for _, l := range all {
		if m.oldTo[l.old] < 0 && m.newTo[l.new] < 0 {
			m.set(l.old, l.new)
			found = true
		}
	}
	return found
}

// eachPair considers each of some with each of others, or the nth with the nth where they
// are many.
func eachPair(some, others []int, consider func(i, j int)) {
	const few = 8
	if len(some) > few || len(others) > few {
		for i := range min(len(some), len(others)) {
			consider(some[i], others[i])
		}
		return
	}
	for _, i := range some {
		for _, j := range others {
			consider(i, j)
		}
	}
}

// points are how much two calls are alike.
func (m *matching) points(i, j int) int {
	a, b := &m.old.Calls[i], &m.new.Calls[j]
	points := 0
	if a.Tool == b.Tool {
		points += sameTool
	}
	if w := paths(a); w != "" && w == paths(b) {
		points += samePaths
	}
	if g := given(a); g != "" && g == given(b) {
		points += sameGiven
	} else {
		points += min(sameGiven-1, sameValue*common(a.Values, b.Values))
	}
	around := 0
	for _, list := range [][2][]int{{m.oldReads[i], m.newReads[j]}, {m.oldUsers[i], m.newUsers[j]}} {
		for _, w := range list[0] {
			if to := m.oldTo[w]; to >= 0 && slices.Contains(list[1], to) {
				around += sameAround
			}
		}
	}
	return points + min(around, 3)
}

// common is how many values two calls are given alike.
func common(a, b []Value) (n int) {
	at := 0
	for _, v := range a {
		for at < len(b) && b[at].Path < v.Path {
			at++
		}
		if at < len(b) && b[at].Path == v.Path && b[at].String() == v.String() {
			n++
		}
	}
	return n
}

func abs(n int) int { return max(n, -n) }
