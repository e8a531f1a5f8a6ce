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
	giveUp := func() { once.Do(func() { ended(none, interrupted(ctx, f.name)) }) }
	inTime := context.AfterFunc(ctx, func() { time.AfterFunc(f.grace, giveUp) })
	go func() {
		result, err, returned := none, error(nil), false
		defer func() {
			if p := recover(); p != nil {
				err = fault(f.hide, CodeError, "activity %q panicked: %v", f.name, p)
			} else if !returned {
				err = fault(f.hide, CodeError, "activity %q ended its goroutine without returning", f.name)
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
		if value, err = plain(value, f.hide); err != nil {
			return fail(CodeBadOutput, "activity %q returned what isn't a JSON value: %v", f.name, err)
		}
		return Take(value, r, f.name)
	case errors.As(err, &own) && own != nil:
		details, bad := plain(own.Details, f.hide)
		if bad != nil {
			details = nil
		}
		return none, &Failure{Code: cmp.Or(own.Code, CodeError), Message: f.hide.Message(own.Message), Details: details,
			After: max(0, own.After)}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return none, interrupted(ctx, f.name)
	case errors.Is(err, context.DeadlineExceeded):
		return none, fault(f.hide, CodeTimeout, "%v", err)
	}
	return none, fault(f.hide, CodeError, "%v", err)
}
