package facts

import (
	"cmp"
	"maps"
	"slices"

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

	call *Call  // the call that it is about
	by   string // the call that runs the delegate
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
)

func (r Risk) rank() int { return slices.Index([]Risk{Destroys, Leaves, ""}, r) }

// A Comparison is how two plans differ by what they do.
type Comparison struct {
	Differences []Difference // the worst first, then in the order of the new plan

	outermost *pair
}

// Compare finds how a new plan differs from an old one. Layout is no difference, and calls that do the
// same are the same, whatever their names.
func Compare(old, new *Facts) *Comparison {
	c := &comparison{
		outer: [2]*Facts{old, new}, compared: map[[2]string]bool{}, activities: map[[3]string]bool{}, graph: graphOf(new),
	}
	outermost := c.plans(old, new, "", "")
	outermost.programs()
	before := old.Worst.bounds()
	for i, now := range new.Worst.bounds() {
		outermost.compare(Difference{Of: ItemWorst, Name: now.name}, part{}, before[i].node(), now.node())
	}
	slices.SortStableFunc(c.all, func(a, b Difference) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return &Comparison{c.all, outermost}
}

// Same reports whether the plans do the same.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

// A comparison is of two plans and all that they run.
type comparison struct {
	outer      [2]*Facts // the old and the new one
	all        []Difference
	compared   map[[2]string]bool // pairs of delegates
	activities map[[3]string]bool // pairs that were compared, and where
	graph      *graph             // of the new plan and those that it runs
}

// A pair is two plans that are compared, and which of their calls are the same.
type pair struct {
	*comparison
	matching
	path, by string // the new plan, and the call that runs it
}

func (c *comparison) plans(old, new *Facts, path, by string) *pair {
	p := &pair{comparison: c, matching: match(old, new), path: path, by: by}
	for j := range new.Calls {
		if i := p.newTo[j]; i >= 0 {
			p.calls(i, j)
		} else {
			p.report(Difference{Change: Added, Of: ItemCall, Name: new.Calls[j].Name, call: &new.Calls[j], At: new.Calls[j].At},
				part{acts: true}, j)
		}
	}
	for i := range old.Calls {
		if call := &old.Calls[i]; p.oldTo[i] < 0 {
			p.report(Difference{Change: Removed, Of: ItemCall, Name: call.Name, call: call, At: call.At}, part{})
		}
	}
	p.compare(Difference{Of: ItemOutput}, part{}, p.values(oldSide, old.Output), p.values(newSide, new.Output))
	p.orders()
	p.tools()
	p.settings()
	for j := range new.Calls {
		i := p.newTo[j]
		if i < 0 {
			continue
		}
		both := [2]string{old.Calls[i].Runs.Plan, new.Calls[j].Runs.Plan}
		if a, b := c.outer[oldSide].Delegates[both[0]], c.outer[newSide].Delegates[both[1]]; a != nil && b != nil &&
			!c.compared[both] {
			c.compared[both] = true
			c.plans(a, b, both[1], join(path, new.Calls[j].Name))
		}
	}
	return p
}

// report notes a difference of some calls of the new plan, with what it reaches.
func (p *pair) report(d Difference, of part, calls ...int) {
	d.In, d.by = p.path, p.by
	if d.Change == "" {
		switch entire := d.What == "" && d.Path == ""; {
		case entire && d.Old == nil:
			d.Change = Added
		case entire && d.New == nil:
			d.Change = Removed
		default:
			d.Change = Changed
		}
	}
	var h impact
	if of.acts && !of.tightens(&d) {
		for _, j := range calls {
			h = h.and(p.graph.impactOf(&p.new.Calls[j]))
		}
		h = of.narrow(h, &d)
	}
	if from := d.begins(); from != "" || of.gives && len(calls) > 0 && !of.tightens(&d) {
		h = h.and(p.graph.follow(&d, from, map[string][]int{p.path: calls}))
	}
	d.Risk = h.risk()
	p.all = append(p.all, d)
}

// A part is one of those that calls and tools are compared by.
type part struct {
	name string
	of   *node

	acts  bool // it decides what the call does, to what, or how often
	gives bool // it decides what the call gives
	limit bool // to add it, or to lower it, has the call do less

	repeated bool // [Call.Conditions] has it, too
}

// parts are all parts of a call, in the order in which differences are shown.
func (p *pair) parts(side int, c *Call) []part {
	var list, context *Value
	var most *node
	if c.Each != nil {
		list, most = &c.Each.List, leaf(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = &Value{Sources: c.Context}
	}
	return []part{
		{name: "tool", of: textNode(c.Tool), acts: true, gives: true},
		{name: "instance", of: textNode(c.Instance), acts: true, repeated: true},
		{name: effectKind, of: textNode(c.Effect.Kind), acts: true},
		{name: "effect that only the plan claims", of: textNode(c.Effect.Claimed)},
		{name: Reaches, of: flagNode(c.Effect.OpenWorld || c.Runs.Kind == Model), acts: true},
		{name: "a second time does no more", of: flagNode(c.Effect.Idempotent)},
		{name: "runs the plan", of: p.place(side, c.Runs.Plan), acts: true, gives: true},
		{name: "in a context of its own", of: flagNode(c.Runs.Alone), acts: true, gives: true},
		{name: "carried out by", of: carrierOf(c), acts: true, gives: true},
		{name: "value", of: p.values(side, c.Values), acts: true, gives: true},
		{name: "condition", of: p.optional(side, c.When), acts: true, gives: true, limit: true, repeated: true},
		{name: "goes on when an item failed", of: flagNode(c.Each != nil && c.Each.Collect)},
		{name: "most items", of: most, acts: true, gives: true, limit: true},
		{name: "each of", of: p.optional(side, list), acts: true, gives: true, repeated: true},
		{name: "context", of: p.optional(side, context), acts: true, gives: true},
		{name: "writes", of: writesOf(c)},
		{name: "method", of: textNode(c.Method)},
		{name: "after", of: p.afterOf(side, c), acts: true, limit: true, repeated: true},
		{name: "tries", of: leaf(max(1, c.Tries)), acts: true, limit: true},
		{name: "backoff", of: textNode(c.Backoff)},
		{name: "timeout", of: textNode(c.Timeout)},
		{name: "a person is asked", of: flagNode(c.Confirm), acts: true, limit: true},
		{name: "result", of: literalNode(c.Produced), acts: true, gives: true},
		{name: "reasoning", of: textNode(c.Reason)},
	}
}

// The parts of a call's effect.
const (
	effectKind = "effect"
	// Reaches is the part of a call whose values may leave the machine.
	Reaches = "may reach beyond the machine"
)

// tightens reports whether a difference of the part only has a call done less, later or with a
// person's decision.
func (of part) tightens(d *Difference) bool {
	return of.limit && (d.Old == nil || d.New != nil && less(d.New.Literal, d.Old.Literal))
}

// narrow is the part of the call's impact that a difference of the part may have.
func (of part) narrow(h impact, d *Difference) impact {
	switch of.name {
	case effectKind:
		h.leaves = false
	case Reaches:
		h = impact{leaves: h.leaves && d.New != nil}
	}
	return h
}

// less compares two numbers.
func less(a, b Literal) bool {
	x, isX := a.value().(float64)
	y, isY := b.value().(float64)
	return isX && isY && x < y
}

// calls compares two calls that are the same one.
func (p *pair) calls(i, j int) {
	a, b := &p.old.Calls[i], &p.new.Calls[j]
	d := Difference{Of: ItemCall, Name: b.Name, call: b, At: b.At}
	if a.Name != b.Name {
		d.Was = a.Name
	}
	if a.ID != b.ID {
		renamed := d
		renamed.Change = Renamed
		p.report(renamed, part{})
	}
	p.compareParts(d, p.parts(oldSide, a), p.parts(newSide, b), j)
	p.carriers(a, b)
}

// compareParts reports where things differ that have the same parts.
func (p *pair) compareParts(d Difference, old, new []part, calls ...int) {
	for i, of := range old {
		d.What = of.name
		p.compare(d, of, of.of, new[i].of, calls...)
	}
}

// carriers compares the activities that carry out two calls, each pair once for all of their calls.
func (p *pair) carriers(a, b *Call) {
	from, to := a.Runs.Activity, b.Runs.Activity
	key := [3]string{p.path, from, to}
	if from == "" || to == "" || p.activities[key] {
		return
	}
	p.activities[key] = true
	var calls []int
	for j := range p.new.Calls {
		if p.new.Calls[j].Runs.Activity == to {
			calls = append(calls, j)
		}
	}
	d := Difference{Of: ItemActivity, Name: to, call: b, At: b.At}
	if from != to {
		d.Was = from
	}
	parts := func(side int, e *Execution) []part {
		return []part{{name: "definition", of: literalNode(e.Definition), acts: true, gives: true},
			{name: "folder", of: p.place(side, e.Folder), acts: true, gives: true}}
	}
	p.compareParts(d, parts(oldSide, &a.Runs), parts(newSide, &b.Runs), calls...)
}

// settings compares what else of the documents decides what happens.
func (p *pair) settings() {
	progress := p.old.Form != p.new.Form && (p.old.IsAnswer() || p.new.IsAnswer())
	if !progress {
		p.compare(Difference{Of: ItemSetting, Name: "plan"}, part{}, textNode(p.old.Plan), textNode(p.new.Plan))
	}
	for _, key := range keysOf(p.old.Settings, p.new.Settings) {
		if !progress || !slices.Contains(standing, key) {
			p.compare(Difference{Of: ItemSetting, Name: key}, part{}, literalNode(p.old.Settings[key]),
				literalNode(p.new.Settings[key]))
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

// tools compares the tools of two plans by their names.
func (p *pair) tools() {
	tools := func(f *Facts) map[string]*Tool {
		all := map[string]*Tool{}
		for i := range f.Tools {
			all[f.Tools[i].Name] = &f.Tools[i]
		}
		return all
	}
	parts := func(t *Tool) []part {
		return []part{{name: "description", of: textNode(t.Description)}, {name: "parameters", of: literalNode(t.Parameters)},
			{name: "output", of: literalNode(t.Output)}, {name: "definition", of: literalNode(t.Definition)}}
	}
	old, new := tools(p.old), tools(p.new)
	for _, name := range keysOf(old, new) {
		switch a, b := old[name], new[name]; {
		case b == nil:
			p.report(Difference{Change: Removed, Of: ItemTool, Name: name, At: a.At}, part{})
		case a == nil:
			p.report(Difference{Change: Added, Of: ItemTool, Name: name, At: b.At}, part{})
		default:
			p.compareParts(Difference{Of: ItemTool, Name: name, At: b.At}, parts(a), parts(b))
		}
	}
}

// programs compares the files that calls of both plans run; a file that exists in one of them alone is
// reported if both name it.
func (p *pair) programs() {
	for _, file := range keysOf(p.old.Programs, p.new.Programs) {
		old, new := p.old.Programs[file], p.new.Programs[file]
		before, now := p.old.callsOf(file), p.new.callsOf(file)
		if old == new || (old == "" || new == "") && (len(before) == 0 || len(now) == 0) {
			continue
		}
		d := Difference{Of: ItemProgram, Name: file, Old: textNode(old).shown(), New: textNode(new).shown()}
		h := p.graph.follow(&d, "", now)
		for path, calls := range now {
			for _, j := range calls {
				h = h.and(p.graph.impactOf(&p.graph.plans[path].Calls[j]))
			}
		}
		p.report(d, part{})
		p.all[len(p.all)-1].Risk = h.risk()
	}
}

// orders compares in which order calls write a path that both plans have.
func (p *pair) orders() {
	old := map[string][]string{}
	for _, o := range p.old.Orders {
		old[o.Path] = o.Calls
	}
	for _, o := range p.new.Orders {
		before := []string{} // the calls that are in both, with their names in the new plan
		for _, name := range old[o.Path] {
			if i, known := p.oldAt[name]; known && p.oldTo[i] >= 0 {
				before = append(before, p.new.Calls[p.oldTo[i]].Name)
			}
		}
		common := func(some, known []string) []string {
			there := map[string]bool{}
			for _, name := range known {
				there[name] = true
			}
			return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !there[name] })
		}
		if a, b := common(before, o.Calls), common(o.Calls, before); !slices.Equal(a, b) {
			p.report(Difference{Of: ItemOrder, Name: o.Path, Old: leaf(a[:min(mostCalls, len(a))]).value,
				New: leaf(b[:min(mostCalls, len(b))]).value}, part{})
		}
	}
}

// Was is the name in the old plan of a call of the new one, "" of one that was added.
func (c *Comparison) Was(call string) string {
	if i := c.outermost.newTo[c.outermost.newAt[call]]; i >= 0 {
		return c.outermost.old.Calls[i].Name
	}
	return ""
}

// Touched are the calls of the new plan that differ, or run a plan in which something
// does, by name.
func (c *Comparison) Touched() map[string]bool {
	all, inside, activities := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range c.Differences {
		switch d := &c.Differences[i]; {
		case d.In != "":
			inside[d.In] = true
		case d.Of == ItemCall:
			all[d.Name] = true
		case d.Of == ItemActivity:
			activities[d.Name] = true
		}
	}
	f := c.outermost.new
	for i := range f.Calls {
		call := &f.Calls[i]
		if activities[call.Runs.Activity] || f.runs(call.Runs.Plan, inside, map[string]bool{}) {
			all[call.Name] = true
		}
	}
	return all
}

// runs reports whether a delegate is one of some, or runs one.
func (f *Facts) runs(plan string, some, seen map[string]bool) bool {
	d := f.Delegates[plan]
	if d == nil || seen[plan] {
		return false
	}
	seen[plan] = true
	return some[plan] || slices.ContainsFunc(d.Calls, func(c Call) bool { return f.runs(c.Runs.Plan, some, seen) })
}

func keysOf[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
