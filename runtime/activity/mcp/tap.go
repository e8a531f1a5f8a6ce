package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type exchange struct {
	sent    func() // called once it is on its way
	replied bool
	result  json.RawMessage
}

type exchangeKey struct{}

// OnItsWay says that what is sent in a context has been sent, where a way to a server knows
// that before there is an answer.
func OnItsWay(ctx context.Context) {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		x.sent()
	}
}

type tapped struct {
	by  sdk.Transport
	tap *tap
}

func (t *tapped) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.by.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.tap.Connection = c
	return t.tap, nil
}

// A tap keeps the results of requests as they came, since the protocol's library rounds
// numbers and takes the last of two equal keys; and keeps from it what nobody waits for.
type tap struct {
	sdk.Connection
	strict bool // an answer to what wasn't asked ends the session: it came in the place of another

	mu      sync.Mutex
	calls   map[jsonrpc.ID]*exchange
	asked   int64 // the last request's number
	unasked int   // what has come since the last answer
	asks    int   // and of that requests
	changed bool  // it has said that its tools are others, and wasn't asked since
}

func (t *tap) Write(ctx context.Context, m jsonrpc.Message) error {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	if request, ok := m.(*jsonrpc.Request); ok && request.IsCall() {
		t.mu.Lock()
		if number, ok := request.ID.Raw().(int64); ok {
			t.asked = max(t.asked, number)
		}
		if x != nil {
			t.calls[request.ID] = x
			defer x.sent()
		}
		t.mu.Unlock()
	}
	return t.Connection.Write(ctx, m)
}

func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		request, _ := m.(*jsonrpc.Request)
		if response, is := m.(*jsonrpc.Response); is {
			if t.strict && !t.wasAsked(response.ID) {
				return nil,
					fmt.Errorf(
						"it has answered what it wasn't asked: the \"id\" of its answer, %v, is that of no request",
						response.ID.Raw())
			}
			t.answered(response)
			return m, nil
		}
		if err := t.count(request.IsCall()); err != nil {
			return nil, err
		}
		if request.IsCall() {
			return m, nil
		}
		if request.Method == "notifications/tools/list_changed" {
			t.change(true)
		}
	}
}

// wasAsked reports whether there was a request of an id: the library counts them from 1.
func (t *tap) wasAsked(id jsonrpc.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	number, ok := id.Raw().(int64)
	return ok && number > 0 && number <= t.asked
}

func (t *tap) answered(r *jsonrpc.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unasked, t.asks = 0, 0
	if x := t.calls[r.ID]; x != nil {
		x.replied, x.result = true, r.Result
	}
	delete(t.calls, r.ID)
}

func (t *tap) reply(x *exchange) (replied bool, result json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return x.replied, x.result
}

func (t *tap) count(asks bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unasked++; asks {
		t.asks++
	}
	if t.unasked > maxNotifications || t.asks > maxRequests {
		return fmt.Errorf("it has sent %d messages that answer nothing, and %d requests of its own among them",
			t.unasked, t.asks)
	}
	return nil
}

// change notes whether the server's tools may be others than it has listed, and gives what was noted before.
func (t *tap) change(is bool) (was bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, t.changed = t.changed, is
	return was
}
