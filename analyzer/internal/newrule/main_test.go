package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// A rule that was begun compiles and has its page, whose test fails until it is
// filled in.
func TestBegunRule(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"rules", "testdata"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files, err := rule{"tired-entry", "OB499", "info"}.begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (rule{"tired-entry", "OB499", "info"}).begin(dir); err == nil {
		t.Error("a file that is there is written over")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for _, f := range files {
		relative, _ := filepath.Rel(dir, f)
		overlay["Replace"][filepath.Join(root, relative)] = f
	}
	text, _ := json.Marshal(overlay)
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if amount.Of(0, 1, 1) == 0 {
		t.Skip("it builds the analyzer's tests")
	}
	test := exec.Command("go", "test", "-overlay", list, "-run", "TestPages/OB499", ".")
	test.Dir = root
	said, err := test.CombinedOutput()
	if out := string(said); err == nil || !strings.Contains(out, "OB499 isn't found") {
		t.Errorf("the page's test passes, or fails for another reason: %v\n%s", err, said)
	}
}

// What would make a mess is refused, with what to do.
func TestBadNamesAreRefused(t *testing.T) {
	for r, want := range map[rule]string{
		{"Dead Call", "OB399", "info"}:   "NAME=dead-call",
		{"", "OB399", "info"}:            "NAME=dead-call",
		{"dead-thing", "399", "info"}:    "CODE=OB302",
		{"dead-thing", "OB399", "fatal"}: "error, warning or info",
		{"cycle", "OB399", "info"}:       "OB301 cycle already",
		{"dead-thing", "OB301", "info"}:  "OB301 cycle already",
	} {
		if _, err := r.begin(t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}
