package permit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Difference is one thing that no entry permits.
type Difference struct {
	Call string       `json:"call,omitempty"` // LANGUAGE.md#calls; "" where it is about no call
	In   string       `json:"in,omitempty"`   // the delegate of the call
	Tool string       `json:"tool,omitempty"`
	At   *facts.Place `json:"at,omitempty"`
	Row
	Approved string `json:"approved,omitempty"`
}

// String says what differs, and what is approved, in one line that nothing in a plan ends.
func (d Difference) String() string {
	text := d.Row.String()
	switch {
	case d.What == After && d.Is == nothing:
		text = "it doesn't wait for " + entryText(d.Of)
	case d.What == After:
		text = fmt.Sprintf("it waits for %s (%s)", entryText(d.Of), d.Is)
	case d.What == Writers:
		text = fmt.Sprintf("%s comes from %s; approved: from %s", d.Of, entryText(d.Is), entryText(d.Approved))
	case d.Approved != "":
		text += "; approved: " + d.Approved
	}
	if d.Call != "" {
		text = fmt.Sprintf("%q: %s", strings.TrimPrefix(d.In+": "+d.Call, ": "), text)
	}
	return diag.Escape(text)
}

// entryText is a call that another comes after, or that has written something, in words.
func entryText(entry string) string {
	kind, name, _ := strings.Cut(entry, " ")
	switch kind {
	case "call":
		return fmt.Sprintf("the approved call %q", name)
	case "other":
		return fmt.Sprintf("%q, which isn't approved", name)
	case "every":
		return fmt.Sprintf("any call of %q", name)
	case start:
		return "the initial state"
	}
	return entry
}

// Without are the differences that aren't among those that were approved, wherever they are.
func Without(all, approved []Difference) (left []Difference) {
	for _, d := range all {
		if !slices.ContainsFunc(approved,
			func(o Difference) bool { return d.Row == o.Row && d.Approved == o.Approved }) {
			left = append(left, d)
		}
	}
	return left
}

// Digest identifies differences, so that an answer about them is about no others.
func Digest(all []Difference) string {
	text, _ := json.Marshal(all) // plain data
	return workspace.SumOf(text)
}

// A Subject is a call that is compared with a permit.
type Subject struct {
	In   string // the delegate that it is in
	Call *facts.Call
	// EntryOf names the entry that another call of its plan equals; see [Entries].
	EntryOf func(call string) string
	// Arrives is of a call whose text has just arrived in a run: its values, what it reads and what it comes after are
	// compared before it starts.
	Arrives       bool
	IsReplacement bool // a reviewer put it in the place of another: it equals no entry
	// The rest is of a run.
	Values  map[string]any      // its parameters; nil until they are known
	Wrote   map[string][]Writer // by path, the known writers of what it reads
	Earlier []Row               // the calls that ended in earlier ticks, as rows about what it comes after

	times int // how often it is tried at most
}

// A Writer is a call that has written something: the entry that it equals, and its tool.
type Writer struct{ Entry, Tool string }

// Entries names the entries that the calls of a plan equal, for calls that come after them or read what they write.
// Known are the names so far; of finds the facts of a call, and entry names the one that it equals.
func Entries(
	like Subject, known map[string]string, of func(call string) *facts.Call, entry func(*Subject) string,
) func(call string) string {
	like.EntryOf = func(call string) string {
		if known[call] == "" {
			one := like
			if one.Call = of(call); one.Call == nil { // it hasn't arrived
				return "other " + call
			}
			known[call] = "other " + call // where it comes after itself
			known[call] = entry(&one)
		}
		return known[call]
	}
	return like.EntryOf
}

// EntryOf is "call NAME" of the entry that a call equals, or "other NAME" where there is none.
func (p *Permit) EntryOf(s *Subject) string {
	at, left := p.Match(s, nil)
	if len(left) > 0 || p.Calls[at].Allow != nil {
		return "other " + s.Call.Name
	}
	return "call " + p.Calls[at].Call
}

// Match is the first entry that a call equals and that has uses left (nil: each has); or the one that it differs from
// the least (-1 if there is none of its tool), and in what.
func (p *Permit) Match(s *Subject, used []int) (entry int, left []Difference) {
	rows, needs := s.rows()
	entry = -1
	candidates := 0
	for at := range p.Calls {
		e := &p.Calls[at]
		if e.In != s.In || e.Tool != s.Call.Tool || s.IsReplacement {
			continue
		}
		candidates++
		if candidates > 20 && e.Allow == nil && s.Call.Produced.IsZero() && !slices.Equal(e.Rows, rows) {
			continue // there are too many to look for the closest
		}
		all := s.differences(e, rows, needs)
		if len(all) == 0 && used != nil && used[at] >= e.Times {
			all = append(all, s.differing(Row{Times, "", "once more"}, "no more"))
		}
		if entry < 0 || len(all) < len(left) {
			entry, left = at, all
		}
		if len(all) == 0 {
			return entry, nil
		}
	}
	if entry < 0 {
		is := s.Call.Effect.Kind
		for _, r := range rows {
			is += ", " + r.String()
		}
		left = append(left, s.differing(Row{Tool, s.Call.Tool, is}, nothing))
	}
	return entry, left
}

func (s *Subject) differing(is Row, approved string) Difference {
	return Difference{s.Call.Name, s.In, s.Call.Tool, s.Call.At, is, approved}
}

// differences are those between the call and an entry.
func (s *Subject) differences(e *Entry, rows, needs []Row) (left []Difference) {
	differ := func(is Row, approved string) { left = append(left, s.differing(is, approved)) }
	if effects.Risk(s.Call.Effect.Kind) > effects.Risk(e.Effect) || s.Call.Effect.OpenWorld && !e.OpenWorld {
		differ(Row{Effect, "", effect(s.Call.Effect.Kind, s.Call.Effect.OpenWorld)}, effect(e.Effect, e.OpenWorld))
	}
	if e.Allow != nil {
		s.allowed(e, differ)
		return left
	}
	isOptional, isImplied := s.exceptions(e)
	lacks := append(without(e.Rows, rows, isOptional), without(e.Needs, needs, isOptional)...)
	for _, row := range append(without(rows, e.Rows, isImplied), without(needs, e.Needs, isImplied)...) {
		approved := nothing
		if at := slices.IndexFunc(lacks, func(r Row) bool { return r.What == row.What && r.Of == row.Of }); at >= 0 {
			approved = lacks[at].Is
			lacks = slices.Delete(lacks, at, at+1)
		}
		differ(row, approved)
	}
	for _, row := range lacks {
		differ(Row{row.What, row.Of, nothing}, row.Is)
	}
	return left
}

func effect(kind string, openWorld bool) string {
	if openWorld {
		kind += " and reach beyond the machine"
	}
	return kind
}

// without are the rows that aren't among excluded, which are sorted, and no exceptions.
func without(rows, excluded []Row, isException func(Row) bool) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		_, same := slices.BinarySearchFunc(excluded, r, Row.compare)
		return same || isException(r)
	})
}

// exceptions are the rows of an entry that the call needn't have, and those that it may have besides: nobody has to
// have written what it reads, what ended in earlier ticks needn't be waited for, a value may be there from the start of
// a tick, and the result of a latent call may be in the plan if the approved call was to see all that the planner sees.
func (s *Subject) exceptions(e *Entry) (isOptional, isImplied func(Row) bool) {
	sees := s.Call.Runs.Kind == facts.Produced && len(s.Call.Context) == 0
	for _, row := range []Row{{CarriedOut, "", facts.Model}, {Context, "†input", given}, {Context, "†state", given}} {
		sees = sees && slices.Contains(e.Rows, row)
	}
	isOptional = func(r Row) bool {
		switch r.What {
		case CarriedOut, Context:
			return sees
		case After:
			return slices.Contains(s.Earlier, r)
		}
		return r.What == Writers
	}
	isImplied = func(r Row) bool {
		switch r.What {
		case CarriedOut, Result:
			return sees
		case Writers:
			return r.Is == start && s.Wrote != nil || slices.ContainsFunc(s.Wrote[r.Of], func(w Writer) bool {
				isCall := strings.HasPrefix(w.Entry, "call ")
				return isCall && w.Entry == r.Is && slices.Contains(e.Needs, Row{Writers, r.Of, "every " + w.Tool})
			})
		}
		return false
	}
	return isOptional, isImplied
}

// Changed are the facts of a call to some of whose parameters a reviewer gives other values than they had.
func Changed(c *facts.Call, was, params map[string]any) *facts.Call {
	out := *c
	out.Values = slices.Clone(c.Values)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(sorted(was), sorted(params))))) {
		before, given := was[name]
		v, there := params[name]
		if given == there && schema.Equal(v, before) {
			continue
		}
		at := facts.Step("", name)
		out.Values = slices.DeleteFunc(out.Values, func(v facts.Value) bool { return facts.Within(v.Path, at) })
		if there {
			out.Values = append(out.Values, facts.Value{Path: at, Literal: facts.Literal{Text: facts.Compact(v)}})
		}
	}
	return &out
}

// Within is what of a plan, with its parts, leaves a permit but for its budget, to which the run is held.
func (p *Permit) Within(f *facts.Facts, parts []plan.Part) (all []Difference) {
	differs := func(one plan.Part, is string) {
		all = append(all, Difference{Row: Row{Definition, one.String(), is}})
	}
	for _, one := range parts {
		if defines(one) && !slices.Contains(p.Parts, one) {
			differs(one, "isn't the one that was approved")
		}
	}
	for _, one := range p.Parts {
		if one.Kind == canonical.PartPolicy && !slices.Contains(parts, one) {
			differs(one, "is gone")
		}
	}
	used := make([]int, len(p.Calls))
	each(f, f, "", 1, p.EntryOf, func(s *Subject) {
		for missing := s.times; missing > 0; {
			at, left := p.Match(s, used)
			if len(left) > 0 {
				all = append(all, left...)
				return
			}
			some := min(p.Calls[at].Times-used[at], missing)
			used[at] += some
			missing -= some
		}
	})
	return all
}

func listed(all []string) string { return cmp.Or(wording.Or(all), nothing) }
