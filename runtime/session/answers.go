package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/local"
)

// An Answer is a decision about a call that isn't made at a terminal: it stands in a
// file, or beside the journal of a run that goes on or will (S10.2).
type Answer struct {
	Call     string `json:"call"`
	Instance string `json:"instance,omitzero"`
	Under    string `json:"under,omitzero"` // the path of the calls above one of a delegate
	runtime.Decision
}

// answers reports whether a question is the one that was answered.
func (a *Answer) answers(q *runtime.Question) bool {
	return a.Call == q.Call && a.Instance == q.Instance && a.Under == q.Under && (a.ID == "" || a.ID == q.ID)
}

// AnswerTo is a decision about what a question asks, and nothing else.
func AnswerTo(q *runtime.Question, d runtime.Decision) Answer {
	d.ID = q.ID
	return Answer{q.Call, q.Instance, q.Under, d}
}

// ReadAnswers reads answers: one or a list of them, in YAML or JSON, or one a line where
// the name of the file ends in ".jsonl". The error is of the kind [ErrAnswers].
func ReadAnswers(name string, text []byte) ([]Answer, error) {
	if strings.HasSuffix(name, extension) {
		return readAnswers(name, bytes.SplitAfter(text, []byte("\n")))
	}
	return readAnswers(name, [][]byte{text})
}

func readAnswers(name string, whole [][]byte) (all []Answer, err error) {
	for i, text := range whole {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		wrong := func(at int, format string, args ...any) error {
			return diag.Troubled(ErrAnswers, "%q, line %d: %s", name, i+at, fmt.Sprintf(format, args...)).About(name)
		}
		node, problems := source.Parse(source.NewFile(name, text), source.DefaultLimits())
		for _, p := range problems {
			if !p.Warning {
				return nil, wrong(p.Span.From().Line, "%s", p.Message)
			}
		}
		items := []*source.Node{node}
		if node != nil && node.Kind == source.Array {
			items = node.Items
		}
		for _, item := range items {
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
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&a); err != nil {
		return a, diag.Misread(err)
	}
	verdicts := []runtime.Verdict{runtime.Approve, runtime.Reject, runtime.Change, runtime.Replace, runtime.Retry, runtime.Fail}
	switch {
	case a.Call == "":
		return a, errors.New(`an answer names its call: {"call": "refund#1", …}`)
	case !slices.Contains(verdicts, a.Verdict):
		return a, fmt.Errorf("there is no verdict %q: expected approve, reject, change or replace, or retry or fail for a call that was at work", a.Verdict)
	case (a.Verdict == runtime.Change) != (a.Params != nil):
		return a, errors.New("a change, and nothing else, has \"params\": all that the call is to have")
	case (a.Verdict == runtime.Replace) != (len(a.Replacement) > 0):
		return a, errors.New("a replace, and nothing else, has a \"replacement\": a call")
	}
	return a, nil
}

// A box is a file of answers beside a journal, a line each; "" where there is none. A run
// that waits for them reads it, whoever writes. A line that is no JSON is what a crash left
// of a write: nobody was told that it is kept.
type box string

func (b box) add(answers []Answer) error {
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
		return diag.Troubled(ErrAnswers, "the decision can't be kept in %q: %s", string(b), workspace.Reason(err)).About(string(b)).From(err)
	}
	return nil
}

// since gives the whole lines behind so many bytes, and how many there are then.
func (b box) since(size int64) ([]Answer, int64, error) {
	if b == "" {
		return nil, size, nil
	}
	if now, err := os.Stat(string(b)); err != nil || now.Size() <= size {
		return nil, size, nil // there are none yet
	}
	text, err := os.ReadFile(string(b))
	if err != nil {
		return nil, size, diag.Troubled(ErrAnswers, "can't read %q: %s", string(b), workspace.Reason(err)).About(string(b)).From(err)
	}
	text = text[min(size, int64(len(text))):]
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool { return !json.Valid(line) })
	all, err := readAnswers(string(b), lines)
	return all, size + int64(len(text)), err
}

// A desk is where answers come in: from a file, from the box, and from the person who is
// asked, if one is there. It is a [local.Confirmer].
type desk struct {
	person local.Confirmer
	box    box
	before map[string]bool // questions that were answered before the run was resumed
	notice func(string)

	mu      sync.Mutex
	given   []Answer // that nothing was asked about yet
	size    int64    // of the box, as far as it was read
	waiting []*awaited
	looking bool // somebody looks into the box from time to time
	over    chan struct{}
	watcher sync.WaitGroup
}

func newDesk(person local.Confirmer, s *Session) *desk {
	d := &desk{person: person, box: s.keeper.box(), given: s.answers, notice: s.options.Notice, over: make(chan struct{})}
	if s.replay != nil {
		d.before = s.replay.answered
	}
	return d
}

// close ends what the desk does, and tells what was answered and not asked.
func (d *desk) close() {
	close(d.over)
	d.watcher.Wait()
	if d.notice != nil {
		for _, words := range d.left() {
			d.notice(words)
		}
	}
}

// An awaited answer is one to a question that is open.
type awaited struct {
	question *runtime.Question
	answer   *Answer // that has come
	wake     context.CancelCauseFunc
}

// glance is how often the box is looked into.
const glance = 200 * time.Millisecond

// answered gives the answer that is there already, or nil.
func (d *desk) answered(q *runtime.Question) *runtime.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	if a := d.take(q); a != nil {
		return &a.Decision
	}
	return nil
}

// Ask waits for an answer, as long as there is somebody to give it.
func (d *desk) Ask(ctx context.Context, q *runtime.Question, shown func()) func() (runtime.Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.person == nil && (q.Within == 0 || d.box == "") {
		return func() (runtime.Decision, error) { return runtime.Decision{}, local.ErrNobody }
	}
	own, wake := context.WithCancelCause(ctx)
	one := &awaited{question: q, wake: wake}
	if d.waiting = append(d.waiting, one); !d.looking && d.box != "" {
		d.looking = true
		d.watcher.Go(d.watch)
	}
	ask := func() (runtime.Decision, error) {
		shown()
		<-own.Done()
		return runtime.Decision{}, own.Err()
	}
	if d.person != nil {
		ask = d.person.Ask(own, q, shown)
	}
	return func() (runtime.Decision, error) {
		decision, err := ask()
		wake(nil)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.waiting = slices.DeleteFunc(d.waiting, func(other *awaited) bool { return other == one })
		if one.answer != nil && err != nil {
			return one.answer.Decision, nil
		}
		return decision, err
	}
}

// take gives the first answer to a question, once.
func (d *desk) take(q *runtime.Question) *Answer {
	at := slices.IndexFunc(d.given, func(a Answer) bool { return a.answers(q) })
	if at < 0 {
		return nil
	}
	answer := d.given[at]
	d.given = slices.Delete(d.given, at, at+1)
	return &answer
}

// look takes what has come into the box.
func (d *desk) look() {
	more, size, err := d.box.since(d.size)
	if err != nil && d.notice != nil {
		d.notice(err.Error())
		d.box = ""
	}
	d.size = size
	for _, a := range more {
		if !d.before[a.ID] {
			d.given = append(d.given, a)
		}
	}
}

// watch looks into the box as long as somebody waits.
func (d *desk) watch() {
	for {
		select {
		case <-time.After(glance):
		case <-d.over:
			return
		}
		d.mu.Lock()
		if d.look(); len(d.given) > 0 {
			for _, one := range d.waiting {
				if one.answer == nil {
					if one.answer = d.take(one.question); one.answer != nil {
						one.wake(fmt.Errorf("%s has answered elsewhere", one.answer.By))
					}
				}
			}
		}
		over := len(d.waiting) == 0
		if over {
			d.looking = false
		}
		d.mu.Unlock()
		if over {
			return
		}
	}
}

// left is what was answered and not asked, or asked otherwise, in words.
func (d *desk) left() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	const most = 5
	var all []string
	for i, a := range d.given {
		if i == most {
			all = append(all, fmt.Sprintf("%d more answers weren't taken", len(d.given)-most))
			break
		}
		name := a.Call
		if a.Under != "" {
			name = a.Under + "/" + name
		}
		words := fmt.Sprintf("the answer for the call %q wasn't needed: nothing was asked about it", name)
		if a.ID != "" {
			words = fmt.Sprintf("the answer %q for the call %q wasn't taken: what it was about wasn't asked", a.ID, name)
		}
		all = append(all, words)
	}
	return all
}
