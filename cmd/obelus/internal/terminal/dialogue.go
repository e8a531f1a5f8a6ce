// Package terminal shows a run to a person and asks its questions: progress, questions and
// answers, and the layout of texts and values. It knows no commands and no flags.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"golang.org/x/term"
)

var (
	// errStopRequested is returned when the person stops the run.
	errStopRequested = errors.New("the person who was asked stopped the run")
	// errNoReviewer is returned when the terminal is closed.
	errNoReviewer = errors.New("the terminal is closed, and nobody can be asked")
)

// CanAsk reports whether a person can be asked: both streams are terminals, and the environment variable CI isn't set.
func CanAsk(stdin, stderr any) bool {
	return draws(stdin) && draws(stderr) && canAwaitInput &&
		slices.Contains([]string{"", "0", "false"}, os.Getenv("CI"))
}

// A Dialogue asks a person on a terminal about calls: one at a time, while other questions wait in a queue.
type Dialogue struct {
	in, out *os.File
	screen  *Screen // is held while a question is open
	read    Reader

	stopped atomic.Bool

	mu   sync.Mutex
	last chan struct{} // closed once the last question is answered or withdrawn, and all before it
}

// A Reader reads an answer to a question: a verdict, and values that belong to it.
type Reader func(q *runtime.Question, words []string) (runtime.Decision, error)

// NewDialogue asks on a terminal for which [CanAsk] is true.
func NewDialogue(stdin io.Reader, stderr io.Writer, screen *Screen, read Reader) *Dialogue {
	out, _ := fileOf(stderr)
	d := &Dialogue{in: stdin.(*os.File), out: out, screen: screen, read: read, last: make(chan struct{})}
	close(d.last)
	return d
}

// Ask queues a question, and returns a function that waits for its answer. When ctx ends the question is withdrawn.
func (d *Dialogue) Ask(ctx context.Context, q *runtime.Question) (answer func() (runtime.Decision, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	turn, over := d.last, make(chan struct{})
	d.last = over
	seen := new(atomic.Pointer[time.Time])
	q.Seen = seen.Load
	return func() (runtime.Decision, error) {
		defer func() {
			go func() {
				<-turn
				close(over)
			}()
		}()
		select {
		case <-turn:
		case <-ctx.Done():
		}
		switch {
		case ctx.Err() != nil:
			return runtime.Decision{}, ctx.Err()
		case d.stopped.Load():
			return runtime.Decision{}, errStopRequested
		}
		d.screen.hold()
		defer d.screen.release()
		if err := d.discardInput(ctx); err != nil {
			return runtime.Decision{}, err
		}
		d.print("\n%s", Question(q, StyleFor(d.out), Columns(d.out)))
		seen.Store(new(time.Now()))
		decision, err := d.answer(ctx, q)
		switch {
		case errors.Is(err, errStopRequested):
			d.stopped.Store(true)
			d.print("  – the run stops here\n\n")
		case err != nil && ctx.Err() != nil:
			d.print("  – no longer asked\n\n")
		}
		return decision, err
	}
}

// options are what is entered for each verdict: a letter, and values.
var options = []struct{ letter, values, verdict string }{
	{"y", "", "approve"}, {"n", " [REASON]", "reject"}, {"e", " NAME=VALUE", "change"}, {"r", " CALL", "replace"},
	{"r", "", "retry"}, {"f", "", "fail"},
}

func (d *Dialogue) answer(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	style, columns, verdicts, hint := StyleFor(d.out), Columns(d.out), map[string]string{}, ""
	for _, o := range options {
		if slices.Contains(Verdicts(q), o.verdict) {
			verdicts[o.letter] = o.verdict
			hint += o.letter + o.values + " " + o.verdict + " · "
		}
	}
	var changed runtime.Decision // of which all parameters were shown
	for {
		p := &block{width: columns}
		p.text(2, style.Faint, hint+"q stop")
		d.print("%s  %s ", p, style.Yellow(">"))
		line, err := d.line(ctx)
		if err != nil || line == "q" {
			return runtime.Decision{}, cmp.Or(err, errStopRequested)
		}
		letter, values, hasValues := strings.Cut(line, " ")
		words := []string{verdicts[strings.ToLower(letter)]}
		if words[0] == "" {
			continue
		}
		if hasValues {
			words = append(words, strings.TrimSpace(values))
		}
		decision, err := d.read(q, words)
		switch {
		case err == nil && decision.Verdict == runtime.Change:
			changed, err = decision, errors.New("y runs it with "+visibly(decision.Params, ""))
		case err == nil:
			if decision.Verdict == runtime.Approve && changed.Params != nil {
				decision = changed
			}
			d.print("  %s %s\n\n", style.Green("✓"), decision.Verdict)
			return decision, nil
		}
		p = &block{width: columns}
		p.text(2, style.Red, diag.Escape(err.Error()))
		d.print("%s", p)
	}
}

// Wait waits until no question is open or waits for its turn, and reports whether the person has stopped the run.
func (d *Dialogue) Wait() bool {
	d.mu.Lock()
	last := d.last
	d.mu.Unlock()
	<-last
	return d.stopped.Load()
}

// print writes on the terminal; one that can't be written to can't be read either.
func (d *Dialogue) print(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

const (
	pollInterval = 50 * time.Millisecond // how often a wait for a line checks its context
	lineBytes    = 4095                  // the longest line that a terminal accepts
)

// line reads one line. Ctrl-D is errStopRequested, a closed terminal errNoReviewer.
func (d *Dialogue) line(ctx context.Context) (string, error) {
	buffer := make([]byte, lineBytes+1)
	n, err := d.readInput(ctx, buffer)
	if err == nil && n == 0 {
		err = errStopRequested
	}
	if err != nil {
		d.print("\n")
		return "", err
	}
	text, ended := strings.CutSuffix(string(buffer[:n]), "\n")
	if !ended || len(text) >= lineBytes {
		d.print("  a line ends with Enter, and has at most %d bytes; @FILE reads longer values\n", lineBytes-1)
		return "", nil
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "")), nil
}

// readInput waits for a line of the terminal; 0 bytes are Ctrl-D.
func (d *Dialogue) readInput(ctx context.Context, into []byte) (int, error) {
	for ctx.Err() == nil {
		if ready, err := awaitInput(d.in, pollInterval); err != nil {
			return 0, errNoReviewer
		} else if !ready {
			continue
		}
		n, err := d.in.Read(into)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 && !term.IsTerminal(int(d.in.Fd())) { // it was closed
			return 0, errNoReviewer
		}
		return n, nil
	}
	return 0, ctx.Err()
}

// discardInput drops lines that were entered before the question was shown.
func (d *Dialogue) discardInput(ctx context.Context) error {
	for {
		if ready, err := awaitInput(d.in, 0); err != nil || !ready {
			return err
		}
		if n, err := d.readInput(ctx, make([]byte, lineBytes+1)); err != nil || n == 0 {
			return err
		}
	}
}
