package planner

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/web"
)

// A failure is what to make of a request that brought no whole answer.
type failure struct {
	why    string        // in one line, without secrets
	remedy string        // what a person may do
	again  bool          // it may pass by itself
	wait   time.Duration // what the endpoint asks for; negative when it says nothing
	form   bool          // the endpoint doesn't take the form in which the answer was asked for
}

// A complaint is an error as endpoints write it. Their forms differ, their words for what is worth another try little.
type complaint string

// message is what endpoints say to people within it.
var message = regexp.MustCompile(`"(?:message|error|detail)"\s*:\s*("(?:[^"\\]|\\.)+")`)

func (c complaint) has(words ...string) bool {
	all := strings.ToLower(string(c))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
}

// What endpoints call troubles that a person has to pay for, that don't pass by themselves, and
// that come from the form in which an answer was asked for.
var (
	unpaid  = []string{"insufficient_quota", "billing", "credit balance", "payment"}
	lasting = []string{"invalid_request", "authentication", "permission", "not_found", "too_large"}
	shapes  = []string{"schema", "response_format", "grammar", "tool", "structured", "stream_options",
		"eager_input_streaming"}
)

func (p *endpoint) diagnose(x *exchange, err error) failure {
	t := failure{wait: -1, remedy: "resume the run when the endpoint works again"}
	var untrusted *tls.CertificateVerificationError
	var reported streamError
	switch {
	case x.reason != "" && x.reason != broken:
		t.why = "it reached " + string(x.reason)
		t.remedy = "raise that bound, let the plan take smaller steps, or take another model"
	case errors.Is(err, errSilent):
		t.why = fmt.Sprintf("%s sent nothing for %v", p.at(), maxSilence)
	case x.status >= 300:
		p.diagnoseStatus(&t, x)
	case x.refusal != nil:
		t.why = fmt.Sprintf("%s sent no answer but %s", p.at(), p.quoted(complaint(x.refusal)))
		if !message.Match(x.refusal) {
			t.remedy = fmt.Sprintf("see whether %s is right, path included", p.format.base)
		}
	case x.status == 0:
		t.why = fmt.Sprintf("%s can't be reached: %s", p.at(), p.brief(err.Error()))
		t.remedy = fmt.Sprintf("see whether the network and %s are right, and resume the run", p.format.base)
		t.again = !errors.As(err, &untrusted)
	case errors.As(err, &reported):
		c := complaint(reported)
		if t.why = p.at() + " said " + p.quoted(c); c.has(unpaid...) {
			t.remedy = credit
		} else if t.again = c.has("server_error") || !c.has(lasting...); !t.again {
			t.form = c.has(shapes...)
		}
	case errors.Is(err, bufio.ErrTooLong): // nobody writes so much by mistake
		t.why = p.at() + " sent an event of a stream that doesn't end"
	case err == nil:
		t.why, t.again = "the stream ended before the answer", true
	default:
		t.why, t.again = "the stream broke off: "+p.brief(err.Error()), true
	}
	t.why = p.clean(t.why)
	return t
}

// retryDelay is how long to wait by google.rpc.RetryInfo, in seconds.
var retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"`)

func (p *endpoint) diagnoseStatus(t *failure, x *exchange) {
	c, base := complaint(x.refusal), p.format.base
	t.why = fmt.Sprintf("%s said %d %s", p.at(), x.status, http.StatusText(x.status))
	if c != "" {
		t.why += ": " + p.quoted(c)
	}
	switch {
	case x.status < 400:
		t.why = fmt.Sprintf("%s sent us on to another address (%d)", p.at(), x.status)
		t.remedy = fmt.Sprintf("set %s to the endpoint's own address", base)
	case x.status == 402, c.has(unpaid...):
		t.remedy = credit
	case x.status == 401, x.status == 403:
		t.remedy = fmt.Sprintf("set %s to what the endpoint accepts, and resume the run", p.format.keys[0])
	case x.status == 404:
		t.remedy = fmt.Sprintf("see whether the model's name and %s are right", base)
	case x.status == 408, x.status == 409, x.status == 429, x.status >= 500:
		t.again, t.wait = true, web.RetryAfter(x.header) // negative where the endpoint doesn't say
		if delay := retryDelay.FindSubmatch(x.refusal); delay != nil && t.wait < 0 {
			s, _ := strconv.ParseFloat(string(delay[1]), 64)
			t.wait = web.Seconds(s)
		}
		t.form = x.status <= 501 && c.has(shapes...) // some trip over a schema
	case x.status == 413, c.has("context_length", "too long", "too many tokens", "context window"):
		t.remedy = "take a model with a larger context, or give the plan less state"
	default:
		t.remedy = "change what the message names, and resume the run"
		t.form = c.has(shapes...)
	}
}

const credit = "see to the account's credit, and resume the run"

// at is the scheme and host of the endpoint.
func (p *endpoint) at() string { return p.url.Scheme + "://" + p.url.Host }

// quoted is what an endpoint says to people: the message wherever it stands, or all of it.
func (p *endpoint) quoted(c complaint) string {
	text := string(c)
	if found := message.FindStringSubmatch(text); found != nil {
		_ = json.Unmarshal([]byte(found[1]), &text)
	}
	if text = p.brief(text); text != "" {
		return request.JSON(text)
	}
	return "nothing"
}

// brief is one line of a length that a person reads. Secrets are hidden before it is
// cut: most of one is as good as all of it.
func (p *endpoint) brief(s string) string {
	return wording.Cut(strings.Join(strings.Fields(p.hide.Message(s)), " "), 300)
}

// pauseBefore is how long to wait before the nth repetition of a request whose
// endpoint doesn't say: half a second, then twice as long each time, less up to
// a quarter by chance, so that many who were turned away don't return together.
func pauseBefore(nth int) time.Duration {
	full := 500 * time.Millisecond << (nth - 1)
	return full - rand.N(full/4)
}

// Pause waits, or until ctx is done, and reports that.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}
