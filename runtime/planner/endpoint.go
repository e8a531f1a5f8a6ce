package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Options are what planners of endpoints take from outside. The zero value is ready for use.
type Options struct {
	// Prices make costs of tokens. Without them a model costs nothing.
	Prices Prices
	// MaxTokens bounds an answer, reasoning included; 0 is the format's own bound, if it has any.
	MaxTokens int
	// Transport carries requests to endpoints. Nil is one of our own, with the proxy
	// that the environment names. Redirects are never followed.
	Transport http.RoundTripper
	// Notice, if given, is called with a text when an endpoint fails and is asked again; from any goroutine.
	Notice func(text string)
}

// Prices are what a million tokens cost, in the currency of "limits.cost".
type Prices struct{ InputPerMillion, OutputPerMillion float64 }

// An endpoint is a model behind a wire format.
type endpoint struct {
	name      string // as in a spec
	model     string
	format    *format
	url       *url.URL
	transport http.RoundTripper
	hide      *redact.Set // what is secret about requests
	options   Options
	patience  time.Duration
	maxEvent  int // bytes of one event of a stream

	refused sync.Map // the schemas that the endpoint doesn't take
}

const (
	maxTries = 6
	patience = 5 * time.Minute // of all waits for one answer
)

// open makes the planner of a name, for a model and a format. No request is made yet. The error
// is for an address that is none, and for settings without a key.
func open(name, model string, f *format, o Options) (*endpoint, error) {
	address, err := f.address(name)
	if err != nil {
		return nil, err
	}
	p := &endpoint{name: name, model: model, format: f, url: address, transport: o.Transport, hide: &redact.Set{},
		options: o, patience: patience, maxEvent: maxEvent}
	if p.transport == nil {
		p.transport = http.DefaultTransport
	}
	return p, nil
}

// Answer asks for one answer.
func (p *endpoint) Answer(ctx context.Context, r *request.Request, emit func(string)) (usage request.Usage, err error) {
	if r.Received != "" {
		return usage,
			fmt.Errorf("%w: a model can't go on with an answer that had begun to arrive when the run was stopped",
				request.ErrCut)
	}
	out := &outlet{hide: p.hide, emit: emit}
	if r.Call != nil {
		out.emit = nil // nobody waits for the beginning of a result
	}
	err = p.persist(ctx, r, out, &usage)
	usage.Cost = float64(usage.InputTokens)/1e6*p.options.Prices.InputPerMillion +
		float64(usage.OutputTokens)/1e6*p.options.Prices.OutputPerMillion
	if r.Call != nil {
		_, plain := p.refused.Load(request.JSON(r.Schema))
		emit(unwrapped(out.text.String(), !plain && !isObject(r.Schema)))
	}
	return usage, err
}

// asking is how a request is put: where the endpoint is known to refuse its schema, the prompt describes that.
func (p *endpoint) asking(r *request.Request, schema string) (plain bool, body any) {
	asked := render(r)
	if _, refused := p.refused.Load(schema); refused {
		return true, p.format.body(p.model, p.options.MaxTokens, asked.withSchema(schema), nil)
	}
	if !isObject(r.Schema) {
		outer, inner := request.Below(r.Schema, "/properties/result")
		schema = request.JSON(append(request.Object{{Key: "type", Value: "object"},
			{Key: "properties", Value: request.Object{{Key: "result", Value: inner}}},
			{Key: "required", Value: []any{"result"}}, {Key: "additionalProperties", Value: false}}, outer...))
		asked.user += "Write it as {\"result\": …}.\n"
	}
	return false, p.format.body(p.model, p.options.MaxTokens, asked, json.RawMessage(schema))
}

// isObject reports whether a schema may be of an object: the outermost value that endpoints take is always one.
func isObject(schema any) bool {
	o, _ := schema.(request.Object)
	list, _ := o.Get("type").([]any)
	return o.Get("type") == "object" || slices.Contains(list, any("object"))
}

// persist asks until there is an answer or no use in asking. An answer that was
// handed out in part is never asked for again.
func (p *endpoint) persist(ctx context.Context, r *request.Request, out *outlet, usage *request.Usage) error {
	schema, waited := request.JSON(r.Schema), time.Duration(0)
	for try := 1; ; {
		plain, body := p.asking(r, schema)
		x := &exchange{plain: plain, out: out, format: p.format}
		err := p.send(ctx, x, body)
		usage.Add(x.usage)
		switch {
		case out.tooLong:
			return request.ErrTooLong
		case x.reason == refused:
			return p.declined(x)
		case x.complete:
			out.flush()
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("asking %s: %w", p.name, ctx.Err())
		}
		t := p.diagnose(x, err)
		isFull := x.reason != "" && x.reason != broken
		if out.emit == nil && isFull || out.emit != nil && out.sent > 0 {
			out.flush()
			return fmt.Errorf("%w: %s, after %d bytes of it", request.ErrCut, t.why, out.sent)
		}
		*out = outlet{hide: out.hide, emit: out.emit} // nobody has seen what came
		if t.form && !plain {
			p.refused.Store(schema, true)
			continue
		}
		if !t.again || try == maxTries {
			return p.unavailable(t, try)
		}
		wait := t.wait
		if wait < 0 {
			wait = pauseBefore(try)
		}
		if waited += wait; waited > p.patience {
			t.remedy = fmt.Sprintf("resume the run in %v or later", wait.Round(time.Second))
			return p.unavailable(t, try)
		}
		if p.options.Notice != nil {
			p.options.Notice(fmt.Sprintf("%s: %s; it is asked again in %v, try %d of %d", p.name, t.why,
				wait.Round(time.Millisecond), try+1, maxTries))
		}
		if err := Pause(ctx, wait); err != nil {
			return fmt.Errorf("asking %s: %w", p.name, err)
		}
		try++
	}
}

func (p *endpoint) clean(s string) string { return diag.Escape(p.hide.Message(s)) }

func (p *endpoint) unavailable(t failure, tries int) *request.Unavailable {
	if tries > 1 {
		t.why += fmt.Sprintf(" (asked %d times)", tries)
	}
	return &request.Unavailable{Planner: p.name, Why: t.why, Remedy: t.remedy}
}

// unwrapped is the value that an answer holds: what stands under "result" where that was asked for, and what a fence
// encloses where the model wrote one. Text that isn't what it should be stays as it is, for its reader to judge.
func unwrapped(answer string, isWrapped bool) string {
	answer = strings.TrimSpace(answer)
	if inside := fenced.FindStringSubmatch(answer); inside != nil {
		answer = strings.TrimSpace(inside[1])
	}
	var wrapped struct{ Result json.RawMessage }
	if !isWrapped || json.Unmarshal([]byte(answer), &wrapped) != nil || wrapped.Result == nil {
		return answer
	}
	return string(wrapped.Result)
}

var fenced = regexp.MustCompile("(?s)^```[^\n]*\n(.*)```$")
