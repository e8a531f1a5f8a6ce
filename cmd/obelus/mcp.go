package main

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
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// serving answers agents. Each request is an invocation of a command, and its answer is what the
// command writes.
type serving struct {
	approvers
	AllowRun bool     `flag:"--allow-run: offer a tool that runs approved plans of the workspace"`
	Listen   string   `flag:"--listen ADDRESS: serve HTTP at this address of this computer; port 0 is any free one"`
	Host     []string `flag:"--host NAME:PORT: a name by which other computers reach --listen"`

	cli     *cli
	reading *project.Reader // how plans are read; each request has its own copy
	ctx     context.Context // ends when the server does
	busy    chan struct{}   // requests that are being worked on
	runs    chan struct{}   // unfinished runs
}

// What a server does at once; further requests wait.
const (
	mostRuns     = 8
	mostSessions = 64
	mostFrame    = 16 << 20 // bytes of a request
)

func (s *serving) run(ctx context.Context, c *cli, _ []string) error {
	if s.Listen == "" && len(s.Host) > 0 {
		return usageErr("--host is for a server that listens").Advise("add --listen with an address")
	}
	s.cli, s.reading = c, c.newReading()
	if info, err := os.Stat(cmp.Or(s.reading.Root, ".")); err != nil || !info.IsDir() {
		return usageErr("--root can't be %q: it isn't a folder", s.reading.Root)
	}
	place, err := workspace.Locate(".", "", s.reading.Root)
	if err != nil {
		return err
	}
	s.reading.Root, s.reading.Confined = place.Root, true
	ctx, _, release := interruptible(ctx)
	defer release()
	s.ctx, s.busy, s.runs = ctx, make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), make(chan struct{}, mostRuns)
	about := &mcp.Implementation{Name: "obelus", Title: "Obelus: plans of tool calls", Version: version()}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, PageSize: 200,
	})
	s.addTools(server)
	addResources(server)
	if s.Listen != "" {
		return s.listen(server)
	}
	return s.converse(server)
}

const instructions = "Obelus checks, draws and simulates plans: lists of tool calls that are connected by the paths " +
	"that they write and read. Write a plan, pass its text to check, fix the findings (explain describes a code), " +
	"and call simulate, then simulate with branches. The language's reference is at obelus://language, examples are " +
	"at obelus://examples."

// converse serves the client at standard input and output.
func (s *serving) converse(server *mcp.Server) error {
	out := unmarked{s.cli.out, &sync.Mutex{}}
	in := &messages{lines: source.NewLineReader("-", s.cli.in, mostFrame), out: out}
	transport := &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: mostFrame + 1}
	err := server.Run(s.ctx, answeringTransport{transport})
	if s.ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// shortestToken is the least length of a token that users choose.
const shortestToken = 20

// listen serves clients of an address until the server ends.
func (s *serving) listen(server *mcp.Server) error {
	if name, _, err := net.SplitHostPort(s.Listen); err != nil {
		return usageErr("--listen can't be %q: expected an address with a port", s.Listen).
			Advise("for example --listen 127.0.0.1:7333")
	} else if ip := net.ParseIP(name); len(s.Host) == 0 && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usageErr("--listen %s can be reached from other computers", s.Listen).
			Advise("listen at 127.0.0.1, or say with --host by which name they reach it")
	}
	given := os.Getenv("OBELUS_MCP_TOKEN")
	if given != "" && len(given) < shortestToken {
		return usageErr("OBELUS_MCP_TOKEN is too short to be a secret").
			Advise("make it %d characters or more", shortestToken)
	}
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return usageErr("nothing can be served at %s: %s", s.Listen, reason(err))
	}
	at := &pages.Door{Host: listener.Addr().String(), Also: s.Host, Token: cmp.Or(given, rand.Text())}
	if _, port, err := net.SplitHostPort(at.Host); err == nil && len(s.Host) == 0 {
		at.Also = []string{"localhost:" + port}
	}
	web := &http.Server{
		Handler: at.OrBearer(handler(server)), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	shown := at.Address()
	if given != "" { // a secret that somebody else set isn't printed
		shown = "http://" + at.Host + "/ with the token of OBELUS_MCP_TOKEN"
	}
	fmt.Fprintf(s.cli.err, "obelus: plans are served at %s\n", shown)
	select {
	case err = <-served:
	case <-s.ctx.Done():
	}
	for session := range server.Sessions() {
		session.Close()
	}
	web.Close()
	return err
}

// handler speaks streamable HTTP.
func handler(server *mcp.Server) http.Handler {
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		if len(slices.Collect(server.Sessions())) >= mostSessions {
			return nil // which the client receives
		}
		return server
	}, &mcp.StreamableHTTPOptions{
		SessionTimeout: 30 * time.Minute, MaxRequestBodyBytes: mostFrame, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the door checks the host of every request
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stream.ServeHTTP(unmarkedResponse{w}, r) })
}
