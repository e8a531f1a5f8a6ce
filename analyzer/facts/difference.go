package facts

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler"
)

// A Difference is one thing in which a new plan differs from an old one.
type Difference struct {
	Change Change `json:"change"`
	Of     Thing  `json:"of"`
	In     string `json:"in,omitempty"`   // the delegate that it is in, by its path in the new plan
	Name   string `json:"name,omitempty"` // of the call, path, tool, …: in the new plan if it is there
	Was    string `json:"was,omitempty"`  // its name in the old plan, if that is another
	What   string `json:"what,omitempty"` // of what changed: which part of it
	Path   string `json:"path,omitempty"` // in that part
	Old    *Value `json:"old,omitempty"`
	New    *Value `json:"new,omitempty"`
	Risk   Risk   `json:"risk,omitempty"`
	At     *Place `json:"at,omitempty"`
	// Reaches are calls that are given what a setting says is there from the start, or what
	// comes of the call, by themselves or by way of others: the first of them.
	Reaches []string `json:"reaches,omitempty"`

	call *Call  // that it is about
	by   string // the call that runs the delegate
	harm harm   // that is done by what it reaches, or what runs it
}

// Change is what became of a thing.
type Change string

// What may become of it. What is renamed does what it did.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Renamed Change = "renamed"
	Changed Change = "changed"
)

// Thing is what a difference is of.
type Thing string

// The things that plans may differ in.
const (
	ThingCall     Thing = "call"
	ThingPath     Thing = "path"     // where something is written and read
	ThingEdge     Thing = "edge"     // between calls that are in both plans: for whom Name waits
	ThingActivity Thing = "activity" // what carries calls out
	ThingOutput   Thing = "output"
	ThingOrder    Thing = "order" // in which calls write one path
	ThingTool     Thing = "tool"
	ThingSetting  Thing = "setting"
	ThingProgram  Thing = "program" // a file of the workspace that is run
	ThingWorst    Thing = "worst"
)

// Risk is why a difference should be looked at first.
type Risk string

// The risks, the worst first.
const (
	Destroys Risk = "destroys" // something is destroyed, or may be, that wasn't
	Leaves   Risk = "leaves"   // something leaves the machine that didn't, or goes elsewhere
)

// A Comparison is how two plans differ by what they mean (S16.3).
type Comparison struct {
	Differences []Difference // the worst first, then in the order of the new plan

	outermost *matching
}

// Compare finds how a new plan differs from an old one. What is only layout is no
// difference, and calls are the same when they do the same, whatever they are called.
func Compare(old, new *Facts) *Comparison {
	c := &comparison{old: old, new: new, seen: map[[2]string]bool{}, activities: map[[3]string]bool{}, harmful: map[string]harm{}}
	outermost := c.plans(old, new, "")
	c.programs()
	c.worst()
	for i := range c.all {
		c.all[i].Risk = c.risk(&c.all[i])
	}
	slices.SortStableFunc(c.all, func(a, b Difference) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return &Comparison{c.all, outermost}
}

// Same reports whether the plans mean the same.
func (c *Comparison) Same() bool { return len(c.Differences) == 0 }

func (r Risk) rank() int { return slices.Index([]Risk{Destroys, Leaves, ""}, r) }

// Reaches is the part of a call whose values may leave the machine.
const Reaches = "may reach beyond the machine"

type comparison struct {
	old, new   *Facts
	all        []Difference
	seen       map[[2]string]bool // delegates that were compared
	activities map[[3]string]bool // where, and by both names
	harmful    map[string]harm    // what plans do that calls of the new plan run
	flows      map[flowKey]bool
	reached    map[string]reached // by path
	harmsBelow []harm             // see below
	given      [][]*Source        // see gives
	beyond     harm               // done by those that are given what the plan gives whose calls run this one
	passed     int                // how many differences of calls were followed
	marks      []int              // by call of the new plan: the stamp of the last who met it
	stamp      int
	*matching  // of the plans that are being compared
	in, by     string
	renames    map[string]string // of paths, by the old one
}

// plans compares two plans, and then those that calls of both run.
func (c *comparison) plans(old, new *Facts, in string) *matching {
	m := match(old, new)
	c.matching, c.in, c.flows, c.marks, c.reached, c.harmsBelow, c.given = m, in, map[flowKey]bool{}, make([]int, len(new.Calls)), map[string]reached{}, nil, nil
	c.renamedPaths()
	for j := range new.Calls {
		if i := m.newTo[j]; i >= 0 {
			c.calls(&old.Calls[i], &new.Calls[j])
			c.edges(i, j)
		} else {
			c.report(Difference{Change: Added, Of: ThingCall, Name: new.Calls[j].Name, call: &new.Calls[j], At: new.Calls[j].At})
		}
	}
	for i := range old.Calls {
		if m.oldTo[i] < 0 {
			c.report(Difference{Change: Removed, Of: ThingCall, Name: old.Calls[i].Name, call: &old.Calls[i], At: old.Calls[i].At})
		}
	}
	c.values(Difference{Of: ThingOutput}, old.Output, new.Output)
	c.orders()
	c.tools()
	c.settings()
	for j := range new.Calls {
		i := m.newTo[j]
		if i < 0 {
			continue
		}
		pair := [2]string{old.Calls[i].Runs.Plan, new.Calls[j].Runs.Plan}
		a, b := c.old.Delegates[pair[0]], c.new.Delegates[pair[1]]
		if a != nil && b != nil && !c.seen[pair] {
			c.seen[pair] = true
			inner := *c
			inner.by, inner.beyond = join(in, new.Calls[j].Name), c.beyond.and(c.below()[j])
			inner.plans(a, b, pair[1])
			c.all = inner.all
		}
	}
	return m
}

func (c *comparison) report(d Difference) {
	if d.In, d.by = c.in, c.by; d.Of == ThingSetting {
		c.reach(&d)
	}
	c.pass(&d)
	if d.Change == "" {
		switch whole := d.What == "" && d.Path == ""; {
		case whole && d.Old == nil:
			d.Change = Added
		case whole && d.New == nil:
			d.Change = Removed
		default:
			d.Change = Changed
		}
	}
	c.all = append(c.all, d)
}

// calls compares two calls that are the same one.
func (c *comparison) calls(a, b *Call) {
	about := func(what string) Difference {
		d := Difference{Of: ThingCall, Name: b.Name, What: what, call: b, At: b.At}
		if a.Name != b.Name {
			d.Was = a.Name
		}
		return d
	}
	if a.ID != b.ID {
		d := about("")
		d.Change = Renamed
		c.report(d)
	}
	text := func(what, old, new string) { c.text(about(what), old, new) }
	text("tool", a.Tool, b.Tool)
	text("instance", a.Instance, b.Instance)
	text("effect", a.Effect.Kind, b.Effect.Kind)
	text("effect that only the plan claims", a.Effect.Claimed, b.Effect.Claimed)
	c.flag(about(Reaches), a.Effect.OpenWorld || a.Runs.Kind == Model, b.Effect.OpenWorld || b.Runs.Kind == Model)
	c.flag(about("a second time does no more"), a.Effect.Idempotent, b.Effect.Idempotent)
	c.runs(about, &a.Runs, &b.Runs)
	c.values(about("value"), a.Values, b.Values)
	c.values(about("condition"), optional(a.When), optional(b.When))
	var listA, listB *Value
	if a.Each != nil && b.Each != nil {
		c.flag(about("goes on when an item failed"), a.Each.Collect, b.Each.Collect)
		c.number(about("most items"), a.Each.Most, b.Each.Most)
	}
	if a.Each != nil {
		listA = &a.Each.List
	}
	if b.Each != nil {
		listB = &b.Each.List
	}
	c.values(about("each of"), optional(listA), optional(listB))
	c.sources(about("context"), a.Context, b.Context)
	c.writes(about("writes"), a.Writes, b.Writes)
	text("method", a.Method, b.Method)
	c.after(about("after"), a, b)
	c.number(about("tries"), max(1, a.Tries), max(1, b.Tries))
	text("backoff", a.Backoff, b.Backoff)
	text("timeout", a.Timeout, b.Timeout)
	c.flag(about("a person is asked"), a.Confirm, b.Confirm)
	c.literal(about("result"), a.Produced, b.Produced)
	text("reasoning", a.Reason, b.Reason)
}

func optional(v *Value) []Value {
	if v == nil {
		return nil
	}
	return []Value{*v}
}

func (c *comparison) text(d Difference, old, new string) {
	if old != new {
		d.Old, d.New = said(old), said(new)
		c.report(d)
	}
}

// said is a text as a value, nil for none.
func said(text string) *Value {
	if text == "" {
		return nil
	}
	return &Value{Literal: Literal{Text: asJSON(text)}}
}

func (c *comparison) flag(d Difference, old, new bool) {
	yes := func(b bool) string { return map[bool]string{true: "yes"}[b] }
	c.text(d, yes(old), yes(new))
}

func (c *comparison) number(d Difference, old, new int) {
	if old != new {
		number := func(n int) *Value {
			if n == 0 {
				return nil
			}
			return &Value{Literal: Literal{Text: strconv.AppendInt(nil, int64(n), 10)}}
		}
		d.Old, d.New = number(old), number(new)
		c.report(d)
	}
}

// runs compares what carries a call out. What becomes of one activity is told once, for
// all of its calls.
func (c *comparison) runs(about func(string) Difference, a, b *Execution) {
	c.place(about("runs the plan"), a.Plan, b.Plan)
	c.flag(about("in a context of its own"), a.Alone, b.Alone)
	if a.Activity != b.Activity || a.Kind != b.Kind && (a.Activity == "" || b.Activity == "") {
		c.text(about("carried out by"), a.carrier(), b.carrier())
	}
	key := [3]string{c.in, a.Activity, b.Activity}
	if a.Activity == "" || b.Activity == "" || c.activities[key] {
		return
	}
	c.activities[key] = true
	d := about("")
	d.Of, d.Name, d.Was = ThingActivity, b.Activity, ""
	if a.Activity != b.Activity {
		d.Was = a.Activity
	}
	d.What = "definition"
	c.literal(d, a.Definition, b.Definition)
	d.What = "folder"
	c.place(d, a.Folder, b.Folder)
}

// place compares where two things lie: they are at the same place where that is the same
// from the workspaces' roots, or from the folders of the plans.
func (c *comparison) place(d Difference, old, new string) {
	seen := func(f *Facts, path string) string {
		relative, err := filepath.Rel(filepath.FromSlash(f.Folder), filepath.FromSlash(path))
		if err != nil {
			return path
		}
		return filepath.ToSlash(relative)
	}
	if old == "" || new == "" || seen(c.old, old) != seen(c.new, new) {
		c.text(d, old, new)
	}
}

// carrier names what carries a call out, with its definition where it has a name.
func (e *Execution) carrier() string {
	if e.Activity == "" || e.Kind == aPlan {
		return e.Kind
	}
	return e.Activity + ": " + e.Destination()
}

// literal compares two values part by part.
func (c *comparison) literal(d Difference, old, new Literal) {
	if old.Equal(new) {
		return
	}
	before := len(c.all)
	if !old.IsZero() && !new.IsZero() {
		parts(d.Path, old.value(), new.value(), func(path string, old, new *Value) {
			d := d
			d.Path, d.Old, d.New = path, old, new
			c.report(d)
		})
	}
	if len(c.all) == before { // it is only there in one of them, or a secret
		if !old.IsZero() {
			d.Old = &Value{Literal: old}
		}
		if !new.IsZero() {
			d.New = &Value{Literal: new}
		}
		c.report(d)
	}
}

// parts finds where two JSON values differ.
func parts(path string, old, new any, found func(path string, old, new *Value)) {
	switch a := old.(type) {
	case map[string]any:
		b, ok := new.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(a))
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if _, both := a[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			x, inA := a[k]
			y, inB := b[k]
			switch {
			case inA && inB:
				parts(step(path, k), x, y, found)
			case inA:
				found(step(path, k), asValue(x), nil)
			default:
				found(step(path, k), nil, asValue(y))
			}
		}
		return
	case []any:
		b, ok := new.([]any)
		if !ok {
			break
		}
		items(path, a, b, found)
		return
	}
	if x, y := asValue(old), asValue(new); string(x.Literal.Text) != string(y.Literal.Text) {
		found(path, x, y)
	}
}

// items finds where two lists differ, less what they begin and end with alike.
func items(path string, a, b []any, found func(path string, old, new *Value)) {
	same := func(x, y any) bool { return string(asJSON(x)) == string(asJSON(y)) }
	at := 0
	for at < len(a) && at < len(b) && same(a[at], b[at]) {
		at++
	}
	endA, endB := len(a), len(b)
	for endA > at && endB > at && same(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
	}
	for i := at; i < max(endA, endB); i++ {
		where := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i < endA && i < endB:
			parts(where, a[i], b[i], found)
		case i < endA:
			found(where, asValue(a[i]), nil)
		default:
			found(where, nil, asValue(b[i]))
		}
	}
}

func asValue(v any) *Value { return &Value{Literal: Literal{Text: asJSON(v)}} }

// settings compares what else of the documents decides what happens.
func (c *comparison) settings() {
	a, b := c.matching.old, c.matching.new
	progress := a.Form != b.Form && (a.IsAnswer() || b.IsAnswer())
	if !progress {
		c.text(Difference{Of: ThingSetting, Name: "plan"}, a.Plan, b.Plan)
	}
	keys := map[string]bool{}
	for _, settings := range []map[string]Literal{a.Settings, b.Settings} {
		for key := range settings {
			keys[key] = !progress || !slices.Contains(standing, key)
		}
	}
	maps.DeleteFunc(keys, func(_ string, counts bool) bool { return !counts })
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.literal(Difference{Of: ThingSetting, Name: key}, a.Settings[key], b.Settings[key])
	}
}

// standing is what a record or a solution tells of where its run stood, which is no
// difference to the plan.
var standing = []string{"description", "version", "input", "state", "data", "errors", "opinions"}

// IsAnswer reports whether the document is what a model wrote, alone or in the record of
// its tick.
func (f *Facts) IsAnswer() bool {
	return slices.Contains([]string{compiler.Solution.String(), compiler.ProcessRecord.String(), compiler.Replan.String()}, f.Form)
}

// tools compares the tools of two plans by their names.
func (c *comparison) tools() {
	a, b := c.matching.old.Tools, c.matching.new.Tools
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			c.report(Difference{Change: Removed, Of: ThingTool, Name: a[0].Name, At: a[0].At})
			a = a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			c.report(Difference{Change: Added, Of: ThingTool, Name: b[0].Name, At: b[0].At})
			b = b[1:]
		default:
			d := Difference{Of: ThingTool, Name: b[0].Name, At: b[0].At}
			part := func(what string) Difference { d.What = what; return d }
			c.text(part("description"), a[0].Description, b[0].Description)
			c.literal(part("parameters"), a[0].Parameters, b[0].Parameters)
			c.literal(part("output"), a[0].Output, b[0].Output)
			c.literal(part("definition"), a[0].Definition, b[0].Definition)
			a, b = a[1:], b[1:]
		}
	}
}

// programs compares what the files hold that calls of both plans run; a file that is only
// there in one of them is told of if both name it.
func (c *comparison) programs() {
	files := maps.Clone(c.old.Programs)
	if files == nil {
		files = map[string]string{}
	}
	maps.Copy(files, c.new.Programs)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, new := c.old.Programs[name], c.new.Programs[name]
		if old == new {
			continue
		}
		_, before := c.names(c.old, name)
		d := Difference{Of: ThingProgram, Name: name}
		now := false
		if d.harm, now = c.names(c.new, name); before && now || old != "" && new != "" {
			c.text(d, old, new)
		}
	}
}

// orders compares in which order calls write a path that both plans have.
func (c *comparison) orders() {
	old := map[string][]string{}
	for _, o := range c.matching.old.Orders {
		old[c.renamed(o.Path)] = o.Calls
	}
	for _, o := range c.matching.new.Orders {
		var before, after []string
		there, kept := map[string]bool{}, map[string]bool{}
		for _, name := range o.Calls {
			there[name] = true
		}
		for _, name := range old[o.Path] {
			at, known := c.oldAt[name] // facts that were read from a file may name any
			if !known {
				continue
			}
			if to := c.oldTo[at]; to >= 0 && there[c.matching.new.Calls[to].Name] {
				before = append(before, c.matching.new.Calls[to].Name)
				kept[c.matching.new.Calls[to].Name] = true
			}
		}
		for _, name := range o.Calls {
			if kept[name] {
				after = append(after, name)
			}
		}
		if !slices.Equal(before, after) {
			c.report(Difference{Of: ThingOrder, Name: o.Path, Old: asValue(before[:min(mostCalls, len(before))]), New: asValue(after[:min(mostCalls, len(after))])})
		}
	}
}

// worst compares what the plans come to at worst.
func (c *comparison) worst() {
	for _, b := range []struct {
		what     string
		old, new Bound
	}{
		{"calls", c.old.Worst.Calls, c.new.Worst.Calls}, {"tries", c.old.Worst.Tries, c.new.Worst.Tries},
		{"ticks", c.old.Worst.Ticks, c.new.Worst.Ticks}, {"cost", c.old.Worst.Cost, c.new.Worst.Cost}, {"seconds", c.old.Worst.Time, c.new.Worst.Time},
	} {
		old, new := asValue("unbounded"), asValue("unbounded")
		if b.old.Most != nil {
			old = asValue(*b.old.Most)
		}
		if b.new.Most != nil {
			new = asValue(*b.new.Most)
		}
		if string(old.Literal.Text) != string(new.Literal.Text) {
			c.report(Difference{Of: ThingWorst, Name: b.what, Old: old, New: new})
		}
	}
}
