//go:build unix

package activity

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// LANGUAGE.md#programs: parameters are JSON on stdin, the result is JSON on stdout.
func TestExecGivesBackWhatTheProgramWrites(t *testing.T) {
	s := openOne(t, execDef(helper("echo")...), Options{})
	params := map[string]any{"text": "†state.x \"quoted\"\n①", "n": 1.5, "deep": map[string]any{"list": []any{true, nil, "€"}}}
	got, err := s.Run(background, "act", Request{Params: params})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, Result{Value: params, Route: -1}) {
		t.Errorf("got %#v, want the parameters %#v", got, params)
	}
	got, err = s.Run(background, "act", Request{})
	if err != nil || !reflect.DeepEqual(got.Value, map[string]any{}) {
		t.Errorf("without parameters: got %#v, %v, want an empty object", got, err)
	}
}

// LANGUAGE.md#programs: it runs in the folder of the file that defines it, argv is no shell
// string, and the environment is what it was.
func TestExecSurroundings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	def := execDef(helper("wd")...)
	def.Dir = dir
	got, err := openOne(t, def, Options{}).Run(background, "act", Request{})
	if err != nil || got.Value != dir {
		t.Errorf("working folder: got %v, %v, want %q", got.Value, err, dir)
	}

	def = execDef("./tool", `$HOME "; echo`)
	def.Dir = dir
	script := "#!/bin/sh\nprintf '[\"%s\"]' \"$#\"\n"
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err = openOne(t, def, Options{}).Run(background, "act", Request{})
	if err != nil || !reflect.DeepEqual(got.Value, []any{"1"}) {
		t.Errorf("a program beside the plan: got %v, %v", got.Value, err)
	}

	o := Options{Environ: append(os.Environ(), "OBELUS_TEST_COLOUR=blue")}
	def = execDef(helper("environ", "OBELUS_TEST_COLOUR")...)
	def.Inherit = []string{"OBELUS_TEST_COLOUR"}
	got, err = openOne(t, def, o).Run(background, "act", Request{})
	if err != nil || got.Value != "blue" {
		t.Errorf("environment: got %v, %v", got.Value, err)
	}
}

// anObject is a result that isn't text.
var anObject = schema.New(map[string]any{"type": "object"}, schema.Options{})

// LANGUAGE.md#programs: without a declared form, output that isn't JSON is text where the tool
// declares no result or a string; what begins as a JSON list, mapping or string has to be JSON.
func TestExecUndeclaredText(t *testing.T) {
	aString := schema.New(map[string]any{"type": "string"}, schema.Options{})
	for _, c := range []struct {
		output   string
		declared *schema.Schema
		want     any // nil for a failure
	}{
		{"hi Bob\n", nil, "hi Bob"}, {"hi Bob\n", aString, "hi Bob"}, {"hi Bob\n", anObject, nil}, {"5\n", nil, 5.0}, {"5\n", aString, "5"},
		{`"hi"`, aString, "hi"}, {`{"a": 1}`, aString, nil}, {`{"a": [1`, nil, nil}, {`["a"`, aString, nil}, {"", nil, nil}, {"a\x00b", nil, nil},
	} {
		s := openOne(t, execDef(helper("say", c.output)...), Options{})
		got, err := s.Run(background, "act", Request{Output: c.declared})
		if c.output == `{"a": 1}` { // it is JSON, which the run finds to be no string
			c.want = map[string]any{"a": 1.0}
		}
		if (err != nil) != (c.want == nil) || err == nil && !schema.Equal(got.Value, c.want) {
			t.Errorf("%q: got %v, %v, want %v", c.output, got.Value, err, c.want)
		}
	}
}

// LANGUAGE.md#programs: more than 8 MiB is a runtime error, and costs no more than that.
func TestExecTooMuchOutput(t *testing.T) {
	s := openOne(t, execDef(helper("flood")...), Options{})
	_, err := s.Run(background, "act", Request{})
	failure(t, err, CodeBadOutput, "more than 8 MiB")

	s = openOne(t, execDef(helper("flood-stderr")...), Options{})
	got, err := s.Run(background, "act", Request{})
	if err != nil || got.Value != "survived" {
		t.Errorf("much stderr: got %v, %v", got.Value, err)
	}
}

// LANGUAGE.md#programs: a program that fails is an error with the end of its stderr, in
// which nothing acts as markup or a line of its own.
func TestExecFailure(t *testing.T) {
	stderr := strings.Repeat("long ago\n", 1000) + "first\r\n\x1b[31mred\x1b[0m \u202e\xff last é"
	s := openOne(t, execDef(helper("fail", "3", stderr)...), Options{})
	_, err := s.Run(background, "act", Request{})
	f := failure(t, err, CodeError, "exit status 3", `first\n\x1b[31mred\x1b[0m \u202e\xff last é`)
	if len(f.Message) > 3<<10 {
		t.Errorf("a message of %d bytes", len(f.Message))
	}
	details, _ := f.Details.(map[string]any)
	if details["exit"] != 3.0 || !strings.HasSuffix(fmt.Sprint(details["stderr"]), "first\n"+`\x1b[31mred\x1b[0m \u202e\xff last é`) {
		t.Errorf("details %q", details)
	}

	s = openOne(t, execDef(helper("fail", "1", "")...), Options{})
	_, err = s.Run(background, "act", Request{})
	failure(t, err, CodeError, `activity "act" failed (exit status 1) and wrote nothing to stderr`)

	s = openOne(t, execDef(helper("fail", "2", "disk: no such path\n")...), Options{})
	_, err = s.Run(background, "act", Request{})
	failure(t, err, CodeError, `activity "act" failed (exit status 2): disk: no such path`)

	s = openOne(t, execDef("obelus-no-such-program"), Options{})
	_, err = s.Run(background, "act", Request{})
	failure(t, err, CodeError, "can't start the program \"obelus-no-such-program\"", "not found")

	s = openOne(t, execDef("/"), Options{})
	_, err = s.Run(background, "act", Request{})
	failure(t, err, CodeError, "can't start")

	def := execDef(helper("echo")...)
	def.Dir = filepath.Join(t.TempDir(), "missing")
	_, err = openOne(t, def, Options{}).Run(background, "act", Request{})
	failure(t, err, CodeError, "can't start", "no such file or directory")

	s = openOne(t, execDef(helper("echo")...), Options{})
	_, err = s.Run(background, "act", Request{Params: map[string]any{"x": math.NaN()}})
	failure(t, err, CodeError, "can't be written as JSON")
}

// EXECUTION.md#time-and-resources: a time-out and a cancelled run ask the program to end, and kill
// it when it doesn't; both come back, with what it said last.
func TestExecInterrupted(t *testing.T) {
	given(t, func(timeout time.Duration) error {
		def := execDef(helper("graceful")...)
		def.Timeout = timeout
		_, err := openOne(t, def, Options{Grace: time.Minute}).Run(background, "act", Request{})
		if f := failure(t, err, CodeTimeout, fmt.Sprintf("took longer than its timeout of %v", timeout)); !strings.Contains(f.Message, "put things in order") {
			return f
		} else if details, _ := f.Details.(map[string]any); details["exit"] != 7.0 {
			t.Errorf("details %v, want the exit status of a graceful end", details)
		}
		return nil
	})

	given(t, func(timeout time.Duration) error { // what stays does so for an hour
		def := execDef(helper("stubborn")...)
		def.Timeout = timeout
		began := time.Now()
		_, err := openOne(t, def, Options{Grace: 200 * time.Millisecond}).Run(background, "act", Request{})
		if f := failure(t, err, CodeTimeout); !strings.Contains(f.Message, "I stay") {
			return f
		}
		if took := time.Since(began); took < timeout+200*time.Millisecond {
			t.Errorf("a stubborn program took %v", took)
		}
		return nil
	})

	s := openOne(t, execDef(helper("sleep")...), Options{})
	ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
	defer cancel()
	_, err := s.Run(ctx, "act", Request{})
	failure(t, err, CodeTimeout, "ran out of time")

	ctx, cancel = context.WithCancel(background)
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = s.Run(ctx, "act", Request{})
	failure(t, err, CodeCancelled, "was cancelled")
	_, err = s.Run(ctx, "act", Request{})
	failure(t, err, CodeCancelled, "was cancelled")
}

// LANGUAGE.md#programs: what a program leaves behind in its process group ends with it, and
// holds nobody up when it has left the group.
func TestExecGrandchildren(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for real processes")
	}
	s := openOne(t, execDef(helper("parent")...), Options{})
	got, err := s.Run(background, "act", Request{})
	if err != nil {
		t.Fatal(err)
	}
	gone(t, int(got.Value.(float64)))

	s = openOne(t, execDef(helper("runaway")...), Options{})
	got, err = s.Run(background, "act", Request{})
	if err != nil {
		t.Fatal(err)
	}
	pid := int(got.Value.(float64))
	if !alive(pid) { // for an hour, which would be how long it holds the call up
		t.Errorf("process %d left the group and should have been left alone", pid)
	}
	syscall.Kill(pid, syscall.SIGKILL)

	s = openOne(t, execDef(helper("late", `"the last word"`)...), Options{})
	for try := 0; ; try++ { // what a busy machine needs for a little may be too much
		got, err = s.Run(background, "act", Request{})
		if err == nil && got.Value == "the last word" {
			break
		}
		if try == 5 {
			t.Fatalf("a child that writes a little late: got %v, %v", got.Value, err)
		}
	}
}

// EXECUTION.md#time-and-resources: closing the set ends what runs, and nothing runs afterwards.
func TestCloseEndsPrograms(t *testing.T) {
	s := openOne(t, execDef(helper("sleep")...), Options{})
	ended := make(chan error)
	go func() {
		_, err := s.Run(background, "act", Request{})
		ended <- err
	}()
	time.Sleep(100 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	failure(t, <-ended, CodeCancelled, "closed")
	_, err := s.Run(background, "act", Request{})
	failure(t, err, CodeCancelled, "closed")
}

// EXECUTION.md#secrets: no secret of an activity's environment reaches a result or a message,
// also when the quotation begins inside it.
func TestSecretsStayHidden(t *testing.T) {
	const secret = "s3cr3t-s3cr3t-s3cr3t"
	o := Options{Environ: append(os.Environ(), "OBELUS_TEST_API_KEY="+secret)}
	inheriting := func(argv ...string) *plan.Activity {
		def := execDef(argv...)
		def.Inherit = []string{"OBELUS_TEST_API_KEY"}
		return def
	}
	got, err := openOne(t, inheriting(helper("environ", "OBELUS_TEST_API_KEY")...), o).Run(background, "act", Request{})
	if err != nil || got.Value != "[hidden OBELUS_TEST_API_KEY]" {
		t.Errorf("result: got %v, %v", got.Value, err)
	}
	_, err = openOne(t, inheriting(helper("betray", "OBELUS_TEST_API_KEY")...), o).Run(background, "act", Request{})
	f := failure(t, err, CodeError, "the key is [hidden OBELUS_TEST_API_KEY]")
	if strings.Contains(fmt.Sprint(f.Details), secret) {
		t.Errorf("details hold the secret: %v", f.Details)
	}
	got, err = openOne(t, execDef(helper("say", "no JSON: "+secret)...), o).Run(background, "act", Request{})
	if err != nil || got.Value != "no JSON: [hidden OBELUS_TEST_API_KEY]" {
		t.Errorf("undeclared text: got %v, %v", got.Value, err)
	}
	_, err = openOne(t, execDef(helper("say", "no JSON: "+secret)...), o).Run(background, "act", Request{Output: anObject})
	failure(t, err, CodeBadOutput, "no JSON: [hidden OBELUS_TEST_API_KEY]")

	for shift := range 2*len(secret) + 4 {
		kept := tail{keep: quotedStderr + 64 + 2*len(secret)}
		kept.Write([]byte(strings.Repeat("a", 100) + secret + strings.Repeat("b", kept.keep-shift)))
		hide := &redact.Set{}
		hide.Keep("secret", secret)
		if text := kept.text(hide); strings.Contains(text, secret[len(secret)-4:]) {
			t.Fatalf("with %d bytes of room the end of the secret shows: %q…", shift, text[:40])
		}
	}
}
