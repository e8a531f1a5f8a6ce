package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"runtime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/agents"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// serving answers agents. Each request is an invocation of a command, and its answer is what the
// command writes.
type serving struct {
	cli     *cli
	reading *project.Reader // how plans are read; each plan has its own copy
	busy    chan struct{}   // requests that are being worked on
}

func (s *serving) run(ctx context.Context, c *cli, _ []string) error {
	s.cli, s.reading = c, c.newReading()
	if info, err := os.Stat(cmp.Or(s.reading.Root, ".")); err != nil || !info.IsDir() {
		return usageErr("--root can't be %q: it isn't a folder", s.reading.Root)
	}
	place, err := workspace.Locate(".", "", s.reading.Root)
	if err != nil {
		return err
	}
	s.reading.Root, s.reading.Confined = place.Root, true
	s.busy = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	ctx, _, release := interruptible(ctx)
	defer release()
	about := &mcp.Implementation{Name: "obelus", Title: "Obelus: plans of tool calls", Version: version()}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, PageSize: 200,
	})
	for _, group := range table() {
		for _, row := range group.rows {
			if row.tool != nil {
				server.AddTool(row.offer(),
					func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
						return s.serve(ctx, &row, call)
					})
			}
		}
	}
	agents.AddResources(server)
	return agents.Converse(ctx, server, c.in, c.out)
}

const instructions = "Obelus checks, draws and simulates plans: lists of tool calls that are connected by the paths " +
	"that they write and read. Write a plan, pass its text to check, fix the findings (explain describes a code), " +
	"and call simulate, then simulate with branches. The language's reference is at obelus://language, an example " +
	"at obelus://examples/weather.yaml."

// serve answers one request.
func (s *serving) serve(ctx context.Context, row *command, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := &request{server: s, row: row}
	r.cli = &cli{in: strings.NewReader(""), out: terminal.NewScreen(&r.output), err: terminal.NewScreen(&r.notes)}
	answer, text, failed := r.reply(r.invoke(ctx, call.Params.Arguments))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}
	if answer != nil {
		result.StructuredContent = answer
	}
	return result, nil
}

// A request is one invocation of a command, whose output is kept.
type request struct {
	*cli
	server *serving
	row    *command
	output bytes.Buffer // what the command writes
	notes  bytes.Buffer // and what it says of its work
}
