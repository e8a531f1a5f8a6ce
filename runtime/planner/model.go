package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// A model is a planner behind a wire format.
type model struct {
	name     string // as in a spec
	base     string // the variable that holds the endpoint's address
	keys     string // those that hold its key
	format   format
	wire     *wire
	prices   Prices
	patience time.Duration

	mu      sync.Mutex
	refused map[string]int // by schema: how many forms the endpoint didn't take
}

// A format is a wire format of models.
type format interface {
	// forms are the ways to ask for an answer of a schema, the strictest first.
	forms(schema *source.Node) []form
	// ask sends one request and tells the answer's text as it comes. The error is
	// that of the stream; nil where it simply ended.
	ask(ctx context.Context, p Prompt, f form, say func(text string)) (ending, error)
}

// A form is a way to ask for an answer of a schema.
type form struct {
	name    string
	schema  string // as the endpoint is given it; "" when it is told to the model instead
	wrapped bool   // the answer stands under "result"
}

// An ending is what a stream said about its answer.
type ending struct {
	whole   bool // it came to its own end
	full    bool // the answer reached the bound on its tokens
	refused bool
	words   string // of a refusal
	usage   runtime.Usage
}

// maxWords bounds what a model may say besides an answer, in bytes.
const maxWords = 64 << 10

// more adds to such words what still has room.
func more(words, piece string) string {
	return words + strings.ToValidUTF8(piece[:min(len(piece), maxWords-len(words))], "")
}

const (
	maxTries        = 6
	defaultPatience = 5 * time.Minute
)

func newModel(name, base, keys string, f format, w *wire, o Options) *model {
	m := &model{name: name, base: base, keys: keys, format: f, wire: w, prices: o.Prices, patience: o.Patience, refused: map[string]int{}}
	if m.patience <= 0 {
		m.patience = defaultPatience
	}
	return m
}

func (m *model) Answer(ctx context.Context, r *runtime.Request, emit func(string)) (usage runtime.Usage, err error) {
	if r.Received != "" {
		return usage, fmt.Errorf("%w: a model can't go on with an answer that had begun to arrive when the run was stopped", runtime.ErrCut)
	}
	q, err := m.question(r)
	if err != nil {
		return usage, err
	}
	defer func() { usage.Cost = m.prices.cost(usage) }()
	out := &outlet{hide: m.wire.hide, emit: emit}
	if r.Call == nil {
		_, err = m.persist(ctx, q, out, &usage)
		return usage, err
	}
	out.emit = nil // nobody waits for the beginning of a result
	form, err := m.persist(ctx, q, out, &usage)
	if err == nil {
		emit(unwrapped(out.text.String(), form))
	}
	return usage, err
}

// A question is a request, ready to be sent in any form.
type question struct {
	prompt Prompt
	schema string
	forms  []form
}

func (m *model) question(r *runtime.Request) (q question, err error) {
	if q.prompt, err = Render(r); err != nil {
		return q, err
	}
	schema, err := tree("schema", r.Schema)
	if err != nil {
		return q, err
	}
	q.schema = compact(schema)
	q.forms = m.format.forms(schema)
	return q, nil
}

// persist asks until there is an answer or no use in asking. An answer of which
// somebody has seen a part is never asked for again.
func (m *model) persist(ctx context.Context, q question, out *outlet, usage *runtime.Usage) (form, error) {
	waited := time.Duration(0)
	for try := 1; ; {
		f := q.forms[m.step(q)]
		end, x, streamErr := m.send(ctx, q, f, out)
		usage.Add(end.usage)
		switch {
		case errors.Is(streamErr, runtime.ErrTooLong):
			return f, streamErr
		case end.refused:
			return f, &Refused{Planner: m.name, Words: m.clean(end.words)}
		case end.whole:
			out.flush()
			return f, nil
		case ctx.Err() != nil:
			return f, fmt.Errorf("asking %s: %w", m.name, ctx.Err())
		}
		t := m.trouble(end, x, streamErr)
		if out.seen() {
			out.flush()
			return f, fmt.Errorf("%w: %s, after %d bytes of it", runtime.ErrCut, t.why, out.sent)
		}
		out.restart()
		if t.form && m.stepDown(q, f) {
			continue
		}
		if !t.again || try == maxTries {
			return f, m.unavailable(t, try)
		}
		wait := t.wait
		if wait < 0 {
			wait = pauseBefore(try)
		}
		if waited += wait; waited > m.patience {
			t.remedy = fmt.Sprintf("resume the run in %v or later", wait.Round(time.Second))
			return f, m.unavailable(t, try)
		}
		if err := pause(ctx, wait); err != nil {
			return f, fmt.Errorf("asking %s: %w", m.name, err)
		}
		try++
	}
}

// send asks once.
func (m *model) send(ctx context.Context, q question, f form, out *outlet) (ending, *exchange, error) {
	ctx, x, done := m.wire.begin(ctx)
	defer done()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	out.full = func() { giveUp(runtime.ErrTooLong) }
	p := q.prompt
	switch {
	case f.schema == "":
		p = p.told(q.schema)
	case f.wrapped:
		p.User += "Write it as {\"result\": …}.\n"
	}
	end, err := m.format.ask(ctx, p, f, out.write)
	if cause := context.Cause(ctx); cause == errSilent || cause == runtime.ErrTooLong {
		err = cause
	}
	return end, x, err
}

func (m *model) trouble(end ending, x *exchange, err error) (t trouble) {
	switch {
	case end.full:
		t.why = "it reached the bound on what a model may write in one answer"
		t.remedy = "raise that bound, or let the plan take smaller steps"
	case errors.Is(err, errSilent):
		t.why = fmt.Sprintf("%s sent nothing for %v", x.at, m.wire.silence)
		t.remedy = "resume the run when the endpoint works again"
	default:
		t = judge(x, err, m.base, m.keys)
	}
	t.why = m.clean(t.why)
	return t
}

// clean makes words from outside fit to be shown.
func (m *model) clean(s string) string { return diag.Escape(m.wire.hide.Message(s)) }

func (m *model) unavailable(t trouble, tries int) *Unavailable {
	if tries > 1 {
		t.why += fmt.Sprintf(" (asked %d times)", tries)
	}
	return &Unavailable{Planner: m.name, Why: t.why, Remedy: t.remedy}
}

// step is the form in which to ask a question: the strictest that the endpoint
// hasn't refused for its schema.
func (m *model) step(q question) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return min(m.refused[q.schema], len(q.forms)-1)
}

// stepDown remembers that the endpoint doesn't take a form, and tells whether
// there is another.
func (m *model) stepDown(q question, f form) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, known := range q.forms {
		if known == f {
			m.refused[q.schema] = max(m.refused[q.schema], i+1)
			return i+1 < len(q.forms)
		}
	}
	return false
}

// unwrapped is the value that an answer holds: what stands under "result" where
// that was asked for, and what a fence encloses where the model wrote one. Text
// that isn't what it should be stays as it is, for its reader to judge.
func unwrapped(answer string, f form) string {
	answer = strings.TrimSpace(answer)
	if f.schema == "" {
		return unfenced(answer)
	}
	if !f.wrapped {
		return answer
	}
	root, problems := source.Parse(&source.File{Name: "answer", Format: source.JSON, Text: []byte(answer)}, wide)
	if result := root.Get("result"); result != nil && len(problems) == 0 {
		return result.Span().Text()
	}
	return answer
}

func unfenced(s string) string {
	if inside, ok := strings.CutPrefix(s, "```"); ok {
		if inside, ok = strings.CutSuffix(inside, "```"); ok {
			if _, rest, lines := strings.Cut(inside, "\n"); lines {
				return strings.TrimSpace(rest)
			}
		}
	}
	return s
}
