// Package agents speaks the Model Context Protocol on standard input and output. It offers the reference as resources,
// and knows no commands.
package agents

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/source"
)

const mostFrame = 16 << 20 // bytes of a request

// Converse serves the client at standard input and output.
func Converse(ctx context.Context, server *mcp.Server, in io.Reader, to io.Writer) error {
	err := server.Run(ctx, &lines{
		in: source.NewLineReader("-", in, mostFrame), out: to, arrived: make(chan jsonrpc.Message),
		closed: make(chan struct{}),
	})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}
