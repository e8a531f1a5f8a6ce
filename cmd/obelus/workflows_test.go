package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// LANGUAGE.md#findings: workflows of other systems (state machines, pipelines, chains of an agent's
// tools), and those of a shop and a help desk, written as plans by somebody who had read
// LANGUAGE.md, with the verdict in their first line before they were checked: there is no
// false alarm on those that are clean, which a simulation plays to its end, and the
// deliberate faults are found; and so are those of small plans with one slip each.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/workflows/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	faulty, err := filepath.Glob("../../testdata/workflows/faulty/*.yaml")
	if err != nil || len(faulty) < 50 {
		t.Fatalf("%d faulty plans, %v", len(faulty), err)
	}
	clean := 0
	every := amount.Of(3, 1, 1)
	for n, file := range append(files, faulty...) {
		if n%every != 0 {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		expected, ok := strings.CutPrefix(line, "# expect: ")
		if !ok {
			continue // another plan's delegate or catalogue
		}
		want := []string{}
		if strings.HasPrefix(expected, "OB") {
			want = append(want, expected[:len("OB000")])
		}
		stdout, stderr, _ := obelus(strings.NewReader(""), "check", "--format", "json", "--min-severity", "warning", "--no-environment", file)
		got := []string{}
		for line := range strings.Lines(stdout) {
			var one struct{ Kind, Code, Severity string }
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("%s: %v\n%s%s", file, err, stdout, stderr)
			}
			if one.Kind == "finding" && one.Severity != "info" {
				got = append(got, one.Code)
			}
		}
		if len(want) == 1 && slices.Contains(faulty, file) && slices.Contains(got, want[0]) {
			continue // others may come of the same fault
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s, and check says\n%s%s", file, expected, stdout, stderr)
		}
		if len(want) == 0 {
			clean++
			if said := printed(t, "simulate", "--seed", "3", file); !strings.Contains(said, "\ndone in ") {
				t.Errorf("%s: simulated it comes to\n%s", file, said)
			}
		}
	}
	if clean < 30/every {
		t.Errorf("%d clean workflows", clean)
	}
}
