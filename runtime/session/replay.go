package session

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
)

// A Replay is a machine that the records of a journal bring, one by one, to where its run stood.
type Replay struct {
	Machine *runtime.Machine
	At      time.Duration          // of the last event
	Joined  []string               // the instances that came from outside
	Full    bool                   // no more of them will come
	Left    []*runtime.InstanceEnd // those that have ended
	Again   []string               // those that had ended, and run again
	Outcome *runtime.Outcome       // the last that it came to, or nil

	follow     *runtime.Follower
	verified   *analyzer.Verified
	options    runtime.Options
	reopenable bool
	answered   map[string]bool // questions, by their ids
}

// NewReplay begins with a machine at the beginning of a run.
func NewReplay(v *analyzer.Verified, o runtime.Options) *Replay {
	r := &Replay{verified: v, options: o}
	r.begin()
	return r
}

func (r *Replay) begin() {
	m := runtime.New(r.verified, r.options)
	*r = Replay{Machine: m, follow: runtime.Follow(m), verified: r.verified, options: r.options, answered: map[string]bool{}}
}

// Reopenable keeps what fails so that it can be run again. It is to be said before the
// first record is taken.
func (r *Replay) Reopenable() {
	r.reopenable = true
	r.Machine.Reopenable()
}

// reopens reports whether a record has what failed run again.
func (r Record) reopens() bool {
	return r.Event != nil && r.Event.Resumption != nil && r.Event.Resumption.RetryFailed
}

// reopen forgets how instances ended that run again.
func (r *Replay) reopen() {
	_, again := r.Machine.Failed()
	r.Again = append(r.Again, again...)
	r.Left = slices.DeleteFunc(r.Left, func(end *runtime.InstanceEnd) bool { return slices.Contains(again, end.ID) })
}

// Take steps one record, and gives what the machine had done because of it. After an
// error, which says what no run can have written, the machine is of no use.
func (r *Replay) Take(record Record) ([]runtime.Command, error) {
	if record.End != nil {
		if !r.Machine.Over() {
			return nil, fmt.Errorf("the run is said to be %q, but it is going on", record.End.Status)
		}
		return nil, nil
	}
	if record.reopens() {
		r.reopen()
	}
	commands, err := r.follow.Step(*record.Event)
	if err != nil {
		return nil, err
	}
	r.At = record.Event.At
	if d := record.Event.Decision; d != nil && d.ID != "" {
		r.answered[d.ID] = true
	}
	for _, one := range record.Event.Instances {
		r.Joined = append(r.Joined, one.ID)
	}
	r.Full = r.Full || record.Event.Last
	for _, command := range commands {
		switch command.Kind {
		case runtime.Leave:
			r.Left = append(r.Left, command.Left)
		case runtime.Finish:
			r.Outcome = command.Outcome
		}
	}
	return commands, nil
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
			if err != nil {
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
	return diag.NewError(ErrDamaged, "the journal %q can't be followed: line %d: %v", path, line, err).About(path).
		Advise("its run can't have been there: take an untouched copy, the version of obelus that wrote it (%s), or begin a new run", m.Obelus)
}
