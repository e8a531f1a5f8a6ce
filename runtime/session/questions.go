package session

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Questions are those that a run has open, for who decides about them elsewhere than where it runs: read from its
// journal, while it runs or before it is resumed.
type Questions struct {
	Running bool // the run is active in another process
	Stored  int  // answers that are there already

	program     *project.Program
	machine     *runtime.Machine
	vouching    *vouching
	answersFile answersFile
	partial     map[string]string // signed approvals by the question's id, which more people may sign
}

// OpenQuestions reads from a journal what a run asks, or will when it is resumed. What was decided already isn't asked
// any more. Of the options it needs Activities and what the host registers.
func OpenQuestions(path string, o ResumeOptions) (*Questions, error) {
	l, err := look(path, &o, false)
	switch {
	case err != nil:
		return nil, err
	case l.Replay.Over():
		return nil, diag.NewError(ErrEnded, "the run has ended, and asks nothing any more")
	}
	m := l.Manifest
	q := &Questions{program: l.Program, machine: l.Replay.Machine, answersFile: answersFileOf(path),
		Running: journal.Running(path), partial: map[string]string{}}
	if m.Approval != nil && m.Options.Signed {
		q.vouching = &vouching{run: idOf(path), plan: m.At(m.Plan.Name), under: m.Approval}
	}
	if !q.Running || q.machine.Stopped() { // or is about to go on
		how := runtime.Resumption{InFlight: o.InFlight}
		for _, open := range q.machine.Questions() { // whatever --confirm said last, an answer is taken
			how.Kept = append(how.Kept, runtime.KeptAnswer{Call: open.Path(), Instance: open.Instance})
		}
		q.machine.Step(runtime.Event{Kind: runtime.Resumed, At: l.Replay.At, Resumption: &how})
	}
	decided, err := q.answersFile.read()
	if err != nil {
		return nil, err
	}
	last := map[string]runtime.Decision{}
	for _, a := range decided {
		last[a.ID] = a.Decision
	}
	for more := q.Open(); len(more) > 0; {
		var next []*runtime.Question
		for _, one := range more {
			d, ok := last[one.ID]
			delete(last, one.ID)
			switch {
			case d.Signed != "" && q.ToSign(one):
				q.partial[one.ID] = d.Signed
			case ok:
				q.Stored++
				if again := q.try(one, d); again != nil {
					next = append(next, again)
				}
			}
		}
		more = next
	}
	return q, nil
}

// Open gives the questions in the order in which they are asked.
func (q *Questions) Open() []*runtime.Question {
	open := q.machine.Questions()
	for _, one := range open {
		pin(q.program, one)
	}
	return open
}

// try has the machine, which starts nothing, take a decision, and gives what it asks
// because of it: why it can't be taken, or about what replaces the call.
func (q *Questions) try(about *runtime.Question, d runtime.Decision) (again *runtime.Question) {
	for _, c := range q.machine.Step(runtime.Answer(about, &d)) {
		if c.Kind == runtime.Ask && c.Question.Call == about.Call && c.Question.Under == about.Under &&
			c.Question.Instance == about.Instance {
			again = c.Question
			pin(q.program, again)
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
	return again, q.answersFile.add(all)
}
