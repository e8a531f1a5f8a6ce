package facts

import (
	"slices"
	"strings"
)

// What values are made of, compared: where they come from, where they go, and who waits
// for whom.

// renamedPaths finds paths that have another name: what wrote the old one writes the new
// one, no other call of the new plan writes the old one, and none of the old plan wrote the
// new one.
func (c *comparison) renamedPaths() {
	old, new := writtenBy(c.matching.old), writtenBy(c.matching.new)
	c.renames = map[string]string{}
	back := map[string]string{}
	unsure := map[string]bool{}
	note := func(a, b string) {
		if c.renames[a] != "" && c.renames[a] != b || back[b] != "" && back[b] != a {
			unsure[a], unsure[c.renames[a]], unsure[b], unsure[back[b]] = true, true, true, true
		}
		c.renames[a], back[b] = b, a
	}
	for i, j := range c.oldTo {
		if j < 0 {
			continue
		}
		a, b := c.matching.old.Calls[i].Writes, c.matching.new.Calls[j].Writes
		for r := range a {
			if len(a) != len(b) || len(a[r]) != len(b[r]) {
				break
			}
			for k := range a[r] {
				if a[r][k] != b[r][k] && !new[a[r][k]] && !old[b[r][k]] {
					note(a[r][k], b[r][k])
				}
			}
		}
	}
	for a, b := range c.renames {
		if unsure[a] || unsure[b] {
			delete(c.renames, a)
		}
	}
	for _, call := range c.matching.old.Calls {
		for _, path := range slices.Concat(call.Writes...) {
			if to := c.renames[path]; to != "" && !unsure[path] {
				unsure[path] = true // it is told once
				c.report(Difference{Change: Renamed, Of: ThingPath, Name: to, Was: path})
			}
		}
	}
}

func writtenBy(f *Facts) map[string]bool {
	all := map[string]bool{}
	for _, call := range f.Calls {
		for _, path := range slices.Concat(call.Writes...) {
			all[path] = true
		}
	}
	return all
}

// renamed is a path of the old plan under its name in the new one.
func (c *comparison) renamed(path string) string {
	if len(c.renames) == 0 {
		return path
	}
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if to := c.renames[path[:end]]; to != "" {
			return to + path[end:]
		}
	}
	return path
}

// rewritten is an expression of the old plan with the new names of paths.
func (c *comparison) rewritten(v *Value) string {
	text := v.Expression
	if len(c.renames) == 0 {
		return text
	}
	done := map[string]bool{}
	for _, s := range v.Sources {
		if to := c.renamed(s.Path); to != s.Path && !done[s.Path] {
			done[s.Path] = true
			text = replaced(text, s.Path, to)
		}
	}
	return text
}

// replaced puts another reference in the place of one, where it doesn't go on.
func replaced(text, from, to string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, from)
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at])
		text = text[at+len(from):]
		if rest := text; strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[") || goesOn(rest) {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
	}
}

// goesOn reports whether a key goes on where a text begins.
func goesOn(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(" \t\n,;:!?()]}<>=+*/%^|&\"'`~#", r) }) == 0
}

// values compares what two calls are given, leaf by leaf.
func (c *comparison) values(d Difference, old, new []Value) {
	old, new = alike(old, new), alike(new, old)
	at := make(map[string]int, len(new))
	for j := range new {
		at[new[j].Path] = j
	}
	met := make([]bool, len(new))
	for i := range old {
		a := &old[i]
		d.Path = a.Path
		j, there := at[a.Path]
		if !there {
			d.Old, d.New = bare(a), nil
			c.report(d)
			continue
		}
		met[j] = true
		b := &new[j]
		switch {
		case !a.Literal.IsZero() && !b.Literal.IsZero():
			d.Old, d.New = nil, nil
			c.literal(d, a.Literal, b.Literal)
		case c.rewritten(a) != b.Expression || !a.Literal.IsZero() || !b.Literal.IsZero() || !c.sameSources(a.Sources, b.Sources):
			d.Old, d.New = bare(a), bare(b)
			c.report(d)
		}
	}
	for j := range new {
		if !met[j] {
			d.Path, d.Old, d.New = new[j].Path, nil, bare(&new[j])
			c.report(d)
		}
	}
}

// bare is a value without its path, which the difference has.
func bare(v *Value) *Value {
	one := *v
	one.Path = ""
	return &one
}

// alike is some values with those literals taken apart that others have in parts.
func alike(values, others []Value) []Value {
	if !slices.ContainsFunc(values, Value.hasParts) || !slices.ContainsFunc(others, func(v Value) bool { return strings.ContainsAny(v.Path, ".[") }) {
		return values
	}
	above := map[string]bool{} // the paths that others have something below
	for _, o := range others {
		for at := strings.LastIndexAny(o.Path, ".["); at >= 0 && !above[o.Path[:at]]; at = strings.LastIndexAny(o.Path[:at], ".[") {
			above[o.Path[:at]] = true
		}
	}
	var out []Value
	var take func(v Value)
	take = func(v Value) {
		if !v.hasParts() || !above[v.Path] {
			out = append(out, v)
			return
		}
		whole := v.Literal.value()
		parts(v.Path, emptied(whole), whole, func(path string, _, value *Value) {
			take(Value{Path: path, Literal: value.Literal})
		})
	}
	for _, v := range values {
		take(v)
	}
	return out
}

// hasParts reports whether a value is a literal with parts.
func (v Value) hasParts() bool {
	return len(v.Literal.Text) > len("{}") && (v.Literal.Text[0] == '{' || v.Literal.Text[0] == '[')
}

// emptied is an object or a list without what is in it.
func emptied(v any) any {
	switch v.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	}
	return v
}

// A flowKey is two lists of writers, which many reads share.
type flowKey struct {
	old, new       *int32
	oldLen, newLen int
}

// sameSources reports whether values come from the same calls and paths.
func (c *comparison) sameSources(old, new []Source) bool {
	return slices.EqualFunc(old, new, func(a, b Source) bool {
		return c.renamed(a.Path) == b.Path && a.Start == b.Start && c.sameCalls(&a, &b)
	})
}

func (c *comparison) sameCalls(a, b *Source) bool {
	if len(a.Calls) != len(b.Calls) || a.More != b.More {
		return false
	}
	if len(a.Calls) == 0 {
		return true
	}
	var key flowKey
	if len(a.writers) > 0 && len(b.writers) > 0 {
		key = flowKey{&a.writers[0], &b.writers[0], len(a.writers), len(b.writers)}
		if same, known := c.flows[key]; known {
			return same
		}
	}
	c.mark(a)
	same := true
	eachWriter(b, c.newAt, func(w int) { same = same && c.marks[w] == c.stamp })
	if key.old != nil {
		c.flows[key] = same
	}
	return same
}

// mark notes, at their places in the new plan, the calls that wrote sources of the old one.
func (c *comparison) mark(sources ...*Source) {
	c.stamp++
	for _, s := range sources {
		eachWriter(s, c.oldAt, func(w int) {
			if to := c.oldTo[w]; to >= 0 {
				c.marks[to] = c.stamp
			}
		})
	}
}

// eachWriter goes over the places of the calls that wrote a source.
func eachWriter(s *Source, at map[string]int, do func(int)) {
	for _, w := range s.writers {
		do(int(w))
	}
	if s.writers == nil { // the facts were read from a file
		for _, name := range s.Calls {
			if i, known := at[name]; known {
				do(i)
			}
		}
	}
}

// sources compares what calls are handed besides their values.
func (c *comparison) sources(d Difference, old, new []Source) {
	if !c.sameSources(old, new) {
		if len(old) > 0 {
			d.Old = &Value{Sources: old}
		}
		if len(new) > 0 {
			d.New = &Value{Sources: new}
		}
		c.report(d)
	}
}

// writes compares where results go: the order of alternatives counts, that of the paths of
// one doesn't.
func (c *comparison) writes(d Difference, old, new [][]string) {
	plain := func(routes [][]string, rename bool) string {
		var texts []string
		for _, route := range routes {
			route = slices.Clone(route)
			for i := range route {
				if rename {
					route[i] = c.renamed(route[i])
				}
			}
			slices.Sort(route)
			texts = append(texts, strings.Join(slices.Compact(route), " && "))
		}
		return strings.Join(texts, " || ")
	}
	if plain(old, true) != plain(new, false) {
		d.Old, d.New = said(plain(old, false)), said(plain(new, false))
		c.report(d)
	}
}

// after compares which calls two others come after without reading from them.
func (c *comparison) after(d Difference, a, b *Call) {
	here := func(o After) After { // with the name in the new plan
		if at, known := c.oldAt[o.Call]; known && c.oldTo[at] >= 0 {
			o.Call = c.matching.new.Calls[c.oldTo[at]].Name
		} else {
			o.Call = "\x00" + o.Call // it isn't there any more
		}
		return o
	}
	before, now := map[After]bool{}, map[After]bool{}
	for _, o := range a.After {
		before[here(o)] = true
	}
	for _, o := range b.After {
		if now[o] = true; !before[o] {
			d.Old, d.New = nil, said(o.String())
			c.report(d)
		}
	}
	for _, o := range a.After {
		if !now[here(o)] {
			d.Old, d.New = said(o.String()), nil
			c.report(d)
		}
	}
}

// String is which call, and what of it.
func (a After) String() string {
	switch {
	case a.Listed:
		return a.Call + " as listed"
	case a.Settled:
		return a.Call + " has ended"
	}
	return a.Call
}

// edges compares for which of the calls that are in both plans two calls wait: Old has
// those for which the new one doesn't wait any more, New those for which the old one didn't.
func (c *comparison) edges(i, j int) {
	a, b := &c.matching.old.Calls[i], &c.matching.new.Calls[j]
	d := Difference{Change: Changed, Of: ThingEdge, Name: b.Name, At: b.At, call: b}
	if a.Name != b.Name {
		d.Was = a.Name
	}
	before, now := a.waits(), b.waits()
	c.mark(before...)
	was := c.stamp
	c.stamp++
	var added, removed edgeList
	for _, s := range now {
		eachWriter(s, c.newAt, func(w int) {
			if c.marks[w] != was && c.marks[w] != c.stamp && c.newTo[w] >= 0 {
				added.add(c.matching.new.Calls[w].Name)
			}
			c.marks[w] = c.stamp
		})
	}
	is := c.stamp
	c.stamp++
	for _, s := range before {
		eachWriter(s, c.oldAt, func(w int) {
			if to := c.oldTo[w]; to >= 0 && c.marks[to] != is && c.marks[to] != c.stamp {
				removed.add(c.matching.new.Calls[to].Name)
				c.marks[to] = c.stamp
			}
		})
	}
	if d.Old, d.New = removed.value(), added.value(); d.Old != nil || d.New != nil {
		c.report(d)
	}
}

// An edgeList is some calls, of which the first are named.
type edgeList struct{ Source }

func (l *edgeList) add(name string) {
	if len(l.Calls) >= mostCalls {
		l.More++
		return
	}
	l.Calls = append(l.Calls, name)
}

func (l *edgeList) value() *Value {
	if len(l.Calls) == 0 {
		return nil
	}
	slices.Sort(l.Calls)
	return &Value{Sources: []Source{l.Source}}
}

// waits are the calls that another waits for since it reads from them or comes after them,
// as sources; lists of writers that several reads share are there once.
func (call *Call) waits() []*Source {
	all := call.reads()
	if len(call.After) > 0 {
		after := &Source{}
		for _, a := range call.After {
			after.Calls = append(after.Calls, a.Call)
		}
		all = append(all, after)
	}
	return all
}

// reads are the sources of all that a call reads.
func (call *Call) reads() (all []*Source) {
	seen := map[flowKey]bool{}
	for v := range call.inputs() {
		for k := range v.Sources {
			s := &v.Sources[k]
			if len(s.writers) > 0 {
				key := flowKey{old: &s.writers[0], oldLen: len(s.writers)}
				if seen[key] {
					continue
				}
				seen[key] = true
			}
			all = append(all, s)
		}
	}
	return all
}

// weighty are the parts of a call on which hangs what it does, to what, and how often.
var weighty = []string{
	"", "tool", "effect", Reaches, "carried out by", "runs the plan", "in a context of its own", "value", "context",
	"condition", "each of", "most items", "tries", "after", "result", "instance", "a person is asked",
}

// risk is why a difference should be looked at first: a call that destroys or that hands
// something on is new, or does it otherwise than before, or is given something else. What
// only has it done less, later or with a person's word is none.
func (c *comparison) risk(d *Difference) Risk {
	switch {
	case d.Of == ThingProgram || d.Of == ThingSetting:
		return d.harm.risk()
	case d.call == nil || d.Change == Renamed || d.Change == Removed && d.What == "" || d.Of != ThingActivity && (d.Of != ThingCall || !slices.Contains(weighty, d.What)):
		return ""
	}
	h := c.harms(d.call)
	switch d.What {
	case "condition", "after", "a person is asked":
		if d.Old == nil {
			return ""
		}
	case "most items", "tries":
		if d.Old != nil && d.New != nil && less(d.New.Literal, d.Old.Literal) {
			return ""
		}
	case "effect":
		h.leaves = false
	case Reaches:
		h.destroys, h.leaves = false, h.leaves && d.New != nil
	}
	return h.and(d.harm).risk()
}

// less compares two numbers.
func less(a, b Literal) bool {
	x, isX := a.value().(float64)
	y, isY := b.value().(float64)
	return isX && isY && x < y
}

// and is the harm of both.
func (h harm) and(o harm) harm { return harm{h.destroys || o.destroys, h.leaves || o.leaves} }

func (h harm) risk() Risk {
	switch {
	case h.destroys:
		return Destroys
	case h.leaves:
		return Leaves
	}
	return ""
}

// A harm is whether a call, or one of the plan that it runs, destroys something or may,
// and whether what it is given leaves the machine.
type harm struct{ destroys, leaves bool }

// harms are those of a call; what is known of plans is kept.
func (c *comparison) harms(call *Call) harm {
	plan := call.Runs.Plan
	if plan == "" {
		return harm{slices.Contains(groups[0].kinds, call.Effect.Kind), call.Leaves()}
	}
	all, known := c.harmful[plan]
	if d := c.new.Delegates[plan]; d != nil && !known {
		c.harmful[plan] = all // in a circle nothing comes
		for i := range d.Calls {
			all = all.and(c.harms(&d.Calls[i]))
		}
		c.harmful[plan] = all
	}
	return all
}
