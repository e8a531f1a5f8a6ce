package planner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/web"
	"github.com/tmaxmax/go-sse"
)

// The bounds of what is read: of one event, of an answer that isn't a stream, and of what a model says besides an
// answer; in bytes.
const (
	maxEvent   = 32 << 20
	maxRefusal = 64 << 10
	maxBeside  = 64 << 10
)

// An exchange is one request, and what came of it.
type exchange struct {
	plain  bool // the prompt describes the schema: all text is the answer
	out    *outlet
	format *format

	status   int // 0 when no answer came
	header   http.Header
	refusal  []byte // the body of an answer that isn't a stream, as much as anybody reads
	complete bool   // the answer came to its own end
	reason   reason // it didn't
	words    string // of a refusal
	beside   string // text beside the answer, which is the answer where nothing else came
	usage    request.Usage
}

// maxSilence is how long an endpoint may send nothing before the request fails with errSilent.
const maxSilence = 10 * time.Minute

var errSilent = fmt.Errorf("nothing came for %v", maxSilence)

// send sends a body, and takes the events of the answer until no more is wanted. One that isn't streamed is one event.
func (p *endpoint) send(ctx context.Context, x *exchange, body any) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer func() {
		if alarm.Stop(); context.Cause(ctx) == errSilent {
			err = errSilent
		}
	}()
	r, err := p.post(ctx, body)
	if err != nil {
		return err
	}
	answer, err := web.Send(p.transport, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	x.status, x.header = answer.StatusCode, answer.Header
	stream := &heard{answer.Body, alarm}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if x.status/100 != 2 || kind == "text/html" {
		x.refusal, _ = io.ReadAll(io.LimitReader(stream, maxRefusal))
		return fmt.Errorf("status %d", x.status)
	}
	if kind == "application/json" {
		text, err := io.ReadAll(io.LimitReader(stream, int64(p.maxEvent)))
		if err == nil {
			x.refusal = text[:min(len(text), maxRefusal)]
			_, err = x.take("", string(text))
		}
		return err
	}
	complete := io.MultiReader(stream, strings.NewReader("\n\n")) // which some leave out behind the last event
	for e, err := range sse.Read(complete, &sse.ReadConfig{MaxEventSize: p.maxEvent}) {
		if err != nil {
			return err
		}
		if e.Data == "" {
			continue
		}
		if more, err := x.take(e.Type, e.Data); err != nil || !more {
			return err
		}
	}
	return nil
}

// post is the request. What it holds besides the ordinary is a secret from now on.
func (p *endpoint) post(ctx context.Context, body any) (*http.Request, error) {
	text, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "obelus")
	for _, h := range p.format.headers {
		value := os.Getenv(h.variable)
		if p.hide.KeepDistinctive("key", value); value != "" || h.variable == "" {
			r.Header.Set(h.name, h.prefix+value)
		}
	}
	p.hide.KeepUser(p.url.User)
	for _, values := range p.url.Query() {
		for _, value := range values {
			p.hide.KeepDistinctive("key", value)
		}
	}
	return r, nil
}

// take takes one event, and reports whether more is wanted.
func (x *exchange) take(event, data string) (more bool, err error) {
	c, err := x.format.read(event, data)
	if err != nil {
		return false, err
	}
	x.usage.InputTokens = max(x.usage.InputTokens, c.usage.InputTokens) // later counts replace earlier ones
	x.usage.OutputTokens = max(x.usage.OutputTokens, c.usage.OutputTokens)
	if x.plain {
		c.text, c.beside = c.text+c.beside, ""
	}
	x.out.write(c.text)
	x.beside = cut(x.beside, c.beside)
	if reason := x.format.reasons[c.reason]; reason != "" {
		x.reason = reason
	}
	if c.refusal != "" {
		x.reason, x.words = refused, cut(x.words, c.refusal)
	}
	if x.reason == "" && c.reason != "" {
		x.complete = true
		if x.out.empty() {
			x.out.write(x.beside)
		}
	}
	if c.last && x.reason == "" && !x.out.empty() { // some give no reason
		x.complete = true
	}
	return !c.last && !x.out.tooLong, nil
}

func (o *outlet) empty() bool { return o.sent+len(o.held) == 0 }

// cut adds a piece to words while there is room.
func cut(words, piece string) string {
	return words + strings.ToValidUTF8(piece[:min(len(piece), maxBeside-len(words))], "")
}

// declined is the refusal of a model.
func (p *endpoint) declined(x *exchange) *request.Refused {
	words := x.words
	if words == "" {
		words = x.beside
	}
	if len(words) > maxBeside-utf8.UTFMax { // cut, perhaps in a secret
		words = words[:len(words)-p.hide.Unfinished(words)]
	}
	return &request.Refused{Planner: p.name, Words: p.clean(words)}
}

// A heard stream sets the alarm anew with each piece that comes.
type heard struct {
	io.Reader
	alarm *time.Timer
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.alarm.Reset(maxSilence)
	}
	return n, err
}

// An outlet hands out an answer's text: without secrets, also where one is split among pieces, and as valid UTF-8.
type outlet struct {
	hide *redact.Set
	emit func(string)    // nil gathers the text instead, which then nobody has seen
	text strings.Builder // what was gathered
	held string          // the end of what came, which may begin a secret
	sent int             // bytes

	tooLong bool // there was more to gather than a result may be long
}

func (o *outlet) write(piece string) {
	s := o.hide.Text(o.held + piece)
	keep := len(s) - o.hide.Unfinished(s)
	o.held = s[keep:]
	o.send(s[:keep])
}

// flush hands out what was held back: nothing follows. Most of a secret is as good as all of it.
func (o *outlet) flush() {
	s := o.held
	o.held = ""
	if len(s) >= 8 {
		s = redact.Hidden("key")
	}
	o.send(s)
}

func (o *outlet) send(s string) {
	if s == "" {
		return
	}
	o.sent += len(s)
	s = strings.ToValidUTF8(s, "\uFFFD")
	if o.emit != nil {
		o.emit(s)
	} else if o.tooLong = o.tooLong || o.text.Len()+len(s) > request.MaxResult; !o.tooLong {
		o.text.WriteString(s)
	}
}
