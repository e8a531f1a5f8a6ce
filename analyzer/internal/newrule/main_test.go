package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const repository = "../../.."

func source(t *testing.T) reader {
	t.Helper()
	return os.DirFS(repository).(reader)
}

// The rule that is begun compiles with the rest, and the tests of pages and
// cases fail until it is filled in.
func TestBegunRuleCompilesAndFails(t *testing.T) {
	r := rule{"tired-entry", "OB499", "info"}
	files, err := begin(source(t), r)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	dir := t.TempDir()
	for i, f := range files {
		name := filepath.Join(dir, string(rune('a'+i))+filepath.Ext(f.path))
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(f.path))] = name
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	if said, err := run("build", "-overlay", list, "./analyzer"); err != nil {
		t.Fatalf("it doesn't compile: %v\n%s", err, said)
	}
	said, err := run("test", "-overlay", list, "-run", "TestPages/OB499|TestEveryRuleHasItsPlaceAndPage", "./analyzer")
	if err == nil || !strings.Contains(said, "OB499 isn't found") {
		t.Errorf("the page's test passes, or fails for another reason: %v\n%s", err, said)
	}
	if strings.Contains(said, "TestEveryRuleHasItsPlaceAndPage") {
		t.Errorf("the rule isn't in its place:\n%s", said)
	}
}

// What would make a mess is refused, with what to do.
func TestBadNamesAreRefused(t *testing.T) {
	for _, c := range []struct {
		rule rule
		want string
	}{
		{rule{"Dead Call", "OB399", "info"}, "NAME=dead-call"},
		{rule{"", "OB399", "info"}, "NAME=dead-call"},
		{rule{"dead-thing", "399", "info"}, "CODE=OB302"},
		{rule{"dead-thing", "OB399", "fatal"}, "error, warning or info"},
		{rule{"cycle", "OB399", "info"}, "OB301 cycle already"},
		{rule{"dead-thing", "OB301", "info"}, "OB301 cycle already"},
	} {
		if _, err := begin(source(t), c.rule); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
	page := written{"analyzer/analyzer.go", nil, true}
	if err := write(repository, []written{page}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a file that is there is written over: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"dead-call": "deadCalls", "entry": "entries", "late-key": "lateKeys", "bad-switch": "badSwitches", "loss": "losses"} {
		if got := (rule{name: name}).plural(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
