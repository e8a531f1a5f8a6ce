package facts

import (
	"iter"
	"slices"
	"strings"
)

// match finds which calls are the same: by the author's name for it, then by all that it does, then by
// what it receives and writes, then by its tool.
func (p *pair) match() {
	p.oldTo, p.newTo = slices.Repeat([]int{-1}, len(p.old.Calls)), slices.Repeat([]int{-1}, len(p.new.Calls))
	// By all of some traits; one that a call lacks is "".
	const id, tool, given, paths, names, instance, rest = 0, 1, 2, 3, 4, 5, 6
	before, now := traitsOf(p.old), traitsOf(p.new)
	for _, of := range [][]int{
		{id}, {tool, rest, given, paths, instance}, {paths, given}, {paths, tool}, {given, tool}, {paths}, {given},
		{tool, instance, names}, {tool, instance},
	} {
		p.matchBy(before, now, of)
	}
	p.names = map[string]string{}
	for i, j := range p.oldTo {
		if j >= 0 {
			p.names[p.old.Calls[i].Name] = p.new.Calls[j].Name
		}
	}
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

// matchBy matches the calls that have some traits in common, the nth with the nth. They must have the first trait.
func (p *pair) matchBy(before, now [][]string, of []int) {
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
	new := left(now, p.newTo)
	for key, is := range left(before, p.oldTo) {
		for i := range min(len(is), len(new[key])) {
			p.oldTo[is[i]], p.newTo[new[key][i]] = new[key][i], is[i]
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

// reads are the sources of all that a call is given, and of its condition.
func (c *Call) reads() (all []*Source) {
	for v := range c.inputs() {
		for k := range v.Sources {
			all = append(all, &v.Sources[k])
		}
	}
	return all
}
