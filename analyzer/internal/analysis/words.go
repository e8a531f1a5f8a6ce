package analysis

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A BranchChoice is one decision of a branch.
type BranchChoice = branch.Choice

// A Branch is the evidence that goes with a finding about branches: the decisions that lead into it, in the order of
// the run.
type Branch struct {
	Branch    []branch.Choice `json:"branch"`
	Schedules []Schedule      `json:"schedules,omitempty"` // two that end in different states
}

// NoteWriters shows where alternatives write what some expressions read; nil is none.
func NoteWriters(p *Pass, f *diag.Diagnostic, templates ...*plan.Template) {
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, r := range t.Reads {
			read := &p.Plan.Reads[r]
			for _, w := range read.Writers {
				call := p.Plan.Calls[w]
				if path, ok := flow.OutputOver(p.Plan, call, read.Path); ok && len(f.Related) < MaxShown {
					f.Note(path.Span(), "%q may write %q here", call.Name, p.Path(path.ID))
				}
			}
		}
	}
}

// maxChoices limits the decisions in a message.
const maxChoices = 4

// DescribeBranch is a branch in words: "judge#1" takes "†state.bad" and "†input.size" is 11.
func DescribeBranch(branch []branch.Choice) string {
	var words []string
	for i, d := range branch {
		if i == maxChoices && len(branch) > maxChoices+1 {
			words = append(words, fmt.Sprintf("%d more conditions", len(branch)-i))
			break
		}
		words = append(words, InWords(d))
	}
	return wording.And(words)
}

// InWords is a decision as text.
func InWords(d BranchChoice) string {
	switch {
	case d.Takes != "":
		return Quote(d.Call) + " chooses " + Quote(d.Takes)
	case d.Fails:
		return Quote(d.Call) + " fails"
	case d.Approved != nil && *d.Approved:
		return Quote(d.Call) + " is approved"
	case d.Approved != nil:
		return Quote(d.Call) + " is rejected"
	case d.Condition != "" && *d.Holds:
		return Quote(d.Condition) + " holds"
	case d.Condition != "":
		return Quote(d.Condition) + " doesn't hold"
	case d.Reference != "":
		who := Quote(d.Reference)
		if d.Call != "" {
			who += " of " + Quote(d.Call)
		}
		if d.Absent {
			return who + " has no value"
		}
		return who + " is " + Brief(*d.Value)
	}
	return Quote(d.Call) + " ends well"
}

// A Schedule says in which order activities end, and how: enough to simulate a run exactly. Activities that it doesn't
// name fail, after all that it names. Input and state lie over the plan's own, key by key.
type Schedule struct {
	Input  map[string]any `json:"input,omitempty"`
	State  map[string]any `json:"state,omitempty"`
	Events []ScheduledEnd `json:"events"`
}

// A ScheduledEnd is the end of one call's activity.
type ScheduledEnd struct {
	Call   string `json:"call"`   // the call's name
	Output any    `json:"output"` // its result; null for one that fails
	// the alternative that it takes; "" leaves it to LANGUAGE.md#output-paths-and-state
	Path  string `json:"path,omitempty"`
	Fails bool   `json:"fails,omitempty"` // it ends badly
}

func Quote(name string) string { return "\"" + name + "\"" }

// MaxNamed is how many names of a kind a message lists.
const MaxNamed = 12

// MaxShown bounds how many related places one finding names.
const MaxShown = 20

// Brief is a value as JSON, cut where it is long.
func Brief(v any) string {
	text, err := canonical.JSON(v)
	if err != nil {
		return "a value"
	}
	return Short(string(text))
}

// QuotedNames are the names of some calls; of many the first.
func QuotedNames(names []string) string {
	list := wording.Names(names[:min(len(names), MaxShown)], MaxShown)
	if more := len(names) - MaxShown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// Short is a text for a message.
func Short(text string) string {
	return wording.Cut(text, 60)
}

// NoteOrigin shows where the plan says what a value is.
func NoteOrigin(f *diag.Diagnostic, v *flow.Variant) {
	if call := v.From.Call; call != nil {
		switch {
		case v.From.Failure:
		case call.Produced != nil:
			f.Note(call.Produced.Span().Head(), "the result is given here")
		case call.Tool != nil:
			NoteResult(f, call.Tool)
		}
		f.Note(v.From.Path.Span(), "%q writes it here", call.Name)
	}
	for _, o := range v.Parts[:min(len(v.Parts), 3)] {
		f.Note(o.Path.Span(), "%q writes a part of it here", o.Call.Name)
	}
}

// NoteResult shows where a tool describes its result, if it does.
func NoteResult(f *diag.Diagnostic, tool *plan.Tool) {
	f.Note(tool.OutputNode.Span().Head(), "the result of %q is described here", tool.Name)
}
