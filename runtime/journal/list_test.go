package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain is, when the tests ask for it, another process that goes on with a journal until
// its standard input ends.
func TestMain(m *testing.M) {
	path := os.Getenv("JOURNAL_TEST_HOLD")
	if path == "" || path == "-" {
		patience = 50 * time.Millisecond
	}
	switch path {
	case "":
		os.Exit(m.Run())
	case "-": // nothing but what it was given
		io.Copy(io.Discard, os.Stdin)
		return
	}
	w, _, err := Open(path)
	if err == nil {
		err = errors.Join(w.Append([]byte(`{"by":"another process"}`)), w.Sync())
	}
	fmt.Println(err)
	io.Copy(io.Discard, os.Stdin)
}

// another starts such a process, and returns when it has the journal.
func another(t *testing.T, path string) (said string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_HOLD="+path)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(kill)
	said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(said), kill
}

func needLocks(t *testing.T) {
	switch runtime.GOOS {
	case "darwin", "dragonfly", "freebsd", "illumos", "linux", "netbsd", "openbsd", "windows":
	default:
		t.Skip("files can't be locked here")
	}
}

type found struct {
	ID, Path string
	Running  bool
	Contents *Contents
	Err      error
}

func listed(t *testing.T, folder string) (runs []found) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), extension); ok {
			path := filepath.Join(folder, entry.Name())
			run := found{ID: id, Path: path, Running: Running(path)} // before it is read: what a running one has just begun to write isn't torn
			if run.Contents, run.Err = Read(path); run.Running && run.Err == nil {
				run.Contents.Torn = 0
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// EXECUTION.md#journals: two processes never write one journal, and a killed one leaves no lock.
func TestLock(t *testing.T) {
	needLocks(t)
	path, _ := written(t, 2)
	said, kill := another(t, path)
	if said != "<nil>" {
		t.Fatalf("the other process: %s", said)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	half, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := half.WriteString(`{"n":4,"syn`); err != nil {
		t.Fatal(err)
	}
	if runs := listed(t, filepath.Dir(path)); len(runs) != 1 || !runs[0].Running || runs[0].Err != nil || runs[0].Contents.Records != 4 || runs[0].Contents.Torn > 0 {
		t.Errorf("got %+v", runs)
	}
	kill()
	if runs := listed(t, filepath.Dir(path)); len(runs) != 1 || runs[0].Running || runs[0].Err != nil || runs[0].Contents.Torn == 0 {
		t.Errorf("killed in the middle of a write, got %+v", runs)
	}
	w, c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(c.Ending) != `{"by":"another process"}` {
		t.Errorf("got %s", c.Ending)
	}
	if said, _ := another(t, path); !strings.Contains(said, ErrLocked.Error()) {
		t.Errorf("the other process: %s", said)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Errorf("the same process, once more: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if runs := listed(t, filepath.Dir(path)); runs[0].Running {
		t.Error("running after its end")
	}
	created, err := Create(filepath.Join(t.TempDir(), "run.jsonl"), header{})
	if err != nil {
		t.Fatal(err)
	}
	defer created.Close()
	if _, _, err := Open(created.file.Name()); !errors.Is(err, ErrLocked) {
		t.Errorf("just created: %v", err)
	}
}

// EXECUTION.md#journals: a process that is killed just when it starts a program leaves its files, and the
// lock with them, for a moment to the one that it has made; that is waited for.
func TestLockOfWhatIsLeftOfAProcess(t *testing.T) {
	needLocks(t)
	if runtime.GOOS == "windows" {
		t.Skip("files aren't handed on there")
	}
	defer func(before time.Duration) { patience = before }(patience)
	patience = 10 * time.Second
	path, _ := written(t, 2)
	w, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "JOURNAL_TEST_HOLD=-")
	child.ExtraFiles = []*os.File{w.file.(*os.File)}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(child.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	over := time.AfterFunc(200*time.Millisecond, func() { stdin.Close() })
	defer func() { over.Stop(); child.Process.Kill(); child.Wait() }()
	w, _, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// Whatever lies in a folder of runs, each has its line, and nothing else is taken for one.
func TestList(t *testing.T) {
	folder := t.TempDir()
	path, _ := written(t, 2, 3)
	whole := string(load(t, path))
	texts := map[string]string{
		"1-whole.jsonl":   whole,
		"2-torn.jsonl":    whole[:len(whole)-30],
		"3-changed.jsonl": strings.Replace(whole, `"call":2`, `"call":7`, 1),
		"4-empty.jsonl":   "",
		"5-plan.jsonl":    "name: plan\n",
		"notes.txt":       "no run",
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "6-folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1-whole: 6 records",
		"2-torn: 5 records, torn",
		"3-changed: record 2 was changed",
		"4-empty: had not begun",
		"5-plan: isn't the journal of a run",
		"6-folder: a regular file",
	}
	if os.Symlink(path, filepath.Join(folder, "7-link.jsonl")) == nil {
		want = append(want, "7-link: a regular file")
	}
	runs := listed(t, folder)
	if len(runs) != len(want) {
		t.Fatalf("got %d runs, want %d", len(runs), len(want))
	}
	for i, run := range runs {
		got := ""
		if run.Err == nil {
			got = fmt.Sprintf("%d records", run.Contents.Records)
			if run.Contents.Torn > 0 {
				got += ", torn"
			}
			if string(run.Contents.Header) != `{"plan":"refund"}` || run.Contents.First.IsZero() || run.Contents.Last.Before(run.Contents.First) {
				t.Errorf("%s: %+v", run.ID, run.Contents)
			}
		} else {
			got = run.Err.Error()
			if !strings.HasPrefix(got, run.Path) {
				t.Errorf("%s: the error doesn't name the file: %s", run.ID, got)
			}
		}
		id, rest, _ := strings.Cut(want[i], ": ")
		if run.ID != id || !strings.Contains(got, rest) || run.Running || (run.Err == nil) != (got == rest) {
			t.Errorf("got %s: %s, want %s", run.ID, got, want[i])
		}
		before, isFile := texts[run.ID+extension]
		if isFile && string(load(t, run.Path)) != before {
			t.Errorf("%s was changed by listing it", run.ID)
		}
	}
	if _, _, err := Open(filepath.Join(folder, "none.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
