// Package envelope says what may be run under an approval besides the plan that was approved: what a model plans anew,
// what a person puts in the place of a call, and what a resumed run does again.
//
// An envelope is a permit: a list of calls, each with how often it may be made, and budgets. It is made from the facts of
// the approved plan, and a person may add to it. A call is permitted if it equals an entry that has uses left; the
// package doesn't prove that a call which is written otherwise does no more.
package envelope

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// An Envelope is what may be run. Its JSON form reads back as the same envelope.
type Envelope struct {
	// Parts are the definitions of all that calls may use, and the policies over them, by
	// digest. A run under the envelope has these, or of the definitions fewer.
	Parts []plan.Part `json:"parts,omitempty"`
	Calls []Entry     `json:"calls"`
	// Models are the names of those that may plan or answer, such as
	// "anthropic:claude-x"; nil says nothing of that.
	Models []string `json:"models,omitempty"`
	Budget Budget   `json:"budget,omitzero"`
}

// An Entry is a call that may be made: one of the approved plan, which has rows, or one that a person added, which has
// Allow.
type Entry struct {
	In   string `json:"in,omitempty"`   // the delegate whose call it is, by path from the workspace root; "" is the plan itself
	Call string `json:"call,omitempty"` // its name in the plan
	Tool string `json:"tool"`
	// Effect is the worst that it may do: read-only, writes, unknown or destructive.
	// OpenWorld is set where what it is given may leave the machine.
	Effect    string `json:"effect"`
	OpenWorld bool   `json:"openWorld,omitempty"`
	Rows      []Row  `json:"rows,omitempty"` // all that it is, sorted
	// Reads are the tools that may have written what it reads, by path.
	Reads map[string][]string `json:"reads,omitempty"`
	// After are the calls that it comes after, with those that write what it reads: each is done, or has ended.
	After []Row `json:"after,omitempty"`
	// Allow are the parameters as a person wrote them for --allow; none are whatever it is given. Below are the paths at
	// and below which it may write then. Context is set where it may be handed anything.
	Allow   map[string]any `json:"allow,omitzero"`
	Below   []string       `json:"below,omitempty"`
	Context bool           `json:"context,omitempty"`
	// Times is how often it may be tried in each instance, over all items, ticks and resumes.
	Times int `json:"times"`
}

// A Row is one part of a call, in words: a parameter, its condition, where it writes.
type Row struct {
	What string `json:"what"`
	Of   string `json:"of,omitempty"` // which parameter, path, definition or part of a budget
	Is   string `json:"is"`
}

func (r Row) String() string { return strings.TrimSpace(r.What+" "+r.Of) + ": " + r.Is }

// What a row is about.
const (
	Tool       = "tool"       // no entry is of it
	CarriedOut = "execution"  // by which activity, delegate or model
	Effect     = "effect"     // it may do worse
	Parameter  = "parameter"  // a value, or a leaf of it
	List       = "list"       // for whose items it runs
	Context    = "context"    // a path that it is handed besides
	Condition  = "condition"  // _when
	After      = "after"      // a call that it waits for
	Writers    = "writers"    // the tools that have written at a path that it reads
	Tries      = "attempts"   // if more than one
	Timeout    = "timeout"    // of an attempt
	Confirm    = "confirm"    // a person is asked
	Path       = "path"       // where it writes, and how
	Result     = "result"     // of a latent call, which is in the plan already
	Instance   = "instance"   // for which it runs
	Times      = "times"      // how often it runs
	Spent      = "budget"     // what the run uses up
	Definition = "definition" // a tool, an activity, a program …
)

// start is among the writers of what may be there from the start.
const start = "†start"

// What a row says of a call that another comes after, and of a path that a call is handed.
const (
	done  = "done"
	ended = "ended"
	given = "given"
)

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

// Lines are what a budget bounds, in words.
func (b *Budget) Lines() (all []string) {
	for _, one := range b.bounds() {
		if one.most != nil {
			all = append(all, one.what+": "+number(*one.most))
		}
	}
	return all
}

// Of is the envelope that holds what a plan may do, and nothing else. Parts are its own.
func Of(f *facts.Facts, parts []plan.Part) *Envelope {
	e := &Envelope{Calls: []Entry{}}
	for _, one := range parts {
		if defines(one) {
			e.Parts = append(e.Parts, one)
		}
	}
	e.add(map[[2]string]int{}, f, "", f, 1)
	w := f.Worst
	e.Budget = Budget{Calls: w.Calls.Most, Ticks: w.Ticks.Most, Cost: w.Cost.Most}
	return e
}

// defines reports whether a part is of a definition or a policy, and not of the plan itself or of what
// it is run with.
func defines(p plan.Part) bool {
	switch p.Kind {
	case compiler.PartActivity, compiler.PartDelegate, compiler.PartFunction, compiler.PartPolicy, compiler.PartProgram, compiler.PartSchema, compiler.PartServer, compiler.PartTool:
		return true
	}
	return false
}

// mostTimes is more often than anything is carried out.
const mostTimes = 1 << 40

// add adds the calls of a plan that is run so many times; known are the entries of calls, by delegate and name.
func (e *Envelope) add(known map[[2]string]int, f *facts.Facts, in string, root *facts.Facts, times int) {
	for i := range f.Calls {
		c := &f.Calls[i]
		n := timesOf(c, times)
		if d := root.Delegates[c.Runs.Plan]; d != nil {
			e.add(known, d, c.Runs.Plan, root, n)
		}
		at, there := known[[2]string{in, c.Name}]
		if !there {
			at = len(e.Calls)
			known[[2]string{in, c.Name}] = at
			one := Entry{
				In: in, Call: c.Name, Tool: c.Tool, Effect: c.Effect.Kind, OpenWorld: c.Effect.OpenWorld,
				Rows: rows(c), After: after(c), Reads: map[string][]string{},
			}
			for _, s := range reads(c) {
				one.Reads[s.Path] = writers(&s)
			}
			e.Calls = append(e.Calls, one)
		}
		e.Calls[at].Times = min(mostTimes, e.Calls[at].Times+n)
	}
}

// timesOf is how often a call is tried at most where its plan is run so many times.
func timesOf(c *facts.Call, times int) int {
	most := max(1, c.Tries)
	if c.Each != nil {
		most *= c.Each.Most
	}
	if most > 0 && times > mostTimes/most {
		return mostTimes
	}
	return times * most
}

// rows are all that a call is.
func rows(c *facts.Call) (all []Row) {
	add := func(what, of, is string) {
		if is != "" {
			all = append(all, Row{what, of, is})
		}
	}
	add(CarriedOut, "", strings.TrimSpace(c.Runs.Kind+" "+cmp.Or(c.Runs.Plan, c.Runs.Activity))) // no kind holds a space
	add(Instance, "", c.Instance)
	add(Timeout, "", c.Timeout)
	if c.Tries > 1 {
		add(Tries, "", strconv.Itoa(c.Tries))
	}
	for i := range c.Values {
		add(Parameter, c.Values[i].Path, text(&c.Values[i]))
	}
	if c.Each != nil {
		add(List, "", text(&c.Each.List))
		if c.Each.Collect {
			add(List, "failures", "collected")
		}
	}
	if c.When != nil && string(c.When.Literal.Text) != "true" {
		add(Condition, "", text(c.When))
	}
	for _, s := range c.Context {
		add(Context, s.Path, given)
	}
	if c.Runs.Alone {
		add(Context, "", "its own")
	}
	if c.Confirm {
		add(Confirm, "", "a person")
	}
	var routes []string
	for _, route := range c.Writes {
		routes = append(routes, strings.Join(route, " && "))
	}
	if len(routes) > 0 {
		add(Path, "", strings.TrimSpace(c.Method+" "+strings.Join(routes, " || ")))
	}
	if !c.Produced.IsZero() {
		add(Result, "", text(&facts.Value{Literal: c.Produced}))
	}
	slices.SortFunc(all, compare)
	return slices.Compact(all)
}

// compare orders rows by what they are about.
func compare(a, b Row) int { return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Of, b.Of)) }

// text is a value in words. No literal has the words of an expression or of another literal.
func text(v *facts.Value) string {
	switch sum := v.Literal.Sum(); {
	case sum != "":
		return "a hidden value (" + sum + ")"
	case !v.Literal.IsZero():
		return string(v.Literal.Text)
	case strings.HasPrefix(v.Expression, "†"):
		return v.Expression
	}
	return "text " + v.Expression
}

// reads are where a call has its values, its list, its condition and its context from.
func reads(c *facts.Call) (all []facts.Source) {
	for i := range c.Values {
		all = append(all, c.Values[i].Sources...)
	}
	if c.Each != nil {
		all = append(all, c.Each.List.Sources...)
	}
	if c.When != nil {
		all = append(all, c.When.Sources...)
	}
	return append(all, c.Context...)
}

// writers are the tools that may have written what a call reads.
func writers(s *facts.Source) []string {
	if s.Start {
		return append([]string{start}, s.Tools...)
	}
	return s.Tools
}

// after are the calls that a call comes after: those that it says, and those that write what it reads. Those that must
// be done come first.
func after(c *facts.Call) (all []Row) {
	seen := map[string]bool{}
	add := func(call, is string) {
		if !seen[call] {
			seen[call] = true
			all = append(all, Row{After, call, is})
		}
	}
	for _, is := range []string{done, ended} {
		for _, one := range c.After {
			if !one.Listed && one.Settled == (is == ended) {
				add(one.Call, is)
			}
		}
	}
	for _, s := range reads(c) {
		for _, writer := range s.Calls {
			add(writer, ended)
		}
	}
	return all
}

// Read reads an envelope that was written as JSON, and that can mean one thing only: it
// holds nothing twice, nothing unknown, and nothing behind it.
func Read(text []byte) (*Envelope, error) {
	e := &Envelope{}
	if err := diag.ReadStrictly(text, e); err != nil {
		return nil, err
	}
	return e, e.Check()
}

// Check reports what in an envelope nobody can have meant, or nil.
func (e *Envelope) Check() error {
	for i := range e.Calls {
		one := &e.Calls[i]
		if one.Tool == "" || compiler.Risk(one.Effect) < 0 || one.Times < 1 || one.Rows == nil && one.Allow == nil {
			return fmt.Errorf("call %d of the envelope is incomplete: expected tool, effect (%s), times from 1, and rows or allow",
				i+1, wording.Or(compiler.Effects))
		}
	}
	return nil
}

// String is what a person added, in one line.
func (e *Entry) String() string {
	text := fmt.Sprintf("calls of %q that are at worst %s, with %s, writing at or below %s, %s",
		e.Tool, effect(e.Effect, e.OpenWorld), facts.Compact(e.Allow), listed(e.Below), often(e.Times))
	for _, path := range sorted(e.Reads) {
		text += fmt.Sprintf("; %s written by %s", path, listed(e.Reads[path]))
	}
	return text
}

func effect(kind string, openWorld bool) string {
	if openWorld {
		kind += " and reach beyond the machine"
	}
	return kind
}
