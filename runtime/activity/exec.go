package activity

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/obelus-dev/obelus/runtime/redact"
)

// A program is an activity that starts a process for each call: parameters as
// one JSON object on stdin, the result as one JSON value on stdout.
type program struct {
	name    string
	argv    []string
	dir     string
	timeout time.Duration // of one call; 0 is none
	environ []string
	grace   time.Duration
	hide    *redact.Redactor
	set     *Set
}

// keptStderr is how many bytes of stderr are kept, so that what is quoted can
// be cleared of secrets that it begins in.
func (x *program) keptStderr() int {
	return quotedStderr + 64 + 2*x.hide.Longest()
}

// start takes the program's place in line, so that programs start in the order of
// their calls (S8.4), and runs it.
func (x *program) start(ctx context.Context, r Request, ended func(Result, error)) {
	place := inLine()
	go func() { ended(x.run(ctx, place, r)) }()
}

// run starts the program and waits for its end.
func (x *program) run(ctx context.Context, place *launch, r Request) (Result, error) {
	params, err := encode(r.input())
	if err != nil {
		place.leave()
		return Result{Route: -1}, &Failure{Code: CodeError, Message: fmt.Sprintf("the parameters of activity %q can't be written as JSON: %v", x.name, err)}
	}
	var output bytes.Buffer
	full := make(chan struct{})
	p, err := place.start(x.toStart(ctx, append(params, '\n'), r.Call, func(stdout io.Reader) {
		if n, _ := io.Copy(&output, io.LimitReader(stdout, maxOutput+1)); n > maxOutput {
			close(full)
		}
	}))
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{Route: -1}, interrupted(ctx, x.name)
	case err != nil:
		return Result{Route: -1}, cannotStart(x.name, x.argv[0], err)
	}
	if x.timeout > 0 { // of the program, not of its wait in line
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.timeout, errOverdue{x.timeout})
		defer cancel()
	}
	select {
	case <-p.done:
	case <-full:
		p.kill()
	case <-ctx.Done():
		p.end(x.grace)
	}
	if p.stopped() && !p.wait(x.grace) {
		return Result{Route: -1}, &Failure{Code: CodeError, Message: fmt.Sprintf("activity %q can't be ended: its process %d doesn't even die when killed", x.name, p.cmd.Process.Pid)}
	}
	return x.outcome(ctx, r, p, output.Bytes(), full)
}

// toStart is how the program is started for a call.
func (x *program) toStart(ctx context.Context, input []byte, call string, read func(io.Reader)) *start {
	return &start{ctx: ctx, argv: x.argv, dir: x.dir, environ: x.environ, input: input, keep: x.keptStderr(), read: read, set: x.set, activity: x.name, call: call}
}

// input is what a program reads: the parameters, none of which begins with "_",
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

// outcome judges a process that has ended.
func (x *program) outcome(ctx context.Context, r Request, p *process, output []byte, full <-chan struct{}) (Result, error) {
	stderr := p.stderr.text(x.hide)
	fail := func(code, format string, args ...any) (Result, error) {
		message := fmt.Sprintf("activity %q "+format, append([]any{x.name}, args...)...) + saying(stderr)
		return Result{Route: -1}, &Failure{Code: code, Message: message, Details: p.details(stderr)}
	}
	select {
	case <-full:
		return fail(CodeBadOutput, "wrote more than %d MiB to stdout and was killed", maxOutput>>20)
	default:
	}
	if p.stopped() {
		f := interrupted(ctx, x.name)
		f.Message += saying(stderr)
		f.Details = p.details(stderr)
		return Result{Route: -1}, f
	}
	if !p.cmd.ProcessState.Success() {
		return Result{Route: -1}, &Failure{Code: CodeError, Message: x.died(p, stderr), Details: p.details(stderr)}
	}
	value, err := decode(output, maxDepth, x.hide)
	if err != nil {
		return fail(CodeBadOutput, "must write exactly one JSON value to stdout: %v%s", err, x.excerpt(output))
	}
	return route(value, r, x.name, saying(stderr))
}

// died says how the program ended by itself, and what it said last: mostly
// that is all that a person wants to know, so nothing stands between.
func (x *program) died(p *process, stderr string) string {
	if stderr == "" {
		return fmt.Sprintf("activity %q failed (%s) and wrote nothing to stderr", x.name, p.ending())
	}
	return fmt.Sprintf("activity %q failed (%s): %s", x.name, p.ending(), oneLine(stderr))
}

// excerpt shows how a bad output begins.
func (x *program) excerpt(output []byte) string {
	text := bytes.TrimSpace(output)
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it begins %q)", brief(x.hide.Message(string(text))))
}
