package session

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Questions are those that a run has open, for who decides about them elsewhere than
// where it runs: read from its journal, while it runs or before it is resumed.
type Questions struct {
	Program *project.Program
	Running bool // the run is active in another process
	// Kept are answers that the run hasn't taken up. As long as it hasn't, a further
	// decision takes the place of one.
	Kept []Kept

	machine  *runtime.Machine
	vouching *vouching
	box      box
	without  func(ids map[string]bool) (*Questions, error) // the same without some answers
}

// A Kept answer is a question with what was decided about it.
type Kept struct {
	*runtime.Question
	Answer runtime.Decision `json:"answer"`
}

// OpenQuestions reads the questions of a run. What was decided already, and the run
// hasn't taken up yet, isn't asked any more; of a run that doesn't go on, what is asked
// when it is resumed. Of the options it needs Activities and what the host registers.
func OpenQuestions(path string, o ResumeOptions) (*Questions, error) {
	return openQuestions(path, &o, nil)
}

func openQuestions(path string, o *ResumeOptions, without map[string]bool) (*Questions, error) {
	l, err := look(path, o, nil)
	if err != nil {
		return nil, err
	}
	if l.Replay.Over() {
		return nil, diag.NewError(ErrEnded, "the run has ended, and asks nothing any more")
	}
	m := l.Manifest
	q := &Questions{Program: l.Program, machine: l.Replay.Machine, box: boxOf(path), Running: journal.Running(path)}
	if m.Approval != nil && m.Options.Signed {
		q.vouching = &vouching{run: idOf(path), plan: m.file(), under: m.Approval}
	}
	q.without = func(ids map[string]bool) (*Questions, error) { return openQuestions(path, o, ids) }
	if !q.Running || q.machine.Stopped() { // or is about to go on
		how := runtime.Resumption{InFlight: o.InFlight}
		for _, open := range q.machine.Questions() { // whatever --confirm said last, an answer is taken
			how.Kept = append(how.Kept, runtime.KeptAnswer{Call: open.Path(), Instance: open.Instance})
		}
		q.machine.Step(runtime.Event{Kind: runtime.Resumed, At: l.Replay.At, Resumption: &how})
	}
	decided, _, err := q.box.since(0)
	if err != nil {
		return nil, err
	}
	last := map[string]runtime.Decision{}
	for _, a := range decided {
		if !without[a.ID] {
			last[a.ID] = a.Decision
		}
	}
	for more := q.Open(); len(more) > 0; {
		var next []*runtime.Question
		for _, one := range more {
			if d, ok := last[one.ID]; ok {
				delete(last, one.ID)
				again := q.try(one, d)
				if again != nil {
					next = append(next, again)
				}
				if again != one { // else it can't be taken
					q.Kept = append(q.Kept, Kept{one, d})
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
		pin(q.Program, one)
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
			pin(q.Program, again)
		}
	}
	return again
}

// Decide keeps a decision about open questions, or those of Kept, for the run. It gives the questions
// that follow: what replaces a call is asked about as it would run. An error means that nothing is kept.
func (q *Questions) Decide(about []*runtime.Question, d runtime.Decision) (again []*runtime.Question, err error) {
	var all []Answer
	anew := map[string]bool{}
	for _, one := range q.Kept {
		if slices.Contains(about, one.Question) {
			anew[one.ID] = true
		}
	}
	if len(anew) > 0 {
		before, err := q.without(anew)
		if err != nil {
			return nil, err
		}
		*q = *before
	}
	for _, one := range about {
		all = append(all, AnswerTo(one, d))
		if next := q.try(one, d); next != nil {
			if next.Problem != "" {
				return nil, diag.NewError(ErrAnswers, "that can't be taken for the call %q: %s", one.Call, next.Problem)
			}
			again = append(again, next)
		}
	}
	return again, q.box.add(all)
}
