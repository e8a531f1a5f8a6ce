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
)

func (r Risk) rank() int { return slices.Index([]Risk{Destroys, Leaves, ""}, r) }

// A Comparison is how two plans, and all that they run, differ by what they do.
type Comparison struct {
	Differences []Difference // the worst first, then in the order of the new plan

	sides     [2]*Facts // the old and the new one
	outermost *pair
	compared  map[[3]string]bool // pairs of delegates, and of activities by the plan that they are in
	graph     *graph             // of the new plan and those that it runs
}

// Compare finds how a new plan differs from an old one. Layout is no difference, and calls that do the
// same are the same, whatever their names.
func Compare(old, new *Facts) *Comparison {
	c := &Comparison{sides: [2]*Facts{old, new}, compared: map[[3]string]bool{}, graph: graphOf(new)}
	c.outermost = c.plans(old, new, "", "")
	c.outermost.programs()
	before := old.Worst.bounds()
	for i, now := range new.Worst.bounds() {
		c.outermost.compare(Difference{Of: ItemWorst, Name: now.name}, part{}, before[i].shown(), now.shown())
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return c
}

// Same reports whether the plans do the same.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

// A pair is two plans that are compared, and which of their calls are the same.
type pair struct {
	*Comparison
	matching
	path, by string // the new plan, and the call that runs it
}

func (c *Comparison) plans(old, new *Facts, path, by string) *pair {
	p := &pair{Comparison: c, matching: match(old, new), path: path, by: by}
	first := c.graph.first[path]
	for j := range new.Calls {
		call, i := &new.Calls[j], p.newTo[j]
		d := Difference{Of: ItemCall, Name: call.Name, call: call, At: call.At}
		if i < 0 {
			p.differ(d, nil, p.parts(newSide, call), first+j)
			continue
		}
		was := &old.Calls[i]
		if was.Name != call.Name {
			d.Was = was.Name
		}
		if was.ID != call.ID {
			renamed := d
			renamed.Change = Renamed
			p.report(renamed, part{}, first+j)
		}
		p.differ(d, p.parts(oldSide, was), p.parts(newSide, call), first+j)
		p.carriers(was, call)
	}
	for i := range old.Calls {
		if call := &old.Calls[i]; p.oldTo[i] < 0 {
			p.differ(Difference{Of: ItemCall, Name: call.Name, call: call, At: call.At}, p.parts(oldSide, call), nil)
		}
	}
	p.compare(Difference{Of: ItemOutput}, part{}, p.values(oldSide, old.Output...), p.values(newSide, new.Output...))
	p.orders()
	before, now := toolsOf(old), toolsOf(new)
	for _, name := range keysOf(before, now) {
		a, b := before[name], now[name]
		p.differ(Difference{Of: ItemTool, Name: name, At: cmp.Or(b.At, a.At)}, a.parts(), b.parts())
	}
	p.settings()
	for j := range new.Calls {
		i := p.newTo[j]
		if i < 0 {
			continue
		}
		both := [3]string{"", old.Calls[i].Runs.Plan, new.Calls[j].Runs.Plan}
		a, b := c.sides[oldSide].Delegates[both[1]], c.sides[newSide].Delegates[both[2]]
		if a != nil && b != nil && !c.compared[both] {
			c.compared[both] = true
			c.plans(a, b, both[2], join(path, new.Calls[j].Name))
		}
	}
	return p
}

// differ reports where two items differ that have the same parts; one that has none doesn't exist.
func (p *pair) differ(d Difference, old, new []part, calls ...int) {
	switch {
	case new == nil:
		d.Change = Removed
		p.report(d, part{})
	case old == nil:
		d.Change = Added
		p.report(d, part{weight: acts}, calls...)
	default:
		for i, of := range old {
			d.What = of.name
			p.compare(d, of, of.of, new[i].of, calls...)
		}
	}
}

// report notes a difference of some calls of the new plan, by their numbers in the graph, with what it reaches.
func (p *pair) report(d Difference, of part, calls ...int) {
	d.In, d.by, d.calls = p.path, p.by, calls
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
	counts := of.weight&limit == 0 || !tightens(&d)
	if of.weight&acts != 0 && counts {
		for _, call := range calls {
			h |= p.graph.impacts[call]
		}
		switch of.name { // only a part of its impact
		case effectKind:
			h &^= leaves
		case Reaches:
			if h &= leaves; d.New == nil {
				h = 0
			}
		}
	}
	if from := d.begins(); from != "" || of.weight&gives != 0 && counts {
		h |= p.graph.follow(&d, p.path, from, calls)
	}
	d.Risk = h.risk()
	p.Differences = append(p.Differences, d)
}

// A part is one of those that calls and tools are compared by.
type part struct {
	name   string
	of     []leaf
	weight weight
}

// A weight is what a change of a part means.
type weight int

const (
	acts     weight = 1 << iota // it decides what the call does, to what, or how often
	gives                       // it decides what the call gives
	limit                       // to add it, or to lower it, has the call do less
	repeated                    // [Call.Conditions] has the part, too
)

// parts are all parts of a call, in the order in which differences are shown, with their weights.
func (p *pair) parts(side int, c *Call) []part {
	var list, context *Value
	var most []leaf
	if c.Each != nil {
		list, most = &c.Each.List, leafOf(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = &Value{Sources: c.Context}
	}
	return []part{
		{"tool", leafOf(c.Tool), acts | gives},
		{"instance", leafOf(c.Instance), acts | repeated},
		{effectKind, leafOf(c.Effect.Kind), acts},
		{"effect that only the plan claims", leafOf(c.Effect.Claimed), 0},
		{Reaches, flag(c.Effect.OpenWorld || c.Runs.Kind == Model), acts},
		{"a second time does no more", flag(c.Effect.Idempotent), 0},
		{"runs the plan", p.place(side, c.Runs.Plan), acts | gives},
		{"carried out by", carrierOf(&c.Runs), acts | gives},
		{"value", p.values(side, c.Values...), acts | gives},
		{"condition", p.optional(side, c.When), acts | gives | limit | repeated},
		{"goes on when an item failed", flag(c.Each != nil && c.Each.Collect), 0},
		{"most items", most, acts | gives | limit},
		{"each of", p.optional(side, list), acts | gives | repeated},
		{"context", p.optional(side, context), acts | gives},
		{"writes", writesOf(c), 0},
		{"method", leafOf(c.Method), 0},
		{"after", p.afterOf(side, c), acts | limit | repeated},
		{"tries", leafOf(max(1, c.Tries)), acts | limit},
		{"backoff", leafOf(c.Backoff), 0},
		{"timeout", leafOf(c.Timeout), 0},
		{"a person is asked", flag(c.Confirm), acts | limit},
		{"result", leafLiteral(c.Produced), acts | gives},
		{"reasoning", leafOf(c.Reason), 0},
	}
}

// The parts of a call's effect.
const (
	effectKind = "effect"
	// Reaches is the part of a call whose values may leave the machine.
	Reaches = "may reach beyond the machine"
)

// tightens reports whether a difference of a limit only has a call done less, later or with a person's decision.
func tightens(d *Difference) bool {
	return d.Old == nil || d.New != nil && less(d.New.Literal, d.Old.Literal)
}

// less compares two numbers.
func less(a, b Literal) bool {
	x, isX := a.value().(float64)
	y, isY := b.value().(float64)
	return isX && isY && x < y
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
	parts := func(side int, e *Execution) []part {
		return []part{{"definition", leafLiteral(e.Definition), acts | gives},
			{"folder", p.place(side, e.Folder), acts | gives}}
	}
	p.differ(d, parts(oldSide, &a.Runs), parts(newSide, &b.Runs), calls...)
}

// settings compares what else of the documents decides what happens.
func (p *pair) settings() {
	progress := p.old.Form != p.new.Form && (p.old.IsAnswer() || p.new.IsAnswer())
	if !progress {
		p.compare(Difference{Of: ItemSetting, Name: "plan"}, part{}, leafOf(p.old.Plan), leafOf(p.new.Plan))
	}
	for _, key := range keysOf(p.old.Settings, p.new.Settings) {
		if !progress || !slices.Contains(standing, key) {
			p.compare(Difference{Of: ItemSetting, Name: key}, part{}, leafLiteral(p.old.Settings[key]),
				leafLiteral(p.new.Settings[key]))
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

// parts are those that tools are compared by; a tool without a name doesn't exist.
func (t Tool) parts() []part {
	if t.Name == "" {
		return nil
	}
	return []part{{"description", leafOf(t.Description), 0}, {"parameters", leafLiteral(t.Parameters), 0},
		{"output", leafLiteral(t.Output), 0}, {"definition", leafLiteral(t.Definition), 0}}
}

// programs compares the files that calls of both plans run; a file that exists in one of them alone is
// reported if both name it.
func (p *pair) programs() {
	before := indexOf(p.old)
	for _, file := range keysOf(p.old.Programs, p.new.Programs) {
		old, new := p.old.Programs[file], p.new.Programs[file]
		calls := p.graph.running(file)
		if old != "" && new != "" || len(before.running(file)) > 0 && len(calls) > 0 {
			p.compare(Difference{Of: ItemProgram, Name: file}, part{weight: acts | gives}, leafOf(old),
				leafOf(new), calls...)
		}
	}
}

// orders compares in which order calls of both plans write a path, by their names in the new one.
func (p *pair) orders() {
	old := map[string][]string{}
	for _, o := range p.old.Orders {
		for _, name := range o.Calls {
			old[o.Path] = append(old[o.Path], p.newName(name))
		}
	}
	common := func(some, known []string) []string {
		there := map[string]bool{}
		for _, name := range known {
			there[name] = true
		}
		return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !there[name] })
	}
	for _, o := range p.new.Orders {
		if a, b := common(old[o.Path], o.Calls), common(o.Calls, old[o.Path]); !slices.Equal(a, b) {
			p.report(Difference{Of: ItemOrder, Name: o.Path, Old: literal(Compact(a[:min(mostCalls, len(a))])),
				New: literal(Compact(b[:min(mostCalls, len(b))]))}, part{})
		}
	}
}

// Was is the name in the old plan of a call of the new one, "" of one that was added.
func (c *Comparison) Was(call string) string {
	if at, known := c.outermost.newAt[call]; known && c.outermost.newTo[at] >= 0 {
		return c.outermost.old.Calls[c.outermost.newTo[at]].Name
	}
	return ""
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
