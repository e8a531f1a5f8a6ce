package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
)

type function struct {
	name  string
	run   Func
	grace time.Duration
	hide  *redact.Set
}

var _ = register("go", kind{open: func(_ *Set, name string, _ *plan.Activity) (starter, error) {
	return nil, fmt.Errorf("activity %q is a Go function that this program doesn't register", name)
}})

// start calls the function in a goroutine of its own, and waits for one that ignores its context no longer than the
// grace time. Nobody else has to wait meanwhile, so that a call costs one goroutine.
func (f *function) start(ctx context.Context, r Request, ended func(Result, error)) {
	var once sync.Once
	giveUp := func() { once.Do(func() { ended(Result{Route: -1}, interrupted(ctx, f.name)) }) }
	inTime := context.AfterFunc(ctx, func() { time.AfterFunc(f.grace, giveUp) })
	go func() {
		result, err, returned := Result{Route: -1}, error(nil), false
		defer func() {
			if p := recover(); p != nil {
				err = f.fault(fmt.Sprintf("panicked: %v", p))
			} else if !returned {
				err = f.fault("ended its goroutine without returning")
			}
			if inTime() {
				ended(result, err)
			} else {
				giveUp()
			}
		}()
		result, err = f.call(ctx, r)
		returned = true
	}()
}

func (f *function) fault(what string) *Failure {
	return &Failure{Code: CodeError, Message: f.hide.Message(fmt.Sprintf("activity %q %s", f.name, what))}
}

// call includes reading the value, since what encodes itself may panic too.
func (f *function) call(ctx context.Context, r Request) (Result, error) {
	value, err := f.run(ctx, r)
	if err != nil {
		return Result{Route: -1}, f.failure(ctx, err)
	}
	value, err = plain(value, f.hide)
	if err != nil {
		return Result{Route: -1}, &Failure{Code: CodeBadOutput,
			Message: fmt.Sprintf("activity %q returned what isn't a JSON value: %v", f.name, err)}
	}
	return route(value, r, f.name, "")
}

func (f *function) failure(ctx context.Context, err error) *Failure {
	var own *Failure
	switch {
	case errors.As(err, &own) && own != nil:
		details, bad := plain(own.Details, f.hide)
		if bad != nil {
			details = nil
		}
		return &Failure{Code: cmp.Or(own.Code, CodeError), Message: f.hide.Message(own.Message), Details: details,
			After: max(0, own.After)}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return interrupted(ctx, f.name)
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: CodeTimeout, Message: f.hide.Message(err.Error())}
	default:
		return &Failure{Code: CodeError, Message: f.hide.Message(err.Error())}
	}
}
