// Command obelus checks, draws, rehearses and runs plans: lists of tool calls
// that find each other through the paths that they write and read.
package main

import (
	"context"
	"io"
	"log"
	"os"
)

func main() {
	log.SetOutput(io.Discard) // to which net/http tells what servers say unasked
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
