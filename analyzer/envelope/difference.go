package envelope

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Difference is one thing that leaves an envelope.
type Difference struct {
	Call     string       `json:"call,omitempty"` // LANGUAGE.md#calls; "" where it is about no call
	In       string       `json:"in,omitempty"`   // the delegate of the call
	Tool     string       `json:"tool,omitempty"`
	At       *facts.Place `json:"at,omitempty"`
	What     string       `json:"what"`
	Of       string       `json:"of,omitempty"` // which parameter, definition or part of a budget
	Is       string       `json:"is"`
	Approved string       `json:"approved,omitempty"`
}

// What a difference is about.
const (
	Tool       = "tool"       // no allowance names it
	CarriedOut = "execution"  // another activity, delegate or context
	Effect     = "effect"     // it may do worse
	Parameter  = "parameter"  // another value, or a value from elsewhere
	List       = "list"       // it runs for the items of another list
	Context    = "context"    // it is handed more
	Condition  = "condition"  // it may run where the approved call wouldn't
	After      = "after"      // it doesn't wait for a call
	Confirm    = "confirm"    // a person isn't asked
	Path       = "path"       // it writes elsewhere
	Result     = "result"     // its result stands there already
	Instance   = "instance"   // it runs for others
	Times      = "times"      // it runs more often
	Spent      = "budget"     // the run uses more
	Definition = "definition" // a tool, an activity, a program … is another
)

func differing(in string, c *facts.Call, what string) Difference {
	return Difference{Call: c.Name, In: in, Tool: c.Tool, At: c.At, What: what}
}

// String says what leaves, and what is approved, in one line that nothing in a plan ends.
func (d Difference) String() string {
	text := strings.TrimSpace(d.What+" "+d.Of) + ": " + d.Is
	if d.What == Tool {
		d.Approved = "nothing"
	}
	if d.Approved != "" {
		text += "; approved: " + d.Approved
	}
	if d.Call == "" {
		return diag.Escape(text)
	}
	call := fmt.Sprintf("%q", d.Call)
	if d.In != "" {
		call += fmt.Sprintf(" of %q", d.In)
	}
	if d.Tool != "" && d.What != Tool && !strings.HasPrefix(d.Call, d.Tool+"#") {
		call += fmt.Sprintf(" (%s)", d.Tool)
	}
	return diag.Escape(call + ": " + text)
}

// Without are the differences that aren't among those that were approved, wherever they
// stand.
func Without(all, approved []Difference) (left []Difference) {
	for _, d := range all {
		if !slices.ContainsFunc(approved, func(o Difference) bool {
			return d.What == o.What && d.Of == o.Of && d.Is == o.Is && d.Approved == o.Approved
		}) {
			left = append(left, d)
		}
	}
	return left
}

// Digest identifies differences, so that a person's word about them is about no others.
func Digest(all []Difference) string {
	text, _ := json.Marshal(all) // plain data
	return workspace.SumOf(text)
}

// described says in a few words what a call does that no allowance names.
func described(c *facts.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "calls %q (%s, %s)", c.Tool, c.Effect.Kind, &Runs{c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, c.Runs.Alone})
	for i, p := range parametersOf(c) {
		b.WriteString([]string{" with ", ", "}[min(i, 1)] + p.name + ": " + leavesText(p.leaves))
	}
	if out := outputOf(c); out != "" {
		b.WriteString(" and writes " + out)
	}
	return b.String()
}

// words are something that is or was approved, in words.
func words(v any) string {
	switch v := v.(type) {
	case []string:
		return listed(v)
	case []Leaf:
		return leavesText(v)
	}
	return fmt.Sprint(v)
}

func (r *Runs) String() string {
	if r == nil {
		return "whatever the tool says"
	}
	text := r.Kind
	switch {
	case r.Plan != "":
		text = "the plan " + r.Plan
	case r.Kind == facts.Model:
		text = "a model"
	case r.Kind == facts.Produced:
		text = "its own text"
	case r.Activity != "":
		text += " " + r.Activity
	}
	if r.Alone {
		text += " in a context of its own"
	}
	return text
}

func listed(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	quoted := make([]string, len(all))
	for i, one := range all {
		quoted[i] = one
		if one == "" {
			quoted[i] = "nothing"
		}
	}
	return wording.Or(quoted)
}
