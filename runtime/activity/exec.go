package activity

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
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

func (b base) program() program { return program{b, b.env.program(b.def, b.hide)} }

var _ = register("exec", kind{missing: missingProgram,
	open: func(s *Set, b base) (starter, error) {
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
	select {
	case <-p.done:
	case <-full:
		p.kill()
	case <-ctx.Done():
		p.end(x.options.Grace)
	}
	if p.stopped() && !p.wait(x.options.Grace+2*drain) {
		return x.fail(CodeError, "can't be ended: its process %d doesn't even die when killed", p.cmd.Process.Pid)
	}
	return x.outcome(ctx, r, p, form, output.Bytes(), full)
}

// given is what the program is started with for a call: its arguments, and all that it reads.
func (x *program) given(r *Request) (argv []string, input []byte, err error) {
	if argv, err = kinds.Arguments(x.def, r.Params, x.env.get); err != nil {
		return nil, nil, err
	}
	switch x.def.Stdin {
	case plan.StreamNone:
		return argv, []byte{}, nil
	case plan.StreamJSON, "":
		input, err = encode(r.input())
	default:
		value, _ := pathtree.Walk(r.Params, x.def.StdinPath)
		if text, ok := value.(string); ok || value == nil {
			return argv, []byte(text), nil
		}
		input, err = encode(value)
	}
	if err != nil {
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

func (x *program) outcome(ctx context.Context, r Request, p *process, form string, output []byte,
	full <-chan struct{}) (Result, error) {
	stderr := p.stderr.text(x.hide)
	fail := func(code, message, more string) (Result, error) {
		return none, &Failure{Code: code, Message: message + more, Details: p.details(stderr)}
	}
	whose := fmt.Sprintf("activity %q ", x.name)
	select {
	case <-full:
		return fail(CodeBadOutput, whose+fmt.Sprintf("wrote more than %d MiB to stdout and was killed", maxOutput>>20),
			saying(stderr))
	default:
	}
	switch {
	case p.stopped():
		f := x.interrupted(ctx)
		return fail(f.Code, f.Message, saying(stderr))
	case !p.cmd.ProcessState.Success() && stderr == "":
		return fail(CodeError, whose+"failed ("+p.ending()+") and wrote nothing to stderr", "")
	case !p.cmd.ProcessState.Success(): // mostly that is all that a person wants to know
		return fail(CodeError, whose+"failed ("+p.ending()+"): ", oneLine(stderr))
	}
	value, err := x.read(form, output)
	undeclared := x.def.Stdout == "" && form == plan.StreamJSON
	start := bytes.TrimLeft(output, " \t\r\n")
	plain := len(start) > 0 && !bytes.ContainsAny(start[:1], `{["`) &&
		(r.Output == nil || r.Output.Kinds()&schema.String != 0)
	if undeclared && plain && (err != nil || r.Output != nil && r.Output.Validate(value) != nil) {
		if text, bad := x.read(plan.StreamText, output); bad == nil {
			value, err = text, nil
		}
	}
	if err != nil {
		hint := ""
		if undeclared {
			hint = "; if it prints text, define it with \"stdout: text\""
		}
		what := fmt.Sprintf("must write to stdout %v%s%s", err, x.excerpt(output), hint)
		return fail(CodeBadOutput, whose+what, saying(stderr))
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
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), nil
	case form != plan.StreamLines:
		return value, nil
	}
	list := []any{}
	for line := range strings.Lines(text) {
		if len(list) == maxValues {
			return nil, fmt.Errorf("at most %d lines", maxValues)
		}
		list = append(list, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return list, nil
}
