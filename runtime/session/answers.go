package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/review"
)

// An Answer is a decision about a call that isn't made at a terminal: it is in a file, or beside the journal of a run.
type Answer struct {
	Call     string `json:"call"`
	Instance string `json:"instance,omitzero"`
	Under    string `json:"under,omitzero"` // the path of the calls above one of a delegate
	runtime.Decision
}

// name is that of the call, with those above it before it, as it is shown and may be written.
func (a *Answer) name() string { return runtime.Path(a.Under, a.Call) }

// AnswerTo is a decision about what a question asks, and nothing else.
func AnswerTo(q *runtime.Question, d runtime.Decision) Answer {
	d.ID = q.ID
	return Answer{Call: q.Call, Instance: q.Instance, Under: q.Under, Decision: d}
}

// ReadAnswers reads answers: one or a list of them, in YAML or JSON, or one a line of a ".jsonl" file. The error is of
// the kind [ErrAnswers].
func ReadAnswers(name string, text []byte) ([]Answer, error) {
	if strings.HasSuffix(name, extension) {
		return readAnswers(name, bytes.SplitAfter(text, []byte("\n")))
	}
	return readAnswers(name, [][]byte{text})
}

func readAnswers(name string, texts [][]byte) (all []Answer, err error) {
	for i, text := range texts {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		node, problems := source.Parse(source.NewFile(name, text), source.DefaultLimits())
		for _, p := range problems {
			if !p.Warning {
				return nil, diag.NewError(ErrAnswers, "%q, line %d: %s", name, i+p.Span.From().Line, p.Message)
			}
		}
		for _, item := range node.Several() {
			var a Answer
			text, err := json.Marshal(item.Value())
			if err = cmp.Or(err, diag.ReadStrictly(text, &a)); err == nil && a.Call == "" {
				err = errors.New("an answer names its call")
			}
			if err = cmp.Or(err, a.Check()); err != nil {
				return nil, diag.NewError(ErrAnswers, "%q, line %d: %w", name, i+item.Span().From().Line, err).
					Advise(`write answers such as {"call": "refund#1", "verdict": "approve"}`)
			}
			all = append(all, a)
		}
	}
	return all, nil
}

// store adds answers to the file of those of a run, a line each.
func store(name string, answers []Answer) error {
	text := []byte("\n") // a crash may have torn the line before
	for _, a := range answers {
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return diag.NewError(ErrAnswers, "the decision can't be kept in %q: %w", name, workspace.Reason(err))
	}
	return nil
}

// readStored reads the file of answers of a run, if there is one, but for lines that a crash tore.
func readStored(name string) ([]Answer, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.NewError(ErrAnswers, "can't read %q: %w", name, workspace.Reason(err))
	}
	return readAnswers(name, slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool {
		return !json.Valid(line)
	}))
}

// An answerSource is a [local.Confirmer] with the answers that a run was resumed with, stored ones, and those of the
// person asked.
type answerSource struct {
	*Session
	within time.Duration // how long an answer is waited for
	file   string        // of stored answers; "" for none

	mu   sync.Mutex
	all  []Answer // and not taken yet
	size int64    // of the file as it was read
	read int      // answers in it
}

func newAnswerSource(s *Session) *answerSource {
	d := &answerSource{Session: s, within: s.confirm().Timeout}
	if s.Journal != "" {
		d.file = answersOf(s.Journal)
	}
	d.look()
	d.add(s.answers)
	return d
}

// look reads what was added to the file of stored answers.
func (d *answerSource) look() {
	now, err := os.Stat(d.file)
	if err != nil || now.Size() == d.size { // or there are none yet
		return
	}
	d.size = now.Size()
	stored, err := readStored(d.file)
	if err != nil {
		d.note(err.Error())
		d.file = "" // no more is read
	}
	d.add(slices.DeleteFunc(stored[min(d.read, len(stored)):], func(a Answer) bool { return d.answered[a.ID] }))
	d.read = len(stored)
}

// add takes answers up, the last to a question in the place of those before it.
func (d *answerSource) add(more []Answer) {
	for _, a := range more {
		if a.ID != "" {
			d.all = slices.DeleteFunc(d.all, func(b Answer) bool { return review.SameQuestion(a.ID, b.ID) })
		}
		d.all = append(d.all, a)
	}
}

// reportUnused tells which answers weren't used.
func (d *answerSource) reportUnused() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left []string
	for _, a := range d.all {
		left = append(left, strings.TrimPrefix(a.Instance+" "+a.name(), " "))
	}
	if len(left) > 0 {
		d.note("answers that weren't used: " + wording.Names(left, 10) +
			"; each is about what isn't asked yet, or that another answered, or that has changed since")
	}
}

// pollInterval is how often a run that waits looks for stored answers.
const pollInterval = 200 * time.Millisecond

// Ask waits for an answer of a person or a stored one, as long as there is somebody to give it.
func (d *answerSource) Ask(ctx context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	own, withdraw := context.WithCancelCause(ctx)
	ask := func() (runtime.Decision, error) {
		<-own.Done()
		return runtime.Decision{}, context.Cause(own)
	}
	switch within := cmp.Or(q.Within, d.within); {
	case d.Confirmer != nil:
		ask = d.Confirmer.Ask(own, q)
	case within == 0 || d.file == "":
		withdraw(local.ErrNoReviewer)
	case q.Within == 0: // else the machine says when it is over
		time.AfterFunc(within, func() { withdraw(local.ErrNoReviewer) })
	}
	return func() (decision runtime.Decision, err error) {
		defer withdraw(nil)
		asked := make(chan struct{})
		go func() {
			decision, err = ask()
			close(asked)
		}()
		for looks := time.Tick(pollInterval); ; {
			select {
			case <-asked:
				return d.checked(q, decision), err
			case <-looks:
			}
			if found := d.answer(q); found != nil {
				withdraw(nil) // the reviewer sees it
				if <-asked; err != nil {
					return *found, nil
				}
				return d.checked(q, decision), nil
			}
		}
	}
}

// checked is a person's decision, as far as it counts.
func (d *answerSource) checked(q *runtime.Question, decision runtime.Decision) runtime.Decision {
	takes := []runtime.Verdict{runtime.Approve, runtime.Change, runtime.Retry}
	now := d.now(q)
	if slices.Contains(takes, decision.Verdict) && now != q.ID { // what was shown isn't what would run now
		decision.ID = "what was shown"
	}
	if !d.vouched(&decision, q, now) {
		decision.Signed = ""
	}
	return decision
}

// now is the name that a question has as things are.
func (d *answerSource) now(q *runtime.Question) string {
	same := *q
	if d.Journal != "" {
		pin(d.Program, &same)
	}
	return same.ID
}

// vouched reports whether the signature of a decision, if it has one, counts.
func (d *answerSource) vouched(decision *runtime.Decision, q *runtime.Question, now string) bool {
	return d.judge == nil || decision.Signed == "" || d.signed(decision.Signed, q, now, *d.judge)
}

// kept are the answers that are there before the run continues.
func (d *answerSource) kept() (all []runtime.KeptAnswer) {
	for _, a := range d.all {
		all = append(all, runtime.KeptAnswer{Call: a.name(), Instance: a.Instance, ID: a.ID})
	}
	return all
}

// answer gives the answer to a question that is there, once, or nil: first those to whatever is asked.
func (d *answerSource) answer(q *runtime.Question) *runtime.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	found := -1
	for i, a := range d.all {
		if a.name() != q.Path() || a.Instance != q.Instance || found >= 0 && a.ID != "" {
			continue
		}
		now := d.now(q)
		no := a.Verdict == runtime.Reject || a.Verdict == runtime.Fail // which stands whatever would run has become
		if (a.ID == "" || a.ID == now || no && review.SameQuestion(a.ID, q.ID)) && d.vouched(&a.Decision, q, now) {
			if found = i; a.ID == "" {
				break
			}
		}
	}
	if found < 0 {
		return nil
	}
	decision := d.all[found].Decision
	d.all = slices.Delete(d.all, found, found+1)
	return &decision
}

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
