// Package envelope says what may be run under an approval besides the plan that was approved: what a model plans anew,
// what a person puts in the place of a call, and what a resumed run does again.
//
// An envelope is made from the facts of the approved plan, and holds what that plan may do; a person may widen it.
// Calls are held to it by their facts and, in a run, by their values.
package envelope

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// An Envelope is what may be run. Its JSON form reads back as the same envelope.
type Envelope struct {
	// Parts are the definitions of all that calls may use, and the policies over them, by
	// digest. A run under the envelope has these, or of the definitions fewer.
	Parts []plan.Part `json:"parts,omitempty"`
	// Calls are what may be called. A call stays within if one of them covers it.
	Calls []Allowance `json:"calls"`
	// Models are the names of those that may plan or answer, such as
	// "anthropic:claude-x"; nil says nothing of that.
	Models []string `json:"models,omitempty"`
	Budget Budget   `json:"budget,omitzero"`
	// Expires is when it ends; nil is never.
	Expires *time.Time `json:"expires,omitempty"`
}

// An Allowance is a call that may be made, so many times. Whatever it doesn't name may
// not be.
type Allowance struct {
	In   string `json:"in,omitempty"` // the delegate whose calls it is about, by path from the workspace root; "" is the plan itself
	Tool string `json:"tool"`
	// Names are the calls of the plan that others come after, of those that it is.
	Names []string `json:"names,omitempty"`
	// Runs is what carries the call out; nil is whatever the tool lets its calls choose.
	Runs *Runs `json:"runs,omitempty"`
	// Effect is the worst that it may do: read-only, writes, unknown or destructive.
	// OpenWorld is set where what it is given may leave the machine.
	Effect    string `json:"effect"`
	OpenWorld bool   `json:"openWorld,omitempty"`
	// Instances are those that it may run for; nil is every one.
	Instances []string `json:"instances,omitempty"`
	// Parameters are what each may be, by name; [Any] is that of those without an entry. One with an entry of its own must
	// be there.
	Parameters map[string]Values `json:"parameters,omitempty"`
	// When is the condition under which alone it may run, and After are the calls that must have ended before. Confirm is
	// set where a person is asked about it in any case.
	When    *Leaf  `json:"when,omitempty"`
	After   []Gate `json:"after,omitempty"`
	Confirm bool   `json:"confirm,omitempty"`
	// Each is what the list may be for whose items it runs; nil is none.
	Each *Values `json:"each,omitempty"`
	// Context are the paths that it may be handed besides, with all below them.
	Context []string `json:"context,omitempty"`
	// DelegateContext is the whole context that a delegate has.
	DelegateContext []Source `json:"handed,omitempty"`
	// Tries, Timeout and Collect say what makes the call fail, where others come after it.
	Tries   int    `json:"tries,omitempty"`
	Timeout string `json:"timeout,omitempty"`
	Collect bool   `json:"collect,omitempty"`
	// Writes are the output paths that it may have, with their method, "" being none; and
	// Below paths at and below which it may write in any way.
	Writes []string `json:"writes,omitempty"`
	Below  []string `json:"below,omitempty"`
	// Result is what a latent call's result in the plan may be; nil is none.
	Result *Values `json:"result,omitempty"`
	// Times is how often a call may be tried in each instance, over all items, ticks and resumes.
	Times int `json:"times"`
}

// Any is the name of whatever has no entry of its own.
const Any = "*"

// Runs is what carries a call out.
type Runs struct {
	Kind     string `json:"kind"` // see [facts.Execution]
	Activity string `json:"activity,omitempty"`
	Plan     string `json:"plan,omitempty"`
	Alone    bool   `json:"alone,omitempty"` // in a context of its own
}

// Values is what a value may be: what any of its parts says. The zero value is nothing.
type Values struct {
	Any bool `json:"any,omitempty"`
	// Literals are values that it may equal.
	Literals []Literal `json:"literals,omitempty"`
	// Leaves are the parts of a value that is put together as written.
	Leaves []Leaf `json:"leaves,omitempty"`
	// Schema is a JSON Schema that it may fit.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// A Literal is a value, or where it holds a secret its digest ([facts.Literal.Sum]).
type Literal struct {
	Is     json.RawMessage `json:"is,omitempty"`
	Digest string          `json:"digest,omitempty"`
}

// A Leaf is a part of a value: a literal, or an expression with what it reads.
type Leaf struct {
	Path       string   `json:"path,omitempty"` // within the value: .text, [0]; "" is all of it
	Literal    *Literal `json:"literal,omitempty"`
	Expression string   `json:"expression,omitempty"`
	Sources    []Source `json:"sources,omitempty"`
}

// A Source is a path that is read, and who may have written what stands there.
type Source struct {
	Path  string   `json:"path"`
	Tools []string `json:"tools,omitempty"`
	Start bool     `json:"start,omitempty"` // it may be there from the start
}

// A Budget is what a run may use up, over all ticks and resumes. What is nil isn't
// bounded.
type Budget struct {
	Calls *float64 `json:"calls,omitempty"` // that start
	Ticks *float64 `json:"ticks,omitempty"` // requests to the model that plans
	Cost  *float64 `json:"cost,omitempty"`  // of models, and what tools say of themselves
	Time  *float64 `json:"time,omitempty"`  // in seconds since the run began, people's answers included
}

// A bound is one of a budget; nil bounds nothing.
type bound struct {
	what string
	most *float64
}

func (b *Budget) bounds() []bound {
	return []bound{{"calls", b.Calls}, {"ticks", b.Ticks}, {"cost", b.Cost}, {"seconds", b.Time}}
}

// Of is the envelope that holds what a plan may do, and nothing else. Parts are its own.
func Of(f *facts.Facts, parts []plan.Part) *Envelope {
	e := &Envelope{Calls: []Allowance{}}
	for _, one := range parts {
		if defines(one) {
			e.Parts = append(e.Parts, one)
		}
	}
	known := map[string]int{} // by all but Times
	e.add(known, f, "", f, 1)
	w := f.Worst
	e.Budget = Budget{Calls: w.Calls.Most, Ticks: w.Ticks.Most, Cost: w.Cost.Most}
	return e
}

// defines reports whether a part is of a definition or a policy, and not of the plan itself or of what
// it is run with.
func defines(p plan.Part) bool {
	switch p.Kind {
	case compiler.PartActivity, compiler.PartDelegate, compiler.PartFunction, compiler.PartPolicy, compiler.PartProgram, compiler.PartSchema, compiler.PartTool:
		return true
	}
	return false
}

// mostTimes is more often than anything is carried out.
const mostTimes = 1 << 40

// add adds what the calls of a plan may do that is run so many times.
func (e *Envelope) add(known map[string]int, f *facts.Facts, in string, root *facts.Facts, times int) {
	of := make([]int, len(f.Calls))
	for i := range f.Calls {
		c := &f.Calls[i]
		a := allowanceOf(in, c)
		key, _ := json.Marshal(a) // plain data
		a.Times = times
		if c.Each != nil {
			a.Times = product(a.Times, c.Each.Most)
		}
		a.Times = product(a.Times, max(1, c.Tries))
		if d := root.Delegates[c.Runs.Plan]; d != nil {
			e.add(known, d, c.Runs.Plan, root, a.Times)
		}
		at, ok := known[string(key)]
		if !ok {
			at, known[string(key)] = len(e.Calls), len(e.Calls)
			e.Calls = append(e.Calls, a)
		} else {
			e.Calls[at].Times = min(mostTimes, e.Calls[at].Times+a.Times)
		}
		of[i] = at
	}
	e.name(f, of)
}

func product(a, b int) int {
	if b > 0 && a > mostTimes/b {
		return mostTimes
	}
	return a * b
}

func allowanceOf(in string, c *facts.Call) Allowance {
	a := Allowance{
		In: in, Tool: c.Tool, Runs: &Runs{c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, c.Runs.Alone},
		Effect: c.Effect.Kind, OpenWorld: c.Effect.OpenWorld, Writes: []string{outputOf(c)},
	}
	if c.Instance != "" {
		a.Instances = []string{c.Instance}
	}
	for _, group := range parametersOf(c) {
		if a.Parameters == nil {
			a.Parameters = map[string]Values{}
		}
		a.Parameters[group.name] = valuesOf(group.leaves)
	}
	if c.Each != nil {
		list := valuesOf([]Leaf{leafOf("", &c.Each.List)})
		a.Each = &list
	}
	for _, s := range c.Context {
		a.Context = append(a.Context, s.Path)
		if c.Runs.Plan != "" {
			a.DelegateContext = append(a.DelegateContext, Source{s.Path, s.Tools, s.Start})
		}
	}
	a.Tries, a.Timeout, a.Collect = c.Tries, c.Timeout, c.Each != nil && c.Each.Collect
	slices.Sort(a.Context)
	a.Context = slices.Compact(a.Context)
	if c.When != nil && string(c.When.Literal.Text) != "true" {
		when := leafOf("", c.When)
		a.When = &when
	}
	a.behind(c)
	a.Confirm = c.Confirm
	if !c.Produced.IsZero() {
		a.Result = &Values{Literals: []Literal{literalOf(c.Produced)}}
	}
	return a
}

// outputOf is where a call writes, and how.
func outputOf(c *facts.Call) string {
	var routes []string
	for _, route := range c.Writes {
		routes = append(routes, strings.Join(route, " && "))
	}
	text := strings.Join(routes, " || ")
	if c.Method != "" && text != "" {
		text = c.Method + " " + text
	}
	return text
}

// valuesOf is what a value may be that is put together as these leaves say.
func valuesOf(leaves []Leaf) Values {
	if len(leaves) == 1 && leaves[0].Path == "" && leaves[0].Literal != nil {
		return Values{Literals: []Literal{*leaves[0].Literal}}
	}
	return Values{Leaves: leaves}
}

func leafOf(path string, v *facts.Value) Leaf {
	if !v.Literal.IsZero() {
		l := literalOf(v.Literal)
		return Leaf{Path: path, Literal: &l}
	}
	leaf := Leaf{Path: path, Expression: v.Expression}
	for _, s := range v.Sources {
		leaf.Sources = append(leaf.Sources, Source{s.Path, s.Tools, s.Start})
	}
	return leaf
}

func literalOf(l facts.Literal) Literal {
	if sum := l.Sum(); sum != "" {
		return Literal{Digest: sum}
	}
	return Literal{Is: l.Text}
}

// equal reports whether two literals are the same value; one of them may be known by its digest alone.
func (l Literal) equal(o Literal) bool {
	switch {
	case l.Digest == o.Digest:
		return string(l.Is) == string(o.Is)
	case l.Digest == "":
		l, o = o, l
	}
	return o.Digest == "" && l.Digest == workspace.SumOf(o.Is)
}

// UnmarshalJSON reads a literal into its one form.
func (l *Literal) UnmarshalJSON(text []byte) error {
	type plain Literal
	err := diag.ReadStrictly(text, (*plain)(l))
	if l.Is != nil {
		l.Is = facts.Compact(decoded(l.Is))
	}
	return err
}

func decoded(text []byte) (v any) {
	_ = json.Unmarshal(text, &v)
	return v
}

// A parameter is one of a call, in its parts.
type parameter struct {
	name   string
	leaves []Leaf
}

// parametersOf are the parameters of a call.
func parametersOf(c *facts.Call) []parameter {
	var all []parameter
	for i := range c.Values {
		name, below := first(c.Values[i].Path)
		if n := len(all); n == 0 || all[n-1].name != name {
			all = append(all, parameter{name: name})
		}
		one := &all[len(all)-1]
		one.leaves = append(one.leaves, leafOf(below, &c.Values[i]))
	}
	return all
}
