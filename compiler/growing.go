package compiler

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Growing is a solution that is compiled as it arrives. Its plan gets one call after the other, each compiled and
// bound once, together with those before it: what calls still to come make of a read that is bound to nothing yet, only
// [Setting.Solve] of the whole says. The output isn't looked at.
type Growing struct {
	c        *compilation
	binder   binder
	views    map[string]*viewer // by instance; "" is that of those that have no calls of their own
	problems int
	broken   bool
}

// Begin compiles what stands before the calls of a solution: the file holds a whole solution without any, at the end of
// whose list further ones are to come. The findings are about that.
func (s Setting) Begin(file *source.File, o Options) (*Growing, []diag.Diagnostic) {
	c := s.begin(file, o)
	c.arriving, c.unnamed = true, map[string]*plan.Call{}
	g := &Growing{c: c, binder: binder{plan: c.plan}, views: map[string]*viewer{}, broken: c.plan.Root == nil}
	g.problems = len(c.delegation.reads.parsed[file].problems)
	g.binder.bind()
	growPlan(g.binder.plan)
	c.judgeNames()
	return g, c.foundIn(0)
}

// growPlan prepares a plan for further calls.
func growPlan(p *plan.Plan) { p.Index.Grows, p.PlaceIndex.Grows = true, true }

// Plan is what there is of the solution. It isn't to be changed, but changes with every call.
func (g *Growing) Plan() *plan.Plan { return g.c.plan }

// Listed is how many items of the list of calls have been read; 0 of none at all.
func (g *Growing) Listed() int {
	if g == nil || g.c.plan.CallsNode == nil {
		return 0
	}
	return len(g.c.plan.CallsNode.Items)
}

// Add compiles the next call, which stands between two bytes of the text, but for what
// it is bound to: [Growing.Bind] is to follow. It reports whether there is one: what
// stands there may be none, and past too many problems no more is read.
func (g *Growing) Add(text []byte, start, end int) bool {
	c, p := g.c, g.c.plan
	if g.broken {
		return false
	}
	const depth = 2 // a solution, and its list
	p.File.Grow(text[:end])
	n, problems := source.ParsePart(p.File, start, end, depth, c.options.Limits)
	g.problems += len(problems)
	list := p.CallsNode
	if g.broken = n == nil || g.problems >= source.MaxProblems || len(list.Items) >= maxCalls; g.broken {
		return false
	}
	c.Found = c.Found[:0]
	c.delegation.reads.parsed[p.File] = tree{p.Root, problems}
	for _, problem := range problems {
		c.Found = append(c.Found, diag.OfProblem(problem))
	}
	list.Items, list.End = append(list.Items, n), end
	call := c.listCall(n, len(list.Items))
	if call == nil {
		return false
	}
	c.apart(call)
	if call.ID == "" {
		c.unnamed[call.Name] = call
	} else if c.ids[call.ID] == call {
		c.sharesName(call, c.unnamed[call.ID])
	}
	c.lowerCall(call)
	c.secretsIn(n, "")
	if call.Tool != nil {
		c.secretsOf(call.Node, call.Tool.Parameters)
	}
	p.Size++
	c.addSize(call)
	c.judgeInstance(call)
	switch {
	case p.Targets != nil:
		p.Targets.Add(call)
	case call.Instance != "":
		p.Targets = targetsOf(p.Calls)
	}
	return true
}

// Stand changes the setting in which calls are bound from now on. What calls before are bound to stays.
func (g *Growing) Stand(s Setting) {
	s.applyTo(g.c.plan)
	for _, v := range g.views {
		v.view.Values = g.c.plan.Values
		for i := range v.view.Instances {
			if at, ok := g.c.plan.InstanceAt[v.view.Instances[i].ID]; ok {
				v.view.Instances[i] = s.Instances[at]
			}
		}
	}
	g.c.everywhere = nil
}

// Bind binds the call that was added last to those before it, and gives all findings
// about it, and about others together with it.
func (g *Growing) Bind() []diag.Diagnostic {
	c, p := g.c, g.c.plan
	call := p.Calls[len(p.Calls)-1]
	if n := len(call.Reads); n > 0 {
		c.start(p.Reads[call.Reads[0] : call.Reads[n-1]+1])
	}
	if g.binder.add() {
		c.tooDense(call)
	}
	c.judgeNamesOfCalls()
	return c.foundIn(0)
}

// For is the plan as one instance runs it, as [ForInstance] gives it of the whole. It grows
// as well, and is asked for with every call that the instance runs.
func (g *Growing) For(instance string) *plan.Plan {
	p := g.c.plan
	if CallsOf(p, instance) == len(p.Calls) {
		return p
	}
	key := instance
	if len(p.Targets.Own[instance]) == 0 {
		key = ""
	}
	v := g.views[key]
	if v == nil {
		instances := p.Only(instance)
		if key == "" {
			instances = plain(p)
		}
		v = view(p, nil, slices.Clone(instances))
		growPlan(v.view)
		g.views[key] = v
	}
	for ; v.upTo < len(p.Calls); v.upTo++ {
		if of := p.Calls[v.upTo].Instance; of == "" || of == instance {
			v.add(int32(v.upTo))
		}
	}
	return v.view
}

// add binds the last call of a plan to those before it, and reports whether it is the one with which there are too many
// dependencies. What calls that are still to come do to it isn't asked.
func (b *binder) add() (tooDense bool) {
	p := b.plan
	call := p.Calls[len(p.Calls)-1]
	b.index(call)
	var deps []int32
	for _, i := range call.Reads {
		r := &p.Reads[i]
		if b.dense {
			continue
		}
		b.bindRead(r)
		b.edges += len(r.Writers)
		if tooDense = b.edges > maxEdges; tooDense {
			b.dense = true
			continue
		}
		deps = append(deps, r.Writers...)
	}
	for _, a := range call.After {
		if a.Call < call.Index {
			deps = append(deps, int32(a.Call))
		}
	}
	if p.Writes == plan.Once && !b.dense {
		call.Choices = b.choices(call)
		b.edges += len(call.Choices)
		deps = append(deps, call.Choices...)
		tooDense = b.edges > maxEdges
		b.dense = tooDense
	}
	p.Graph.Append(deps...)
	b.orderWritesOf(call)
	return tooDense
}

// index notes what a call writes that is listed behind those that are known.
func (b *binder) index(call *plan.Call) {
	p := b.plan
	var all []plan.Writer
	items := false
	for alternative, path := range call.Paths() {
		one := writer(call, path.ID, alternative)
		if at := slices.IndexFunc(all, func(w plan.Writer) bool { return w.Path == path.ID }); at >= 0 {
			all[at].Failure = all[at].Failure && one.Failure
			continue
		}
		all = append(all, one)
		items = items || p.Paths.List(path.ID) != path.ID
	}
	slices.SortFunc(all, func(a, b plan.Writer) int { return int(a.Path - b.Path) })
	for _, one := range all {
		p.Index.Grow(one.Path, one)
	}
	switch {
	case p.PlaceIndex == p.Index && items:
		p.PlaceIndex = indexBy(p.Paths, p.Calls, nil, p.Paths.List)
		p.PlaceIndex.Grows = true
	case p.PlaceIndex != p.Index:
		for _, one := range all {
			p.PlaceIndex.Grow(p.Paths.List(one.Path), one)
		}
	}
}

// orderWritesOf is what orderWrites does, for the last call alone: every other comes before it.
func (b *binder) orderWritesOf(call *plan.Call) {
	p := b.plan
	p.Unordered = nil
	if !sharesPlaces(p, call) {
		return
	}
	if len(p.Graph.Deps(call.Index)) > 0 {
		least := int32(call.Index)
		for _, path := range call.Paths() {
			least = min(least, p.Around(path.ID)[0].Call)
		}
		b.trace.Follow(&p.Graph, int32(call.Index), least)
	}
	for alternative, path := range call.Paths() {
		orderWrite(p, call, alternative, path, p.Around(path.ID), b.trace.Met)
	}
	slices.Sort(call.Waits)
	call.Waits = slices.Compact(call.Waits)
	slices.SortStableFunc(p.Unordered, func(a, b plan.Unordered) int { return cmp.Compare(a.A, b.A) })
	p.Unordered = slices.CompactFunc(p.Unordered, func(a, b plan.Unordered) bool { return a.A == b.A })
}
