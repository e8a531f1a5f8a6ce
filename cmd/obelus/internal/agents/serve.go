// Package agents speaks the Model Context Protocol: on standard input and output, or over HTTP on this computer. It
// offers the reference as resources, and knows no commands.
package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// MostSessions is how many clients are served at once, and mostFrame the bytes of a request.
const MostSessions, mostFrame = 64, 16 << 20

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

// shortestToken is the least length of a token that users choose.
const shortestToken = 20

// Listen serves clients of an address until the server ends.
func Listen(ctx context.Context, server *mcp.Server, address string, hosts []string, to io.Writer) error {
	if name, _, err := net.SplitHostPort(address); err != nil {
		return diag.NewError(nil, "--listen can't be %q: expected an address with a port", address).
			Advise("for example --listen 127.0.0.1:7333")
	} else if ip := net.ParseIP(name); len(hosts) == 0 && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return diag.NewError(nil, "--listen %s can be reached from other computers", address).
			Advise("listen at 127.0.0.1, or say with --host by which name they reach it")
	}
	given := os.Getenv("OBELUS_MCP_TOKEN")
	if given != "" && len(given) < shortestToken {
		return diag.NewError(nil, "OBELUS_MCP_TOKEN is too short to be a secret").
			Advise("make it %d characters or more", shortestToken)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return diag.NewError(nil, "nothing can be served at %s: %s", address, workspace.Reason(err))
	}
	at := &pages.Door{Host: listener.Addr().String(), Also: hosts, Token: cmp.Or(given, rand.Text())}
	if _, port, err := net.SplitHostPort(at.Host); err == nil && len(hosts) == 0 {
		at.Also = []string{"localhost:" + port}
	}
	web := &http.Server{
		Handler: at.Admit(handler(server)), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	shown := at.Address()
	if given != "" { // a secret that somebody else set isn't printed
		shown = "http://" + at.Host + "/ with the token of OBELUS_MCP_TOKEN"
	}
	fmt.Fprintf(to, "obelus: plans are served at %s\n", shown)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	for session := range server.Sessions() {
		session.Close()
	}
	web.Close()
	return err
}

// handler speaks streamable HTTP.
func handler(server *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		if len(slices.Collect(server.Sessions())) >= MostSessions {
			return nil // which the client receives
		}
		return server
	}, &mcp.StreamableHTTPOptions{
		SessionTimeout: 30 * time.Minute, MaxRequestBodyBytes: mostFrame, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the door checks the host of every request
	})
}
