package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// change lets the person write other parameters, shows the differences and asks for a confirmation.
func (d *Dialogue) change(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	c := d.console
	var params map[string]any
	_, err := d.enter(ctx, "parameters", writable(q.Params), func(text string) (err error) {
		if params, err = object(text); err != nil {
			return err
		}
		if problem := q.Unacceptable(params); problem != "" {
			return errors.New(problem)
		}
		return nil
	})
	if err != nil {
		return runtime.Decision{}, err
	}
	if reflect.DeepEqual(params, q.Params) || len(params)+len(q.Params) == 0 {
		c.say(c.style.Faint("–"), "nothing was changed")
		return runtime.Decision{}, errBack
	}
	c.print("\n" + d.Differences(q.Params, params) + "\n")
	key, err := d.choose(ctx, []option{{'y', "run it with these"}, {'b', "back to the question"}})
	if err != nil {
		return runtime.Decision{}, err
	}
	if key == 'b' {
		c.say(c.style.Faint("–"), "nothing was changed")
		return runtime.Decision{}, errBack
	}
	c.say(c.style.Green("✓"), "approved with these changes")
	return runtime.Decision{Verdict: runtime.Change, Params: params}, nil
}

// replace lets the person write another call. It is asked about in its turn, with everything that it would be started
// with, before it runs.
func (d *Dialogue) replace(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	var call map[string]any
	entered, err := d.enter(ctx, "call", asCall(q), func(text string) (err error) {
		if call, err = object(text); err != nil {
			return err
		}
		if tool, ok := call["_tool"].(string); !ok || tool == "" {
			return errors.New(`a call names its tool: {"_tool": "…", …}`)
		}
		return nil
	})
	if err != nil {
		return runtime.Decision{}, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(entered)); err != nil {
		return runtime.Decision{}, err
	}
	d.console.say(d.console.style.Yellow("↻"), "a call of "+Quoted(call["_tool"].(string))+" in its place, which is asked about next")
	return runtime.Decision{Verdict: runtime.Replace, Replacement: line.Bytes()}, nil
}

// enter reads what is called so as JSON, in the person's editor or else as one line, until check accepts it.
func (d *Dialogue) enter(ctx context.Context, what, text string, check func(string) error) (string, error) {
	if editor() != "" {
		entered, err := d.edit(ctx, what+".json", text, check)
		if !errors.Is(err, errNoEditor) {
			return entered, err
		}
	}
	c := d.console
	c.hint("the " + what + " as JSON on one line, such as this; Enter alone goes back")
	p := &page{width: c.width()}
	p.quote(2, text, 0)
	c.print(p.b.String())
	for {
		line, err := c.line(ctx, what+":")
		switch {
		case err != nil:
			return "", err
		case line == "":
			return "", errBack
		}
		problem := check(line)
		if problem == nil {
			return line, nil
		}
		c.say(c.style.Red("!"), diag.Escape(problem.Error()))
	}
}

// errNoEditor says that the person's editor can't be started.
var errNoEditor = errors.New("there is no such editor")

func editor() string {
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if command := strings.TrimSpace(os.Getenv(variable)); command != "" {
			return command
		}
	}
	return ""
}

// edit hands text to the person's editor until check takes what comes back or
// the person goes back.
func (d *Dialogue) edit(ctx context.Context, name, text string, check func(string) error) (string, error) {
	c := d.console
	for {
		edited, err := d.inEditor(ctx, name, text)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, errNoReviewer):
			return "", err
		case errors.Is(err, errNoEditor):
			c.say(c.style.Red("!"), fmt.Sprintf("the editor %s can't be started; change $VISUAL or $EDITOR to have another", Quoted(editor())))
			return "", err
		case err != nil:
			c.say(c.style.Red("!"), "nothing was taken over: "+diag.Escape(err.Error()))
			c.print("\n")
			return "", errBack
		}
		problem := check(edited)
		if problem == nil {
			return edited, nil
		}
		c.say(c.style.Red("!"), diag.Escape(problem.Error()))
		c.print("\n")
		key, err := d.choose(ctx, []option{{'e', "edit again"}, {'b', "back to the question"}})
		if err != nil {
			return "", err
		}
		if key == 'b' {
			return "", errBack
		}
		text = edited
	}
}

// inEditor runs the editor on a file that nobody else may read. When ctx ends,
// it is asked to end, too.
func (d *Dialogue) inEditor(ctx context.Context, name, text string) (string, error) {
	folder, err := os.MkdirTemp("", "obelus-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	d.console.hint("waiting for the editor")
	// The variable holds a command of a shell, as it does for other programs.
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+editor()+` "$@"`, "sh", file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.console.in, d.console.out, d.console.out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	err = d.console.lend(cmd.Run)
	var ended *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &ended) && (ended.ExitCode() == 126 || ended.ExitCode() == 127):
		return "", errNoEditor
	case errors.As(err, &ended):
		return "", fmt.Errorf("the editor ended with %v", ended)
	case err != nil:
		return "", err
	}
	edited, err := os.ReadFile(file)
	return string(edited), err
}

// Differences shows what became of parameters.
func (l *Sheet) Differences(before, after map[string]any) string {
	s := l.style
	p := &page{width: l.width()}
	all := maps.Clone(before)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, after)
	show := func(paint func(string) string, sign, name string, value any) {
		for _, line := range wrapValue(sign+label(name)+": "+visibly(value, ""), p.width-4) {
			p.line(4, paint(line))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := before[name]
		is, has := after[name]
		if had && has && reflect.DeepEqual(was, is) {
			continue
		}
		if had {
			show(s.Red, "- ", name, was)
		}
		if has {
			show(s.Green, "+ ", name, is)
		}
	}
	return p.b.String()
}

// object reads a JSON object, as strictly as plans are read.
func object(text string) (map[string]any, error) {
	node, problems := source.Parse(source.NewFile("entered.json", []byte(text)), source.DefaultLimits())
	for _, problem := range problems {
		at := problem.Span.From()
		return nil, fmt.Errorf("line %d, column %d: %s", at.Line, at.Column, problem.Message)
	}
	if node == nil || node.Kind != source.Object {
		return nil, errors.New("expected a JSON object: {…}")
	}
	return node.Value().(map[string]any), nil
}

// asCall is the call of a question as JSON, as a replacement is written.
func asCall(q *runtime.Question) string {
	call := map[string]any{"_tool": q.Tool}
	for name, value := range q.Params {
		call[name] = literally(value)
	}
	if q.Scopes != nil { // a replacement has only what it says
		scopes := make([]any, len(q.Scopes))
		for i, s := range q.Scopes {
			scopes[i] = s.Scope
		}
		call["_scopes"] = scopes
	}
	if q.Method != "" {
		call["_outputMethod"] = q.Method
	}
	return writable(call)
}

// literally is a value as a plan writes it: nothing in its texts is an expression.
func literally(value any) any {
	switch v := value.(type) {
	case string:
		return expression.Escape(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = literally(item)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(v))
		for key, item := range v {
			fields[key] = literally(item)
		}
		return fields
	}
	return value
}

// writable is a value as JSON that an editor shows as it is.
func writable(value any) string {
	if params, ok := value.(map[string]any); ok && params == nil {
		return "{}\n"
	}
	return visibly(value, "  ") + "\n"
}
