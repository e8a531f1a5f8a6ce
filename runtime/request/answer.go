package request

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// Unavailable says that a planner gives no answer, and none is to be expected
// before somebody does something about it.
type Unavailable struct {
	Planner string // as in a spec: "openai:gpt-5"
	Why     string // what is wrong, in one line
	Remedy  string // what to do about it
}

func (u *Unavailable) Error() string {
	return fmt.Sprintf("%s gives no answer: %s; %s", diag.Escape(u.Planner), u.Why, u.Remedy)
}

// Refused says that a model declined to answer.
type Refused struct {
	Planner string
	Words   string // the model's own; "" where it gave none
}

func (r *Refused) Error() string {
	if r.Words == "" {
		return fmt.Sprintf("%s declined to answer", diag.Escape(r.Planner))
	}
	return fmt.Sprintf("%s declined to answer: %q", diag.Escape(r.Planner), diag.Escape(r.Words))
}

// Refusal is what the model said, or that it said nothing.
func (r *Refused) Refusal() string {
	if r.Words == "" {
		return "the model declined to answer and gave no reason"
	}
	return r.Words
}
