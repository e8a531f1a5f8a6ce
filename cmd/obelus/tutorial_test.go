package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// asCommand has a process of the tests be the command itself.
const asCommand = "OBELUS_TEST_AS_COMMAND"

var (
	tutorialBlock = regexp.MustCompile("(?ms)^(<!-- file ([^\n]*) -->\n)?```(console|yaml|sh)\n(.*?)^```$")
	runNames      = regexp.MustCompile(`\b[0-9]{8}-[0-9]{6}-[a-z]+-[0-9a-f]{4}\b`)
	ofKeys        = regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}|AAAA[A-Za-z0-9+/=]{60,}`)
)

// EXECUTION.md#approval: the tutorial's commands do what it shows, with the real git and ssh-keygen;
// -update writes what they print now.
func TestApprovalTutorial(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "git", "ssh-keygen", "sed", "base64"} {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS == "windows" {
			t.Skipf("%s isn't installed", tool)
		}
	}
	const name = "../../examples/approval/README.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	scratch, tools := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "obelus"), fmt.Appendf(nil, "#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asCommand, self), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "gitconfig"), []byte("[user]\nname = Author\nemail = author@example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := 0
	now := tutorialBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		parts := tutorialBlock.FindStringSubmatch(block)
		file, kind, shown := parts[2], parts[3], parts[4]
		if kind != "console" {
			file = filepath.Join(scratch, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(shown), 0o644); err != nil {
				t.Fatal(err)
			}
			return block
		}
		var printed strings.Builder
		for line := range strings.Lines(shown) {
			command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			if !ok {
				continue
			}
			commands++
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir = scratch
			cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+scratch, "GIT_CONFIG_GLOBAL="+filepath.Join(tools, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "SSH_AUTH_SOCK=")
			out, _ := cmd.CombinedOutput() // what it refuses it says
			fmt.Fprintf(&printed, "$ %s\n%s", command, keptAt.ReplaceAllString(string(out), "; journal ~/.local/state/obelus/runs/20261121-093012-refund-4f2a.jsonl"))
		}
		same := func(text string) string {
			text = runNames.ReplaceAllString(ofKeys.ReplaceAllString(timeless(text), "KEY"), "RUN")
			return keptAt.ReplaceAllString(text, "; journal …")
		}
		if same(printed.String()) == same(shown) {
			return block
		}
		if !*update {
			t.Errorf("the tutorial shows\n%s\nand the commands print\n%s", shown, printed.String())
		}
		return "```console\n" + printed.String() + "```"
	})
	if commands < 20 {
		t.Errorf("only %d commands were found", commands)
	}
	if *update && now != string(text) {
		if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
