// Command obelus checks, draws, rehearses and runs plans: lists of tool calls
// that find each other through the paths that they write and read.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
