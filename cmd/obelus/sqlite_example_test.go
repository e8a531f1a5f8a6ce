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

// S2.3: the example runs as it is: a plan over an MCP server over a SQLite file.
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

// S2.3: a server whose tools aren't what was locked is told of before anything is called:
// what breaks plans ends the run, what is harmless doesn't, and nothing locked is said.
func TestServersAreHeldToTheLock(t *testing.T) {
	example := stockExample(t)
	plan, err := os.ReadFile(filepath.Join(example, "inventory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	locked, err := os.ReadFile(filepath.Join(example, "obelus.lock.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(plan), "stock: {command", "stock: {cwd: "+example+", command", 1)
	for _, c := range []struct {
		name, from, to string // in the lock
		status         int
		stdout, stderr string
	}{
		{"a parameter that was free", "required:\n          - least", "required: []\n          x-was:\n          - least", statusTrouble, "", `OB610: `},
		{"a tool that isn't used", "servers:\n  stock:\n    tools:\n", "servers:\n  stock:\n    tools:\n      other: {}\n", statusOK, `"ordered": 22`, ""},
		{"other words", "description: sha256:6", "description: sha256:7", statusOK, `the tool "low" of the MCP server "stock" isn't what was locked: it describes itself otherwise (harmless)`, ""},
		{"nothing", string(locked), "{}\n", statusOK, `nothing is locked of the MCP server "stock"`, ""},
	} {
		folder := t.TempDir()
		t.Setenv("STOCK_DB", filepath.Join(folder, "stock.db"))
		drifted := strings.Replace(string(locked), c.from, c.to, 1)
		if drifted == string(locked) {
			t.Fatalf("%s: the lock is as it was", c.name)
		}
		for name, text := range map[string]string{"plan.yaml": own, "obelus.lock.yaml": drifted} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, status := obelus(strings.NewReader(""), "run", "--confirm", "never", "--no-journal", filepath.Join(folder, "plan.yaml"))
		if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || status != statusOK && strings.Contains(stdout, "✓") {
			t.Errorf("%s: status %d\n%s%s", c.name, status, stdout, stderr)
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
