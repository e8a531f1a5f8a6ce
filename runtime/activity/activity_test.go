package activity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

func openFunc(t testing.TB, run Func) *Set {
	t.Helper()
	s, err := Open(nil, map[string]Func{"act": run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// LANGUAGE.md#activities: Go functions that a program registers; their results become JSON
// values that nobody else holds.
func TestFunctionResults(t *testing.T) {
	shared := map[string]any{"list": []any{1, "two"}}
	type point struct {
		X int    `json:"x"`
		S string `json:"s,omitempty"`
	}
	for name, c := range map[string]struct{ give, want any }{
		"nothing":   {nil, nil},
		"int":       {3, 3.0},
		"uint8":     {uint8(3), 3.0},
		"struct":    {point{X: 1}, map[string]any{"x": 1.0}},
		"pointer":   {&point{2, "s"}, map[string]any{"x": 2.0, "s": "s"}},
		"nested":    {map[string]any{"p": []point{{X: 1}}}, map[string]any{"p": []any{map[string]any{"x": 1.0}}}},
		"strings":   {[]string{"a"}, []any{"a"}},
		"a map":     {shared, map[string]any{"list": []any{1.0, "two"}}},
		"reference": {"†state.secret", "†state.secret"}, // LANGUAGE.md#references-and-expressions: data stays data
	} {
		s := openFunc(t, func(context.Context, Request) (any, error) { return c.give, nil })
		got, err := s.Run(context.Background(), "act", Request{})
		if err != nil || !reflect.DeepEqual(got, Result{Value: c.want, Route: -1}) {
			t.Errorf("%s: got %#v, %v, want %#v", name, got, err, c.want)
		}
	}
	s := openFunc(t, func(context.Context, Request) (any, error) { return shared, nil })
	got, _ := s.Run(context.Background(), "act", Request{})
	got.Value.(map[string]any)["list"].([]any)[0] = "changed"
	if shared["list"].([]any)[0] != 1 {
		t.Error("the result shares memory with what the function keeps")
	}
}

type panicky struct{}

func (panicky) MarshalJSON() ([]byte, error) { panic("while encoding") }

// EXECUTION.md#failures: what isn't a JSON value is a runtime error, not a panic.
func TestFunctionBadResults(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	type node struct{ Next *node }
	ring := &node{}
	ring.Next = ring
	for name, c := range map[string]struct {
		give       any
		code, want string
	}{
		"NaN":           {math.NaN(), CodeBadOutput, "NaN"},
		"infinity":      {[]any{math.Inf(1)}, CodeBadOutput, "Inf"},
		"a loop":        {loop, CodeBadOutput, "encountered a cycle"},
		"a ring":        {ring, CodeBadOutput, ""},
		"a channel":     {make(chan int), CodeBadOutput, "chan int"},
		"invalid UTF-8": {"\xff", CodeBadOutput, "UTF-8"},
		"NUL":           {map[string]any{"a\x00": 1}, CodeBadOutput, "NUL"},
		"too long":      {strings.Repeat("x", maxOutput+1), CodeBadOutput, "8 MiB"},
		"too long list": {[]string{strings.Repeat("x", maxOutput), "y"}, CodeBadOutput, "8 MiB"},
		"a panic":       {panicky{}, CodeError, "panicked: while encoding"},
	} {
		s := openFunc(t, func(context.Context, Request) (any, error) { return c.give, nil })
		_, err := s.Run(context.Background(), "act", Request{})
		var f *Failure
		if !errors.As(err, &f) || f.Code != c.code || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s: got %v, want %s … %s", name, err, c.code, c.want)
		}
	}
}

// EXECUTION.md#failures: a function's error keeps its own code and details.
func TestFunctionErrors(t *testing.T) {
	own := &Failure{Code: "declined", Message: "card expired", Details: map[string]int{"try": 2}}
	for name, c := range map[string]struct {
		give error
		want Failure
	}{
		"plain":    {errors.New("no such user"), Failure{Code: CodeError, Message: "no such user"}},
		"own":      {own, Failure{Code: "declined", Message: "card expired", Details: map[string]any{"try": 2.0}}},
		"wrapped":  {fmt.Errorf("charging: %w", own), Failure{Code: "declined", Message: "card expired", Details: map[string]any{"try": 2.0}}},
		"deadline": {fmt.Errorf("asking: %w", context.DeadlineExceeded), Failure{Code: CodeTimeout, Message: "asking: context deadline exceeded"}},
		"inner":    {context.Canceled, Failure{Code: CodeError, Message: "context canceled"}},
	} {
		s := openFunc(t, func(context.Context, Request) (any, error) { return nil, c.give })
		_, err := s.Run(context.Background(), "act", Request{})
		var f *Failure
		if !errors.As(err, &f) || !reflect.DeepEqual(*f, c.want) {
			t.Errorf("%s: got %#v, want %#v", name, err, c.want)
		}
	}
	s := openFunc(t, func(context.Context, Request) (any, error) { panic("oh") })
	_, err := s.Run(context.Background(), "act", Request{})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Message != `activity "act" panicked: oh` {
		t.Errorf("a panic: got %v", err)
	}
	s = openFunc(t, func(context.Context, Request) (any, error) { runtime.Goexit(); return nil, nil })
	_, err = s.Run(context.Background(), "act", Request{})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Code != CodeError {
		t.Errorf("a function that ends its goroutine: got %v", err)
	}
}

// EXECUTION.md#time-and-resources: a function hears of its time running out; one that doesn't listen
// delays the run by the grace time and no more.
func TestFunctionInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openFunc(t, func(ctx context.Context, _ Request) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return "too late", nil
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := s.Run(ctx, "act", Request{})
		var f *Failure
		if !errors.As(err, &f) || f.Code != CodeTimeout || time.Since(began) != time.Minute+time.Second {
			t.Errorf("after %v got %v", time.Since(began), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := openFunc(t, func(context.Context, Request) (any, error) { <-hold; return nil, nil })
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		_, err := s.Run(ctx, "act", Request{})
		var f *Failure
		if !errors.As(err, &f) || f.Code != CodeCancelled || time.Since(began) != time.Minute+5*time.Second {
			t.Errorf("after %v got %v", time.Since(began), err)
		}
		close(hold)
	})
	synctest.Test(t, func(t *testing.T) {
		s := openFunc(t, func(ctx context.Context, _ Request) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
		time.AfterFunc(time.Minute, func() { s.Close() })
		_, err := s.Run(context.Background(), "act", Request{})
		var f *Failure
		if !errors.As(err, &f) || f.Code != CodeCancelled || !strings.Contains(f.Message, "closed") {
			t.Errorf("closing: got %v", err)
		}
	})
}

// LANGUAGE.md#activities: a result of exactly two keys names its alternative; a path that
// the call doesn't offer is a runtime error.
func TestNamedAlternative(t *testing.T) {
	offered := []string{"†state.receipt", "†state.audit && †state.log[0]", "†state.error"}
	named := func(path any) any { return map[string]any{"_outputPath": path, "_output": "value"} }
	for _, c := range []struct {
		give any
		want Result
	}{
		{named("†state.receipt"), Result{Value: "value", Route: 0}},
		{named("receipt"), Result{Value: "value", Route: 0}},
		{named(" error "), Result{Value: "value", Route: 2}},
		{named(`†state["error"]`), Result{Value: "value", Route: 2}},
		{named("†state.audit && †state.log[0]"), Result{Value: "value", Route: 1}},
		{named("log.0 && audit"), Result{Value: "value", Route: 1}},
		{named("audit && log[0]"), Result{Value: "value", Route: 1}},
		{map[string]any{"_outputPath": "receipt", "_output": nil}, Result{Value: nil, Route: 0}},
		{map[string]any{"_outputPath": "receipt"}, Result{Value: map[string]any{"_outputPath": "receipt"}, Route: -1}},
		{map[string]any{"_outputPath": "receipt", "_output": 1.0, "more": 1.0},
			Result{Value: map[string]any{"_outputPath": "receipt", "_output": 1.0, "more": 1.0}, Route: -1}},
		{map[string]any{"_outputPath": "receipt", "output": 1.0}, Result{Value: map[string]any{"_outputPath": "receipt", "output": 1.0}, Route: -1}},
	} {
		s := openFunc(t, func(context.Context, Request) (any, error) { return c.give, nil })
		got, err := s.Run(context.Background(), "act", Request{Paths: offered})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %#v, %v, want %#v", c.give, got, err, c.want)
		}
	}
	for _, path := range []any{
		"elsewhere", "audit", "log[0]", "†input.receipt", "receipt || error", "", "†", "receipt.", 1.0, nil, "receipt.x", "a && a",
		"\x1b[31m", strings.Repeat("(", 100_000),
	} {
		s := openFunc(t, func(context.Context, Request) (any, error) { return named(path), nil })
		_, err := s.Run(context.Background(), "act", Request{Paths: offered})
		var f *Failure
		if !errors.As(err, &f) || f.Code != CodeBadOutput || strings.Contains(f.Message, "\x1b") || len(f.Message) > 400 {
			t.Errorf("%v: got %v", path, err)
		}
	}
	s := openFunc(t, func(context.Context, Request) (any, error) { return named("receipt"), nil })
	_, err := s.Run(context.Background(), "act", Request{})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Code != CodeBadOutput {
		t.Errorf("a call without _outputPath: got %v", err)
	}
}

// LANGUAGE.md#activities: an expression over the call's parameters; what it can't work out is a
// runtime error, and parameters are never evaluated.
func TestExpression(t *testing.T) {
	defs := map[string]*plan.Activity{}
	for name, text := range map[string]string{
		"total":  "price * number",
		"first":  "items[0].name",
		"same":   "text",
		"absent": "nowhere",
		"route":  "amount > 500 ? {_outputPath: \"error\", _output: {code: \"declined\"}} : {id: 7}",
		"cannot": "text * 2",
	} {
		e, err := expression.ParseCode(text)
		if err != nil {
			t.Fatal(name, err)
		}
		defs[name] = &plan.Activity{Name: name, Kind: "expr", Expression: e}
	}
	s, err := Open(defs, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	params := map[string]any{
		"price": 2.5, "number": 4.0, "text": "†(1 + 1)", "amount": 501.0, "items": []any{map[string]any{"name": "n"}},
	}
	var all sync.WaitGroup
	for name, want := range map[string]Result{
		"total": {Value: 10.0, Route: -1}, "first": {Value: "n", Route: -1}, "same": {Value: "†(1 + 1)", Route: -1}, "absent": {Value: nil, Route: -1}, "route": {Value: map[string]any{"code": "declined"}, Route: 1},
	} {
		for range 8 {
			all.Go(func() {
				got, err := s.Run(context.Background(), name, Request{Params: params, Paths: []string{"†state.receipt", "†state.error"}})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %#v, %v, want %#v", name, got, err, want)
				}
			})
		}
	}
	all.Wait()
	_, err = s.Run(context.Background(), "cannot", Request{Params: params})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Code != CodeError || !strings.Contains(f.Message, `activity "cannot"`) {
		t.Errorf("an expression without a value: got %v", err)
	}
	_, err = s.Run(context.Background(), "route", Request{Params: params, Paths: []string{"†state.receipt"}})
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Code != CodeBadOutput {
		t.Errorf("a path that the call doesn't offer: got %v", err)
	}
}

// LANGUAGE.md#activities: kinds that can't be run are said at once, functions stand in for
// definitions, and an unknown name is no runtime error.
func TestOpen(t *testing.T) {
	for want, def := range map[string]*plan.Activity{
		`activity "x" is of an MCP server that isn't defined`:                  {Kind: "mcp"},
		`activity "x" is a Go function that this program doesn't register`:     {Kind: "go"},
		`activity "x" has an empty argv: expected a program and its arguments`: {Kind: "exec"},
	} {
		_, err := Open(map[string]*plan.Activity{"x": def, "z": {Kind: "http"}}, nil, Options{})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s, err := Open(map[string]*plan.Activity{"x": {Kind: "http"}},
		map[string]Func{"x": func(_ context.Context, r Request) (any, error) { return r.Attempt, nil }}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Run(context.Background(), "x", Request{Attempt: 2}); err != nil || got.Value != 2.0 {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = s.Run(context.Background(), "y", Request{})
	if f := (*Failure)(nil); err == nil || errors.As(err, &f) {
		t.Errorf("an unknown activity: got %v", err)
	}
}
