// Package endpoint asks models over HTTP, whatever their wire format: requests are
// tried again as long as nothing of an answer was handed out, streams are read,
// and whatever is secret about a request is kept out of text and errors. A key is
// sent to the configured address and nowhere else.
package endpoint

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
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A Format is a wire format of models. It does nothing by itself: it says what is
// sent, and reads what comes.
type Format interface {
	// Forms are the ways to ask for an answer of a schema, the strictest first.
	Forms(schema any) []Form
	// Body is what is sent, to be encoded as JSON.
	Body(p prompt.Prompt, f Form) any
	// Listen begins the stream of one answer. What it returns takes the events one
	// by one, hands the answer's text to say as it comes, notes in end what the
	// stream says about it, and reports whether more is wanted.
	Listen(f Form, end *Ending, say func(text string)) func(event, data string) (more bool, err error)
}

// A Form is a way to ask for an answer of a schema.
type Form struct {
	Name    string
	Schema  string // as the endpoint is given it; "" when the prompt holds it instead
	Wrapped bool   // the answer stands under "result"
}

// Forms are the ways of an endpoint that accepts schemas, by their names: the one that
// enforces a schema, where endpoints can, and the one that only shows it to the model.
func Forms(schema any, enforced, shown string) []Form {
	wrapped := !isA("object", schema)
	if wrapped {
		schema = wrap(schema)
	}
	forms := []Form{{shown, request.JSON(schema), wrapped}}
	if enforceable(schema) {
		forms = append([]Form{{enforced, forms[0].Schema, wrapped}}, forms...)
	}
	return forms
}

// An Ending is what a stream said about its answer.
type Ending struct {
	Complete bool   // it came to its own end
	Broken   bool   // it didn't, by its own words
	Full     string // the bound on its tokens that the answer reached; "" for none
	Refused  bool
	Words    string // of a refusal
	Usage    request.Usage
}

// TokenBound is what Ending.Full says of the bound on an answer.
const TokenBound = "the bound on what a model may write in one answer (see --max-tokens)"

// An Address is where requests go, and which variables say so.
type Address struct {
	Base    string   // the variable that may hold the address
	Usual   string   // the address where it doesn't
	Path    string   // of requests, below the address
	Keys    []string // the variables that may hold a key, the usual first
	Custom  string   // the variable that may hold further headers, one "Name: value" a line, as gateways want them
	Headers []Header
}

// A Header is one of a request: the value of a variable behind a prefix, if the
// variable is set; or the prefix itself where there is no variable.
type Header struct{ Name, Prefix, Variable string }

// Options are what planners of endpoints take from outside. The zero value is
// ready for use.
type Options struct {
	// Prices make costs of tokens. Without them a model costs nothing.
	Prices Prices
	// MaxTokens bounds an answer, reasoning included; 0 is the format's own bound, if it has any.
	MaxTokens int
	// Client carries requests to endpoints. Nil is one of our own, with the proxy
	// that the environment names. Redirects are never followed.
	Client *http.Client
	// Notice, if given, is called with a text when an endpoint fails and is asked again,
	// or says nothing for long; from any goroutine.
	Notice func(text string)
}

// Prices are what a million tokens cost, in the currency of "limits.cost".
type Prices struct{ InputPerMillion, OutputPerMillion float64 }

// A Planner is a model behind a wire format.
type Planner struct {
	name     string // as in a spec
	address  Address
	url      *url.URL
	format   Format
	client   *http.Client
	hide     *redact.Set // what is secret about requests
	prices   Prices
	patience time.Duration
	maxEvent int // bytes of one event of a stream
	notice   func(string)

	refused sync.Map // by schema: how many forms the endpoint doesn't take
}

// maxWords bounds what a model may say besides an answer, in bytes.
const maxWords = 64 << 10

// Words adds a piece to such words while there is room.
func Words(words, piece string) string {
	return words + strings.ToValidUTF8(piece[:min(len(piece), maxWords-len(words))], "")
}

const (
	maxTries = 6
	patience = 5 * time.Minute // of all waits for one answer
)

// Open makes the planner of a name and a format. No request is made yet. The error
// is for an address that is none, and for settings without a key.
func Open(name string, at Address, f Format, o Options) (*Planner, error) {
	address, err := at.open(name)
	if err != nil {
		return nil, err
	}
	p := &Planner{name: name, address: at, url: address, format: f, client: &http.Client{}, hide: &redact.Set{},
		prices: o.Prices, patience: patience, maxEvent: maxEvent, notice: o.Notice}
	if p.notice == nil {
		p.notice = func(string) {}
	}
	if o.Client != nil {
		*p.client = *o.Client
	}
	if p.client.Transport == nil {
		p.client.Transport = http.DefaultTransport
	}
	p.client.Transport = unmoved{p.client.Transport}
	return p, nil
}

// Answer asks for one answer, as planner.Planner wants it.
func (p *Planner) Answer(ctx context.Context, r *request.Request, emit func(string)) (usage request.Usage, err error) {
	if r.Received != "" {
		return usage,
			fmt.Errorf("%w: a model can't go on with an answer that had begun to arrive when the run was stopped",
				request.ErrCut)
	}
	q := question{prompt: prompt.Render(r), schema: request.JSON(r.Schema), forms: p.format.Forms(r.Schema)}
	out := &outlet{hide: p.hide, emit: emit}
	if r.Call != nil {
		out.emit = nil // nobody waits for the beginning of a result
	}
	form, err := p.persist(ctx, q, out, &usage)
	usage.Cost = float64(usage.InputTokens)/1e6*p.prices.InputPerMillion +
		float64(usage.OutputTokens)/1e6*p.prices.OutputPerMillion
	if r.Call != nil {
		emit(unwrapped(out.text.String(), form))
	}
	return usage, err
}

type question struct {
	prompt prompt.Prompt
	schema string
	forms  []Form
}

// persist asks until there is an answer or no use in asking. An answer that was
// handed out in part is never asked for again.
func (p *Planner) persist(ctx context.Context, q question, out *outlet, usage *request.Usage) (Form, error) {
	waited := time.Duration(0)
	for try := 1; ; {
		known, _ := p.refused.Load(q.schema)
		at, _ := known.(int)
		f := q.forms[at]
		end, x, streamErr := p.send(ctx, q, f, out)
		usage.Add(end.Usage)
		switch {
		case out.tooLong:
			return f, request.ErrTooLong
		case end.Refused:
			words := end.Words
			if len(words) > maxWords-utf8.UTFMax { // cut, perhaps in a secret
				words = words[:len(words)-p.hide.Unfinished(words)]
			}
			return f, &request.Refused{Planner: p.name, Words: p.clean(words)}
		case end.Complete:
			out.flush()
			return f, nil
		case ctx.Err() != nil:
			return f, fmt.Errorf("asking %s: %w", p.name, ctx.Err())
		}
		t := p.diagnose(end, x, streamErr)
		if out.emit == nil && end.Full != "" || out.emit != nil && out.sent > 0 {
			out.flush()
			return f, fmt.Errorf("%w: %s, after %d bytes of it", request.ErrCut, t.why, out.sent)
		}
		*out = outlet{hide: out.hide, emit: out.emit} // nobody has seen what came
		if t.form && at+1 < len(q.forms) {
			p.refused.Store(q.schema, at+1)
			continue
		}
		if !t.again || try == maxTries {
			return f, p.unavailable(t, try)
		}
		wait := t.wait
		if wait < 0 {
			wait = pauseBefore(try)
		}
		if waited += wait; waited > p.patience {
			t.remedy = fmt.Sprintf("resume the run in %v or later", wait.Round(time.Second))
			return f, p.unavailable(t, try)
		}
		p.notice(fmt.Sprintf("%s: %s; it is asked again in %v, try %d of %d", p.name, t.why,
			wait.Round(time.Millisecond), try+1, maxTries))
		if err := Pause(ctx, wait); err != nil {
			return f, fmt.Errorf("asking %s: %w", p.name, err)
		}
		try++
	}
}

func (p *Planner) send(ctx context.Context, q question, f Form, out *outlet) (Ending, *exchange, error) {
	ctx, x, done := p.begin(ctx)
	defer done()
	sent := q.prompt
	switch {
	case f.Schema == "":
		sent = sent.WithSchema(q.schema)
	case f.Wrapped:
		sent.User += "Write it as {\"result\": …}.\n"
	}
	var end Ending
	hear := p.format.Listen(f, &end, out.write)
	err := p.ask(ctx, x, p.format.Body(sent, f), func(event, data string) (bool, error) {
		more, err := hear(event, data)
		if !more && err == nil && out.sent+len(out.held) > 0 && !end.Broken && end.Full == "" { // some give no reason
			end.Complete = true
		}
		return more && !out.tooLong, err
	})
	return end, x, err
}

func (p *Planner) diagnose(end Ending, x *exchange, err error) (t failure) {
	switch {
	case end.Full != "":
		t.why = "it reached " + end.Full
		t.remedy = "raise that bound, let the plan take smaller steps, or take another model"
	case time.Duration(x.silent.Load()) >= maxSilence:
		t.why = fmt.Sprintf("%s sent nothing for %v", p.at(), maxSilence)
		t.remedy = "resume the run when the endpoint works again"
	default:
		t = p.judge(x, err)
	}
	t.why = p.clean(t.why)
	return t
}

func (p *Planner) clean(s string) string { return diag.Escape(p.hide.Message(s)) }

func (p *Planner) unavailable(t failure, tries int) *request.Unavailable {
	if tries > 1 {
		t.why += fmt.Sprintf(" (asked %d times)", tries)
	}
	return &request.Unavailable{Planner: p.name, Why: t.why, Remedy: t.remedy}
}

// unwrapped is the value that an answer holds: what stands under "result" where
// that was asked for, and what a fence encloses where the model wrote one. Text
// that isn't what it should be stays as it is, for its reader to judge.
func unwrapped(answer string, f Form) string {
	answer = strings.TrimSpace(answer)
	if inside := fenced.FindStringSubmatch(answer); inside != nil {
		answer = strings.TrimSpace(inside[1])
	}
	if !f.Wrapped {
		return answer
	}
	var wrapped struct{ Result json.RawMessage }
	if json.Unmarshal([]byte(answer), &wrapped) != nil || wrapped.Result == nil {
		return answer
	}
	return string(wrapped.Result)
}

var fenced = regexp.MustCompile("(?s)^```[^\n]*\n(.*)```$")

func isA(kind string, schema any) bool {
	o, _ := schema.(request.Object)
	list, _ := o.Get("type").([]any)
	return o.Get("type") == kind || slices.Contains(list, any(kind))
}

// enforceable reports whether endpoints can enforce a schema: no value is unrestricted, every object is closed and
// requires all of its properties, and references lead to the outermost definitions.
func enforceable(schema any) bool {
	o, _ := schema.(request.Object)
	properties, _ := o.Get("properties").(request.Object)
	required, _ := o.Get("required").([]any)
	ref, _ := o.Get("$ref").(string)
	definition, outermost := strings.CutPrefix(ref, "#/$defs/")
	switch {
	case !slices.ContainsFunc([]string{"type", "$ref", "enum", "const", "anyOf", "oneOf"}, o.Has),
		o.Has("$ref") && (!outermost || strings.Contains(definition, "/")),
		isA("array", o) && !o.Has("items"),
		isA("object", o) && (properties == nil || len(required) < len(properties) ||
			o.Get("additionalProperties") != false):
		return false
	}
	definitions, _ := o.Get("$defs").(request.Object)
	for _, m := range slices.Concat(properties, definitions) {
		if !enforceable(m.Value) {
			return false
		}
	}
	oneOf, _ := o.Get("oneOf").([]any)
	anyOf, _ := o.Get("anyOf").([]any)
	return !slices.ContainsFunc(slices.Concat(oneOf, anyOf), func(one any) bool { return !enforceable(one) }) &&
		(!o.Has("items") || enforceable(o.Get("items")))
}

// wrap is a schema of objects that hold a value of the given schema under
// "result": the outermost value that endpoints enforce is always an object.
func wrap(schema any) request.Object {
	outer, inner := request.Below(schema, "/properties/result")
	return append(request.Object{}.With("type", "object").With("properties", request.Object{}.With("result", inner)).
		With("required", []any{"result"}).With("additionalProperties", false), outer...)
}
