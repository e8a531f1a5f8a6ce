package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand visits every command of the table, and the program itself.
func eachCommand(visit func(*cobra.Command)) {
	root := (&cli{in: strings.NewReader(""), out: terminal.NewScreen(io.Discard), err: terminal.NewScreen(io.Discard)}).rootCommand()
	all := []*cobra.Command{root}
	for len(all) > 0 {
		cmd := all[0]
		all = append(all[1:], cmd.Commands()...)
		if !cmd.Hidden && !strings.Contains(cmd.CommandPath(), "completion") {
			visit(cmd)
		}
	}
}

// COMMANDS.md has the flags of every command, as --help prints them; -update writes them.
func TestCommandReference(t *testing.T) {
	text, err := os.ReadFile("COMMANDS.md")
	if err != nil {
		t.Fatal(err)
	}
	now, commands := string(text), 0
	eachCommand(func(cmd *cobra.Command) {
		commands++
		title := "## " + cmd.CommandPath() + "\n"
		start := strings.Index(now, "\n"+title)
		if start < 0 {
			t.Errorf("COMMANDS.md has no section %q", cmd.CommandPath())
			return
		}
		section := now[start+1:]
		if end := strings.Index(section, "\n## "); end >= 0 {
			section = section[:end]
		}
		prose, _, _ := strings.Cut(section, "\n```text\n")
		help, _, _ := obelus(nil, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		_, usage, _ := strings.Cut(help, "\nusage:\n")
		_, flags, _ := strings.Cut(help, "\nflags:\n")
		usage, _, _ = strings.Cut(usage, "\n\n")
		flags = strings.TrimSuffix(strings.Split(flags, "\n\"obelus")[0], "\n")
		want := strings.TrimRight(prose, "\n") + "\n\n```text\n" + strings.TrimSpace(usage) + "\n\n" + flags + "\n```\n"
		if section != want {
			now = strings.Replace(now, section, want, 1)
		}
	})
	if sections := strings.Count(now, "\n## "); sections != commands {
		t.Errorf("COMMANDS.md has %d sections for %d commands", sections, commands)
	}
	if now == string(text) {
		return
	}
	if !*update {
		t.Errorf("COMMANDS.md isn't what --help prints: %s (-update writes it)", firstDifference(string(text), now))
	} else if err := os.WriteFile("COMMANDS.md", []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The flags of all commands together, each global flag once. Few flags are easier to learn than many.
func TestFlagSlots(t *testing.T) {
	const want = 127
	slots := 0
	eachCommand(func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				slots++
			}
		})
	})
	if slots != want {
		t.Errorf("the commands have %d flags, want %d", slots, want)
	}
}

// The flags of a command, and what it does with them, are one file that can be read at a glance.
func TestCommandFiles(t *testing.T) {
	files, _ := filepath.Glob("*.go")
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^func \(\w+ \*\w+\) run\(\w+ context\.Context, c \*cli, args? ?\[\]string\)|^func \(\w+ \*\w+\) run\(_ context`).Match(text) {
			continue
		}
		found++
		if lines := strings.Count(string(text), "\n"); lines > 150 && name != "approve.go" && name != "command.go" {
			t.Errorf("%s has %d lines, more than 150", name, lines)
		}
	}
	if found < 12 {
		t.Errorf("only %d files of commands were found", found)
	}
}

// Global flags apply to every command that reads them; others refuse them.
func TestGlobalFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"plans/a.yaml": "calls: [{_tool: ping, host: †state.a}]\nstate: {}\n", "plans/b.yaml": "services: {}\n",
		"say.yaml": "tools: {greet: {}}\nactivities: {greet: {expr: '\"hi\"'}}\ncalls: [{_tool: greet, _outputPath: said}]\noutput: †state.said\n",
	})
	for _, c := range []struct {
		args   string
		status int
		out    string // that stdout has
		err    string // that stderr has
	}{
		{"explain --trust", statusError, "", `explain has no flag "--trust"`},
		{"simulate say.yaml --runs 3", statusError, "", `simulate has no flag "--runs"`},
		{"chek plans", statusError, "", `did you mean "check"?`},
		{"-C nowhere check", statusError, "", "--chdir can't be \"nowhere\""},
		{"lint plans/a.yaml --color always", statusFound, "\x1b[", ""},
		{"validate plans/a.yaml --color never", statusFound, "OB", ""},
		{"check plans", statusFound, "in 1 file, 1 skipped", ""},
		{"check -v plans", statusFound, "1 skipped", `obelus: "plans/b.yaml" is skipped: it isn't a plan`},
		{"run -q say.yaml --no-journal --auto-approve", statusOK, "hi\n", ""},
		{"run say.yaml --no-journal --parallel 2 --format json", statusOK, `"status":"done"`, ""},
		{"run say.yaml --no-journal --concurrency 0", statusError, "", "expected at least 1"},
		{"run say.yaml --parallel 0", statusError, "", "expected at least 1"},
		{"run say.yaml --auto-approve --confirm always", statusError, "", "--auto-approve and --confirm can't be given together"},
		{"run say.yaml --no-journal --answer-within -1s", statusError, "", "expected at least 0"},
		{"-C plans check", statusFound, "a.yaml:1", ""}, // last: it changes the folder
	} {
		stdout, stderr, status := obelus(strings.NewReader(""), strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout, c.out) || !strings.Contains(stderr, c.err) {
			t.Errorf("obelus %s: status %d, stdout %q, stderr %q", c.args, status, stdout, stderr)
		}
		if strings.Contains(c.args, "-q") && (stdout != c.out || stderr != "") {
			t.Errorf("obelus %s isn't quiet: %q, %q", c.args, stdout, stderr)
		}
	}
}

// The journal of a run is found by its file where the user has no home.
func TestFindRunWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	if path, err := new(cli).findRun("./run.jsonl"); err != nil || path != "./run.jsonl" {
		t.Errorf("%q, %v", path, err)
	}
}
