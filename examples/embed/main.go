// Command embed runs plans in a Go program, which carries out some of their calls
// itself:
//
//	go run ./examples/embed examples/weather.yaml examples/nightly.yaml
//
// It uses files beside a plan: NAME.solutions.yaml has recorded answers of a model,
// and NAME.jsonl has instances.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/obelus-dev/obelus"
)

// These functions are activities. They replace the activities of the same names
// in a plan.
var functions = map[string]obelus.Function{
	"forecast": forecast,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, name := range os.Args[1:] {
		if err := run(ctx, name, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			if advice := obelus.Advice(err); advice != "" {
				fmt.Fprintln(os.Stderr, "  "+advice)
			}
			stop()
			os.Exit(1)
		}
	}
}

// run runs a plan, and prints its output.
func run(ctx context.Context, name string, out io.Writer) error {
	var o obelus.RunOptions
	if solutions := beside(name, ".solutions.yaml"); solutions != "" {
		o.Planner = "replay:" + solutions
	}
	o.Instances = beside(name, ".jsonl")
	plan, err := obelus.Load(name, obelus.LoadOptions{Functions: functions, Instances: o.Instances != ""})
	if err != nil {
		return err
	}
	result, err := plan.Run(ctx, o)
	if err != nil {
		return err
	}
	if result.Status != obelus.Done {
		return fmt.Errorf("the run %s: %s", result.Status, result.Reason)
	}
	output := result.Output
	if result.Instances != nil {
		output = fmt.Sprintf("%d instances", len(result.Instances))
	}
	text, err := json.Marshal(output)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d calls done: %s\n", name, result.Counts.Done, text)
	return err
}

// beside returns the name of the file with the plan's name and another ending, or "" if there is none.
func beside(plan, ending string) string {
	name := strings.TrimSuffix(plan, ".yaml") + ending
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// forecast returns the weather of examples/weather.yaml.
func forecast(_ context.Context, r obelus.Request) (any, error) {
	celsius, known := map[string]int{"Berlin": 17, "Dublin": 14, "Lisbon": 24, "Nairobi": 24, "Oslo": 9, "Sydney": 19}[fmt.Sprint(r.Params["city"])]
	if !known {
		return nil, &obelus.Failure{Code: "unknown-city", Message: fmt.Sprintf("nobody knows the weather of %v", r.Params["city"])}
	}
	return map[string]any{"city": r.Params["city"], "celsius": celsius, "sky": "sun"}, nil
}
