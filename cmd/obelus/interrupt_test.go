//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/testdata/pty"
)

// EXECUTION.md#stopping: a second Ctrl-C kills, and leaves nothing behind: a program that an
// activity runs and that won't be asked dies too.
func TestSecondInterrupt(t *testing.T) {
	if os.Getenv("OBELUS_INTERRUPTED") != "" {
		os.Exit(run(t.Context(), []string{"run", "--confirm", "never", "-"}, os.Stdin, os.Stdout, os.Stderr))
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to be stubborn")
	}
	id := filepath.Join(t.TempDir(), "id")
	cmd := exec.Command(os.Args[0], "-test.run=^TestSecondInterrupt$")
	cmd.Env = append(os.Environ(), "OBELUS_INTERRUPTED=yes")
	cmd.Stdin = strings.NewReader(`
tools: {stay: {type: object}}
activities: {stay: {exec: {argv: [sh, -c, "trap '' INT TERM; echo $$ > ` + id + `.new; mv ` + id + `.new ` + id + `; while :; do sleep 1; done"]}}}
calls: [{_tool: stay}]
`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	stubborn := 0
	pty.Eventually(t, "the program starts", func() bool {
		text, err := os.ReadFile(id)
		for _, digit := range strings.TrimSpace(string(text)) {
			stubborn = 10*stubborn + int(digit-'0')
		}
		return err == nil
	})
	defer syscall.Kill(-stubborn, syscall.SIGKILL)

	cmd.Process.Signal(os.Interrupt)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "was at work") {
			cmd.Process.Signal(os.Interrupt)
		}
	}
	cmd.Wait()
	if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, not of the second interrupt", cmd.ProcessState)
	}
	pty.Eventually(t, "the program is gone", func() bool { return syscall.Kill(-stubborn, 0) != nil })
}
