package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example over a SQLite file, whose server is started by go run.
func stockExample(t *testing.T) (folder string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("there is no sqlite3")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "examples", "sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("STOCK_DB", filepath.Join(t.TempDir(), "stock.db"))
	return folder
}

// LANGUAGE.md#mcp-servers: the example runs as it is: a plan over an MCP server over a SQLite file.
func TestExampleOverSQLite(t *testing.T) {
	plan := filepath.Join(stockExample(t), "inventory.yaml")
	if said := printed(t, "check", "--min-severity", "info", plan); !strings.HasPrefix(said, "nothing to report") {
		t.Errorf("check: %s", said)
	}
	for _, want := range []string{`[{"item":"apple","ordered":22},{"item":"cheese","ordered":18}]`, `[]`} {
		end := lastLine(t, printed(t, "run", "--confirm", "never", "--no-journal", "--format", "json", plan))
		if got := asText(t, end["output"]); end["status"] != "done" || got != want {
			t.Errorf("%v: %s, want %s", end["status"], got, want)
		}
	}
}

// LANGUAGE.md#mcp-servers: a server whose tools aren't what was imported is reported before anything is called:
// a tool that changed at all ends the run, and that nothing is recorded is reported.
func TestServersAreComparedWithTheirRecord(t *testing.T) {
	example := stockExample(t)
	plan, err := os.ReadFile(filepath.Join(example, "inventory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(plan), "command: [go", "cwd: "+example+"\n    command: [go", 1)
	for _, c := range []struct {
		name, from, to string // in the plan
		status         int
		stdout, stderr string
	}{
		{"another declaration", "low: {digest: \"sha256:", "low: {digest: \"sha256:0", statusError, "", `the tool "low" of the MCP server "stock" isn't what was imported: its description, hints or schemas have changed`},
		{"another hint", "readOnlyHint: true", "readOnlyHint: false", statusError, "", "OB610: "},
		{"a tool that isn't used", "low: {digest: ", "other: {digest: \"sha256:0\"}\n        low: {digest: ", statusOK, `"ordered": 22`, ""},
		{"nothing", "lock:", "x-lock:", statusOK, `nothing is recorded of the MCP server "stock"`, ""},
	} {
		folder := t.TempDir()
		t.Setenv("STOCK_DB", filepath.Join(folder, "stock.db"))
		drifted := strings.Replace(own, c.from, c.to, 1)
		if drifted == own {
			t.Fatalf("%s: the record is as it was", c.name)
		}
		if err := os.WriteFile(filepath.Join(folder, "plan.yaml"), []byte(drifted), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, status := obelus(strings.NewReader(""), "run", "--confirm", "never", "--runs", filepath.Join(folder, "runs"), filepath.Join(folder, "plan.yaml"))
		if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || status != statusOK && strings.Contains(stdout, "✓") {
			t.Errorf("%s: status %d\n%s%s", c.name, status, stdout, stderr)
		}
		if kept, _ := os.ReadDir(filepath.Join(folder, "runs")); status != statusOK && len(kept) > 0 {
			t.Errorf("%s: of a run that hasn't begun is left %v", c.name, kept)
		}
	}
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
