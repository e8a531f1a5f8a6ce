package session

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
)

// A Replay is the world of what has happened: the events of a journal bring its machine to where the run was.
type Replay struct {
	Machine *runtime.Machine
	At      time.Duration    // of the last event
	Joined  []string         // the instances that came from outside
	Full    bool             // no more of them will come
	Outcome *runtime.Outcome // the last that it came to, or nil

	next     func() (Record, error, bool)
	wrong    func(Record, error) error
	answered map[string]bool // questions, by their ids
	seen     func(at time.Duration, c runtime.Command)
}

// replay drives a new machine with all records of a journal, once for each time that the run began or was
// resumed. The commands are passed to seen, which may be nil.
func (m *Manifest) replay(path string, v *analyzer.Verified, records iter.Seq2[Record, error],
	seen func(time.Duration, runtime.Command)) (*Replay, error) {
	machine := runtime.New(v, m.Options)
	machine.Reopenable()
	r := &Replay{Machine: machine, answered: map[string]bool{}, seen: seen}
	var stop func()
	r.next, stop = iter.Pull2(records)
	defer stop()
	r.wrong = func(of Record, err error) error { return m.unfollowed(path, of.line, err) }
	for {
		if _, err := runtime.Drive(machine, r); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// Next gives the event of the next record.
func (r *Replay) Next() (runtime.Event, error) {
	for {
		record, err, more := r.next()
		switch {
		case !more:
			return runtime.Event{}, io.EOF
		case err != nil:
			return runtime.Event{}, err
		case record.End != nil && !r.Machine.Over():
			return runtime.Event{},
				r.wrong(record, fmt.Errorf("the run is said to be %q, but it is going on", record.End.Status))
		case record.End != nil:
			continue
		}
		e := record.Event
		if err := r.Machine.Check(e); err != nil {
			return runtime.Event{}, r.wrong(record, err)
		}
		r.At, r.Full = max(r.At, e.At), r.Full || e.Last
		if e.Decision != nil && e.Decision.ID != "" {
			r.answered[e.Decision.ID] = true
		}
		for _, one := range e.Instances {
			r.Joined = append(r.Joined, one.ID)
		}
		return *e, nil
	}
}

// Do notes what had followed.
func (r *Replay) Do(commands []runtime.Command) error {
	for _, c := range commands {
		if c.Kind == runtime.Finish {
			r.Outcome = c.Outcome
		}
		if r.seen != nil {
			r.seen(r.At, c)
		}
	}
	return nil
}

// Over reports whether the run has ended, so that there is nothing to go
// on with.
func (r *Replay) Over() bool { return r.Machine.Over() && !r.Machine.Stopped() }

// Read gives the head of a journal and its records, for who looks at a run and
// doesn't go on with it.
func Read(path string) (*Manifest, iter.Seq2[Record, error], error) {
	contents, err := journal.Read(path)
	if err != nil {
		return nil, nil, journalProblem(path, err)
	}
	m, err := readManifest(path, contents.Header)
	if err != nil {
		return nil, nil, err
	}
	return m, m.records(path, contents), nil
}

// records are those of a journal. No other follows an error.
func (m *Manifest) records(path string, contents *journal.Contents) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		line := 1 // the header's
		for body, err := range contents.Bodies() {
			if err != nil {
				yield(Record{}, journalProblem(path, err))
				return
			}
			line++
			record, err := readRecord(body)
			if record.line = line; err != nil {
				err = m.unfollowed(path, line, err)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// unfollowed is the trouble with a record that no run can have written.
func (m *Manifest) unfollowed(path string, line int, err error) error {
	return diag.NewError(ErrDamaged, "the journal %q can't be followed: line %d: %v", path, line, err).
		Advise("it was changed, or an obelus that works otherwise wrote it (%s): take an untouched copy or that "+
			"obelus, or begin a new run", m.Obelus)
}

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
