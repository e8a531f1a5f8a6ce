package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/project"
)

// An mcpServer answers agents. What it answers is what the commands answer: each request is
// an invocation of its own, whose output is handed on.
type mcpServer struct {
	cli      *cli
	reading  *project.Reader // how plans are read; each request has its own copy
	allowRun bool
	approvers

	ctx  context.Context // ends when the server does
	busy chan struct{}   // requests that are being worked on
	runs chan struct{}   // runs that go on
}

// What a server does at once; what comes besides waits.
const (
	mostRuns     = 8
	mostSessions = 64
	mostFrame    = 16 << 20 // bytes of a request
)

// server makes what clients connect to.
func (s *mcpServer) server(ctx context.Context) *mcp.Server {
	s.ctx, s.busy, s.runs = ctx, make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), make(chan struct{}, mostRuns)
	server := mcp.NewServer(&mcp.Implementation{Name: "obelus", Title: "Obelus: plans of tool calls", Version: version()}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, PageSize: 200,
	})
	s.addTools(server)
	s.addResources(server)
	return server
}

const instructions = "Obelus checks, draws and simulates plans: lists of tool calls that are connected by the paths that they write and read. " +
	"Write a plan, pass its text to check, fix the findings (explain describes a code), and call simulate, then simulate with branches. " +
	"The language's reference is at obelus://language, examples are at obelus://examples."

// converse serves the client at standard input and output.
func (s *mcpServer) converse(ctx context.Context) error {
	in, ok := s.cli.in.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(s.cli.in)
	}
	err := s.server(ctx).Run(ctx, answeringTransport{&mcp.IOTransport{Reader: in, Writer: unmarked{s.cli.out}, MaxLineLength: mostFrame}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// unmarked writes JSON without characters that could act on what shows it.
type unmarked struct{ io.Writer }

func (unmarked) Close() error { return nil }

func (u unmarked) Write(text []byte) (int, error) {
	var all []byte
	for line := range bytes.Lines(text) {
		all = append(all, diag.EscapeJSON(bytes.TrimSuffix(line, []byte("\n")))...)
		if bytes.HasSuffix(line, []byte("\n")) {
			all = append(all, '\n')
		}
	}
	if _, err := u.Writer.Write(all); err != nil {
		return 0, err
	}
	return len(text), nil
}

// listen serves clients of an address until ctx ends.
func (s *mcpServer) listen(ctx context.Context, address string, hosts []string) error {
	if name, _, err := net.SplitHostPort(address); err != nil {
		return usageErr("--listen can't be %q: expected an address with a port", address).Advise("for example --listen 127.0.0.1:7333")
	} else if ip := net.ParseIP(name); len(hosts) == 0 && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usageErr("--listen %s can be reached from other computers", address).Advise("listen at 127.0.0.1, or say with --host by which name they reach it")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return usageErr("nothing can be served at %s: %s", address, reason(err))
	}
	given := os.Getenv("OBELUS_MCP_TOKEN")
	if given != "" && len(given) < shortestToken {
		listener.Close()
		return usageErr("OBELUS_MCP_TOKEN is too short to be a secret").Advise("make it %d characters or more", shortestToken)
	}
	at := &door{host: listener.Addr().String(), also: hosts, token: cmp.Or(given, rand.Text())}
	if _, port, err := net.SplitHostPort(at.host); err == nil && len(hosts) == 0 {
		at.also = []string{"localhost:" + port}
	}
	server := s.server(ctx)
	web := &http.Server{Handler: at.orBearer(s.handler(server)), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	shown := at.address()
	if given != "" { // a secret that somebody else set isn't printed
		shown = "http://" + at.host + "/ with the token of OBELUS_MCP_TOKEN"
	}
	fmt.Fprintf(s.cli.err, "obelus: plans are served at %s\n", shown)
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

const shortestToken = 20

// handler speaks streamable HTTP.
func (s *mcpServer) handler(server *mcp.Server) http.Handler {
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		if len(slices.Collect(server.Sessions())) >= mostSessions {
			return nil // which the client receives
		}
		return server
	}, &mcp.StreamableHTTPOptions{SessionTimeout: 30 * time.Minute, MaxRequestBodyBytes: mostFrame, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the door holds every request to the names that it has
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stream.ServeHTTP(unmarkedResponse{w}, r) })
}

type unmarkedResponse struct{ http.ResponseWriter }

func (u unmarkedResponse) Write(text []byte) (int, error) {
	return unmarked{u.ResponseWriter}.Write(text)
}

// Unwrap is for [http.ResponseController].
func (u unmarkedResponse) Unwrap() http.ResponseWriter { return u.ResponseWriter }
