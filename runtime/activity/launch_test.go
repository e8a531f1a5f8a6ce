//go:build linux

package activity

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// S8.4: where files or processes run out a program waits; no call fails, and it is
// told why.
func TestProgramsWaitForWhatIsLacking(t *testing.T) {
	limits := []string{"ulimit -n 64"}
	if os.Geteuid() != 0 { // whom the number of processes doesn't bound
		limits = append(limits, "ulimit -u $(($(ps -u $(id -u) -L -o pid= | wc -l) + 40))")
	}
	for _, limit := range limits {
		argv := append([]string{"-c", limit + `; exec "$0" "$@"`}, helper("crowd", filepath.Join(t.TempDir(), "crowded"))...)
		shell := "bash"
		if _, err := exec.LookPath(shell); err != nil {
			shell = "sh"
		}
		out, err := exec.Command(shell, argv...).CombinedOutput()
		if text := string(out); err != nil || !strings.Contains(text, "300 done, 0 failed") || !strings.Contains(text, "at once here") {
			t.Errorf("%s: %v\n%s", limit, err, text)
		}
	}
}

// S8.4: after something has run out fewer programs run at once, and never none.
func TestSupply(t *testing.T) {
	for _, err := range []error{syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if lacking(&os.PathError{Op: "fork/exec", Err: err}) == "" {
			t.Errorf("%v isn't known as something to wait for", err)
		}
	}
	for _, err := range []error{nil, syscall.ENOENT, syscall.EACCES, exec.ErrNotFound} {
		if lacking(err) != "" {
			t.Errorf("%v is waited for", err)
		}
	}
	for running, want := range map[int]int{0: 1, 1: 1, 2: 1, 8: 6, 40: 30} {
		y := &supply{}
		if y.lower(running); y.most != want {
			t.Errorf("with %d at work when something ran out, %d may be: want %d", running, y.most, want)
		}
	}
}

// S8.8: what a program reads is there as a whole, whatever its size.
func TestInputIsWhole(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 65_000, 65_536, 65_537, 1 << 20} {
		input := []byte(strings.Repeat("x", size))
		f, err := whole(input)
		if err != nil {
			t.Fatal(err)
		}
		cat := exec.Command("cat")
		cat.Stdin = f
		out, err := cat.Output()
		if err != nil || len(out) != size {
			t.Errorf("of %d bytes %d were read: %v", size, len(out), err)
		}
		f.Close()
	}
	params := map[string]any{"text": strings.Repeat("x", 200_000)}
	got, err := openOne(t, execDef(helper("echo")...), Options{}).Run(background, "act", Request{Params: params})
	if err != nil || !reflect.DeepEqual(got.Value, params) {
		t.Errorf("large parameters: %v", err)
	}
}

// S8.8: what is left of a registered program is ended, and nobody else is: not a process
// that has got its number since.
func TestRegisterSparesStrangers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.programs")
	mine := exec.Command("sh", "-c", "trap '' TERM; sleep 600 & echo begun; wait")
	mine.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	says, err := mine.StdoutPipe()
	if err == nil {
		err = mine.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-mine.Process.Pid, syscall.SIGKILL)
		mine.Wait()
	}()
	says.Read(make([]byte, 1))
	write := func(began string) {
		line := fmt.Sprintf("{\"process\":%d,\"began\":%q,\"activity\":\"act\",\"call\":\"act#1\"}\n{\"proc", mine.Process.Pid, began)
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began := beginning(mine.Process.Pid)
	up, rest, _ := strings.Cut(began, "/")
	session, tick, _ := strings.Cut(rest, "/")
	for _, other := range []string{"", "x/" + rest, up + "/" + session + "/1" + tick, up + "/1" + session + "/" + tick} {
		write(other)
		if found, err := EndRegistered(path, 50*time.Millisecond); err != nil || len(found) > 0 || !alive(mine.Process.Pid) {
			t.Fatalf("began %q: found %v, %v", other, found, err)
		}
	}
	write(began)
	found, err := EndRegistered(path, 50*time.Millisecond)
	if err != nil || len(found) != 1 || found[0].Call != "act#1" || len(found[0].Processes) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	gone(t, mine.Process.Pid)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the register is still there: %v", err)
	}
}
