package session

import (
	"time"

	"github.com/obelus-dev/obelus/runtime/trace"
)

// traced is what spans tell of the run as a whole, which starts or is resumed.
func (s *Session) traced() trace.Run {
	r := trace.Run{ID: s.ID(), Plan: s.manifest.Title, Began: time.Now()}
	if s.Replay != nil {
		r.Began, r.Resumed = r.Began.Add(-s.Replay.At), true
		if s.Options.Telemetry != nil {
			r.Used = s.Replay.Machine.Stands().Usage
		}
	}
	return r
}
