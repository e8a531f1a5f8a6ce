package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// S2.3, S19: what an MCP server lists is imported with a lock file, checks clean, and its
// drift is told; the server is this program's own.
func TestServersAreImported(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("servers.yaml", fmt.Sprintf("servers:\n  self: {command: [%q, mcp], env: {%s: \"1\"}}\n", program, asCommand))
	if said := printed(t, "tools", "import", "servers.yaml", "-o", "self.tools.yaml"); !strings.Contains(said, "tools of servers.yaml imported, of ") {
		t.Error(said)
	}
	write("obelus.yaml", "tools: [self.tools.yaml]\n")
	write("plan.yaml", "calls:\n  - {_tool: check, plan: 'calls: []', _outputPath: †state.found}\noutput: †state.found\n")
	if said := printed(t, "check", "--min-severity", "info", "self.tools.yaml", "plan.yaml"); !strings.HasPrefix(said, "nothing to report in 2 files") {
		t.Error(said)
	}
	if said := printed(t, "tools", "--check", "--plan", "plan.yaml"); said != "self.tools.yaml: self: as it was\nplan.yaml: nothing of it breaks\n" {
		t.Error(said)
	}
	text, err := os.ReadFile("obelus.lock.yaml")
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(text), "      check:\n", "      checks: {}\n      check:\n", 1)
	write("obelus.lock.yaml", other)
	said, _, status := obelus(strings.NewReader(""), "tools", "--check")
	if status != statusFound || !strings.Contains(said, "self.tools.yaml: self: checks: it isn't there any more") {
		t.Errorf("status %d: %s", status, said)
	}
	if said, _, status := obelus(strings.NewReader(""), "tools", "--check", "--plan", "plan.yaml"); status != statusOK || !strings.HasSuffix(said, "plan.yaml: nothing of it breaks\n") {
		t.Errorf("status %d: %s", status, said)
	}
	write("servers.yaml", "servers: {none: {command: [none-of-this-name]}}\n")
	write("self.tools.yaml", "servers: {none: {command: [none-of-this-name]}}\n")
	for _, args := range [][]string{{"tools", "--check"}, {"tools", "import", "servers.yaml", "-o", "x.yaml"}} {
		if _, stderr, status := obelus(strings.NewReader(""), args...); status != statusTrouble || !strings.HasPrefix(stderr, "obelus: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}
