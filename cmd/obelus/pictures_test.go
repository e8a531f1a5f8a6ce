package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every picture is what the command above it draws; -update draws it anew.
func TestPictures(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile(filepath.Join("examples", "pictures", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    obelus (.*) -o (\S+)$`).FindAllStringSubmatch(string(text), -1)
	pictures, _ := filepath.Glob("examples/pictures/*.svg")
	if len(commands) < 5 || !*update && len(pictures) != len(commands) {
		t.Errorf("%d commands for %d pictures", len(commands), len(pictures))
	}
	for _, command := range commands {
		drawn := filepath.Join(t.TempDir(), "picture.svg")
		if *update {
			drawn = command[2]
		}
		if stdout, stderr, status := obelus(strings.NewReader(""), append(strings.Fields(command[1]), "-o", drawn)...); status > 1 || stdout != "" {
			t.Errorf("obelus %s: %s%s", command[1], stdout, stderr)
		}
		now, _ := os.ReadFile(drawn)
		if was, err := os.ReadFile(command[2]); err != nil || string(now) != string(was) {
			t.Errorf("%s isn't what obelus %s draws now (-update draws it)", command[2], command[1])
		}
		if !strings.Contains(string(text), "]("+filepath.Base(command[2])+")") {
			t.Errorf("%s isn't shown", command[2])
		}
	}
}
