package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// serving answers agents from the workspace's root. Each request invokes a command, whose output is the answer.
type serving struct {
	globals globals       // of every command
	busy    chan struct{} // requests that are being worked on
}

func (s *serving) run(ctx context.Context, c *cli, _ []string) error {
	place, err := workspace.Locate(".", c.Root)
	if err != nil {
		return err
	}
	s.globals = c.globals
	s.globals.Folder, s.globals.Root = "", "."
	before, _ := os.Getwd()
	if err := os.Chdir(place.Root); err != nil {
		return usageErr("--root can't be %q: %w", c.Root, workspace.Reason(err))
	}
	defer os.Chdir(before)
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
	addResources(server)
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(c.in), Writer: escaped{c.out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

const instructions = "Obelus checks, draws and simulates plans: lists of tool calls that are connected by the paths " +
	"that they write and read. Write a plan, pass its text to check, fix the findings (explain describes a code), " +
	"and call simulate, then simulate with branches. The language's reference is at obelus://language, an example " +
	"at obelus://examples/weather.yaml."

const mostAnswer = 256 << 10 // bytes of an answer

func (s *serving) serve(ctx context.Context, row *command, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var output, notes bytes.Buffer
	c := &cli{globals: s.globals, confined: true, out: terminal.NewScreen(&output), err: terminal.NewScreen(&notes)}
	status := statusError
	if args, err := row.commandLine(c, call.Params.Arguments); err != nil {
		c.showError(err)
	} else {
		status = c.execute(ctx, args)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if output.Len() > mostAnswer {
		output.Reset()
		status = statusError
		c.showError(usageErr("the answer is larger than %d bytes", mostAnswer).
			Advise("ask for less: a smaller plan, a drawing as text or of what is near one call (\"focus\"), " +
				"a simulation without \"branches\" and \"schedules\""))
	}
	isReport := status == statusFound && row.tool.fixed == asJSON // else it is why there is none
	text := &mcp.TextContent{Text: notes.String() + output.String()}
	return &mcp.CallToolResult{Content: []mcp.Content{text}, IsError: status != statusOK && !isReport}, nil
}
