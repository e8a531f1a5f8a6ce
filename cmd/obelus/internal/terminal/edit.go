package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// change lets the person change the parameters, shows what that makes of them
// and asks whether it is meant.
func (d *Dialogue) change(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	c, s := d.console, d.console.style
	text := d.drafts[callOf(q)]
	if draft, err := object(text); err != nil || draft["_tool"] != nil {
		text = writable(q.Params)
	}
	for {
		params, entered, err := d.enterParams(ctx, text)
		if err != nil {
			return runtime.Decision{}, err
		}
		if reflect.DeepEqual(params, q.Params) || len(params)+len(q.Params) == 0 {
			c.say(s.Faint("–"), "nothing was changed")
			c.print("\n")
			return runtime.Decision{}, errBack
		}
		c.print("\n" + d.Differences(q.Params, params) + "\n")
		again, problem := false, q.Unacceptable(params)
		if problem == "" {
			again, err = d.meant(ctx, "run it with these")
		} else {
			c.say(s.Red("!"), "that can't be taken: "+diag.Escape(problem))
			again, err = d.meant(ctx, "")
		}
		if err != nil {
			return runtime.Decision{}, err
		}
		if !again {
			d.drafts[callOf(q)] = entered
			c.say(s.Green("✓"), "approved with these changes")
			return runtime.Decision{Verdict: runtime.Change, Params: params}, nil
		}
		text = entered
	}
}

// replace lets the person write another call. It is asked about in its turn, with
// all that it would be started with, before it runs.
func (d *Dialogue) replace(ctx context.Context, q *runtime.Question) (runtime.Decision, error) {
	text := d.drafts[callOf(q)]
	if draft, err := object(text); err != nil || draft["_tool"] == nil {
		text = asCall(q)
	}
	call, entered, err := d.enterCall(ctx, text)
	if err != nil {
		return runtime.Decision{}, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(entered)); err != nil {
		return runtime.Decision{}, err
	}
	d.drafts[callOf(q)] = entered
	d.console.say(d.console.style.Yellow("↻"), "a call of "+Quoted(call["_tool"].(string))+" in its place, to be looked at")
	return runtime.Decision{Verdict: runtime.Replace, Replacement: line.Bytes()}, nil
}

// meant asks whether what was entered is to be the answer, which words describe, or
// is to be entered again; where there are none it can't be the answer.
func (d *Dialogue) meant(ctx context.Context, words string) (again bool, err error) {
	options := []option{{'y', words}, {'e', "edit again"}, {'b', "back to the question"}}
	if words == "" {
		options = options[1:]
	}
	key, err := d.choose(ctx, options)
	if err == nil && key == 'b' {
		d.console.say(d.console.style.Faint("–"), "left as it was")
		d.console.print("\n")
		err = errBack
	}
	return key == 'e', err
}

// enterParams reads all parameters, by an editor or line by line. It gives them
// as they were entered, too.
func (d *Dialogue) enterParams(ctx context.Context, text string) (params map[string]any, entered string, err error) {
	if editor() != "" {
		entered, err = d.edit(ctx, "parameters.json", text, func(text string) error {
			params, err = object(text)
			return err
		})
		if !errors.Is(err, errNoEditor) {
			return params, entered, err
		}
	}
	if params, err = object(text); err != nil {
		return nil, "", err
	}
	c := d.console
	c.hint("name=value sets a parameter, to JSON or else to text; -name takes one away; an empty line ends, Esc goes back")
	read := c.lines(ctx)
	for {
		line, err := read("change: ")
		if err != nil {
			return nil, "", err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			return params, writable(params), nil
		}
		if problem := assign(params, line); problem != "" {
			c.say(c.style.Red("!"), problem)
		}
	}
}

// assign carries out one line of name=value, or -name, or says what is wrong.
func assign(params map[string]any, line string) (problem string) {
	if name, gone := strings.CutPrefix(line, "-"); gone && !strings.Contains(line, "=") {
		name = strings.TrimSpace(name)
		if _, there := params[name]; !there {
			return "there is no parameter " + Quoted(name)
		}
		delete(params, name)
		return ""
	}
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" {
		return "expected name=value, but got " + Quoted(line)
	}
	read, problem := ValueOf(value, source.DefaultLimits())
	if problem != "" {
		return Quoted(name) + ": " + problem + "; if it is text, put it in quotes"
	}
	params[name] = read
	return ""
}

// enterCall reads a call as JSON, by an editor or on the terminal.
func (d *Dialogue) enterCall(ctx context.Context, text string) (call map[string]any, entered string, err error) {
	check := func(text string) error {
		if call, err = object(text); err != nil {
			return err
		}
		if tool, ok := call["_tool"].(string); !ok || tool == "" {
			return errors.New(`a call names its tool: {"_tool": "…", …}`)
		}
		return nil
	}
	if editor() != "" {
		entered, err = d.edit(ctx, "call.json", text, check)
		if !errors.Is(err, errNoEditor) {
			return call, entered, err
		}
	}
	c := d.console
	c.hint("a call as JSON, on one line or several, such as this one; an empty line or Esc goes back")
	p := &page{width: c.width()}
	p.quote(2, text, 0)
	c.print(p.b.String())
	read := c.lines(ctx)
	prompt, entered := "call: ", ""
	for {
		line, err := read(prompt)
		switch {
		case err != nil:
			return nil, "", err
		case strings.TrimSpace(line) == "":
			return nil, "", errBack
		}
		entered += line + "\n"
		if unfinished(entered) {
			prompt = "… "
			continue
		}
		if problem := check(entered); problem == nil {
			return call, entered, nil
		} else {
			c.say(c.style.Red("!"), diag.Escape(problem.Error()))
		}
		prompt, entered = "call: ", ""
	}
}

// unfinished reports whether JSON goes on in the next line.
func unfinished(text string) bool {
	var value any
	return errors.Is(json.NewDecoder(strings.NewReader(text)).Decode(&value), io.ErrUnexpectedEOF)
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
		case errors.Is(err, errNobodyThere):
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
		l.lookTwice(p, 6, map[string]any{name: value})
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

// literally is a value as a plan writes it: nothing in its texts is an expression
// (S4.1, S4.9).
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
