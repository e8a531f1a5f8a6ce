package facts

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Difference is one thing in which a new plan differs from an old one.
type Difference struct {
	Change Change `json:"change"`
	Of     Item   `json:"of"`
	In     string `json:"in,omitempty"`   // the delegate that it is in, by its path in the new plan
	Name   string `json:"name,omitempty"` // of the call, path, tool, …: in the new plan if it exists there
	Was    string `json:"was,omitempty"`  // its name in the old plan, if that is another
	What   string `json:"what,omitempty"` // which part of it changed
	Path   string `json:"path,omitempty"` // in that part
	Old    *Value `json:"old,omitempty"`
	New    *Value `json:"new,omitempty"`
	Risk   Risk   `json:"risk,omitempty"`
	At     *Place `json:"at,omitempty"`
	// Reaches are calls that destroy something, or may, or hand something out, and that receive the
	// changed value or what depends on it: the first 20, and those that no earlier difference names.
	Reaches []string `json:"reaches,omitempty"`
	Facts   *Call    `json:"facts,omitempty"` // of a call that was added or removed

	calls []int // of the new plan that it is about, by their numbers in the graph
}

// Change is what happened to a thing.
type Change string

// The changes. A renamed thing does what it did.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Renamed Change = "renamed"
	Changed Change = "changed"
)

// Item is the kind of what differs.
type Item string

// The things that plans may differ in.
const (
	ItemCall     Item = "call"
	ItemActivity Item = "activity" // what carries calls out
	ItemOutput   Item = "output"
	ItemOrder    Item = "order" // in which calls write one path
	ItemTool     Item = "tool"
	ItemSetting  Item = "setting"
	ItemProgram  Item = "program" // a file of the workspace that is run
	ItemWorst    Item = "worst"
)

// Risk is why a difference should be reviewed first.
type Risk string

// The risks, the worst first.
const (
	Destroys Risk = "destroys" // something is destroyed, or may be, that wasn't
	Leaves   Risk = "leaves"   // something leaves the machine that didn't, or goes elsewhere
	Unasked  Risk = "unasked"  // a person isn't asked any more
)

func (r Risk) rank() int { return slices.Index([]Risk{Destroys, Leaves, Unasked, ""}, r) }

// A Comparison is how two plans, and all that they run, differ by what they do.
type Comparison struct {
	Differences []Difference // the worst first, then in the order of the new plan

	was         map[string]string // by name of a call of the new plan: its name in the old one
	before, now side
	graph       *graph // of the new plan and those that it runs
}

// Compare finds how a new plan differs from an old one. Layout is no difference, and calls that do the
// same are the same, whatever their names. A delegate is compared with that at its place from the plan's folder.
func Compare(old, new *Facts) *Comparison {
	c := &Comparison{was: map[string]string{}, graph: graphOf(new), now: side{folder: new.Folder},
		before: side{folder: old.Folder, names: map[string]string{}}}
	c.calls(indexOf(old).calls)
	c.before.plan = ""
	c.document("", old, new)
	froms := map[string]string{}
	for path := range old.Delegates {
		froms[c.before.place(path)] = path
	}
	for _, path := range slices.Sorted(maps.Keys(new.Delegates)) {
		if from, there := froms[c.now.place(path)]; there {
			c.before.plan = from
			c.document(path, old.Delegates[from], new.Delegates[path])
		}
	}
	for _, file := range keysOf(old.Programs, new.Programs) {
		d := Difference{Of: ItemProgram, Name: file}
		c.compare(d, acts|gives, literals(old.Programs[file]), literals(new.Programs[file]), c.graph.running(file)...)
	}
	names, before := old.Worst.bounds()
	_, now := new.Worst.bounds()
	for i, name := range names {
		c.compare(Difference{Of: ItemWorst, Name: name}, 0, before[i].values(), now[i].values())
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return c
}

// Same reports whether the plans do the same.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

// Was is the name in the old plan of a call of the new one, "" of one that was added.
func (c *Comparison) Was(call string) string { return c.was[call] }

// calls compares the calls of two plans and of those that they run, with the activities that carry them out.
func (c *Comparison) calls(before []actor) {
	was, left := c.match(before)
	type carried struct{ in, from, to string }
	known := map[carried]bool{}
	for j, a := range c.graph.calls {
		d := Difference{Of: ItemCall, In: a.plan, Name: a.Name, At: a.At}
		if was[j] < 0 {
			d.Facts = a.Call
			c.items(d, nil, c.now.parts(a.Call), j)
			continue
		}
		old := before[was[j]]
		if old.Name != a.Name {
			d.Was = old.Name
		}
		if old.ID != a.ID {
			renamed := d
			renamed.Change = Renamed
			c.report(renamed, 0, j)
		}
		c.before.plan = old.plan
		c.items(d, c.before.parts(old.Call), c.now.parts(a.Call), j)
		by := carried{a.plan, old.Runs.Activity, a.Runs.Activity}
		if by.from == "" || by.to == "" || known[by] {
			continue
		}
		known[by] = true
		d.Of, d.Name, d.Was = ItemActivity, by.to, by.from
		if d.Was == d.Name {
			d.Was = ""
		}
		var users []int
		for k, other := range c.graph.calls {
			if other.plan == a.plan && other.Runs.Activity == by.to {
				users = append(users, k)
			}
		}
		c.items(d, c.before.carrier(&old.Runs), c.now.carrier(&a.Runs), users...)
	}
	for _, a := range left {
		d := Difference{Of: ItemCall, In: a.plan, Name: a.Name, At: a.At, Facts: a.Call}
		c.items(d, c.before.parts(a.Call), nil)
	}
}

// items reports where two items differ that have the same parts; one that has none doesn't exist.
func (c *Comparison) items(d Difference, old, new []part, calls ...int) {
	switch {
	case new == nil && old == nil:
	case new == nil:
		d.Change = Removed
		c.report(d, 0)
	case old == nil:
		d.Change = Added
		c.report(d, acts, calls...)
	default:
		for i, of := range old {
			d.What = of.name
			c.compare(d, of.weight, of.values, new[i].values, calls...)
		}
	}
}

// compare reports where the values of a part differ. What is an object or a list in one plan only differs as one.
func (c *Comparison) compare(d Difference, w weight, old, new []Value, calls ...int) {
	if slices.EqualFunc(old, new, func(a, b Value) bool {
		return a.Path == b.Path && !a.Literal.IsZero() && string(a.Literal.Text) == string(b.Literal.Text) &&
			a.Literal.secret == b.Literal.secret
	}) {
		return
	}
	before, now := c.before.leaves(old), c.now.leaves(new)
	paths, last := keysOf(before, now), "none"
	insideFirst := strings.NewReplacer(".", "\x01", "[", "\x00")
	slices.SortStableFunc(paths, func(a, b string) int {
		return strings.Compare(insideFirst.Replace(a), insideFirst.Replace(b))
	})
	for _, at := range paths {
		a, b := before[at], now[at]
		isSame := a.means == b.means && (a.secret == b.secret || a.secret == "" || b.secret == "")
		if isSame || a.value == nil && b.value == nil || last == "" || Within(at, last) {
			continue
		}
		if (a.value != nil || a.means == "") && (b.value != nil || b.means == "") {
			last = at
		}
		d.Path, d.Old, d.New = strings.ReplaceAll(at, `\x00`, ""), a.value, b.value
		c.report(d, w, calls...)
	}
}

// report notes a difference of some calls of the new plan, by their numbers in the graph, with what it reaches.
func (c *Comparison) report(d Difference, w weight, calls ...int) {
	d.calls = calls
	switch entire := d.What == "" && d.Path == ""; {
	case d.Change != "":
	case entire && d.Old == nil:
		d.Change = Added
	case entire && d.New == nil:
		d.Change = Removed
	default:
		d.Change = Changed
	}
	if w&limit != 0 && d.tightens() || w&grant != 0 && d.New == nil {
		w = 0
	}
	h := w & asks
	for _, call := range calls {
		h |= c.graph.impacts[call] & w
	}
	if from := d.begins(); from != "" || w&gives != 0 {
		h |= c.graph.follow(&d, from, calls)
	}
	d.Risk = h.risk()
	c.Differences = append(c.Differences, d)
}

// tightens reports whether a difference of a limit only has a call done less, later or with a person's decision.
func (d *Difference) tightens() bool {
	if d.Old == nil || d.New == nil {
		return d.Old == nil
	}
	before, err := strconv.ParseFloat(string(d.Old.Literal.Text), 64)
	now, bad := strconv.ParseFloat(string(d.New.Literal.Text), 64)
	return err == nil && bad == nil && now < before
}

// document compares what else two documents do: the output, the order of writing, tools and settings.
func (c *Comparison) document(in string, old, new *Facts) {
	c.compare(Difference{Of: ItemOutput, In: in}, 0, old.Output, new.Output)
	orders := map[string][]string{}
	for _, o := range old.Orders {
		for _, name := range o.Calls {
			orders[o.Path] = append(orders[o.Path], c.before.name(name))
		}
	}
	among := func(calls, others []string) []Value { // an added or removed call is a difference of its own
		missing := func(name string) bool { return !slices.Contains(others, name) }
		return literals(slices.DeleteFunc(append([]string{}, calls...), missing))
	}
	for _, o := range new.Orders {
		was, is := among(orders[o.Path], o.Calls), among(o.Calls, orders[o.Path])
		if string(was[0].Literal.Text) != string(is[0].Literal.Text) {
			c.report(Difference{Of: ItemOrder, In: in, Name: o.Path, Old: &was[0], New: &is[0]}, 0)
		}
	}
	before, now := toolsOf(old), toolsOf(new)
	for _, name := range keysOf(before, now) {
		a, b := before[name], now[name]
		c.items(Difference{Of: ItemTool, In: in, Name: name, At: cmp.Or(b.At, a.At)}, a.parts(), b.parts())
	}
	// The state of a run, which a record or a solution has, is no difference to the plan.
	ofRun := []string{"description", "version", "input", "state", "data", "errors", "opinions"}
	progress := old.Form != new.Form && (old.IsAnswer() || new.IsAnswer())
	if !progress {
		c.compare(Difference{Of: ItemSetting, In: in, Name: "plan"}, 0, literals(old.Plan), literals(new.Plan))
	}
	for _, key := range keysOf(old.Settings, new.Settings) {
		if !progress || !slices.Contains(ofRun, key) {
			c.compare(Difference{Of: ItemSetting, In: in, Name: key}, 0, literals(old.Settings[key]),
				literals(new.Settings[key]))
		}
	}
}

// IsAnswer reports whether the document is what a model wrote, alone or in the record of
// its tick.
func (f *Facts) IsAnswer() bool {
	return slices.Contains([]string{plan.Solution.String(), plan.ProcessRecord.String(), plan.Replan.String()},
		f.Form)
}

// toolsOf are the tools of a plan by their names.
func toolsOf(f *Facts) map[string]Tool {
	all := map[string]Tool{}
	for _, t := range f.Tools {
		all[t.Name] = t
	}
	return all
}

// Touched are the calls of the new plan that differ, or run a plan in which something
// does, by name.
func (c *Comparison) Touched() map[string]bool {
	own, all := make([]weight, len(c.graph.calls)), map[string]bool{}
	for i := range c.Differences {
		for _, call := range append(c.graph.runners[c.Differences[i].In], c.Differences[i].calls...) {
			own[call] = 1
		}
	}
	for call, touched := range c.graph.spread(own) {
		if a := c.graph.calls[call]; touched > 0 && a.plan == "" {
			all[a.Name] = true
		}
	}
	return all
}

func keysOf[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// match finds which calls of the old plan those of the new one are (-1 is none), and which are left: the same are
// those of one plan that have the same name by their author, else do the same, else write or receive the same, else are
// of one tool; of several the nth is the nth.
func (c *Comparison) match(before []actor) (was []int, left []actor) {
	now, is := c.graph.calls, make([]bool, len(before))
	was = slices.Repeat([]int{-1}, len(now))
	old, new := make([][]string, len(before)), make([][]string, len(now))
	for i, a := range before {
		old[i] = a.traits(c.before)
	}
	for j, a := range now {
		new[j] = a.traits(c.now)
	}
	for pass := range traits {
		free := map[string][]int{}
		for j := range now {
			if key := new[j][pass]; key != "" && was[j] < 0 {
				free[key] = append(free[key], j)
			}
		}
		for i, a := range before {
			same := free[old[i][pass]]
			if is[i] || len(same) == 0 {
				continue
			}
			is[i], was[same[0]], free[old[i][pass]] = true, i, same[1:]
			c.before.names[join(a.plan, a.Name)] = now[same[0]].Name
			if a.plan == "" {
				c.was[now[same[0]].Name] = a.Name
			}
		}
	}
	for i, a := range before {
		if !is[i] {
			left = append(left, a)
		}
	}
	return was, left
}

// traits is how many traits a call is matched by.
const traits = 7

// traits are those that a call is matched by, the surest first; "" matches none.
func (a actor) traits(s side) []string {
	given, paths := "", a.written()
	for _, v := range a.inputs() {
		given += v.Path + "\x00" + v.String() + "\x00"
	}
	with := func(one string, more ...string) string {
		if one == "" {
			return ""
		}
		return strings.Join(append(more, s.place(a.plan), one), "\x01")
	}
	return []string{with(a.ID),
		with(a.Tool, a.Runs.Kind, a.Runs.Activity, s.place(a.Runs.Plan), a.Timeout, a.Reason, given, paths, a.Instance),
		with(paths, given), with(paths, a.Tool), with(given, a.Tool), with(paths), with(a.Tool, a.Instance)}
}

// inputs are all values that a call reads.
func (c *Call) inputs() (all []*Value) {
	for i := range c.Values {
		all = append(all, &c.Values[i])
	}
	if c.When != nil {
		all = append(all, c.When)
	}
	if c.Each != nil {
		all = append(all, &c.Each.List)
	}
	if len(c.Context) > 0 {
		all = append(all, &Value{Sources: c.Context})
	}
	return all
}

// reads are the sources of all that a call is given, and of its condition.
func (c *Call) reads() (all []*Source) {
	for _, v := range c.inputs() {
		for k := range v.Sources {
			all = append(all, &v.Sources[k])
		}
	}
	return all
}
