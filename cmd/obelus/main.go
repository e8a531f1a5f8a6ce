// Command obelus checks, draws, simulates and runs plans: lists of tool calls
// that find each other through the paths that they write and read.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/obelus-dev/obelus/runtime/activity"
)

func main() {
	log.SetOutput(io.Discard) // to which net/http tells what servers say unasked
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible gives a context that ends with Ctrl-C, a request to terminate, a closed terminal, or
// stop. A second Ctrl-C or request kills the programs that run, and then this one.
func interruptible(parent context.Context) (ctx context.Context, stop, release func()) {
	ctx, stop = context.WithCancel(parent)
	signals, pipes := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(pipes, syscall.SIGPIPE) // a writer into a closed pipe gets an error; the signal would kill
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-signals // or the end
		stop()
		for second := range signals {
			if second != syscall.SIGHUP { // which comes from the terminal and from its shell
				dieOf(second)
			}
		}
	}()
	return ctx, stop, func() {
		signal.Stop(signals)
		close(signals)
		<-done // the end that a second signal asked for isn't overtaken by ours
		signal.Stop(pipes)
		stop()
	}
}

// dieOf ends this process and the programs that it runs, as a signal does.
func dieOf(s os.Signal) {
	activity.KillAll()
	signal.Reset()
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		time.Sleep(time.Second) // it is on its way
	}
	os.Exit(statusStopped)
}
