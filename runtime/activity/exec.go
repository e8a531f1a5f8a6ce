package activity

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A program is an activity that starts a process for each call. Its definition says
// what it is given, and in which form it gives its result.
type program struct {
	base
	environ []string // its own
}

// everybodys are the variables that every program gets: it couldn't be
// found, find its files, or speak the user's language without.
var everybodys = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// program is what an activity starts. What it is given as {$NAME} is secret from now on, and so is what stands in its
// environment outright under a name that says so.
func (b base) program() program {
	b.hideVariables()
	given := map[string]string{}
	for _, name := range slices.Concat(everybodys, b.def.Inherit) {
		if value, there := b.env[name]; there {
			given[name] = value
		}
	}
	for _, one := range b.def.Env {
		given[one.Name] = kinds.Filled(one.Value, b.env.get)
		if naming.Secret(one.Name) {
			b.hide.KeepDistinctive(one.Name, one.Value)
		}
	}
	x := program{base: b}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		x.environ = append(x.environ, name+"="+given[name])
	}
	return x
}

var _ = register("exec", kind{missing: missingProgram, open: func(s *Set, b base) (starter, error) {
	if len(b.def.Argv) == 0 {
		return nil, b.failure(CodeError, "has an empty argv: expected a program and its arguments")
	}
	p := b.program()
	if b.options.Unchanged != nil && s.mayUse(b.name) {
		found, _ := exec.LookPath(kinds.Filled(b.def.Argv[0].Texts[0], b.env.get))
		if _, err := b.options.Unchanged(b.name, found); err != nil {
			return nil, err
		}
	}
	if !b.def.Worker {
		return &p, nil
	}
	w := &worker{peer: peer{program: p}}
	s.closers = append(s.closers, w.close)
	return w, nil
}})

func (x *program) start(ctx context.Context, r Request, ended func(Result, error)) {
	go func() { ended(x.run(ctx, r)) }()
}

func (x *program) run(ctx context.Context, r Request) (Result, error) {
	argv, input, err := x.given(&r)
	if err != nil {
		return none, x.fault(CodeError, "%v", err)
	}
	var output bytes.Buffer
	full := make(chan struct{})
	form := r.form(x.def.Stdout)
	p, err := x.launch(argv, input, func(stdout io.Reader) {
		if form == plan.StreamNone {
			io.Copy(io.Discard, stdout)
		} else if n, _ := io.Copy(&output, io.LimitReader(stdout, maxOutput+1)); n > maxOutput {
			close(full)
		}
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return none, x.interrupted(ctx)
	case err != nil:
		return none, x.cannotStart(argv[0], err)
	}
	ctx, cancel := within(ctx, x.def.Timeout)
	defer cancel()
	var stopped *Failure
	hasEnded := true
	select {
	case <-p.done:
	case <-ctx.Done():
		stopped, hasEnded = x.interrupted(ctx), p.end(x.options.Grace)
	case <-full:
		hasEnded = p.end(0)
	}
	if !hasEnded {
		return x.fail(CodeError, "can't be ended: its process %d doesn't even die when killed", p.cmd.Process.Pid)
	}
	return x.outcome(r, p, form, output.Bytes(), stopped)
}

// given is what the program is started with for a call: its arguments, and all that it reads.
func (x *program) given(r *Request) (argv []string, input []byte, err error) {
	if argv, err = kinds.Arguments(x.def, r.Params, x.env.get); err != nil {
		return nil, nil, err
	}
	var value any = r.input()
	switch x.def.Stdin {
	case plan.StreamNone:
		return argv, []byte{}, nil
	case plan.StreamJSON, "":
	default:
		value, _ = pathtree.Walk(r.Params, x.def.StdinPath)
		if text, ok := value.(string); ok || value == nil {
			return argv, []byte(text), nil
		}
	}
	if input, err = encode(value); err != nil {
		err = fmt.Errorf("the parameters of activity %q can't be written as JSON: %v", x.name, err)
	}
	return argv, append(input, '\n'), err
}

// form is the form of a call's result: the declared one, or what its use tells.
func (r *Request) form(declared string) string {
	switch {
	case declared != "":
		return declared
	case r.Unread:
		return plan.StreamNone
	}
	return plan.StreamJSON
}

// input is what a program reads: the parameters, whose names don't begin with "_",
// and the context of a call that has one.
func (r *Request) input() map[string]any {
	if r.Context == nil {
		return r.Params
	}
	input := make(map[string]any, len(r.Params)+1)
	maps.Copy(input, r.Params)
	input["_context"] = r.Context
	return input
}

// outcome is what a program gives that has ended, or was stopped.
func (x *program) outcome(r Request, p *process, form string, output []byte, stopped *Failure) (Result, error) {
	stderr := p.stderr.text(x.hide)
	ending, details := p.ending(stderr)
	whose := fmt.Sprintf("activity %q ", x.name)
	failure := func(code, message, end string) (Result, error) {
		return none, &Failure{Code: code, Message: message + end, Details: details}
	}
	switch {
	case len(output) > maxOutput:
		return failure(CodeBadOutput, fmt.Sprintf("%swrote more than %d MiB to stdout and was killed", whose,
			maxOutput>>20), saying(stderr))
	case stopped != nil:
		return failure(stopped.Code, stopped.Message, saying(stderr))
	case !p.cmd.ProcessState.Success() && stderr == "":
		return failure(CodeError, whose+"failed ("+ending+") and wrote nothing to stderr", "")
	case !p.cmd.ProcessState.Success(): // mostly that is all that a person wants to know
		return failure(CodeError, whose+"failed ("+ending+"): ", oneLine(stderr))
	}
	value, err := x.read(form, output)
	hint := ""
	if x.def.Stdout == "" && form == plan.StreamJSON { // which nobody has declared
		hint = "; if it prints text, define it with \"stdout: text\""
		start := bytes.TrimLeft(output, " \t\r\n")
		isText := len(start) > 0 && !bytes.ContainsAny(start[:1], `{["`) &&
			(r.Output == nil || r.Output.Kinds()&schema.String != 0)
		if isText && (err != nil || r.Output != nil && r.Output.Validate(value) != nil) {
			if text, bad := x.read(plan.StreamText, output); bad == nil {
				value, err = text, nil
			}
		}
	}
	if err != nil {
		return failure(CodeBadOutput, fmt.Sprintf("%smust write to stdout %v%s%s", whose, err, x.excerpt(output), hint),
			saying(stderr))
	}
	return Take(value, r, x.name)
}

// read takes what the program has written as its result. The error says what it should have written.
func (x *program) read(form string, output []byte) (any, error) {
	value, err := x.common.read(form, output)
	text, _ := value.(string)
	switch {
	case err != nil:
		return nil, err
	case form == plan.StreamText:
		return withoutEnd(text), nil
	case form != plan.StreamLines:
		return value, nil
	}
	list := []any{}
	for line := range strings.Lines(text) {
		if len(list) == maxValues {
			return nil, fmt.Errorf("at most %d lines", maxValues)
		}
		list = append(list, withoutEnd(line))
	}
	return list, nil
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }
