// Package agents speaks the Model Context Protocol on standard input and output. It offers the reference as resources,
// and knows no commands.
package agents

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/examples"
	"github.com/obelus-dev/obelus/runtime"
)

// AddResources adds what agents may read: all of it is in this program.
func AddResources(to *mcp.Server) {
	add := func(name, about, kind, text string) {
		uri := "obelus://" + name
		to.AddResource(&mcp.Resource{URI: uri, Name: name, Description: about, MIMEType: kind},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				content := &mcp.ResourceContents{URI: uri, MIMEType: kind, Text: text}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
			})
	}
	add("language", "the reference of the plan language", "text/markdown", compiler.Reference)
	add("execution", "the reference of how a plan runs", "text/markdown", runtime.Reference)
	add("schemas/plan", "the JSON Schema of plan files", "application/schema+json", string(planschema.JSON()))
	names, _ := fs.Glob(examples.Plans, "*")
	for _, name := range names {
		text, _ := examples.Plans.ReadFile(name)
		add("examples/"+name, "an example", "application/yaml", string(text))
	}
}

const (
	mostFrame   = 16 << 20         // bytes of a request
	lastAnswers = 10 * time.Second // for requests that are open when the input ends
)

// Converse serves the client at standard input and output.
func Converse(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	err := server.Run(ctx, &transport{in: in, out: escaped{out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// A transport is the SDK's with a message a line. But a line that is no message is answered by an error, and all
// requests are answered before it ends, so that they can come from a file or a pipe.
type transport struct {
	mcp.Connection
	in   io.Reader
	out  escaped
	open atomic.Int64 // requests without an answer
}

// Connect begins to read.
func (t *transport) Connect(ctx context.Context) (_ mcp.Connection, err error) {
	messages, lines := io.Pipe()
	go func() { lines.CloseWithError(t.receive(lines)) }()
	t.Connection, err = (&mcp.IOTransport{Reader: messages, Writer: t.out, MaxLineLength: -1}).Connect(ctx)
	return t, err
}

const noMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no message"}}` + "\n"

// receive passes on the lines that are messages, and ends once all requests are answered.
func (t *transport) receive(to io.Writer) error {
	for in := source.NewLineReader("-", t.in, mostFrame); ; {
		line, err := in.Next()
		if err != nil {
			for late := time.Now().Add(lastAnswers); t.open.Load() > 0 && time.Now().Before(late); {
				time.Sleep(time.Millisecond)
			}
			return err
		}
		message, wrong := jsonrpc.DecodeMessage(line.Text)
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			t.open.Add(1)
		}
		if wrong != nil {
			_, err = io.WriteString(t.out, noMessage)
		} else {
			_, err = to.Write(append(line.Text, '\n'))
		}
		if err != nil {
			return err
		}
	}
}

func (t *transport) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, ok := message.(*jsonrpc.Response); ok {
		defer t.open.Add(-1)
	}
	return t.Connection.Write(ctx, message)
}

// escaped writes JSON without characters that could act on what shows it.
type escaped struct{ io.Writer }

func (e escaped) Write(line []byte) (int, error) {
	_, err := e.Writer.Write(append(diag.EscapeJSON(bytes.TrimSuffix(line, []byte("\n"))), '\n'))
	return len(line), err
}

func (escaped) Close() error { return nil }
