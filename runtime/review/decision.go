package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Verdict is how a person answers a [Question].
type Verdict string

// The answers of EXECUTION.md#reviewers, and those to a question about a call in flight.
const (
	Approve Verdict = "approve"
	Change  Verdict = "change"  // run it with Decision.Params
	Replace Verdict = "replace" // put Decision.Replacement in its place, and ask about that
	Reject  Verdict = "reject"
	Retry   Verdict = "retry" // in flight: run it again
	Fail    Verdict = "fail"  // in flight: count it as failed
)

// A Decision is a person's answer. It is journaled, and a model learns of it.
type Decision struct {
	Verdict Verdict        `json:"verdict"`
	Params  map[string]any `json:"params,omitzero"` // of Change: all parameters, as values
	// Replacement is the call of a Replace, as JSON: "_tool" and parameters. It
	// keeps the id, place and output path of the call that it replaces.
	Replacement json.RawMessage `json:"replacement,omitempty"`
	Reason      string          `json:"reason,omitzero"` // in the person's words
	By          string          `json:"by,omitzero"`     // who: a name, or [ByTimeout]
	// Beyond is that of a question about what leaves the run's permit, of who approves
	// that; without it an approval isn't one of that.
	Beyond string `json:"beyond,omitzero"`
	// Signed is a signed statement of that, where the run's approval is signed (runtime.Options).
	Signed string `json:"signed,omitzero"`
	// ID is that of the question that was answered; "" answers whatever is asked.
	ID string `json:"id,omitzero"`
}

// Check reports why a decision from elsewhere answers no question, or nil.
func (d *Decision) Check() error {
	switch {
	case !slices.Contains([]Verdict{Approve, Reject, Change, Replace, Retry, Fail}, d.Verdict):
		return fmt.Errorf("there is no verdict %q: expected approve, reject, change or replace, or retry or fail for "+
			"a call that was at work", d.Verdict)
	case (d.Verdict == Change) != (d.Params != nil):
		return errors.New("a change, and nothing else, has \"params\": all that the call is to have")
	case (d.Verdict == Replace) != (len(d.Replacement) > 0):
		return errors.New("a replace, and nothing else, has a \"replacement\": a call")
	}
	return nil
}

// Report is a decision as a model learns of it.
func (d *Decision) Report() request.Object {
	if d == nil {
		return nil
	}
	out := request.Object{}.With("verdict", string(d.Verdict))
	if d.Params != nil {
		out = out.With("params", d.Params)
	}
	if len(d.Replacement) > 0 {
		root, _ := source.Parse(source.NewFile("replacement.json", d.Replacement), source.DefaultLimits())
		out = out.With("replacement", request.Of(root))
	}
	return out.WithText("reason", d.Reason).WithText("by", d.By)
}

// ByTimeout is who decides when nobody answers.
const ByTimeout = "time-out"

// Confirm says which calls a person is asked about, and what counts as
// the answer when none comes. The zero value asks nobody.
type Confirm struct {
	Policy  guard.Policy  `json:"policy,omitzero"`
	Timeout time.Duration `json:"timeout,omitzero"` // 0 waits for ever
	Default Verdict       `json:"default,omitzero"` // [Approve] or [Reject]; "" is Reject
}

// Check reports what is wrong with a confirmation that comes from elsewhere, or nil.
func (c Confirm) Check() error {
	switch {
	case !slices.Contains([]guard.Policy{guard.Never, guard.Effects, guard.Always}, c.Policy):
		return fmt.Errorf("there is no policy %q of whom to ask", c.Policy)
	case !slices.Contains([]Verdict{"", Approve, Reject}, c.Default):
		return fmt.Errorf("%q can't be the answer where nobody gives one", c.Default)
	case c.Timeout < 0:
		return fmt.Errorf("nobody can answer within %v", c.Timeout)
	}
	return nil
}
