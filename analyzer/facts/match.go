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
	m := matching{old, new, slices.Repeat([]int{-1}, len(old.Calls)), slices.Repeat([]int{-1}, len(new.Calls)), byName(old), byName(new)}
	m.pair(func(c *Call) string { return c.ID }, true)
	for _, of := range []func(*Call) string{
		func(c *Call) string {
			return key(c.Tool, c.Instance, c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, given(c), paths(c), c.Timeout, c.Reason)
		},
		func(c *Call) string { return keyIf(paths(c), given(c)) },
		func(c *Call) string { return keyIf(paths(c), c.Tool) },
		func(c *Call) string { return keyIf(given(c), c.Tool) },
		paths,
		given,
		func(c *Call) string { return key(c.Tool, c.Instance, names(c)) },
		func(c *Call) string { return key(c.Tool, c.Instance) },
	} {
		m.pair(of, false)
	}
	return m
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
		_ = (c.When == nil || yield(c.When)) && (c.Each == nil || yield(&c.Each.List)) && (len(c.Context) == 0 || yield(&Value{Sources: c.Context}))
	}
}

// pair matches the calls that have a key in common, the nth with the nth; with only, if there is one on each side.
func (m *matching) pair(of func(*Call) string, only bool) {
	left := func(f *Facts, to []int) map[string][]int {
		all := map[string][]int{}
		for i := range f.Calls {
			if to[i] < 0 {
				k := of(&f.Calls[i])
				all[k] = append(all[k], i)
			}
		}
		delete(all, "")
		return all
	}
	new := left(m.new, m.newTo)
	for k, is := range left(m.old, m.oldTo) {
		if candidates := new[k]; !only || len(is) == 1 && len(candidates) == 1 {
			for i := range min(len(is), len(candidates)) {
				m.oldTo[is[i]], m.newTo[candidates[i]] = candidates[i], is[i]
			}
		}
	}
}

// key is one text for several.
func key(parts ...string) string { return strings.Join(parts, "\x00") }

// keyIf is a key of parts; the first must exist.
func keyIf(first string, candidates ...string) string {
	if first == "" {
		return ""
	}
	return key(append(candidates, first)...)
}

// given is what a call is given.
func given(c *Call) string {
	var b strings.Builder
	for v := range c.inputs() {
		b.WriteString(v.Path + "\x00" + v.String() + "\x00")
	}
	return b.String()
}

// names are those of what it is given.
func names(c *Call) string {
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

// reads are the sources of all that a call reads, each list of writers once.
func (c *Call) reads() (all []*Source) {
	seen := map[writerList]bool{}
	for v := range c.inputs() {
		for k := range v.Sources {
			s := &v.Sources[k]
			if list := listOf(s.writers); len(s.writers) == 0 || !seen[list] {
				seen[list] = true
				all = append(all, s)
			}
		}
	}
	return all
}
