package facts

import (
	"cmp"
	"maps"
	"slices"
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

	call  *Call  // the call that it is about
	calls []int  // of the new plan that it is about, by their numbers in the graph
	by    string // the call that runs the delegate
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

	delegates [2]map[string]*Facts // of the old and the new plan
	was       map[string]string    // by name of a call of the new plan: its name in the old one
	compared  map[[3]string]bool   // pairs of delegates, and of activities by the plan that they are in
	graph     *graph               // of the new plan and those that it runs
}

// Compare finds how a new plan differs from an old one. Layout is no difference, and calls that do the
// same are the same, whatever their names.
func Compare(old, new *Facts) *Comparison {
	c := &Comparison{delegates: [2]map[string]*Facts{old.Delegates, new.Delegates}, was: map[string]string{},
		compared: map[[3]string]bool{}, graph: graphOf(new)}
	outermost := &pair{Comparison: c, old: old, new: new, before: side{folder: old.Folder},
		now: side{new.Folder, alone.name}}
	outermost.plans()
	for was, name := range outermost.names {
		c.was[name] = was
	}
	outermost.programs()
	before := old.Worst.bounds()
	for i, now := range new.Worst.bounds() {
		outermost.compare(Difference{Of: ItemWorst, Name: now.name}, 0, before[i].tree(), now.tree())
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return c
}

// Same reports whether the plans do the same.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

// Was is the name in the old plan of a call of the new one, "" of one that was added.
func (c *Comparison) Was(call string) string { return c.was[call] }

// A pair is two plans that are compared, and which of their calls are the same.
type pair struct {
	*Comparison
	old, new     *Facts
	oldTo, newTo []int             // by call: its index in the other plan, -1 without
	names        map[string]string // by name of a call of the old plan: its name in the new one
	before, now  side
	path, by     string // the new plan, and the call that runs it
}

// plans compares two plans, and those that their calls run, each pair once.
func (p *pair) plans() {
	p.match()
	p.before.name = func(name string) string { return cmp.Or(p.names[name], "\x00"+name) }
	first := p.graph.first[p.path]
	for j := range p.new.Calls {
		call, i := &p.new.Calls[j], p.newTo[j]
		d := Difference{Of: ItemCall, Name: call.Name, call: call, At: call.At}
		if i < 0 {
			p.items(d, nil, p.now.parts(call), first+j)
			continue
		}
		was := &p.old.Calls[i]
		if was.Name != call.Name {
			d.Was = was.Name
		}
		if was.ID != call.ID {
			renamed := d
			renamed.Change = Renamed
			p.report(renamed, 0, first+j)
		}
		p.items(d, p.before.parts(was), p.now.parts(call), first+j)
		p.carriers(was, call)
		both := [3]string{"", was.Runs.Plan, call.Runs.Plan}
		within := &pair{Comparison: p.Comparison, old: p.delegates[0][both[1]], new: p.delegates[1][both[2]],
			before: p.before, now: p.now, path: both[2], by: join(p.path, call.Name)}
		if within.old != nil && within.new != nil && !p.compared[both] {
			p.compared[both] = true
			within.plans()
		}
	}
	for i := range p.old.Calls {
		if call := &p.old.Calls[i]; p.oldTo[i] < 0 {
			p.items(Difference{Of: ItemCall, Name: call.Name, call: call, At: call.At}, p.before.parts(call), nil)
		}
	}
	p.compare(Difference{Of: ItemOutput}, 0, p.before.tree(p.old.Output...), p.now.tree(p.new.Output...))
	p.orders()
	before, now := toolsOf(p.old), toolsOf(p.new)
	for _, name := range keysOf(before, now) {
		a, b := before[name], now[name]
		p.items(Difference{Of: ItemTool, Name: name, At: cmp.Or(b.At, a.At)}, a.parts(), b.parts())
	}
	p.settings()
}

// items reports where two items differ that have the same parts; one that has none doesn't exist.
func (p *pair) items(d Difference, old, new []part, calls ...int) {
	switch {
	case new == nil && old == nil:
	case new == nil:
		d.Change = Removed
		p.report(d, 0)
	case old == nil:
		d.Change = Added
		p.report(d, acts, calls...)
	default:
		for i, of := range old {
			d.What = of.name
			p.compare(d, of.weight, of.of, new[i].of, calls...)
		}
	}
}

// compare reports where two trees of a part differ.
func (p *pair) compare(d Difference, w weight, old, new tree, calls ...int) {
	differ("", old, new, func(at string, a, b *Value) {
		d := d
		d.Path, d.Old, d.New = at, a, b
		p.report(d, w, calls...)
	})
}

// report notes a difference of some calls of the new plan, by their numbers in the graph, with what it reaches.
func (p *pair) report(d Difference, w weight, calls ...int) {
	d.In, d.by, d.calls = p.path, p.by, calls
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
		h |= p.graph.impacts[call] & w
	}
	if from := d.begins(); from != "" || w&gives != 0 {
		h |= p.graph.follow(&d, p.path, from, calls)
	}
	d.Risk = h.risk()
	p.Differences = append(p.Differences, d)
}

// tightens reports whether a difference of a limit only has a call done less, later or with a person's decision.
func (d *Difference) tightens() bool {
	if d.Old == nil || d.New == nil {
		return d.Old == nil
	}
	before, isNumber := d.Old.Literal.value().(float64)
	now, both := d.New.Literal.value().(float64)
	return isNumber && both && now < before
}

// carriers compares the activities that carry out two calls, each pair once for all of their calls.
func (p *pair) carriers(a, b *Call) {
	from, to := a.Runs.Activity, b.Runs.Activity
	key := [3]string{"in " + p.path, from, to}
	if from == "" || to == "" || p.compared[key] {
		return
	}
	p.compared[key] = true
	var calls []int
	for j := range p.new.Calls {
		if p.new.Calls[j].Runs.Activity == to {
			calls = append(calls, p.graph.first[p.path]+j)
		}
	}
	d := Difference{Of: ItemActivity, Name: to, call: b, At: b.At}
	if from != to {
		d.Was = from
	}
	p.items(d, p.before.carrier(&a.Runs), p.now.carrier(&b.Runs), calls...)
}

// settings compares what else of the documents decides what happens.
func (p *pair) settings() {
	progress := p.old.Form != p.new.Form && (p.old.IsAnswer() || p.new.IsAnswer())
	if !progress {
		p.compare(Difference{Of: ItemSetting, Name: "plan"}, 0, leafOf(p.old.Plan), leafOf(p.new.Plan))
	}
	for _, key := range keysOf(p.old.Settings, p.new.Settings) {
		if !progress || !slices.Contains(standing, key) {
			p.compare(Difference{Of: ItemSetting, Name: key}, 0, literal(p.old.Settings[key]),
				literal(p.new.Settings[key]))
		}
	}
}

// standing are the settings of a record or a solution that have the state of its run, which is no
// difference to the plan.
var standing = []string{"description", "version", "input", "state", "data", "errors", "opinions"}

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

// programs compares the files that calls of both plans run; a file that exists in one of them alone is
// reported if both name it.
func (p *pair) programs() {
	before := indexOf(p.old)
	for _, file := range keysOf(p.old.Programs, p.new.Programs) {
		old, new := p.old.Programs[file], p.new.Programs[file]
		calls := p.graph.running(file)
		if old != "" && new != "" || len(before.running(file)) > 0 && len(calls) > 0 {
			p.compare(Difference{Of: ItemProgram, Name: file}, acts|gives, leafOf(old), leafOf(new),
				calls...)
		}
	}
}

// orders compares in which order calls of both plans write a path, by their names in the new one.
func (p *pair) orders() {
	old := map[string][]string{}
	for _, o := range p.old.Orders {
		for _, name := range o.Calls {
			old[o.Path] = append(old[o.Path], p.before.name(name))
		}
	}
	common := func(some, known []string) []string {
		there := map[string]bool{}
		for _, name := range known {
			there[name] = true
		}
		return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !there[name] })
	}
	first := func(all []string) *Value {
		return &Value{Literal: Literal{Text: Compact(all[:min(mostCalls, len(all))])}}
	}
	for _, o := range p.new.Orders {
		if a, b := common(old[o.Path], o.Calls), common(o.Calls, old[o.Path]); !slices.Equal(a, b) {
			p.report(Difference{Of: ItemOrder, Name: o.Path, Old: first(a), New: first(b)}, 0)
		}
	}
}

// Touched are the calls of the new plan that differ, or run a plan in which something
// does, by name.
func (c *Comparison) Touched() map[string]bool {
	all, known := map[string]bool{}, map[string]bool{"": true}
	var touch func(plan string, calls []int)
	touch = func(plan string, calls []int) {
		for _, call := range calls {
			if a := c.graph.calls[call]; a.plan == "" {
				all[a.Name] = true
			}
		}
		if !known[plan] {
			known[plan] = true
			for _, runner := range c.graph.runners[plan] {
				touch(c.graph.calls[runner].plan, []int{runner})
			}
		}
	}
	for i := range c.Differences {
		touch(c.Differences[i].In, c.Differences[i].calls)
	}
	return all
}

func keysOf[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// match finds which calls are the same: by the author's name for it, then by all that it does, then by
// what it receives and writes, then by its tool; of several the nth is the nth. They must have the first trait.
func (p *pair) match() {
	p.oldTo, p.newTo = slices.Repeat([]int{-1}, len(p.old.Calls)), slices.Repeat([]int{-1}, len(p.new.Calls))
	// By all of some traits; one that a call lacks is "".
	const id, tool, given, paths, names, instance, rest = 0, 1, 2, 3, 4, 5, 6
	before, now := traitsOf(p.old), traitsOf(p.new)
	for _, of := range [][]int{
		{id}, {tool, rest, given, paths, instance}, {paths, given}, {paths, tool}, {given, tool}, {paths}, {given},
		{tool, instance, names}, {tool, instance},
	} {
		key := func(traits []string) (all string) {
			for _, t := range of {
				all += traits[t] + "\x02"
			}
			return all
		}
		left := map[string][]int{}
		for j, one := range now {
			if p.newTo[j] < 0 {
				left[key(one)] = append(left[key(one)], j)
			}
		}
		for i, one := range before {
			if same := left[key(one)]; p.oldTo[i] < 0 && one[of[0]] != "" && len(same) > 0 {
				p.oldTo[i], p.newTo[same[0]], left[key(one)] = same[0], i, same[1:]
			}
		}
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
		for _, v := range c.inputs() {
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
