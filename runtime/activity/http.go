package activity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/web"
)

type caller struct{ base }

var _ = register("http", kind{open: func(_ *Set, b base) (starter, error) {
	b.hideVariables()
	b.hide.KeepUser(kinds.HTTPUser(b.def.HTTP, b.env.get))
	return &caller{b}, nil
}})

const (
	maxRefusal = 64 << 10 // bytes that are read of an answer that is an error
	maxQuoted  = 300      // bytes of it in a message
	maxDetail  = 2 << 10  // and in what a plan is given, where it isn't JSON
)

func (x *caller) start(ctx context.Context, r Request, ended func(Result, error)) {
	go func() { ended(x.run(ctx, r)) }()
}

func (x *caller) run(ctx context.Context, r Request) (Result, error) {
	ctx, cancel := within(ctx, x.def.Timeout)
	defer cancel()
	request, err := x.request(ctx, &r)
	if err != nil {
		return none, x.failure(CodeError, "can't be given this: %v", err)
	}
	value, err := x.exchange(request, r.form(x.def.HTTP.Response))
	switch {
	case err != nil && ctx.Err() != nil:
		return none, x.interrupted(ctx)
	case err != nil:
		return none, err
	}
	return Take(value, r, x.name)
}

var contentTypes = map[string]string{
	plan.StreamJSON: "application/json", plan.BodyForm: "application/x-www-form-urlencoded",
	plan.StreamText: "text/plain; charset=utf-8",
}

// request is what is sent for a call. The error holds no secret.
func (x *caller) request(ctx context.Context, r *Request) (*http.Request, error) {
	sent, err := kinds.HTTPRequest(x.def.HTTP, r.input(), x.env.get)
	if err != nil {
		return nil, err
	}
	var body io.Reader = http.NoBody
	if sent.Sends != plan.StreamNone {
		text, isText := sent.Body.(string)
		content := []byte(text)
		if !isText || sent.Sends == plan.StreamJSON {
			if content, err = encode(sent.Body); err != nil {
				return nil, fmt.Errorf("the body can't be written as JSON: %w", err)
			}
		}
		body = bytes.NewReader(content)
	}
	request, err := http.NewRequestWithContext(ctx, sent.Method, sent.URL, body)
	if err != nil {
		return nil, errors.New("what the environment holds makes no url")
	}
	for _, h := range sent.Headers {
		request.Header.Add(h[0], h[1])
	}
	for name, usual := range map[string]string{"User-Agent": "obelus", "Accept": accepted[r.form(x.def.HTTP.Response)],
		"Content-Type": contentTypes[sent.Sends]} {
		if usual != "" && request.Header.Values(name) == nil {
			request.Header.Set(name, usual)
		}
	}
	return request, nil
}

var accepted = map[string]string{plan.StreamJSON: "application/json", plan.StreamText: "text/*, */*;q=0.1",
	plan.ResponseFull: "*/*", plan.StreamNone: "*/*"}

// exchange sends a request and reads the answer to it in a form. The error is a [*Failure].
func (x *caller) exchange(request *http.Request, form string) (any, error) {
	answer, err := x.send(request)
	if err != nil {
		return nil, x.unanswered(request, err)
	}
	defer answer.Body.Close()
	var body []byte
	if answer.ContentLength <= maxOutput {
		body, err = io.ReadAll(io.LimitReader(answer.Body, maxOutput+1))
	}
	switch {
	case max(answer.ContentLength, int64(len(body))) > maxOutput:
		return nil, x.failure(CodeBadOutput, "was sent more than %d MiB by %s", maxOutput>>20, from(request))
	case err != nil:
		return nil, x.failure(CodeError, "lost the answer of %s: it broke off (%s)", from(request),
			x.quote(err.Error(), maxQuoted))
	}
	value, err := x.value(answer, body, form)
	if err != nil {
		kind := cmp.Or(x.quote(answer.Header.Get("Content-Type"), maxQuoted), "of no type")
		return nil, x.failure(CodeBadOutput, "must be answered with %v (the answer is %s)%s", err, kind,
			x.excerpt(body))
	}
	return value, nil
}

// from is where a request went, less what may be secret.
func from(r *http.Request) string { return r.Method + " " + r.URL.Scheme + "://" + r.URL.Host }

// unanswered is the failure of a request without an answer that has a result.
func (x *caller) unanswered(request *http.Request, err error) *Failure {
	var refusal *hosts.Refusal
	var lost *web.Lost
	var no *Failure
	switch why := x.quote(err.Error(), maxQuoted); {
	case errors.As(err, &no):
		no.Message = fmt.Sprintf("activity %q ", x.name) + no.Message
		return no
	case errors.As(err, &refusal):
		return x.failure(CodeError, "isn't allowed to send the request: %s; %s", refusal.Why, refusal.Help)
	case errors.As(err, &lost):
		return x.failure(CodeError, "got no answer to %s, which may have arrived: %s", from(request), why)
	default:
		return x.failure(CodeError, "can't reach %s: %s", from(request), why)
	}
}

// send sends a request. An answer with an error status is a [*Failure], whose message is what was got, and from where.
func (x *common) send(request *http.Request) (*http.Response, error) {
	answer, err := web.Send(x.transport, request)
	if err != nil || answer.StatusCode/100 == 2 {
		return answer, err
	}
	defer answer.Body.Close()
	content, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal)) // what is lost of it says nothing else
	details := map[string]any{"status": float64(answer.StatusCode)}
	if said, err := x.decode(content, maxDepth); err == nil {
		details["body"] = said
		content, _ = encode(said) // in which nothing is escaped that is secret
	} else if len(content) > 0 {
		details["body"] = x.quote(string(content), maxDetail)
	}
	got := fmt.Sprintf("got %d %s from %s", answer.StatusCode, http.StatusText(answer.StatusCode), from(request))
	if text := x.quote(string(content), maxQuoted); text != "" {
		got += fmt.Sprintf(": %q", text)
	}
	if to, err := url.Parse(answer.Header.Get("Location")); answer.StatusCode/100 == 3 && err == nil && to.Path != "" {
		to.User, to.RawQuery = nil, "" // where secrets are
		got += fmt.Sprintf(", which leads to %q: write that address", x.quote(to.String(), maxQuoted))
	}
	f := &Failure{Code: fmt.Sprintf("http-%d", answer.StatusCode), Message: x.hide.Message(got), Details: details}
	if f.After = max(0, web.RetryAfter(answer.Header)); f.After > 0 {
		details["retryAfter"] = f.After.Seconds()
	}
	return nil, f
}

// value is what an answer gives in a form. The error says what it should have been.
func (x *caller) value(answer *http.Response, body []byte, form string) (any, error) {
	switch form {
	case plan.ResponseFull:
		kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
		inner := plan.StreamText
		if len(body) == 0 || kind == "application/json" || strings.HasSuffix(kind, "+json") {
			inner = plan.StreamJSON
		}
		content, err := x.value(answer, body, inner)
		return map[string]any{"status": float64(answer.StatusCode), "headers": x.headers(answer.Header),
			"body": content}, err
	case plan.StreamJSON:
		if body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")); len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
			return nil, nil
		}
	}
	return x.read(form, body)
}

// headers are those of an answer by their names in lower case, several of one name joined as HTTP has it.
func (x *caller) headers(all http.Header) map[string]any {
	headers := make(map[string]any, len(all))
	for name, values := range all {
		headers[strings.ToLower(name)] = x.hide.Under(name, x.hide.Valid(strings.Join(values, ", ")))
	}
	return headers
}
