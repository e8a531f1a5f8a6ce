package facts

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// The sides of a comparison.
const oldSide, newSide = 0, 1

// A matching is which call of one plan is which of another, the same from both sides.
type matching struct {
	old, new *Facts
	oldTo    []int // by call of the old plan: its index in the new one, -1 without
	newTo    []int
	oldAt    map[string]int // by name, the index
	newAt    map[string]int
}

// match finds which calls are the same: by the author's name for it, then by all that it does, then by
// what it receives and writes, then by its tool.
func match(old, new *Facts) matching {
	m := matching{
		old, new, slices.Repeat([]int{-1}, len(old.Calls)), slices.Repeat([]int{-1}, len(new.Calls)),
		byName(old), byName(new),
	}
	// By all of some traits; one that a call lacks is "".
	const id, tool, given, paths, names, instance, rest = 0, 1, 2, 3, 4, 5, 6
	before, now := traitsOf(old), traitsOf(new)
	for _, of := range [][]int{
		{id}, {tool, rest, given, paths, instance}, {paths, given}, {paths, tool}, {given, tool}, {paths}, {given},
		{tool, instance, names}, {tool, instance},
	} {
		m.pair(before, now, of)
	}
	return m
}

// traitsOf are the traits by which the calls are matched.
func traitsOf(f *Facts) [][]string {
	all := make([][]string, len(f.Calls))
	for i := range f.Calls {
		c := &f.Calls[i]
		given, names, paths := "", "", ""
		for v := range c.inputs() {
			given += v.Path + "\x00" + v.String() + "\x00"
		}
		for _, v := range c.Values {
			names += v.Path + "\x00"
		}
		for _, route := range c.Writes {
			paths += strings.Join(route, "\x00") + "\x01"
		}
		rest := strings.Join([]string{c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, c.Timeout, c.Reason}, "\x00")
		all[i] = []string{c.ID, c.Tool, given, paths, names, c.Instance, rest}
	}
	return all
}

// pair matches the calls that have some traits in common, the nth with the nth. They must have the first trait.
func (m *matching) pair(before, now [][]string, of []int) {
	left := func(traits [][]string, to []int) map[string][]int {
		all := map[string][]int{}
		for i, one := range traits {
			if to[i] < 0 && one[of[0]] != "" {
				key := ""
				for _, t := range of {
					key += one[t] + "\x02"
				}
				all[key] = append(all[key], i)
			}
		}
		return all
	}
	new := left(now, m.newTo)
	for key, is := range left(before, m.oldTo) {
		for i := range min(len(is), len(new[key])) {
			m.oldTo[is[i]], m.newTo[new[key][i]] = new[key][i], is[i]
		}
	}
}

func byName(f *Facts) map[string]int {
	at := make(map[string]int, len(f.Calls))
	for i := range f.Calls {
		at[f.Calls[i].Name] = i
	}
	return at
}

// inputs are all values that a call reads.
func (c *Call) inputs() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		for i := range c.Values {
			if !yield(&c.Values[i]) {
				return
			}
		}
		_ = (c.When == nil || yield(c.When)) && (c.Each == nil || yield(&c.Each.List)) &&
			(len(c.Context) == 0 || yield(&Value{Sources: c.Context}))
	}
}

// sources is where values come from, with the names of the new plan.
func (p *pair) sources(side int, all []Source) string {
	var b strings.Builder
	for _, s := range all {
		calls := slices.Clone(s.Calls)
		if side == oldSide {
			for i, name := range calls {
				calls[i] = p.newName(name)
			}
		}
		slices.Sort(calls)
		fmt.Fprintf(&b, "%s %v %d %q\n", s.Path, s.Start, s.More, calls)
	}
	return b.String()
}

// newName is the name in the new plan of a call of the old one.
func (p *pair) newName(name string) string {
	if i, known := p.oldAt[name]; known && p.oldTo[i] >= 0 {
		return p.new.Calls[p.oldTo[i]].Name
	}
	return "\x00" + name
}

// reads are the sources of all that a call is given, and of its condition.
func (c *Call) reads() (all []*Source) {
	for v := range c.inputs() {
		for k := range v.Sources {
			all = append(all, &v.Sources[k])
		}
	}
	return all
}
