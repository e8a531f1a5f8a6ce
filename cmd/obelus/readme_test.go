package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The README shows what its commands print, its plan is a file of the examples, and it has its two commands. The second
// of them runs this test.
func TestReadme(t *testing.T) {
	t.Parallel()
	p := playTutorial(t, "README.md")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := read("README.md")
	commands := "\n    go run ./cmd/obelus run examples/trip.yaml\n    go test ./...\n"
	for _, want := range []string{commands, "\n```yaml\n" + read("examples/trip.yaml") + "```\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the README lacks\n%s", want)
		}
	}
	if !strings.Contains(p.run("go run ./cmd/obelus run examples/trip.yaml"), "\nLisbon\n") {
		t.Error("the README's first command doesn't run its plan")
	}
	if lines := strings.Count(text, "\n"); lines > 140 {
		t.Errorf("the README has %d lines, more than 140", lines)
	}
}

// comparable removes times and the order of lines from a text.
func comparable(text string) string {
	lines := strings.Split(timeless(text), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
