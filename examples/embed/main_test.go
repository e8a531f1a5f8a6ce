package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// LANGUAGE.md#delegates-and-scopes: a program that embeds the libraries runs every example as the command
// does, from any folder: delegates find their activities and these their folders.
func TestRunsEveryExample(t *testing.T) {
	var plans []string
	for _, pattern := range []string{"../*.yaml", "../planned/*.yaml", "../nightly/note.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if path, err := filepath.Abs(name); err != nil {
				t.Fatal(err)
			} else if base := filepath.Base(name); base != "obelus.yaml" && base != "programs.yaml" && !strings.HasSuffix(base, ".solutions.yaml") {
				plans = append(plans, path)
			}
		}
	}
	if len(plans) < 15 {
		t.Fatalf("%d examples", len(plans))
	}
	t.Chdir(t.TempDir())
	for _, plan := range plans {
		t.Run(filepath.Base(plan), func(t *testing.T) {
			var out bytes.Buffer
			if err := run(t.Context(), plan, &out); err != nil {
				t.Fatal(err)
			}
			if filepath.Base(plan) == "weather.yaml" && !strings.Contains(out.String(), "Lisbon: 24 °C") {
				t.Errorf("the program's own function wasn't called: %s", out.String())
			}
		})
	}
}
