//go:build unix

package activity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func ask(s *Set, tool string, params map[string]any) (Result, error) {
	return s.Run(background, "act", Request{Tool: tool, Params: params})
}

func whoami(t *testing.T, s *Set) (pid int, served int) {
	t.Helper()
	got, err := ask(s, "whoami", nil)
	if err != nil {
		t.Fatal(err)
	}
	me := got.Value.(map[string]any)
	return int(me["pid"].(float64)), int(me["served"].(float64))
}

// LANGUAGE.md#programs: one process answers all calls, in order, also when they come at once.
func TestWorkerIsShared(t *testing.T) {
	s := openOne(t, workerDef(), Options{})
	pid, _ := whoami(t, s)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			params := map[string]any{"i": float64(i), "text": "line\nbreak"}
			got, err := ask(s, "echo", params)
			if err != nil || !reflect.DeepEqual(got, Result{Value: params, Route: -1}) {
				t.Errorf("call %d: got %v, %v", i, got, err)
			}
		})
	}
	all.Wait()
	if again, served := whoami(t, s); again != pid || served != 202 {
		t.Errorf("process %d after %d requests, want process %d after 202", again, served, pid)
	}
	s.Close()
	gone(t, pid)
}

// EXECUTION.md#time-and-resources: calls reach a worker in the order in which they are begun.
func TestStartsInOrder(t *testing.T) {
	const calls = 100
	w := openOne(t, workerDef(), Options{})
	served := make([]chan float64, calls)
	for i := range served {
		served[i] = make(chan float64, 1)
		w.Start(background, "act", Request{Tool: "whoami"}, func(got Result, err error) {
			me, _ := got.Value.(map[string]any)
			n, _ := me["served"].(float64)
			served[i] <- n
		})
	}
	for i, c := range served {
		if n := <-c; n != float64(i+1) {
			t.Fatalf("call %d reached the worker as its request %v", i+1, n)
		}
	}
}

// LANGUAGE.md#programs: large requests and answers don't get stuck in each other's pipes.
func TestWorkerLargeLines(t *testing.T) {
	s := openOne(t, workerDef(), Options{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			params := map[string]any{"text": strings.Repeat(fmt.Sprint(i), 1<<20)}
			got, err := ask(s, "echo", params)
			if err != nil || !reflect.DeepEqual(got.Value, params) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// LANGUAGE.md#programs: a dead worker is a runtime error of the calls in flight, which quotes
// the end of stderr; the next call has a new one.
func TestWorkerDies(t *testing.T) {
	s := openOne(t, workerDef(), Options{})
	pid, _ := whoami(t, s)
	_, err := ask(s, "die", nil)
	f := failure(t, err, CodeError, "hasn't answered: it has ended (exit status 4)", `the worker\x1b[31m trips\nand falls`)
	if details, _ := f.Details.(map[string]any); details["exit"] != 4.0 {
		t.Errorf("details %v", f.Details)
	}
	again, served := whoami(t, s)
	if again == pid || served != 1 {
		t.Errorf("process %d after %d requests, want a new one", again, served)
	}
	gone(t, pid)
}

// EXECUTION.md#time-and-resources: a worker's timeout counts from when a call's turn comes, ends the
// process, and the calls behind it hear why.
func TestWorkerTimeout(t *testing.T) {
	given(t, func(timeout time.Duration) error {
		def := workerDef()
		def.Timeout = timeout
		s := openOne(t, def, Options{})
		if _, err := ask(s, "whoami", nil); err != nil {
			return err
		}
		slow := Request{Tool: "slow", Params: map[string]any{"ms": float64(timeout.Milliseconds() * 5 / 12)}}
		took := make(chan error)
		for range 3 { // which fit in a turn each, and not together in one
			s.Start(background, "act", slow, func(_ Result, err error) { took <- err })
		}
		if err := errors.Join(<-took, <-took, <-took); err != nil {
			return err
		}
		why := fmt.Sprintf("took longer than its timeout of %v", timeout)
		first := make(chan error)
		s.Start(background, "act", Request{Tool: "hang"}, func(_ Result, err error) { first <- err })
		second := make(chan error)
		s.Start(background, "act", Request{Tool: "echo"}, func(_ Result, err error) { second <- err })
		failure(t, <-first, CodeTimeout, why)
		failure(t, <-second, CodeError, "it was ended because of another call: it "+why)
		_, err := ask(s, "whoami", nil)
		return err
	})
}

// EXECUTION.md#time-and-resources: a call that is given up has ended when the worker has answered it all
// the same, and that late answer is dropped; a worker that never answers is ended.
func TestWorkerCallCancelled(t *testing.T) {
	s := openOne(t, workerDef(), Options{Grace: time.Hour})
	pid, _ := whoami(t, s)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	noted, until := filepath.Join(t.TempDir(), "noted"), filepath.Join(t.TempDir(), "until")
	ended := make(chan error, 1)
	s.Start(ctx, "act", Request{Tool: "told", Params: map[string]any{"note": noted, "until": until}}, func(_ Result, err error) { ended <- err })
	there(t, noted)
	behind := make(chan any, 1) // for which the worker has its grace time; else it would be a second
	s.Start(background, "act", Request{Tool: "echo", Params: map[string]any{"mine": true}}, func(got Result, _ error) { behind <- got.Value })
	cancel()
	if err := os.WriteFile(until, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failure(t, <-ended, CodeCancelled)
	if _, err := os.Stat(noted); err == nil {
		t.Error("it came back while the worker was still at it")
	}
	if got := <-behind; !reflect.DeepEqual(got, map[string]any{"mine": true}) {
		t.Errorf("got %v: the answer of another call", got)
	}
	if again, _ := whoami(t, s); again != pid {
		t.Error("a call that was given up but answered in time must not cost the worker its life")
	}

	s = openOne(t, workerDef(), Options{Grace: 100 * time.Millisecond})
	pid, _ = whoami(t, s)
	ctx, cancel = context.WithCancel(background)
	defer cancel()
	noted = filepath.Join(t.TempDir(), "noted")
	s.Start(ctx, "act", Request{Tool: "hang", Params: map[string]any{"note": noted}}, func(_ Result, err error) { ended <- err })
	there(t, noted)
	cancel()
	failure(t, <-ended, CodeCancelled)
	if alive(pid) {
		t.Error("the call has ended, and the process that hangs hasn't")
	}
	if again, _ := whoami(t, s); again == pid {
		t.Error("the process that hangs still serves")
	}
}

// EXECUTION.md#time-and-resources: a request that the worker hasn't seen is taken back.
func TestWorkerRequestTakenBack(t *testing.T) {
	def := execDef(helper("deaf")...)
	def.Worker = true
	s := openOne(t, def, Options{Grace: 200 * time.Millisecond})
	big := map[string]any{"text": strings.Repeat("x", 1<<20)} // more than the pipe takes
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
			defer cancel()
			_, err := s.Run(ctx, "act", Request{Tool: "echo", Params: big})
			failure(t, err, CodeTimeout)
		})
	}
	all.Wait()
}

// LANGUAGE.md#programs: a worker that breaks the protocol is killed, and the next call has a
// new one.
func TestWorkerBreaksTheProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		tool, line string
		code, want string
	}{
		"no object":    {"raw", "[1]", CodeBadOutput, `without the "id" of a request`},
		"no id":        {"raw", `{"result":1}`, CodeBadOutput, `without the "id" of a request`},
		"id as text":   {"raw", `{"id":"ID","result":1}`, CodeBadOutput, `without the "id" of a request`},
		"other id":     {"raw", `{"id":ID0,"result":1}`, CodeBadOutput, "of no request that waits"},
		"a banner":     {"raw", "{\"id\":0,\"result\":\"BANNER\"}\n{\"id\":ID,\"result\":1}", CodeBadOutput, "of no request that waits"},
		"prose":        {"raw", "loading the model", CodeBadOutput, `it begins "loading the model"`},
		"blank line":   {"raw", "", CodeBadOutput, "there is none"},
		"two values":   {"raw", "{} {}", CodeBadOutput, "more follows"},
		"too deep":     {"raw", `{"result":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "}", CodeBadOutput, "deeper"},
		"flood":        {"flood", "", CodeBadOutput, "more than 8 MiB"},
		"shuts stdout": {"shut", "", CodeError, "hasn't answered: it has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openOne(t, workerDef(), Options{})
			pid, _ := whoami(t, s)
			_, err := ask(s, c.tool, map[string]any{"line": c.line})
			failure(t, err, c.code, c.want)
			if again, _ := whoami(t, s); again == pid {
				t.Error("the old process still serves")
			}
			gone(t, pid)
		})
	}
	t.Run("answers twice", func(t *testing.T) {
		s := openOne(t, workerDef(), Options{})
		pid, _ := whoami(t, s)
		if got, err := ask(s, "twice", nil); err != nil || got.Value != 1.0 {
			t.Errorf("got %v, %v", got, err)
		}
		gone(t, pid)
		if again, _ := whoami(t, s); again == pid {
			t.Error("the old process still serves")
		}
	})
	t.Run("another call waits", func(t *testing.T) {
		s := openOne(t, workerDef(), Options{})
		whoami(t, s)
		ended := make(chan error, 1)
		s.Start(background, "act", Request{Tool: "slow", Params: map[string]any{"ms": 200.0}}, func(Result, error) {})
		s.Start(background, "act", Request{Tool: "raw", Params: map[string]any{"line": "[1]"}}, func(_ Result, err error) { ended <- err })
		_, err := ask(s, "echo", nil)
		failure(t, err, CodeError, "it was ended because of another call: it has answered without the \"id\"")
		failure(t, <-ended, CodeBadOutput)
	})
	t.Run("100 levels will do", func(t *testing.T) {
		s := openOne(t, workerDef(), Options{})
		if _, err := ask(s, "raw", map[string]any{"line": `{"id":ID,"result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}"}); err != nil {
			t.Error(err)
		}
	})
}
