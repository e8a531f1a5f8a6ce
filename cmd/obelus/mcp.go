package main

import (
	"cmp"
	"context"
	"os"
	"runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/agents"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// serving answers agents. Each request is an invocation of a command, and its answer is what the
// command writes.
type serving struct {
	approvers
	AllowRun bool `flag:"--allow-run: offer a tool that runs approved plans of the workspace"`

	cli     *cli
	reading *project.Reader // how plans are read; each request has its own copy
	ctx     context.Context // ends when the server does
	busy    chan struct{}   // requests that are being worked on
	runs    chan struct{}   // unfinished runs
}

// mostRuns is how many runs a server has at once; further ones wait.
const mostRuns = 8

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
	ctx, _, release := interruptible(ctx)
	defer release()
	s.ctx, s.busy, s.runs = ctx, make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), make(chan struct{}, mostRuns)
	about := &mcp.Implementation{Name: "obelus", Title: "Obelus: plans of tool calls", Version: version()}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, PageSize: 200,
	})
	s.addTools(server)
	agents.AddResources(server, listRules())
	return agents.Converse(ctx, server, c.in, c.out)
}

const instructions = "Obelus checks, draws and simulates plans: lists of tool calls that are connected by the paths " +
	"that they write and read. Write a plan, pass its text to check, fix the findings (explain describes a code), " +
	"and call simulate, then simulate with branches. The language's reference is at obelus://language, examples are " +
	"at obelus://examples."
