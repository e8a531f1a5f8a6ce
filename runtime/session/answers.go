package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// An Answer is a decision about a call that isn't made at a terminal: it is in a
// file, or beside the journal of a run.
type Answer struct {
	Call     string `json:"call"`
	Instance string `json:"instance,omitzero"`
	Under    string `json:"under,omitzero"` // the path of the calls above one of a delegate
	runtime.Decision
}

// name is that of the call, with those above it before it, as it is shown and may be
// written.
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

func readAnswers(name string, full [][]byte) (all []Answer, err error) {
	for i, text := range full {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		wrong := func(at int, format string, args ...any) error {
			return diag.NewError(ErrAnswers, "%q, line %d: %s", name, i+at, fmt.Sprintf(format, args...))
		}
		node, problems := source.Parse(source.NewFile(name, text), source.DefaultLimits())
		for _, p := range problems {
			if !p.Warning {
				return nil, wrong(p.Span.From().Line, "%s", p.Message)
			}
		}
		for _, item := range node.Several() {
			answer, err := answerOf(item)
			if err != nil {
				return nil, wrong(max(1, item.Span().From().Line), "%v", err)
			}
			all = append(all, answer)
		}
	}
	return all, nil
}

func answerOf(n *source.Node) (a Answer, err error) {
	if n == nil || n.Kind != source.Object {
		return a, errors.New(`expected an answer, such as {"call": "refund#1", "verdict": "approve"}`)
	}
	text, err := json.Marshal(n.Value())
	if err != nil {
		return a, err
	}
	if err := diag.ReadStrictly(text, &a); err != nil {
		return a, err
	}
	if a.Call == "" {
		return a, errors.New(`an answer names its call: {"call": "refund#1", …}`)
	}
	return a, a.Check()
}

// An answersFile is a file of answers beside a journal, a line each; "" where there is none.
type answersFile string

func (b answersFile) add(answers []Answer) error {
	var text []byte
	if before, err := os.ReadFile(string(b)); err == nil && !bytes.HasSuffix(before, []byte("\n")) && len(before) > 0 {
		text = append(text, '\n')
	}
	for _, a := range answers {
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	f, err := os.OpenFile(string(b), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return diag.NewError(ErrAnswers, "the decision can't be kept in %q: %w", string(b), workspace.Reason(err))
	}
	return nil
}

// read gives the answers in whole lines, none where there is no file.
func (b answersFile) read() ([]Answer, error) {
	text, err := os.ReadFile(string(b))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, diag.NewError(ErrAnswers, "can't read %q: %w", string(b), workspace.Reason(err))
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		if !json.Valid(line) {
			lines[i] = nil // what a crash left of a write
		}
	}
	return readAnswers(string(b), lines)
}

// An answerSource is a [local.Confirmer] with the answers of --decide, stored ones, and those of the person asked.
type answerSource struct {
	person      local.Confirmer
	within      time.Duration // how long an answer is waited for
	answersFile answersFile
	now         func(*runtime.Question) string // the name that a question has as things are
	signed      *vouching                      // nil of a run without an approval
	notice      func(string)
	before      map[string]bool // questions that were answered before the run was resumed

	mu     sync.Mutex
	stored []Answer // and not taken yet
	size   int64    // of the file as it was read
	read   int      // answers in it
}

func newAnswerSource(s *Session) *answerSource {
	d := &answerSource{person: s.Options.Confirmer, notice: s.Options.Notice, within: s.confirm().Timeout,
		now: func(q *runtime.Question) string { return q.ID }}
	if s.vouching != nil {
		s.vouching.run = s.ID()
		d.signed = s.vouching
	}
	if s.keeper != nil {
		d.answersFile = answersFileOf(s.keeper.file)
		d.now = func(q *runtime.Question) string {
			same := *q
			pin(s.Program, &same)
			return same.ID
		}
	}
	if s.Replay != nil {
		d.before = s.Replay.answered
	}
	d.look()
	d.store(s.answers)
	return d
}

// look reads what was added to the file of stored answers.
func (d *answerSource) look() {
	now, err := os.Stat(string(d.answersFile))
	if err != nil || now.Size() == d.size { // or there are none yet
		return
	}
	d.size = now.Size()
	all, err := d.answersFile.read()
	if err != nil && d.notice != nil {
		d.notice(err.Error())
		d.answersFile = "" // no more is read
	}
	d.store(slices.DeleteFunc(all[min(d.read, len(all)):], func(a Answer) bool { return d.before[a.ID] }))
	d.read = len(all)
}

// store takes answers up, the last to a question in the place of those before it.
func (d *answerSource) store(more []Answer) {
	for _, a := range more {
		if a.ID != "" {
			d.stored = slices.DeleteFunc(d.stored, func(b Answer) bool { return review.SameQuestion(a.ID, b.ID) })
		}
		d.stored = append(d.stored, a)
	}
}

// close tells which answers weren't used. Of a run that stopped, one waits for its question, and is reported only where
// the run asks another one.
func (d *answerSource) close(o *runtime.Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left []string
	for _, a := range d.stored {
		asks := func(q *runtime.Question) bool { return q.Path() == a.name() && q.Instance == a.Instance }
		if a.ID == "" || o != nil && (o.Status != runtime.RunStopped || slices.ContainsFunc(o.Asked, asks)) {
			left = append(left, strings.TrimPrefix(a.Instance+" "+a.name(), " "))
		}
	}
	if len(left) > 0 && d.notice != nil {
		d.notice(wording.Counted(len(left), "answer wasn't used", "answers weren't used") + ": " +
			wording.Names(left, 10) + "; another answer counts, or the question has changed since")
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
	case d.person != nil:
		ask = d.person.Ask(own, q)
	case within == 0 || d.answersFile == "":
		withdraw(local.ErrNoReviewer)
	case q.Within == 0: // else the machine says when it is over
		time.AfterFunc(within, func() { withdraw(local.ErrNoReviewer) })
	}
	return func() (runtime.Decision, error) {
		stored := make(chan *runtime.Decision, 1)
		go func() {
			defer close(stored)
			for looks := time.Tick(pollInterval); ; {
				select {
				case <-own.Done():
					return
				case <-looks:
				}
				if found := d.answered(q); found != nil {
					stored <- found
					withdraw(nil) // the reviewer sees it
					return
				}
			}
		}()
		decision, err := ask()
		withdraw(nil)
		if found := <-stored; found != nil && err != nil {
			return *found, nil
		}
		takes := []runtime.Verdict{runtime.Approve, runtime.Change, runtime.Retry}
		if slices.Contains(takes, decision.Verdict) && d.now(q) != q.ID { // what was shown isn't what would run now
			decision.ID = "what was shown"
		}
		if d.vouched(&decision, q) != nil {
			decision.Signed = ""
		}
		return decision, err
	}
}

// kept are the answers that are there before the run continues.
func (d *answerSource) kept() (all []runtime.KeptAnswer) {
	for _, a := range d.stored {
		all = append(all, runtime.KeptAnswer{Call: a.name(), Instance: a.Instance, ID: a.ID})
	}
	return all
}

// vouched reports why the signature of a decision doesn't count.
func (d *answerSource) vouched(decision *runtime.Decision, q *runtime.Question) error {
	if d.signed == nil || decision.Signed == "" {
		return nil
	}
	return d.signed.holds(decision.Signed, q, d.now(q))
}

// answered gives the answer to a question that is there, once, or nil: first those to whatever is asked.
func (d *answerSource) answered(q *runtime.Question) *runtime.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	fits := func(a Answer) bool {
		no := a.Verdict == runtime.Reject || a.Verdict == runtime.Fail // which stands whatever would run has become
		return a.name() == q.Path() && a.Instance == q.Instance &&
			(a.ID == "" || a.ID == d.now(q) || no && review.SameQuestion(a.ID, q.ID)) &&
			d.vouched(&a.Decision, q) == nil
	}
	at := slices.IndexFunc(d.stored, func(a Answer) bool { return a.ID == "" && fits(a) })
	if at < 0 {
		at = slices.IndexFunc(d.stored, fits)
	}
	if at < 0 {
		return nil
	}
	found := d.stored[at].Decision
	d.stored = slices.Delete(d.stored, at, at+1)
	return &found
}
