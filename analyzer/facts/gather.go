package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A gatherer collects the facts of one plan.
type gatherer struct {
	plan     *plan.Plan
	runs     map[string]Execution // by activity
	sourceOf map[writerList]Source
}

func newGatherer(p *plan.Plan) *gatherer {
	return &gatherer{p, map[string]Execution{}, map[writerList]Source{}}
}

func (g *gatherer) facts() *Facts {
	p := g.plan
	f := &Facts{Plan: g.shown(p.Name), Form: p.Form.String(), Folder: p.Folder, Calls: make([]Call, len(p.Calls)),
		Settings: g.settings()}
	for i, c := range p.Calls {
		f.Calls[i] = g.call(c)
	}
	if p.Output != nil {
		f.Output = g.values(nil, "", p.Output, nil)
		for _, r := range readsOf(p.Output) {
			for _, w := range p.Reads[r].Writers {
				f.Calls[w].used = true
			}
		}
	}
	for _, t := range p.Tools {
		f.Tools = append(f.Tools, g.tool(t))
	}
	for _, a := range p.Advisors {
		f.Advisors = append(f.Advisors, a.ID)
	}
	f.Orders = g.orders()
	return f
}

func (g *gatherer) call(c *plan.Call) Call {
	p := g.plan
	// What another tool says of its activity counts where the call's values surely fit it.
	e := effects.Of(p, c, func(t *plan.Tool) bool {
		return t.Parameters == nil || c.Params != nil && !c.Params.Live && t.Parameters.Accepts(c.Params.Value)
	})
	one := Call{
		Name: c.Name, ID: c.ID, Tool: c.ToolName, At: place(c.Node), Instance: c.Instance,
		Effect: e, Runs: g.execution(c),
		Confirm: c.Confirm, Reason: g.shown(c.Reason),
	}
	if c.Params != nil {
		for _, field := range sortedFields(c.Params) {
			one.Values = g.values(one.Values, Step("", field.Key), field.Value, c)
		}
	}
	for i, route := range c.Output {
		one.Writes = append(one.Writes, nil)
		for _, path := range route {
			one.Writes[i] = append(one.Writes[i], p.Paths.String(path.ID))
		}
	}
	if c.Method != plan.Set {
		one.Method = c.Method.String()
	}
	if c.When != nil {
		one.When = g.single(c.When, c)
	}
	if c.Each != nil {
		one.Each = &Each{*g.single(c.Each.List, c), g.most(c.Each.List), c.Each.Collect}
	}
	for _, a := range c.After {
		one.After = append(one.After, After{Call: p.Calls[a.Call].Name, Settled: a.Settled})
	}
	for _, i := range c.Ordered {
		one.After = append(one.After, After{Call: p.Calls[i].Name, Settled: true, Listed: true})
	}
	if c.Retry.Attempts > 1 {
		one.Tries, one.Backoff = c.Retry.Attempts, duration(c.Retry.Backoff)
	}
	one.Timeout = duration(c.Timeout)
	if c.Produced != nil {
		one.Produced = g.literal(c.Node.Get("_output").Value()) // with the alternative that it names
	}
	one.Context = g.context(c, one.Runs.Kind == Model)
	one.Conditions, one.requires = g.conditions(c, &one)
	if c.Each == nil {
		one.asks = g.question(c.When)
	}
	one.used = p.Graph.Len() == len(p.Calls) && len(p.Graph.Users(c.Index)) > 0
	return one
}

// The kinds of [Execution] that no activity has.
const (
	Model    = "model"    // a model makes the result up
	Produced = "produced" // the result stands there already
	aPlan    = "plan"
)

func (g *gatherer) execution(c *plan.Call) Execution {
	a := g.plan.Activities[c.Activity]
	switch {
	case c.Delegate != "":
		return Execution{Kind: aPlan, Plan: c.Delegate, Activity: c.Activity}
	case c.Activity == "" && c.Produced != nil:
		return Execution{Kind: Produced}
	case c.Activity == "":
		return Execution{Kind: Model}
	case a == nil:
		return Execution{Kind: effects.Unknown, Activity: c.Activity}
	}
	if _, known := g.runs[a.Name]; !known {
		g.runs[a.Name] = g.activity(a)
	}
	return g.runs[a.Name]
}

func (g *gatherer) activity(a *plan.Activity) Execution {
	e := Execution{Kind: a.Kind, Activity: a.Name, Defined: place(cmp.Or(a.NameNode, a.Node))}
	environment := a
	if n := a.Node.Get(a.Kind); n != nil {
		definition := map[string]any{a.Kind: n.Value()}
		e.Method, e.URL = n.Get("method").AsText(), g.shown(n.Get("url").AsText())
		if a.Server != nil {
			definition["server"], environment = a.Server.Node.Value(), &a.Server.Activity
			e.URL, e.Text = g.shown(a.Server.URL), g.shown(a.Remote)
		}
		e.Definition = g.literal(definition)
	}
	switch {
	case a.HTTP != nil:
		e.Method = a.HTTP.Method
	case a.Kind == "expr":
		e.Text = g.shown(a.Node.Get("expr").Text)
	case len(a.Argv) > 0:
		e.Folder = cmp.Or(a.Dir, ".")
		for _, argument := range a.Argv {
			for _, text := range argument.Texts {
				e.Program = append(e.Program, g.shown(text))
			}
		}
		for _, pattern := range a.Files {
			e.Files = append(e.Files, pattern.Text)
		}
		if kinds.HasUncoveredCode(a) {
			e.Unseen = e.Program
		}
	}
	names := slices.Clone(environment.Inherit)
	for _, v := range environment.Variables {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	e.Variables = slices.Compact(names)
	return e
}

// OtherKinds is the path of all that messages of a context hold besides input and state,
// where a call is handed all of it.
const OtherKinds = "†*"

// context is what a call is handed besides its parameters. A model sees everything, unless scopes say what.
func (g *gatherer) context(c *plan.Call, latent bool) []Source {
	var all []Source
	for _, s := range c.Scopes {
		if s.Read >= 0 {
			all = append(all, g.sources(&g.plan.Reads[s.Read], c)...)
		}
	}
	if latent && c.Scopes == nil {
		all = append(all, Source{Path: "†input", Start: true}, Source{Path: "†state", Start: true})
		if len(g.plan.Kinds) > 0 {
			all = append(all, Source{Path: OtherKinds, Start: true})
		}
	}
	return all
}

// conditions are what must hold for a call to run, by itself and the calls that it reads from, and the calls that it
// can't run without.
func (g *gatherer) conditions(c *plan.Call, one *Call) (all []Condition, needs []requirement) {
	if c.Instance != "" {
		all = append(all, Condition{Words: "for", Text: c.Instance})
	}
	if one.Each != nil {
		all = append(all, Condition{Words: "for each of", Text: one.Each.List.String()})
	}
	if one.When != nil {
		all = append(all, Condition{Words: "if", Text: one.When.String()})
	}
	needs = g.needs(c)
	for _, r := range needs {
		if r.branch.Words != "" {
			all = merged(all, r.branch)
		}
		if other := g.plan.Calls[r.call]; other.When != nil && other.Each == nil {
			all = merged(all, Condition{"if", g.single(other.When, other).String(), "for", other.Name})
		}
	}
	for _, a := range one.After {
		after := Condition{"after", a.Call, "is done", ""}
		if a.Settled {
			after.More = "has ended, however"
		}
		all = merged(all, after)
	}
	if g.plan.Writes == plan.Once && len(c.Choices) > 0 {
		all = append(all, Condition{Words: "if nothing stands yet where it writes"})
	}
	return all, needs
}

// failing is what must be so of a call whose failure another waits for.
const failing = "fails, or writes"

// merged adds what the list lacks.
func merged[T comparable](all []T, more ...T) []T {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// A requirement is a call that another can't run without, and which of its alternatives it must take, if it has any.
type requirement struct {
	call   int32
	branch Condition
}

// needs are the calls that alone write what a call reads, and those that must be done before it.
func (g *gatherer) needs(c *plan.Call) (all []requirement) {
	for _, r := range c.Reads {
		if read := &g.plan.Reads[r]; read.Ref.Required && !read.Start && len(read.Writers) == 1 {
			all = append(all, requirement{read.Writers[0], g.branch(read)})
		}
	}
	for _, a := range c.After {
		if !a.Settled {
			all = append(all, requirement{call: int32(a.Call)})
		}
	}
	return all
}

// branch is which alternative the only writer of a read must take for it to have a value.
func (g *gatherer) branch(r *plan.Read) Condition {
	w := g.plan.Calls[r.Writers[0]]
	taken, routes := 0, 0
	for i, route := range w.Output {
		if route.Overlaps(g.plan.Paths, r.Path) {
			taken = i
			routes++
		}
	}
	if len(w.Output) < 2 || routes != 1 {
		return Condition{}
	}
	more := "writes"
	if taken == w.FailureRoute() {
		more = failing
	}
	return Condition{"if", w.Name, more, g.plan.Paths.String(w.Output[taken][0].ID)}
}

// orders are the paths at which it counts in which order calls write: by other methods than set, under once, and where
// several record their failures. If few calls may run, it counts in which order all are listed.
func (g *gatherer) orders() (orders []Order) {
	p, at := g.plan, map[string][]string{}
	if p.Limits.Calls > 0 && p.Limits.Calls < len(p.Calls) {
		for _, c := range p.Calls {
			at["calls"] = append(at["calls"], c.Name)
		}
	}
	calls := slices.Clone(p.Calls)
	if p.Writes != plan.Once {
		slices.SortStableFunc(calls, func(a, b *plan.Call) int {
			return cmp.Compare(p.Graph.Rank(a.Index), p.Graph.Rank(b.Index))
		})
	}
	for _, c := range calls {
		for i, path := range c.Paths() {
			if c.Method != plan.Set || p.Writes == plan.Once || i == c.FailureRoute() {
				name := p.Paths.String(path.ID)
				if n := len(at[name]); n == 0 || at[name][n-1] != c.Name {
					at[name] = append(at[name], c.Name)
				}
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(at)) {
		if len(at[path]) > 1 {
			orders = append(orders, Order{path, at[path]})
		}
	}
	return orders
}

func place(n *source.Node) *Place {
	if n == nil || n.File == nil {
		return nil
	}
	at := n.Span()
	from := at.From()
	return &Place{at.File.Name, from.Line, from.Column}
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Step is a path with a key more, as references write it.
func Step(path, key string) string {
	return strings.TrimPrefix(reference.Below(path, []reference.Segment{{Key: key}}), ".")
}
