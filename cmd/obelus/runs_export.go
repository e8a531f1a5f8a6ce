package main

import (
	"os"

	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/trace"
	"github.com/spf13/cobra"
)

func (c *cli) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write one run as OpenTelemetry's spans",
		Long: "Writes what a run did as spans: the run, its ticks, its calls with links to those that they read,\n" +
			"their tries, questions and pauses; as one request of OTLP in JSON, which a collector takes at\n" +
			"/v1/traces. Spans hold names, times and how things ended, never parameters or results. A run that\n" +
			"is written again has the same ids. The run isn't touched, and may go on meanwhile.",
		Example: "obelus runs export 20261121-0930 --otlp spans.json\n" +
			"obelus runs export 20261121-0930 --otlp - | curl --json @- http://127.0.0.1:4318/v1/traces",
		Args: oneArg("a run"),
	}
	o := new(running).addRuns(cmd)
	file := cmd.Flags().String("otlp", "", "the `FILE` to write, - for standard output")
	activities := addActivities(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *file == "" {
			return usageErr("nothing says where the spans are to go").Advise("name a file with --otlp, or - for standard output")
		}
		path, err := o.find(args[0])
		if err != nil {
			return err
		}
		recording, err := session.Traced(path, session.ResumeOptions{Activities: *activities},
			trace.Attribute{Key: "service.name", Value: "obelus"}, trace.Attribute{Key: "service.version", Value: version()})
		if err != nil {
			return err
		}
		text, err := recording.OTLP()
		if err != nil {
			return err
		}
		if *file == "-" {
			_, err = c.out.Write(text)
		} else if err = os.WriteFile(*file, text, 0o644); err != nil {
			err = usageErr("%v", err)
		}
		return err
	}
	return cmd
}
