package session

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
)

// Questions are those that a run has open, for who decides about them elsewhere than where it runs: read from its
// journal, while it runs or before it is resumed.
type Questions struct {
	*Look
	Running bool // the run is active in another process
	Stored  int  // answers that are there already

	stored map[string]runtime.Decision // that aren't taken: approvals that more people may sign
}

// OpenQuestions reads from a journal what a run asks, or will when it is resumed. What was decided already isn't asked
// any more. Of the options it needs Activities and what the host registers.
func OpenQuestions(path string, o ResumeOptions) (*Questions, error) {
	l, err := look(path, &o, false)
	switch {
	case err != nil:
		return nil, err
	case l.Over():
		return nil, diag.NewError(ErrEnded, "the run has ended, and asks nothing any more")
	}
	q := &Questions{Look: l, Running: journal.Running(path), stored: map[string]runtime.Decision{}}
	if !q.Running || l.Machine.Stopped() { // or is about to go on
		how := runtime.Resumption{InFlight: o.InFlight}
		for _, open := range l.Machine.Questions() { // whatever --confirm said last, an answer is taken
			how.Kept = append(how.Kept, runtime.KeptAnswer{Call: open.Path(), Instance: open.Instance})
		}
		l.Machine.Step(runtime.Event{Kind: runtime.Resumed, At: l.At, Resumption: &how})
	}
	decided, err := readStored(answersOf(path))
	if err != nil {
		return nil, err
	}
	for _, a := range decided {
		q.stored[a.ID] = a.Decision
	}
	for before := -1; before < q.Stored; { // one may lead to another
		before = q.Stored
		for _, one := range q.Open() {
			if d, ok := q.stored[one.ID]; ok && (d.Signed == "" || !q.ToSign(one)) {
				delete(q.stored, one.ID)
				q.Stored++
				q.try(one, d)
			}
		}
	}
	return q, nil
}

// Open gives the questions in the order in which they are asked.
func (q *Questions) Open() []*runtime.Question {
	open := q.Machine.Questions()
	for _, one := range open {
		pin(q.Program, one)
	}
	return open
}

// try has the machine, which starts nothing, take a decision, and gives what it asks
// because of it: why it can't be taken, or about what replaces the call.
func (q *Questions) try(about *runtime.Question, d runtime.Decision) (again *runtime.Question) {
	for _, c := range q.Machine.Step(runtime.Answer(about, &d)) {
		if c.Kind == runtime.Ask && c.Question.Path() == about.Path() && c.Question.Instance == about.Instance {
			again = c.Question
			pin(q.Program, again)
		}
	}
	return again
}

// Decide keeps a decision about open questions for the run. It gives the questions that follow: what replaces a call
// is asked about as it would run. An error means that nothing is kept.
func (q *Questions) Decide(about []*runtime.Question, d runtime.Decision) (again []*runtime.Question, err error) {
	var all []Answer
	for _, one := range about {
		all = append(all, AnswerTo(one, d))
		if next := q.try(one, d); next != nil {
			if next.Problem != "" {
				return nil, diag.NewError(ErrAnswers, "that can't be taken for the call %q: %s", one.Call, next.Problem)
			}
			again = append(again, next)
		}
	}
	return again, store(answersOf(q.Journal), all)
}
