package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// stopped prints why a run stopped, unless somebody stopped it, and the commands that continue it.
func (c *cli) stopped(result *session.Result, s *session.Session) {
	asks := []runtime.Reason{runtime.ReasonConfirmation, runtime.ReasonInFlight, runtime.ReasonPermit}
	if len(result.Asked) > 0 && slices.Contains(asks, result.Reason) {
		c.unanswered(result, s)
		return
	}
	if result.Why != "" {
		c.err.Print("obelus: %s\n", diag.Escape(result.Why))
	}
	run := runName(c, s)
	switch {
	case result.Reason == runtime.ReasonPermit:
		c.help("an approval counts what the whole run does: have more approved, and begin a new run")
	case s.ID != "" && result.Why != "":
		c.help(c.commandLine("resume", run) + "  # continues with two more ticks; --at TICK from an earlier one")
	case s.ID != "":
		c.help(c.commandLine("resume", run) + "  # continues the run")
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

// mostCommands is for how many questions commands are printed.
const mostCommands = 5

// unanswered prints the questions that a run stopped with, and the commands that answer them and
// continue, one a line.
func (c *cli) unanswered(result *session.Result, s *session.Session) {
	run := runName(c, s)
	lines := []string{c.commandLine("decide", run) + "  # shows what is asked"}
	if s.Manifest.Options.Planned {
		lines = append(lines, c.commandLine("graph", "--run", run, "--format", "text")+"  # draws the plan so far")
	}
	for _, q := range result.Asked[:min(len(result.Asked), mostCommands)] {
		c.err.Print("obelus: stopped before the call %s (there is nobody to ask): %s\n", named(q),
			whyAsked(q, s.Program.Plan))
		if q.Problem != "" {
			c.err.Print("obelus: the answer for the call %s can't be used: %s\n", named(q), diag.Escape(q.Problem))
		}
		verdicts := q.Verdicts()
		words := []string{"decide", run, q.Path(), verdicts[0]}
		if len(q.Outside) > 0 {
			verdicts = verdicts[:2]
			if s.Manifest.Options.Signed {
				words = append(words, "--key", "KEY")
			}
		}
		if q.Instance != "" {
			words = append(words, "--instance", q.Instance)
		}
		line := c.commandLine(words...) + "  # or " + strings.Join(verdicts[1:], ", ")
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if more := len(result.Asked) - mostCommands; more > 0 {
		c.err.Print("obelus: and before %s\n", wording.Count(more, "more call"))
	}
	lines = append(lines, c.commandLine("resume", run)+"  # continues with the answers")
	if s.ID == "" {
		c.help("answer at a terminal, or keep a journal: \"obelus decide\" answers then")
	} else {
		c.help("answer and continue with these commands:\n    " + strings.Join(lines, "\n    "))
	}
}

// whyAsked is why a call needs an answer.
func whyAsked(q *runtime.Question, p *plan.Plan) string {
	switch {
	case len(q.Outside) > 0:
		var all []string
		for _, d := range q.Outside {
			all = append(all, strings.TrimPrefix(d.String(), fmt.Sprintf("%q: ", d.Call)))
		}
		return "the approval doesn't cover it: " + strings.Join(all, "; ")
	case q.InFlight:
		return "it was running when the run was interrupted, and may have happened"
	case q.Uncertainty != "" && p.Advice.Enforce == "ask":
		return diag.Escape(q.Uncertainty)
	case q.Wanted:
		return "the plan (_confirm) or a policy (person) requires a person's answer"
	case q.Replaces != "":
		return "it replaces another call"
	}
	return terminal.Effects(q)
}
