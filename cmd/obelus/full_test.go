//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// EXECUTION.md#journals: where there is no room for the journal a run says so once, does nothing
// more, and can be resumed when there is.
func TestFullDisk(t *testing.T) {
	if os.Getenv("OBELUS_FULL_DISK") != "" {
		os.Exit(run(t.Context(), []string{"run", "plan.yaml", "--runs", "runs"}, strings.NewReader(""), os.Stdout, os.Stderr))
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	var plan strings.Builder
	plan.WriteString("calls:\n")
	for i := range 1000 {
		fmt.Fprintf(&plan, "- {_tool: a, y: %d, _outputPath: x%d}\n", i, i)
	}
	plan.WriteString("activities: {a: {expr: y}}\n")
	write(t, map[string]string{"plan.yaml": plan.String()})
	cmd := exec.Command(shell, "-c", `ulimit -f 120; trap '' XFSZ; exec "$0" -test.run='^TestFullDisk$'`, os.Args[0])
	cmd.Env = append(os.Environ(), "OBELUS_FULL_DISK=1")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != statusError || strings.Count(string(out), "the journal can't be written") != 1 || !strings.Contains(string(out), "free disk space, then run \"obelus resume ") {
		t.Fatalf("status %d\n…%s", cmd.ProcessState.ExitCode(), out[max(0, len(out)-2000):])
	}
	if stdout, stderr, status := obelus(nil, "resume", "2", "--runs", "runs"); status != 0 || !strings.Contains(stdout, "1000 done") {
		t.Errorf("resumed: %d\n%.2000s%s", status, stdout[max(0, len(stdout)-500):], stderr)
	}
}
