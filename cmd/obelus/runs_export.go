package main

import (
	"context"

	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/trace"
)

type exporting struct {
	OTLP string `flag:"--otlp FILE: where to write, - for standard output"`
}

func (o *exporting) run(_ context.Context, c *cli, args []string) error {
	if o.OTLP == "" {
		return usageErr("nothing says where the spans are to go").
			Advise("name a file with --otlp, or - for standard output")
	}
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	recording, err := session.Traced(path, session.ResumeOptions{Activities: c.Activities},
		trace.Attribute{Key: "service.name", Value: "obelus"},
		trace.Attribute{Key: "service.version", Value: version()})
	if err != nil {
		return err
	}
	text, err := recording.OTLP()
	if err != nil {
		return err
	}
	return c.write(o.OTLP, text)
}
