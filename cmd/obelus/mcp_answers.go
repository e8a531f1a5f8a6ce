package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long what was asked may still be answered once the client has said all
// that it will.
const lastAnswers = 10 * time.Second

// An answeringTransport speaks with a client on two streams, a message a line. It answers
// what it was asked before it ends, so that requests can come from a file or a pipe, and a
// line that is no message with an error, and continues. The SDK's own drops what it was asked
// when its input ends, and ends by such a line.
type answeringTransport struct {
	in  io.ReadCloser
	out io.Writer
}

func (t *answeringTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lineWriter{to: t.out}
	messages := &messageReader{from: bufio.NewReaderSize(t.in, 64<<10), close: t.in.Close, answer: out}
	inner, err := (&mcp.IOTransport{Reader: messages, Writer: out, MaxLineLength: mostFrame + 1}).Connect(ctx)
	return &answering{Connection: inner, out: out, answered: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

// A lineWriter writes what it is given in one piece, from any goroutine.
type lineWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lineWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

func (w *lineWriter) Close() error { return nil }

// refuse answers what is no request; id is null where nobody knows which it was.
func (w *lineWriter) refuse(id json.RawMessage, code int, format string, args ...any) {
	if id == nil {
		id = json.RawMessage("null")
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": fmt.Sprintf(format, args...)}})
	if err == nil {
		w.Write(append(line, '\n')) // if it fails the client is gone, which shows at the next answer
	}
}

// JSON-RPC's codes of what is no request.
const (
	notJSON    = -32700
	notRequest = -32600
)

// A messageReader hands on the lines that are messages of JSON-RPC, and answers others.
type messageReader struct {
	from   *bufio.Reader
	close  func() error
	answer *lineWriter
	rest   []byte // of a line that is handed on
}

func (r *messageReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if r.isMessage(line) {
			r.rest = append(bytes.TrimSpace(line), '\n')
		} else if err == io.EOF {
			return 0, err
		} else if err != nil {
			return 0, &brokenStream{err}
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// A brokenStream is why no more can be read.
type brokenStream struct{ error }

func (b *brokenStream) Unwrap() error { return b.error }

func (r *messageReader) Close() error { return r.close() }

// line reads the next line, or the beginning of one that is too long.
func (r *messageReader) line() (line []byte, err error) {
	for {
		piece, err := r.from.ReadSlice('\n')
		if len(line) <= mostFrame {
			line = append(line, piece...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

func (r *messageReader) isMessage(line []byte) bool {
	if len(line) > mostFrame {
		r.answer.refuse(nil, notJSON, "a message has at most %d MiB, in one line", mostFrame>>20)
		return false
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return false
	}
	if !json.Valid(line) || !utf8.Valid(line) {
		r.answer.refuse(nil, notJSON, "this line is no JSON: a message is one JSON value in UTF-8, in one line")
		return false
	}
	if line[0] == '[' { // some, which the library takes or not
		return true
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		var asked struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(line, &asked) != nil || len(asked.ID) == 0 || asked.ID[0] == '{' || asked.ID[0] == '[' || asked.ID[0] == 't' || asked.ID[0] == 'f' {
			asked.ID = nil
		}
		r.answer.refuse(asked.ID, notRequest, "this is no message of JSON-RPC 2.0: it has \"jsonrpc\": \"2.0\", a text \"method\" and, to be answered, an \"id\" that is a text or a number")
		return false
	}
	return true
}

type answering struct {
	mcp.Connection
	out       *lineWriter
	asked     atomic.Int64  // requests that aren't answered
	answered  chan struct{} // holds a value after an answer
	closed    chan struct{}
	closeOnce sync.Once
}

func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := a.Connection.Read(ctx)
	for a.unread(ctx, err) { // several in one array, which aren't what they must be
		a.out.refuse(nil, notRequest, "these are no messages of JSON-RPC 2.0: %v", err)
		message, err = a.Connection.Read(ctx)
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		a.asked.Add(1)
	}
	if errors.Is(err, io.EOF) {
		for late := time.After(lastAnswers); a.asked.Load() > 0; {
			select {
			case <-a.answered:
			case <-a.closed:
				return nil, err
			case <-ctx.Done():
				return nil, err
			case <-late:
				return nil, err
			}
		}
	}
	return message, err
}

// unread reports whether an error is of one message, and others may follow.
func (a *answering) unread(ctx context.Context, err error) bool {
	var broken *brokenStream
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) || errors.As(err, &broken) {
		return false
	}
	select {
	case <-a.closed:
		return false
	default:
		return true
	}
}

func (a *answering) Write(ctx context.Context, message jsonrpc.Message) error {
	err := a.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		a.asked.Add(-1)
		select {
		case a.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (a *answering) Close() error {
	a.closeOnce.Do(func() { close(a.closed) })
	return a.Connection.Close()
}
