package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// mostCommands is for how many questions commands are printed.
const mostCommands = 5

// stopped prints why a run stopped, unless somebody stopped it, and the commands that continue it, one a line.
func (c *cli) stopped(result *session.Result, s *session.Session) {
	asks := []runtime.Reason{runtime.ReasonConfirmation, runtime.ReasonInFlight, runtime.ReasonPermit}
	asked, run := result.Asked, runName(c, s)
	if !slices.Contains(asks, result.Reason) {
		asked = nil
	}
	var lines []string
	for i, q := range asked {
		if i == mostCommands {
			c.err.Print("obelus: and before %s\n", wording.Count(len(asked)-i, "more call"))
			break
		}
		c.err.Print("obelus: stopped before the call %s (there is nobody to ask): %s\n", named(q), terminal.Reason(q))
		answers := terminal.Verdicts(q)
		words := []string{"decide", run, q.Path(), answers[0]}
		if len(q.Outside) > 0 && s.Manifest.Options.Signed {
			words = append(words, "--key", "KEY")
		}
		if q.Instance != "" {
			words = append(words, "--instance", q.Instance)
		}
		lines = append(lines, c.commandLine(words...)+"  # or "+strings.Join(answers[1:], ", "))
	}
	if len(asked) == 0 && result.Why != "" {
		c.err.Print("obelus: %s\n", diag.Escape(result.Why))
	}
	resume := c.commandLine("resume", run)
	switch {
	case len(asked) > 0 && s.ID == "":
		c.help("answer at a terminal, or keep a journal: \"obelus decide\" answers then")
	case len(asked) > 0:
		lines = append([]string{c.commandLine("decide", run) + "  # shows what is asked"}, slices.Compact(lines)...)
		c.help("answer and continue with these commands:\n    " + strings.Join(lines, "\n    ") + "\n    " + resume +
			"  # continues with the answers")
	case result.Reason == runtime.ReasonPermit:
		c.help("an approval counts what the whole run does: have more approved, and begin a new run")
	case s.ID != "":
		c.help(resume + "  # continues the run")
	}
}

// runName names a run in commands: by its journal's file where that isn't in the folder in which they look for it.
func runName(c *cli, s *session.Session) string {
	folder, err := c.runsFolder()
	if s.ID != "" && (err != nil || filepath.Dir(s.Journal) != filepath.Clean(folder)) {
		return s.Journal
	}
	return s.ID
}

func (c *cli) help(text string) {
	c.err.Print("  %s %s\n", terminal.StyleFor(c.err).Green("help:"), text)
}

// commandLine is a command that can be copied, with the flags of this one that it needs.
func (c *cli) commandLine(words ...string) string {
	if words[0] == "resume" || slices.Contains(words, "--key") {
		for _, name := range []string{"signers", "approvals"} {
			if f := c.cmd.Flag(name); f != nil && f.Changed {
				words = append(words, "--"+name, f.Value.String())
			}
		}
	}
	if c.Runs != "" && words[0] != "check" {
		words = append(words, "--runs", c.Runs)
	}
	if c.Folder != "" {
		words = append([]string{"-C", c.Folder}, words...)
	}
	line := "obelus"
	for _, word := range words {
		line += " " + diag.Escape(wording.ShellWord(word))
	}
	return line
}
