package main

import (
	"cmp"
	"context"
	"os"

	"github.com/obelus-dev/obelus/compiler/workspace"
)

type serving struct {
	approvers
	AllowRun bool     `flag:"--allow-run: offer a tool that runs approved plans of the workspace"`
	Listen   string   `flag:"--listen ADDRESS: serve HTTP at this address of this computer; port 0 is any free one"`
	Host     []string `flag:"--host NAME:PORT: a name by which other computers reach --listen"`
}

func (o *serving) run(ctx context.Context, c *cli, _ []string) error {
	if o.Listen == "" && len(o.Host) > 0 {
		return usageErr("--host is for a server that listens").Advise("add --listen with an address")
	}
	s := &mcpServer{cli: c, reading: c.newReading(), approvers: o.approvers, allowRun: o.AllowRun}
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
	if o.Listen != "" {
		return s.listen(ctx, o.Listen, o.Host)
	}
	return s.converse(ctx)
}
