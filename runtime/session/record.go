package session

import (
	"errors"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// A Record is what a line of a journal says: an event, or how the run ended or
// stopped.
type Record struct {
	Event *runtime.Event `json:"event,omitempty"`
	End   *End           `json:"end,omitempty"`

	line int
}

// An End is how a run ended, or stopped.
type End struct {
	Status    runtime.RunStatus `json:"status"`
	Reason    runtime.Reason    `json:"reason,omitempty"`
	Calls     runtime.Counts    `json:"calls"`
	Ticks     int               `json:"ticks,omitzero"`
	Instances int               `json:"instances,omitzero"`
	Usage     runtime.Usage     `json:"usage,omitzero"`
}

// readRecord reads the body of a line. One that holds anything else, or both, is
// refused.
func readRecord(body []byte) (Record, error) {
	var r Record
	if err := diag.ReadStrictly(body, &r); err != nil {
		return r, err
	}
	if (r.Event == nil) == (r.End == nil) {
		return r, errors.New("a record is either an event or the end of the run")
	}
	return r, nil
}
