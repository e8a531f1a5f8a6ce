//go:build unix

package activity

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// The test binary plays the programs that activities start: its first argument
// names the part.
const helperMark = "obelus-activity-helper"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperMark {
		play(os.Args[2], os.Args[3:])
		quit(0)
	}
	os.Exit(m.Run())
}

// quit ends a helper at once. By os.Exit each lingers for a second under the race
// detector, and GORACE, which could say otherwise, isn't handed to programs.
func quit(status int) { syscall.Exit(status) }

// play is what a helper process does.
func play(part string, args []string) {
	switch part {
	case "echo": // the parameters come back
		io.Copy(os.Stdout, os.Stdin)
	case "say": // writes its argument, reads nothing
		os.Stdout.WriteString(args[0])
	case "fail":
		os.Stderr.WriteString(args[1])
		status, _ := strconv.Atoi(args[0])
		quit(status)
	case "betray":
		os.Stderr.WriteString(strings.Repeat("x", 1000) + " the key is " + os.Getenv(args[0]))
		quit(1)
	case "mcp":
		serveTools()
	case "mcp-raw":
		misbehave(args[0])
	case "flood":
		flood(os.Stdout)
	case "flood-stderr":
		for range 100 {
			os.Stderr.WriteString(strings.Repeat("noise\n", 10_000))
		}
		os.Stdout.WriteString(`"survived"`)
	case "sleep":
		time.Sleep(time.Hour)
	case "stubborn": // asks for a harder end
		signal.Ignore(syscall.SIGTERM)
		os.Stderr.WriteString("I stay")
		time.Sleep(time.Hour)
	case "graceful":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		os.Stderr.WriteString("ready ")
		<-term
		os.Stderr.WriteString("put things in order")
		quit(7)
	case "parent": // leaves a child behind that holds its output, and names it on stdout
		child := exec.Command(os.Args[0], helperMark, "sleep")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Print(child.Process.Pid)
	case "runaway": // as parent, but the child leaves the process group
		child := exec.Command(os.Args[0], helperMark, "sleep")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Print(child.Process.Pid)
	case "late": // the last line comes from a child that outlives its parent by a little
		child := exec.Command(os.Args[0], helperMark, "later", args[0])
		child.Stdout = os.Stdout
		begun, err := child.StderrPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			panic(err)
		}
		begun.Read(make([]byte, 1))
	case "later":
		os.Stderr.WriteString("!")
		time.Sleep(50 * time.Millisecond)
		os.Stdout.WriteString(args[0])
	case "whole-environ": // what this process has been given
		json.NewEncoder(os.Stdout).Encode(map[string]any{"argv": args, "environ": os.Environ()})
	case "environ":
		json.NewEncoder(os.Stdout).Encode(os.Getenv(args[0]))
	case "wd":
		dir, _ := os.Getwd()
		json.NewEncoder(os.Stdout).Encode(dir)
	case "worker":
		work()
	case "deaf": // a worker that reads nothing
		time.Sleep(time.Hour)
	default:
		panic("no such part: " + part)
	}
}

func flood(w io.Writer) {
	chunk := []byte(strings.Repeat("[", 1<<16))
	for {
		if _, err := w.Write(chunk); err != nil {
			quit(3)
		}
	}
}

// work answers a worker's requests; the tool's name says how.
func work() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	served := 0
	for in.Scan() {
		var request struct {
			ID              int
			Tool            string
			Params, Context map[string]any
		}
		if err := json.Unmarshal(in.Bytes(), &request); err != nil {
			fmt.Fprintln(os.Stderr, "bad request:", err)
			quit(9)
		}
		served++
		answer := func(v map[string]any) {
			v["id"] = request.ID
			text, _ := json.Marshal(v)
			os.Stdout.Write(append(text, '\n'))
		}
		switch request.Tool {
		case "echo":
			answer(map[string]any{"result": request.Params})
		case "context":
			answer(map[string]any{"result": request.Context})
		case "whoami":
			answer(map[string]any{"result": map[string]any{"pid": os.Getpid(), "served": served}})
		case "raw":
			os.Stdout.WriteString(strings.ReplaceAll(request.Params["line"].(string), "ID", strconv.Itoa(request.ID)) + "\n")
		case "twice":
			fmt.Printf("{\"id\":%d,\"result\":1}\n{\"id\":%[1]d,\"result\":1}\n", request.ID)
		case "shut":
			os.Stdout.Close()
			time.Sleep(time.Hour)
		case "slow":
			time.Sleep(time.Duration(request.Params["ms"].(float64)) * time.Millisecond)
			answer(map[string]any{"result": "at last"})
		case "told": // says by a file that it is at work, and by its absence that it no longer is; works until there is another
			note, until := request.Params["note"].(string), request.Params["until"].(string)
			os.WriteFile(note, nil, 0o600)
			for {
				if _, err := os.Stat(until); err == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			os.Remove(note)
			answer(map[string]any{"result": "at last"})
		case "hang":
			note, _ := request.Params["note"].(string)
			os.WriteFile(note, nil, 0o600)
			time.Sleep(time.Hour)
		case "die":
			os.Stderr.WriteString("the worker\x1b[31m trips\nand falls")
			quit(4)
		case "flood":
			flood(os.Stdout)
		}
	}
}

// helper is the argv of a part.
func helper(part string, args ...string) []string {
	return append([]string{os.Args[0], helperMark, part}, args...)
}

func execDef(argv ...string) *plan.Activity {
	return &plan.Activity{Name: "act", Kind: "exec", Argv: texts(argv)}
}

// texts is an argv of items that are a text each.
func texts(argv []string) (all []plan.Argument) {
	for _, text := range argv {
		all = append(all, plan.Argument{Texts: []string{text}})
	}
	return all
}

func workerDef() *plan.Activity {
	return &plan.Activity{Name: "act", Kind: "exec", Argv: texts(helper("worker")), Worker: true}
}

// open makes a set of one activity, "act", and checks when the test ends that
// nothing is left of it.
func openOne(t testing.TB, def *plan.Activity, o Options) *Set {
	t.Helper()
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	before := runtime.NumGoroutine()
	s, err := Open(map[string]*plan.Activity{"act": def}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		settle(t, before)
	})
	return s
}

// settle fails the test unless the number of goroutines goes back to what it
// was.
func settle(t testing.TB, before int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// failure wants a Failure of a code whose message holds all parts.
func failure(t testing.TB, err error, code string, parts ...string) *Failure {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("got %v (%T), want a failure of code %q", err, err, code)
	}
	if f.Code != code {
		t.Errorf("code %q, want %q (%s)", f.Code, code, f.Message)
	}
	for _, part := range parts {
		if !strings.Contains(f.Message, part) {
			t.Errorf("message %q doesn't hold %q", f.Message, part)
		}
	}
	for _, r := range f.Message {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			t.Errorf("message %q holds the control character %U", f.Message, r)
		}
	}
	return f
}

// alive reports whether a process exists (and isn't a zombie).
func alive(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// gone waits for a process to end.
func gone(t testing.TB, pid int) {
	t.Helper()
	for range 12_000 {
		if !alive(pid) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

// there waits for a file.
func there(t testing.TB, name string) {
	t.Helper()
	for range 12_000 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s never came", name)
}

// given tries something that is to fit in some time, of which a busy machine takes more:
// what doesn't come to it in a second has two, and so on. What is wrong is so in any time.
func given(t *testing.T, try func(time.Duration) error) {
	t.Helper()
	for limit := time.Second; ; limit *= 2 {
		err := try(limit)
		if err == nil {
			return
		}
		if limit > time.Minute {
			t.Fatal(err)
		}
	}
}

var background = context.Background()

// Run carries one try of a call out as Start does, and waits for its end.
func (s *Set) Run(ctx context.Context, name string, r Request) (result Result, err error) {
	over := make(chan struct{})
	s.Start(ctx, name, r, func(res Result, failure error) {
		result, err = res, failure
		close(over)
	})
	<-over
	return result, err
}
