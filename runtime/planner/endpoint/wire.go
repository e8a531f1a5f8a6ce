package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A wire carries requests to an endpoint, whatever its format: it follows no
// redirect, which might carry a key to somewhere else, learns what has to be
// kept secret, and bounds silence and the length of refusals.
type wire struct {
	address Address
	client  *http.Client
	hide    *redact.Set
	silence time.Duration
	quiet   func(silent time.Duration) // tells that nothing has come for so long

	maxEvent int // bytes of one event of a stream
}

// newWire makes a wire to the endpoint whose address a variable may hold. The
// error is for an address that is none.
func newWire(at Address, o Options) (*wire, error) {
	v := &redact.Set{}
	if text, set := os.LookupEnv(at.Base); set {
		address, err := url.Parse(text)
		if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
			// It isn't shown: there may be a password in it.
			return nil, fmt.Errorf(
				"%s holds no address of an endpoint; write it like https://example.com/v1, or unset it", at.Base)
		}
		learnAddress(v, address)
	}
	client := &http.Client{}
	if o.Client != nil {
		*client = *o.Client
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = unmoved{client.Transport}
	return &wire{address: at, client: client, hide: v, silence: maxSilence, maxEvent: maxEvent}, nil
}

// unmoved hears of no other address: a client that isn't told where to go on
// can't carry a key there.
type unmoved struct{ http.RoundTripper }

func (u unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Header.Del("Location")
	}
	return answer, err
}

// needKey reports, as an error, that nothing is set that a planner could ask
// with: neither a key nor the address of an endpoint that may want none.
func needKey(planner string, at Address) error {
	for _, variable := range append(at.Keys, at.Base) {
		if os.Getenv(variable) != "" {
			return nil
		}
	}
	return &request.Unavailable{Planner: planner, Why: "there is no key for it",
		Remedy: fmt.Sprintf("set %s, or %s to the address of an endpoint that wants none", at.Keys[0], at.Base)}
}

type exchange struct {
	hide    *redact.Set
	at      string // scheme and host of the endpoint; "" when nothing was sent
	status  int    // 0 when no answer came
	header  http.Header
	refusal []byte       // the body of an answer that isn't a stream, as much as anybody reads
	timer   *time.Timer  // until the next notice
	silent  atomic.Int64 // for how long nothing has come
}

// How long an endpoint may send nothing before a notice, and before the request fails.
const (
	quietAfter = 20 * time.Second
	maxSilence = 10 * time.Minute
)

// maxRefusal is how much is read of an answer that isn't a stream, in bytes.
const maxRefusal = 64 << 10

var errSilent = errors.New("silence")

// begin makes ready for one request. The context that it returns ends when the endpoint is
// silent for too long.
func (w *wire) begin(ctx context.Context) (context.Context, *exchange, func()) {
	x := &exchange{hide: w.hide}
	ctx, cancel := context.WithCancelCause(ctx)
	x.timer = time.AfterFunc(maxSilence, func() {
		if ctx.Err() != nil {
			return
		}
		silent := time.Duration(x.silent.Add(int64(quietAfter)))
		if silent >= w.silence {
			cancel(errSilent)
			return
		}
		w.quiet(silent)
		x.timer.Reset(quietAfter)
	})
	x.timer.Reset(quietAfter) // only now, since the function reads the field
	return ctx, x, func() {
		x.timer.Stop()
		cancel(nil)
	}
}

// do sends a request, as [http.Client.Do] does, and keeps what came back in the exchange.
func (w *wire) do(r *http.Request, x *exchange) (*http.Response, error) {
	learn(w.hide, r)
	x.at = r.URL.Scheme + "://" + r.URL.Host
	answer, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	x.status, x.header = answer.StatusCode, answer.Header
	// what would follow isn't HTTP, and isn't held to the request's context
	if x.status == http.StatusSwitchingProtocols {
		answer.Body.Close()
		answer.Body = http.NoBody
	}
	answer.Body = &heard{ReadCloser: answer.Body, restart: func() {
		x.silent.Store(0)
		x.timer.Reset(quietAfter)
	}}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	stream := x.status/100 == 2 && kind != "text/html" && kind != "application/json"
	if stream {
		return answer, nil
	}
	x.refusal, err = io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(x.refusal))
	switch {
	case err != nil && r.Context().Err() != nil:
		return nil, err
	case x.status < 400:
		return nil, fmt.Errorf("status %d, %s", x.status, kind)
	}
	return answer, nil
}

type heard struct {
	io.ReadCloser
	restart func()
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.restart()
	}
	return n, err
}
