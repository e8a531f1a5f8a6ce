package endpoint

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

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

// An exchange is one request, and what came of it.
type exchange struct {
	status  int // 0 when no answer came
	header  http.Header
	body    io.Reader
	refusal []byte       // the body of an answer that isn't a stream, as much as anybody reads
	timer   *time.Timer  // until the next notice
	silent  atomic.Int64 // for how long nothing has come
}

// How long an endpoint may send nothing before a notice, and before the request fails.
const (
	quietAfter = 20 * time.Second
	maxSilence = 10 * time.Minute
)

// begin makes ready for one request. The context that it returns ends when the endpoint is
// silent for too long.
func (p *Planner) begin(ctx context.Context) (context.Context, *exchange, func()) {
	x := &exchange{}
	ctx, cancel := context.WithCancel(ctx)
	x.timer = time.AfterFunc(maxSilence, func() {
		if ctx.Err() != nil {
			return
		}
		silent := time.Duration(x.silent.Add(int64(quietAfter)))
		if silent >= maxSilence {
			cancel()
			return
		}
		p.notice(fmt.Sprintf("%s has sent nothing for %v, and is waited for up to %v", p.name, silent, maxSilence))
		x.timer.Reset(quietAfter)
	})
	x.timer.Reset(quietAfter) // only now, since the function reads the field
	return ctx, x, func() {
		x.timer.Stop()
		cancel()
	}
}

// Read reads what comes, and notes that it does.
func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.body.Read(p)
	if n > 0 {
		x.silent.Store(0)
		x.timer.Reset(quietAfter)
	}
	return n, err
}
