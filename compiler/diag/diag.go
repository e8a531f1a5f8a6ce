// Package diag holds what there is to say about a plan: rules, findings and
// their places, and the forms in which findings are shown.
package diag

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/source"
)

// Severity is how much a finding matters. An error keeps a plan from running.
type Severity uint8

// The severities, from least to most.
const (
	Info Severity = iota
	Warning
	Error
)

func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// A Rule is a stable code, its name, and the severity that its findings have
// unless one says otherwise.
type Rule struct {
	Code, Name string
	Default    Severity
	// Optional rules are off unless an obelus.yaml gives them a severity: what they
	// report is right in some workspaces and a matter of taste in others.
	Optional bool
	// Hides is what an error of the compiler leaves unknown where it is in a call;
	// elsewhere its place tells that as well. Nothing and [Everything] hold wherever
	// it stands.
	Hides Facts
}

// Facts are kinds of what a plan says. An error may hide some of them, and then
// nothing can be concluded from what is missing.
type Facts uint8

// The kinds of facts.
const (
	Writes Facts = 1 << iota // all that calls write
	Reads                    // all that calls and the output read
	Order                    // all that calls wait for
	Input                    // what the document says of its input
	State                    // what the document says of its state
	Tools                    // all tools and activities

	Everything = Writes | Reads | Order | Input | State | Tools
)

// A Diagnostic is one finding.
type Diagnostic struct {
	Rule     *Rule
	Severity Severity
	Span     source.Span // the primary place
	Call     string      // the call it is about, as LANGUAGE.md#calls names it; "" when about none
	Message  string      // what and why: lower case, no full stop, the user's own names in double quotes
	Help     string      // what to do; may be ""
	Related  []Note
	Fixes    []Fix
	Witness  any // evidence, as JSON; nil when there is none
}

// A Note is a related place with words of its own.
type Note struct {
	Span    source.Span
	Message string
}

// A Fix is a change of the text that fixes the finding. A safe one keeps the
// plan's meaning as its author must have intended it, and may be applied unasked.
type Fix struct {
	Message string
	Safe    bool
	Edits   []Edit
}

// An Edit replaces what stands at Span by Text.
type Edit struct {
	Span source.Span
	Text string
}

// New makes a finding of a rule at a place, with the rule's own severity.
func New(rule *Rule, at source.Span, message string) Diagnostic {
	return Diagnostic{Rule: rule, Severity: rule.Default, Span: at, Message: message}
}

// OfProblem makes the finding of what is wrong with a text that was read.
func OfProblem(p source.Problem) Diagnostic {
	at := slices.IndexFunc(all, func(r *Rule) bool { return r.Code == p.Code })
	d := New(all[at], p.Span, p.Message)
	d.Help = p.Help
	for _, n := range p.Related {
		d.Related = append(d.Related, Note{n.Span, n.Message})
	}
	if p.Quote {
		d.Fixes = []Fix{{Message: "put it in quotes", Safe: true, Edits: []Edit{{p.Span, `"` + p.Span.Text() + `"`}}}}
	}
	return d
}

// About names the call that a finding is about; "" is none.
func (d *Diagnostic) About(call string) *Diagnostic {
	d.Call = call
	return d
}

// As gives a finding another severity than its rule's.
func (d *Diagnostic) As(s Severity) *Diagnostic {
	d.Severity = s
	return d
}

// Advise says what to do, in the place of what was said before.
func (d *Diagnostic) Advise(format string, args ...any) *Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// Note adds a related place, if there is such a place and it isn't shown yet.
func (d *Diagnostic) Note(at source.Span, format string, args ...any) *Diagnostic {
	if at.Known() && !slices.ContainsFunc(d.Related, func(n Note) bool { return n.Span == at }) {
		d.Related = append(d.Related, Note{at, fmt.Sprintf(format, args...)})
	}
	return d
}

// Offer adds the fix that replaces the bytes [from, to) of a scalar's value by a
// text, in the scalar's own style, where that can be done. A safe one is what
// must have been meant.
func (d *Diagnostic) Offer(words string, n *source.Node, from, to int, text string, safe bool) *Diagnostic {
	if edit, ok := EditScalar(n, from, to, text); ok {
		d.Fixes = append(d.Fixes, Fix{Message: words, Safe: safe, Edits: []Edit{edit}})
	}
	return d
}

// Rename is Offer in the usual words.
func (d *Diagnostic) Rename(n *source.Node, from, to int, text string, safe bool) *Diagnostic {
	return d.Offer(fmt.Sprintf("change it to %q", text), n, from, to, text, safe)
}

// Sort puts findings in the one order in which they are always shown: by file
// name, place, code, and message.
func Sort(findings []Diagnostic) {
	slices.SortStableFunc(findings, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(name(a.Span.File), name(b.Span.File)),
			cmp.Compare(row(a.Span.File), row(b.Span.File)),
			cmp.Compare(a.Span.Start, b.Span.Start),
			cmp.Compare(a.Rule.Code, b.Rule.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

func name(f *source.File) string {
	if f == nil {
		return ""
	}
	return f.Name
}

func row(f *source.File) int {
	if f == nil {
		return 0
	}
	return f.Row
}

// Findings are those that somebody makes.
type Findings []Diagnostic

// Report makes a finding, which is completed by its own methods before the next one is
// made.
func (f *Findings) Report(rule *Rule, at source.Span, format string, args ...any) *Diagnostic {
	*f = append(*f, New(rule, at, fmt.Sprintf(format, args...)))
	return &(*f)[len(*f)-1]
}

// AtLeast are those of some findings that are as severe as that, or more.
func AtLeast(s Severity, findings []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(slices.Clone(findings), func(d Diagnostic) bool { return d.Severity < s })
}

// HasErrors reports whether any finding is an error.
func HasErrors(findings []Diagnostic) bool {
	return slices.ContainsFunc(findings, func(d Diagnostic) bool { return d.Severity == Error })
}

// Suppressed is a finding that somebody knows of and lets stay. It is shown
// only where tools keep account of such findings.
type Suppressed struct {
	Diagnostic
	Reason  string
	At      source.Span // what suppresses it
	Outside bool        // that is in the configuration, not beside the plan's text
}
