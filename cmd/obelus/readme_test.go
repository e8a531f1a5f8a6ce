package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fenced = regexp.MustCompile("(?ms)^(<!-- (obelus [^\n]*) -->\n)?```(console|mermaid)\n(.*?)^```$")

// What the README shows is what its commands print. Times are left out of the
// comparison, and so is the order of lines, as calls that run in parallel
// settle in either order; -update writes what is printed now.
func TestReadme(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	now := fenced.ReplaceAllStringFunc(string(text), func(block string) string {
		blocks++
		parts := fenced.FindStringSubmatch(block)
		comment, command, kind, shown := parts[1], parts[2], parts[3], parts[4]
		prompt := ""
		if kind == "console" {
			first, _, _ := strings.Cut(shown, "\n")
			command = strings.TrimPrefix(first, "$ ")
			prompt = first + "\n"
		}
		printed := prompt + keptAt.ReplaceAllString(piped(t, command), "; journal ~/.local/state/obelus/runs/20261121-093012-weather-4f2a.jsonl")
		if comparable(printed) == comparable(shown) {
			return block
		}
		if !*update {
			t.Errorf("%s prints\n%s\nand the README shows\n%s", command, printed, shown)
		}
		return comment + "```" + kind + "\n" + printed + "```"
	})
	if blocks < 4 {
		t.Errorf("only %d blocks of the README were found", blocks)
	}
	if *update && now != string(text) {
		if err := os.WriteFile("README.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), "\n    go run ./cmd/obelus run examples/weather.yaml\n    go test ./...\n") {
		t.Error("the README's two commands aren't there")
	}
}

func comparable(text string) string {
	lines := strings.Split(timeless(text), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// piped carries out a command that may have sed s/a/b/ before it and tail -n 1
// after it, and gives what a terminal would show.
func piped(t *testing.T, command string) string {
	t.Helper()
	var in, shown string
	for _, part := range strings.Split(command, " | ") {
		args := words(part)
		switch args[0] {
		case "sed":
			text, err := os.ReadFile(args[2])
			if err != nil {
				t.Fatal(err)
			}
			change := strings.Split(args[1], "/")
			in = strings.ReplaceAll(string(text), change[1], change[2])
			if in == string(text) {
				t.Errorf("%s changes nothing", part)
			}
		case "tail":
			lines := strings.Split(strings.TrimRight(shown, "\n"), "\n")
			shown = lines[len(lines)-1] + "\n"
		case "obelus":
			stdout, stderr, _ := obelus(strings.NewReader(in), args[1:]...)
			shown = stdout + stderr
		default:
			t.Fatal(fmt.Errorf("the README's command %q isn't known here", part))
		}
	}
	return shown
}
