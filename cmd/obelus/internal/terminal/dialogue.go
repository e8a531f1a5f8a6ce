// Package terminal shows a run to a person and asks its questions: progress, questions and
// answers, and the layout of texts and values. It knows no commands and no flags.
package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"golang.org/x/term"
)

var (
	// errStopRequested is returned when the person stops the run.
	errStopRequested = errors.New("the person who was asked stopped the run")
	// errNoReviewer is returned when the terminal is closed.
	errNoReviewer = errors.New("the terminal is closed, and nobody can be asked")
	// errNoAnswer is returned when the question stays open.
	errNoAnswer = errors.New("the question is still open")
)

// CanAsk reports whether a person can be asked: both streams are terminals, this process is in
// the foreground, and the environment variable CI isn't set.
func CanAsk(stdin, stderr any) bool {
	in, readable := Of(stdin)
	_, writable := Of(stderr)
	return readable && writable && canAwaitInput && inForeground(in) &&
		slices.Contains([]string{"", "0", "false"}, os.Getenv("CI"))
}

// A Dialogue asks a person on a terminal about calls. It is safe for concurrent use: one question
// is open at a time, and the others wait in a queue.
type Dialogue struct {
	in, out *os.File
	style   Style
	screen  *Screen // is held while a question is open; may be nil
	person  string  // the name of the person in decisions

	stopped atomic.Bool

	mu   sync.Mutex
	last chan struct{} // closed once the last question is answered or withdrawn, and all before it
}

// NewDialogue asks on a terminal for which [CanAsk] is true.
func NewDialogue(stdin io.Reader, stderr io.Writer, screen *Screen, person string) *Dialogue {
	out, _ := fileOf(stderr)
	d := &Dialogue{in: stdin.(*os.File), out: out, style: StyleFor(stderr), screen: screen, person: person,
		last: make(chan struct{})}
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
		if d.screen != nil {
			d.screen.hold()
			defer d.screen.release()
		}
		decision, err := d.open(ctx, q, func() { seen.Store(new(time.Now())) })
		decision.By = d.person
		return decision, err
	}
}

// open shows a question and reads lines until one answers it.
func (d *Dialogue) open(ctx context.Context, q *runtime.Question, shown func()) (runtime.Decision, error) {
	err := d.discardInput(ctx)
	if err != nil {
		return runtime.Decision{}, err
	}
	d.print("\n" + Question(q, d.style, Columns(d.out)))
	shown()
	for {
		var decision runtime.Decision
		if decision, err = d.answer(ctx, q); err == nil {
			d.print("\n")
			return decision, nil
		} else if !errors.Is(err, errNoAnswer) {
			break
		}
	}
	text := "no longer asked"
	switch {
	case errors.Is(err, errNoReviewer):
		return runtime.Decision{}, err
	case errors.Is(err, errStopRequested):
		d.stopped.Store(true)
		text = "the run stops here"
	}
	d.say(d.style.Faint("–"), text)
	d.print("\n")
	return runtime.Decision{}, err
}

// answer reads a letter and what belongs to it. The error is errNoAnswer if the question stays open.
func (d *Dialogue) answer(ctx context.Context, q *runtime.Question) (decision runtime.Decision, err error) {
	s := d.style
	letters := "y approve · n reject · e change values · r replace · ? more · q stop the run"
	switch {
	case q.InFlight:
		letters = "r run it again · f count it as failed · ? more · q stop the run"
	case len(q.Outside) > 0:
		letters = "y approve what the approval doesn't cover · n reject · ? more · q stop the run"
	}
	d.hint(letters)
	line, err := d.line(ctx, s.Yellow(">"))
	if err != nil {
		return decision, err
	}
	letter := strings.ToLower(line)
	isOption := func(option string) bool { return strings.HasPrefix(option, letter+" ") }
	if len(line) != 1 || !slices.ContainsFunc(strings.Split(letters, " · "), isOption) {
		return decision, errNoAnswer
	}
	switch {
	case letter == "?":
		d.print("\n" + Full(q, d.style, Columns(d.out)))
		return decision, errNoAnswer
	case letter == "q":
		return decision, errStopRequested
	case letter == "r" && q.InFlight:
		d.say(s.Yellow("↻"), "it runs again")
		return runtime.Decision{Verdict: runtime.Retry}, nil
	case letter == "f":
		d.say(s.Red("✗"), "counted as failed")
		return runtime.Decision{Verdict: runtime.Fail}, nil
	case letter == "y":
		d.say(s.Green("✓"), "approved")
		return runtime.Decision{Verdict: runtime.Approve, Beyond: q.Beyond}, nil
	case letter == "n":
		d.hint("Enter alone gives no reason")
		reason, err := d.line(ctx, "why?")
		if err == nil {
			d.say(s.Yellow("✗"), "rejected")
		}
		return runtime.Decision{Verdict: runtime.Reject, Reason: reason}, err
	case letter == "r":
		entered, _, err := d.object(ctx, "call", map[string]any{"_tool": q.Tool})
		if err == nil {
			d.say(s.Yellow("↻"), "the other call is asked about, too")
		}
		return runtime.Decision{Verdict: runtime.Replace, Replacement: json.RawMessage(entered)}, err
	}
	_, params, err := d.object(ctx, "parameters", q.Params)
	switch {
	case err != nil:
		return decision, err
	case reflect.DeepEqual(params, q.Params):
		d.say(s.Faint("–"), "nothing was changed")
		return decision, errNoAnswer
	}
	d.say(s.Green("✓"), "approved with these changes")
	return runtime.Decision{Verdict: runtime.Change, Params: params}, nil
}

// object reads a JSON object on one line. The error is errNoAnswer if there is none.
func (d *Dialogue) object(ctx context.Context, what string, example map[string]any) (string, map[string]any, error) {
	if example == nil {
		example = map[string]any{}
	}
	editor, hint := os.Getenv("EDITOR"), "the "+what+" as JSON on one line, such as this; Enter alone goes back"
	if editor != "" {
		hint += "; v opens $EDITOR"
	}
	d.hint(hint)
	p := &block{width: Columns(d.out)}
	p.quote(2, visibly(example, ""))
	d.print(p.String())
	line, err := d.line(ctx, what+":")
	if err == nil && line == "v" && editor != "" {
		line, err = d.edit(ctx, editor, example)
	}
	if err == nil && line == "" {
		err = errNoAnswer
	}
	if err != nil {
		return "", nil, err
	}
	entered, err := ObjectOf("that can't be used", source.NewFile("entered.json", []byte(line)))
	if err != nil {
		d.say(d.style.Red("!"), diag.Escape(err.Error()))
		return "", nil, errNoAnswer
	}
	return line, entered, nil
}

// edit lets the person change an object in an editor. The error is errNoAnswer if the editor fails.
func (d *Dialogue) edit(ctx context.Context, editor string, object map[string]any) (string, error) {
	file, err := os.CreateTemp("", "obelus-*.json") // only its owner can read it
	if err == nil {
		defer os.Remove(file.Name())
		_, err = file.WriteString(JSON(object, "  ") + "\n")
		err = errors.Join(err, file.Close())
	}
	var text []byte
	if err == nil {
		command := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file.Name())
		command.Stdin, command.Stdout, command.Stderr = d.in, d.out, d.out
		if err = command.Run(); err == nil {
			text, err = os.ReadFile(file.Name())
		}
	}
	if err != nil {
		d.say(d.style.Red("!"), "$EDITOR: "+diag.Escape(err.Error()))
		return "", errNoAnswer
	}
	return string(text), nil
}

// Stopped reports whether the person has stopped the run.
func (d *Dialogue) Stopped() bool { return d.stopped.Load() }

// Wait waits until no question is open or waits for its turn.
func (d *Dialogue) Wait() {
	d.mu.Lock()
	last := d.last
	d.mu.Unlock()
	<-last
}

func (d *Dialogue) print(text string) {
	_, _ = io.WriteString(d.out, text) // a terminal that can't be written to can't be read either
}

// say prints a line with a mark.
func (d *Dialogue) say(mark, text string) {
	p := &block{width: Columns(d.out)}
	p.text(4, unpainted, text)
	d.print("  " + mark + strings.TrimPrefix(p.String(), "   "))
}

// hint prints what may be entered.
func (d *Dialogue) hint(text string) {
	p := &block{width: Columns(d.out)}
	p.text(2, d.style.Faint, text)
	d.print(p.String())
}

const (
	pollInterval = 50 * time.Millisecond // how often a wait for a line checks its context
	lineBytes    = 4095                  // the longest line that a terminal accepts
)

// line reads one line behind a prompt. Ctrl-D is errStopRequested, a closed terminal errNoReviewer.
func (d *Dialogue) line(ctx context.Context, prompt string) (string, error) {
	d.print("  " + prompt + " ")
	var line []byte
	for buffer := make([]byte, lineBytes+1); ; {
		n, err := d.read(ctx, buffer)
		if err == nil && n == 0 && len(line) == 0 {
			err = errStopRequested
		}
		if err != nil {
			d.print("\n")
			return "", err
		}
		line = append(line, buffer[:n]...)
		if text, ended := strings.CutSuffix(string(line), "\n"); ended {
			if len(text) >= lineBytes {
				d.say(d.style.Red("!"), "a line has at most 4094 bytes; obelus decide reads longer values from a file")
				return "", errNoAnswer
			}
			return strings.TrimSpace(strings.ToValidUTF8(text, "")), nil
		}
	}
}

// read waits for a line of the terminal; 0 bytes are Ctrl-D.
func (d *Dialogue) read(ctx context.Context, into []byte) (int, error) {
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
		if n, err := d.read(ctx, make([]byte, lineBytes+1)); err != nil || n == 0 {
			return err
		}
	}
}
