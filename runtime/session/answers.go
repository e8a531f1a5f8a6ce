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
