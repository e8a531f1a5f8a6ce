package session

import (
	"context"
	"time"

	"github.com/obelus-dev/obelus/runtime"
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

// Traced describes the run of a journal in spans (package trace), with attributes of what
// ran it. Of an active run it contains what has happened; one that was stopped and
// resumed is one, which ended when it ended last.
func Traced(path string, o ResumeOptions, attributes ...trace.Attribute) (*trace.Recording, error) {
	entry := entryOf(path)
	recording := trace.NewRecording(entry.Run, attributes...)
	tracer := trace.New(context.Background(), recording,
		trace.Run{ID: entry.Run, Plan: entry.Plan, Began: entry.Started})
	stop := func() {} // ends it, if nothing follows
	_, err := LookAt(path, o, func(at time.Duration, c runtime.Command) {
		if c.Kind == runtime.Finish {
			stop = func() { tracer.Observe(at, c) }
			return
		}
		stop = func() {}
		tracer.Observe(at, c)
	})
	stop()
	return recording, err
}
