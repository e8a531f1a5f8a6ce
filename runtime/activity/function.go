package activity

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

type function struct {
	base
	run Func
}

var _ = register("go", kind{open: func(_ *Set, b base) (starter, error) {
	return nil, b.failure(CodeError, "is a Go function that this program doesn't register")
}})

// start calls the function in a goroutine of its own, and waits for one that ignores its context no longer than the
// grace time. Nobody else has to wait meanwhile, so that a call costs one goroutine.
func (f *function) start(ctx context.Context, r Request, ended func(Result, error)) {
	var once sync.Once
	giveUp := func() { once.Do(func() { ended(none, f.interrupted(ctx)) }) }
	inTime := context.AfterFunc(ctx, func() { time.AfterFunc(f.options.Grace, giveUp) })
	go func() {
		result, err, returned := none, error(nil), false
		defer func() {
			if p := recover(); p != nil {
				err = f.failure(CodeError, "panicked: %v", p)
			} else if !returned {
				err = f.failure(CodeError, "ended its goroutine without returning")
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

// call includes reading the value, since what encodes itself may panic too.
func (f *function) call(ctx context.Context, r Request) (Result, error) {
	value, err := f.run(ctx, r)
	var own *Failure
	switch {
	case err == nil:
		if value, err = f.plain(value); err != nil {
			return f.fail(CodeBadOutput, "returned what isn't a JSON value: %v", err)
		}
		return Take(value, r, f.name)
	case errors.As(err, &own) && own != nil:
		details, _ := f.plain(own.Details)
		return none, &Failure{Code: cmp.Or(own.Code, CodeError), Message: f.hide.Message(own.Message), Details: details,
			After: max(0, own.After)}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return none, f.interrupted(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return none, f.fault(CodeTimeout, "%v", err)
	}
	return none, f.fault(CodeError, "%v", err)
}
