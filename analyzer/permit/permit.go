// Package permit says which calls an approval permits. It derives a permit from the facts of the approved plan, adds to
// it what a reviewer allows, and compares calls with its entries: a call is permitted if it equals an entry that has
// uses left. It runs nothing, and it doesn't prove that a call which is written in another way does no more.
package permit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Permit is what a run may do. Its JSON form reads back as the same permit.
type Permit struct {
	// Parts are the definitions of all that calls may use, and the policies over them, by digest.
	Parts []plan.Part `json:"parts,omitempty"`
	Calls []Entry     `json:"calls"`
	// Models are the names of those that may plan or answer, such as "anthropic:claude-x"; nil permits all.
	Models []string `json:"models,omitempty"`
	Budget Budget   `json:"budget,omitempty"`
}

// A Budget is what a run may use up, over all ticks and resumes: calls that start, ticks (requests to the model that
// plans), cost (of models, and what tools declare), and time in seconds since the run began, people's answers included.
// What it lacks isn't bounded.
type Budget map[string]float64

// Lines are what a budget bounds, in words.
func (b Budget) Lines() (all []string) {
	for _, name := range sorted(b) {
		all = append(all, name+": "+Number(b[name]))
	}
	return all
}

// Number is a number in words.
func Number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// An Entry is a permitted call: one of the approved plan, which has rows, or one that a reviewer added, which has
// Allow.
type Entry struct {
	// the delegate whose call it is, by path from the workspace root; "" is the plan itself
	In   string `json:"in,omitempty"`
	Call string `json:"call,omitempty"` // the name of the first call of the plan that it is
	Tool string `json:"tool"`
	// Effect is the worst that it may do: read-only, writes, unknown or destructive.
	Effect    string `json:"effect"`
	OpenWorld bool   `json:"openWorld,omitempty"` // what it is given may leave the machine
	Rows      []Row  `json:"rows,omitempty"`      // all that it is, sorted
	Needs     []Row  `json:"needs,omitempty"`     // what it comes after, and who may have written what it reads, sorted
	// Allow are the parameters that a reviewer added: a JSON Schema or a path for each; none are whatever it is given.
	// Below are the paths at and below which it may write then. Context is set where it may be given any context.
	Allow   map[string]any `json:"allow,omitzero"`
	Below   []string       `json:"below,omitempty"`
	Context bool           `json:"context,omitempty"`
	// Times is how often it may be tried in each instance, over all items, ticks and resumes.
	Times int `json:"times"`
}

// A Row is one part of a call, in words: a parameter, its condition, where it writes. There may be several about one
// thing, such as the calls that it waits for.
type Row struct {
	What string `json:"what"`
	Of   string `json:"of,omitempty"` // which parameter, path, definition or part of a budget
	Is   string `json:"is"`
}

func (r Row) String() string { return strings.TrimSpace(r.What+" "+r.Of) + ": " + r.Is }

func (r Row) compare(o Row) int {
	return cmp.Or(cmp.Compare(r.What, o.What), cmp.Compare(r.Of, o.Of), cmp.Compare(r.Is, o.Is))
}

// What a row is about.
const (
	Tool       = "tool"      // no entry is of it
	CarriedOut = "execution" // by which activity, delegate or model
	Effect     = "effect"
	Parameter  = "parameter" // a value, or a leaf of it
	List       = "list"      // for whose items it runs
	Context    = "context"   // a path that it is given besides
	Condition  = "condition" // _when
	After      = "after"     // an entry that it waits for: done, or ended
	// who has written at a path that it reads: "call NAME" of an entry, "every TOOL", or "†start"
	Writers    = "writers"
	Tries      = "attempts"   // if more than one
	Timeout    = "timeout"    // of an attempt
	Confirm    = "confirm"    // a reviewer is asked
	Path       = "path"       // where it writes, and how
	Result     = "result"     // of a latent call, which is in the plan already
	Instance   = "instance"   // for which it runs
	Times      = "times"      // how often it runs
	Spent      = "budget"     // what the run uses up
	Definition = "definition" // a tool, an activity, a program …
)

// What rows say.
const (
	start   = "†start" // a value that is there from the start
	Done    = "done"
	Ended   = "ended"
	given   = "given"
	nothing = "nothing"
)

// mostTimes is more often than anything is carried out.
const mostTimes = 1 << 40

// Of is the permit for what a plan does, and nothing else. Parts are its own.
func Of(f *facts.Facts, parts []plan.Part) *Permit {
	p := &Permit{Calls: []Entry{}, Budget: Budget{}}
	for i, bound := range []facts.Bound{f.Worst.Calls, f.Worst.Ticks, f.Worst.Cost} {
		if bound.Most != nil {
			p.Budget[[]string{"calls", "ticks", "cost"}[i]] = *bound.Most
		}
	}
	for _, one := range parts {
		if defines(one) {
			p.Parts = append(p.Parts, one)
		}
	}
	p.add(f, f, "", 1)
	return p
}

// defines reports whether a part is of a definition or a policy, and not of the plan itself or of what it is run with.
func defines(p plan.Part) bool {
	return slices.Contains([]string{
		canonical.PartActivity, canonical.PartDelegate, canonical.PartFunction, canonical.PartPolicy,
		canonical.PartProgram, canonical.PartSchema, canonical.PartServer, canonical.PartTool,
	}, p.Kind)
}

// add permits the calls of a plan that is run so many times, and those of the plans that it delegates to. Calls that
// are equal share an entry.
func (p *Permit) add(f, root *facts.Facts, in string, times int) {
	each(f, root, in, times, func(s *Subject) string {
		at, left := p.Match(s, nil)
		if len(left) > 0 || p.Calls[at].Allow != nil {
			c := s.Call
			at = len(p.Calls)
			e := Entry{In: s.In, Call: c.Name, Tool: c.Tool, Effect: c.Effect.Kind, OpenWorld: c.Effect.OpenWorld}
			e.Rows, e.Needs = s.rows()
			p.Calls = append(p.Calls, e)
		}
		p.Calls[at].Times = min(mostTimes, p.Calls[at].Times+s.times)
		return "call " + p.Calls[at].Call
	}, func(s *Subject) { s.EntryOf(s.Call.Name) })
}

// each visits the calls of a plan that is run so many times, and those of the plans that it delegates to, with the
// entries that they equal.
func each(f, root *facts.Facts, in string, times int, entry func(*Subject) string, visit func(*Subject)) {
	calls := map[string]*facts.Call{}
	for i := range f.Calls {
		calls[f.Calls[i].Name] = &f.Calls[i]
	}
	entryOf := Entries(Subject{In: in}, map[string]string{}, func(name string) *facts.Call { return calls[name] },
		func(s *Subject) string {
			s.times = timesOf(s.Call, times)
			return entry(s)
		})
	for i := range f.Calls {
		s := &Subject{In: in, Call: &f.Calls[i], EntryOf: entryOf, times: timesOf(&f.Calls[i], times)}
		visit(s)
		if d := root.Delegates[s.Call.Runs.Plan]; d != nil {
			each(d, root, s.Call.Runs.Plan, s.times, entry, visit)
		}
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

// rows are all that a call is, and what it needs of others.
func (s *Subject) rows() (all, needs []Row) {
	c := s.Call
	add := func(what, of, is string) { all = append(all, Row{what, of, is}) }
	// no kind holds a space
	add(CarriedOut, "", strings.TrimSpace(c.Runs.Kind+" "+cmp.Or(c.Runs.Plan, c.Runs.Activity)))
	add(Instance, "", c.Instance)
	add(Timeout, "", c.Timeout)
	add(Tries, "", strconv.Itoa(max(1, c.Tries)))
	sources := slices.Clone(c.Context)
	value := func(what, of string, v *facts.Value) {
		add(what, of, text(v))
		sources = append(sources, v.Sources...)
	}
	for i := range c.Values {
		value(Parameter, c.Values[i].Path, &c.Values[i])
	}
	if c.Each != nil {
		value(List, "", &c.Each.List)
		if c.Each.Collect {
			add(List, "failures", "collected")
		}
	}
	if c.When != nil && string(c.When.Literal.Text) != "true" {
		value(Condition, "", c.When)
	}
	for _, one := range c.Context {
		add(Context, one.Path, given)
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
	all = slices.DeleteFunc(all, func(r Row) bool { return r.Is == "" })
	return sortedRows(all), s.needs(sources)
}

func sortedRows(all []Row) []Row {
	slices.SortStableFunc(all, Row.compare)
	return slices.Compact(all)
}

// needs are who may have written what the call reads, or who has, and the calls that it comes after: those that it
// names, and those that write what it reads.
func (s *Subject) needs(sources []facts.Source) (all []Row) {
	add := func(what, of, is string) { all = append(all, Row{what, of, is}) }
	seen, times := map[string]bool{}, map[string]int{}
	after := func(call, is string) {
		if !seen[call] {
			seen[call] = true
			entry := s.EntryOf(call)
			times[entry]++
			add(After, Nth(entry, times[entry]), is)
		}
	}
	for _, is := range []string{Done, Ended} {
		for _, one := range s.Call.After {
			if !one.Listed && one.Settled == (is == Ended) {
				after(one.Call, is)
			}
		}
	}
	for _, one := range sources {
		wrote, known := s.Wrote[one.Path]
		for _, w := range wrote {
			add(Writers, one.Path, w.Entry)
		}
		if one.Start {
			add(Writers, one.Path, start)
		}
		for _, call := range one.Calls {
			after(call, Ended)
			if !known {
				add(Writers, one.Path, s.EntryOf(call))
			}
		}
		if one.More > 0 && !known { // there are too many to list
			for _, tool := range one.Tools {
				add(Writers, one.Path, "every "+tool)
			}
		}
	}
	return sortedRows(all)
}

// Nth names the nth call that equals an entry among those that another comes after.
func Nth(entry string, n int) string {
	if n == 1 {
		return entry
	}
	return fmt.Sprintf("%s (%d)", entry, n)
}

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

// Read reads a permit that was written as JSON, and that can mean one thing only.
func Read(text []byte) (*Permit, error) {
	p := &Permit{}
	if err := diag.ReadStrictly(text, p); err != nil {
		return nil, err
	}
	return p, p.Check()
}

// Check reports what in a permit nobody can have meant, or nil.
func (p *Permit) Check() error {
	for i := range p.Calls {
		e := &p.Calls[i]
		if e.Tool == "" || effects.Risk(e.Effect) < 0 || e.Times < 1 || e.Rows == nil && e.Allow == nil {
			return fmt.Errorf(
				"call %d of the permit is incomplete: expected tool, effect (%s), times from 1, and rows or allow",
				i+1, wording.Or(effects.Kinds))
		}
	}
	return nil
}
