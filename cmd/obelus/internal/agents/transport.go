package agents

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// lastAnswers is how long requests may still be answered once the input has ended.
const lastAnswers = 10 * time.Second

// An answeringTransport answers all requests before its connection ends, so that they can come
// from a file or a pipe. The SDK drops them when its input ends.
type answeringTransport struct{ mcp.Transport }

func (t answeringTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	return &answering{Connection: inner}, err
}

type answering struct {
	mcp.Connection
	open atomic.Int64 // requests without an answer
}

func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := a.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		a.open.Add(1)
	}
	if errors.Is(err, io.EOF) {
		late, cancel := context.WithTimeout(ctx, lastAnswers)
		defer cancel()
		for a.open.Load() > 0 && late.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	return message, err
}

func (a *answering) Write(ctx context.Context, message jsonrpc.Message) error {
	err := a.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		a.open.Add(-1)
	}
	return err
}

const noMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no message"}}` + "\n"

// messages reads a message a line. A line that is none is answered by an error, for the SDK would end.
type messages struct {
	lines *source.LineReader
	out   io.Writer
	rest  []byte // of the last line
}

func (m *messages) Read(to []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.lines.Next()
		if err != nil {
			return 0, err
		}
		if _, err := jsonrpc.DecodeMessage(line.Text); err == nil {
			m.rest = append(bytes.TrimSpace(line.Text), '\n')
			continue
		}
		if _, err := io.WriteString(m.out, noMessage); err != nil {
			return 0, err
		}
	}
	n := copy(to, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *messages) Close() error { return nil }

// unmarked writes JSON without characters that could act on what shows it.
type unmarked struct {
	io.Writer
	*sync.Mutex // held for each message
}

func (unmarked) Close() error { return nil }

func (u unmarked) Write(text []byte) (int, error) {
	var all []byte
	for line := range bytes.Lines(text) {
		all = append(all, diag.EscapeJSON(bytes.TrimSuffix(line, []byte("\n")))...)
		if bytes.HasSuffix(line, []byte("\n")) {
			all = append(all, '\n')
		}
	}
	u.Lock()
	defer u.Unlock()
	if _, err := u.Writer.Write(all); err != nil {
		return 0, err
	}
	return len(text), nil
}

type unmarkedResponse struct{ http.ResponseWriter }

func (u unmarkedResponse) Write(text []byte) (int, error) {
	return unmarked{u.ResponseWriter, &sync.Mutex{}}.Write(text)
}

// Unwrap is for [http.ResponseController].
func (u unmarkedResponse) Unwrap() http.ResponseWriter { return u.ResponseWriter }
