package agents

import (
	"context"
	"io"
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

// lines is a connection with a message a line. Unlike the SDK's, it answers a line that is no message by an
// error, and all requests before it ends, so that they can come from a file or a pipe.
type lines struct {
	in      *source.LineReader
	out     io.Writer
	writing sync.Mutex
	open    atomic.Int64 // requests without an answer
	arrived chan jsonrpc.Message
	end     error // of the input, once arrived is closed
	once    sync.Once
	closed  chan struct{}
}

// Connect begins to read.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	go l.receive()
	return l, nil
}

const noMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no message"}}`

func (l *lines) receive() {
	defer close(l.arrived)
	for l.end == nil {
		var line *source.File
		if line, l.end = l.in.Next(); l.end != nil {
			break
		}
		message, err := jsonrpc.DecodeMessage(line.Text)
		if err != nil {
			l.end = l.send([]byte(noMessage))
			continue
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			l.open.Add(1)
		}
		select {
		case l.arrived <- message:
		case <-l.closed:
			return
		}
	}
	for late := time.Now().Add(lastAnswers); l.open.Load() > 0 && time.Now().Before(late); {
		time.Sleep(time.Millisecond)
	}
}

func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-l.arrived:
		if ok {
			return message, nil
		}
		return nil, l.end
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = l.send(text)
	if _, ok := message.(*jsonrpc.Response); ok {
		l.open.Add(-1)
	}
	return err
}

// send writes JSON without characters that could act on what shows it.
func (l *lines) send(text []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(diag.EscapeJSON(text), '\n'))
	return err
}

func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *lines) SessionID() string { return "" }
