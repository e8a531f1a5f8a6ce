package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A Look is a run as its journal has it: the [runtime.World] of what has happened, whose events bring the machine to
// where the run stands.
type Look struct {
	ID, Journal string            // its file
	Status      runtime.RunStatus // of [Entry]
	Manifest    *Manifest
	Program     *project.Program
	Machine     *runtime.Machine
	At          time.Duration // of the last event
	Joined      []string      // the instances that came from outside
	Commands    []Observed    // of the calls that a stop left unfinished only those of the last stop

	keep     bool             // the commands
	last     *runtime.Outcome // the last that it came to, or nil
	full     bool             // no more instances will come
	answered map[string]bool  // questions, by their ids
	next     func() (Record, error, bool)
}

// Observed is a command, with the time since the run began.
type Observed struct {
	At time.Duration
	runtime.Command
}

// LookAt reads the journal of a run; of one that was killed it tells what that left. Of the options it needs
// Activities and what the host registers.
func LookAt(path string, o ResumeOptions) (*Look, error) {
	l, err := look(path, &o, true)
	if err != nil {
		return nil, err
	}
	if l.Status = entryOf(path).Status; l.Status == wasKilled && !l.Machine.Over() {
		stop := runtime.Event{Kind: runtime.Stopped, At: l.At, Text: string(runtime.ReasonKilled)}
		return l, l.Do(l.Machine.Step(stop))
	}
	return l, nil
}

func look(path string, o *ResumeOptions, keep bool) (*Look, error) {
	m, records, err := Read(path)
	if err != nil {
		return nil, err
	}
	return follow(path, m, records, o, keep)
}

// follow drives a new machine with all records of a journal, once for each time that the run began or was resumed.
func follow(path string, m *Manifest, records iter.Seq2[Record, error], o *ResumeOptions, keep bool) (*Look, error) {
	l := &Look{ID: idOf(path), Journal: path, Manifest: m, keep: keep, answered: map[string]bool{}}
	var err error
	if l.Program, err = m.program(o); err != nil {
		return nil, err
	}
	l.Machine = runtime.New(l.Program.Verified, m.Options)
	l.Machine.Reopenable()
	var stop func()
	l.next, stop = iter.Pull2(records)
	defer stop()
	for {
		if _, err := runtime.Drive(l.Machine, l); errors.Is(err, io.EOF) {
			return l, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// Next gives the event of the next record.
func (l *Look) Next() (runtime.Event, error) {
	for {
		record, err, more := l.next()
		e := record.Event
		switch {
		case !more:
			err = io.EOF
		case err != nil:
		case e != nil:
			if err = l.Machine.Check(e); err == nil {
				l.take(e)
				return *e, nil
			}
			err = l.Manifest.unfollowed(l.Journal, record.line, err)
		case !l.Machine.Over():
			err = l.Manifest.unfollowed(l.Journal, record.line,
				fmt.Errorf("the run is said to be %q, but it is going on", record.End.Status))
		}
		if err != nil {
			return runtime.Event{}, err
		}
	}
}

func (l *Look) take(e *runtime.Event) {
	l.At, l.full = max(l.At, e.At), l.full || e.Last
	if e.Decision != nil && e.Decision.ID != "" {
		l.answered[e.Decision.ID] = true
	}
	for _, one := range e.Instances {
		l.Joined = append(l.Joined, one.ID)
	}
}

// Do notes what had followed.
func (l *Look) Do(commands []runtime.Command) error {
	for _, c := range commands {
		if c.Kind == runtime.Finish {
			l.last = c.Outcome
		}
		if !l.keep {
			continue
		}
		if n := len(l.Commands); n > 0 && l.Commands[n-1].Kind == runtime.Finish { // it went on
			l.Commands = slices.DeleteFunc(l.Commands, func(c Observed) bool {
				return c.Kind == runtime.Settle && c.Settlement.Left
			})
		}
		l.Commands = append(l.Commands, Observed{l.At, c})
	}
	return nil
}

// Over reports whether the run has ended, so that there is nothing to go on with.
func (l *Look) Over() bool { return l.Machine.Over() && !l.Machine.Stopped() }

// Show shows what happened.
func (l *Look) Show(to Observer) {
	for _, c := range l.Commands {
		to.Observe(c.At, c.Command)
	}
}

// Outcome is how the run ended, or where it is.
func (l *Look) Outcome() *runtime.Outcome {
	if l.Over() && l.last != nil {
		return l.last
	}
	outcome := l.Machine.Stands()
	if l.Status == runtime.RunGoesOn && !l.Machine.Stopped() {
		outcome.Status, outcome.Reason = runtime.RunGoesOn, ""
		for i := range outcome.Instances {
			if one := &outcome.Instances[i]; one.Status == runtime.RunStopped {
				one.Status = runtime.RunGoesOn
			}
		}
	}
	return outcome
}

// At begins the journal of a new run with what a planned run had done when a tick began, and gives
// its file: [Open] continues from there.
func At(path string, tick int, runs string) (string, error) {
	m, records, err := Read(path)
	if err != nil {
		return "", err
	}
	var earlier []*runtime.Event
	last := 0 // the last tick with events
	for record, err := range records {
		if err != nil {
			return "", err
		}
		if record.Event == nil {
			continue
		}
		if last = max(last, record.Event.Tick); tick > 0 && last >= tick {
			break
		}
		earlier = append(earlier, record.Event)
	}
	switch {
	case !m.Options.Planned:
		return "", diag.NewError(ErrUnrunnable, "the run has no ticks: only a run with a planner has")
	case tick < 1 || last != tick:
		return "", diag.NewError(ErrUnrunnable, "the run has no tick %d; its last so far is %d", tick, last)
	}
	m.Started, m.Record, m.Out = time.Now().UTC().Truncate(time.Second), "", ""
	k, err := create(runs, m)
	if err != nil {
		return "", err
	}
	defer k.writer.Close()
	for _, e := range earlier {
		err = cmp.Or(err, k.Append(e))
	}
	if err = cmp.Or(err, k.Sync()); err != nil {
		return "", k.full(err)
	}
	return k.file, nil
}

// Read gives the head of a journal and its records, for who looks at a run and doesn't go on with it.
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
			record := Record{}
			if line++; err != nil {
				err = journalProblem(path, err)
			} else if record, err = readRecord(body); err != nil {
				err = m.unfollowed(path, line, err)
			}
			record.line = line
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
