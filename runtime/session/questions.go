package session

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Questions are those that a run has open, for who decides about them elsewhere than
// where it runs: read from its journal, while it goes on or before it is resumed.
type Questions struct {
	Program *project.Program
	Running bool // the run goes on now, in another process

	machine *runtime.Machine
	box     box
}

// OpenQuestions reads the questions of a run. What was decided already, and the run
// hasn't taken up yet, isn't asked any more; of a run that doesn't go on, what is asked
// when it is resumed. Of the options it needs Activities and what the host registers.
func OpenQuestions(path string, o ResumeOptions) (*Questions, error) {
	contents, err := journal.Read(path)
	if err != nil {
		return nil, journalTrouble(path, err)
	}
	m, err := readManifest(path, contents.Header)
	if err != nil {
		return nil, err
	}
	p, err := m.Program(o.Activities, slices.Sorted(maps.Keys(o.Functions)), o.Hints)
	if err != nil {
		return nil, err
	}
	replay := NewReplay(p.Verified, m.Options)
	if err := m.follow(path, replay, contents.Bodies(), nil); err != nil {
		return nil, err
	}
	if replay.Over() {
		return nil, diag.Troubled(ErrEnded, "the run has ended, and asks nothing any more").About(path)
	}
	q := &Questions{Program: p, machine: replay.Machine, box: boxOf(path), Running: journal.Running(path)}
	if !q.Running || q.machine.Stopped() { // or is about to go on
		q.machine.Step(runtime.Event{Kind: runtime.Resumed, At: replay.At, Resumption: &runtime.Resumption{InFlight: o.InFlight}})
	}
	decided, _, err := q.box.since(0)
	if err != nil {
		return nil, err
	}
	open := map[string]*runtime.Question{}
	for _, one := range q.Open() {
		open[one.ID] = one
	}
	for _, a := range decided {
		if one := open[a.ID]; one != nil {
			delete(open, a.ID)
			if again := q.try(one, a.Decision); again != nil {
				open[again.ID] = again
			}
		}
	}
	return q, nil
}

// Open gives the questions in the order in which they are asked.
func (q *Questions) Open() []*runtime.Question { return q.machine.Questions() }

// try has the machine, which starts nothing, take a decision, and gives what it asks
// because of it: why it can't be taken, or about what replaces the call.
func (q *Questions) try(about *runtime.Question, d runtime.Decision) (again *runtime.Question) {
	for _, c := range q.machine.Step(about.Answered(&d)) {
		if c.Kind == runtime.Ask && c.Question.Call == about.Call && c.Question.Under == about.Under && c.Question.Instance == about.Instance {
			again = c.Question
		}
	}
	return again
}

// Decide keeps a decision about open questions for the run, which takes it up as it goes
// on. It gives the questions that are to be answered in turn: what replaces a call is
// asked about as it would run. A decision that can't be taken is an error, and none is
// kept then.
func (q *Questions) Decide(about []*runtime.Question, d runtime.Decision) (again []*runtime.Question, err error) {
	var all []Answer
	for _, one := range about {
		all = append(all, AnswerTo(one, d))
		if next := q.try(one, d); next != nil {
			if next.Problem != "" {
				return nil, diag.Troubled(ErrAnswers, "that can't be taken for the call %q: %s", one.Call, next.Problem).About(one.Call)
			}
			again = append(again, next)
		}
	}
	return again, q.box.add(all)
}
