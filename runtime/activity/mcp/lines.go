package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines are the standard streams of a server: a message a line, both ways. Nobody waits for a server that doesn't read.
type Lines struct {
	in    chan jsonrpc.Message
	over  context.Context // done when nothing more comes
	end   context.CancelCauseFunc
	more  chan struct{}
	limit int

	mu    sync.Mutex
	queue [][]byte
}

// ErrEnded is why nothing more comes from a server that has closed its output.
var ErrEnded = errors.New("it has ended")

// NewLines makes the streams of a server with at most so many bytes in a line. They end the context when nothing more
// comes. Its cause is [ErrEnded], or what the server has written that it must not; none if the session was closed here.
func NewLines(over context.Context, end context.CancelCauseFunc, limit int) *Lines {
	return &Lines{in: make(chan jsonrpc.Message), over: over, end: end, more: make(chan struct{}, 1), limit: limit}
}

// Connect makes this a transport.
func (l *Lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID is none.
func (l *Lines) SessionID() string { return "" }

// Take reads what a server writes, until it ends or writes what is no message.
func (l *Lines) Take(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, l.limit)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		m, err := message(lines.Bytes())
		if err != nil {
			l.end(err)
			return
		}
		select {
		case l.in <- m:
		case <-l.over.Done():
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		l.end(fmt.Errorf("it has written a line of more than %d MiB", l.limit>>20))
		return
	}
	l.end(ErrEnded)
}

// A Garbled line isn't what a server may write.
type Garbled struct {
	Why  error
	Line []byte // its beginning
}

const quoted = 4 << 10

func (g *Garbled) Error() string {
	return fmt.Sprintf("it must write one message of JSON-RPC a line to stdout: %v", g.Why)
}

func message(line []byte) (jsonrpc.Message, error) {
	err := check(line)
	if err == nil {
		var m jsonrpc.Message
		if m, err = jsonrpc.DecodeMessage(bytes.Clone(line)); err == nil {
			return m, nil
		}
	}
	return nil, &Garbled{err, bytes.Clone(line[:min(len(line), quoted)])}
}

// check finds what is no JSON, before anything looks at what it says.
func check(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if err := d.SkipValue(); err != nil {
		return errors.New("this is no JSON")
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("more follows after the message")
	}
	return nil
}

// Give writes what there is to write, until the server is gone.
func (l *Lines) Give(stdin io.Writer, gone <-chan struct{}) {
	for {
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, line := range queue {
			stdin.Write(line) // if it fails the server is dead or deaf, and its other end shows that
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-l.more:
		case <-gone:
			return
		}
	}
}

// Read gives the next message. It ends with the session and not with the context, which is that of its beginning.
func (l *Lines) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	case <-l.over.Done():
	}
	if err := context.Cause(l.over); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrEnded) {
		return nil, err
	}
	return nil, io.EOF
}

// Write has a message written when its turn comes.
func (l *Lines) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.queue = append(l.queue, append(line, '\n'))
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return nil
}

// Close ends the session.
func (l *Lines) Close() error {
	l.end(nil)
	return nil
}
