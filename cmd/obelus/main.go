// Command obelus checks, draws, simulates and runs plans: lists of tool calls
// that find each other through the paths that they write and read.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/obelus-dev/obelus/runtime/trace"
)

func main() {
	log.SetOutput(io.Discard) // to which net/http tells what servers say unasked
	// Who started us may have told of a span, within which whatever we start stands then.
	ctx := trace.WithHeaders(context.Background(), os.Getenv("TRACEPARENT"), os.Getenv("TRACESTATE"))
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
