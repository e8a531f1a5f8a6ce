package main

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

type checking struct {
	Format        string `flag:"--format text|json|sarif|github: how findings are written"`
	MinSeverity   string `flag:"--min-severity error|warning|info: lowest severity with exit status 1"`
	Explain       bool   `flag:"--explain: show the evidence of findings"`
	Strict        bool   `flag:"--strict-protocol: report keys beyond the base protocol"`
	NoEnvironment bool   `flag:"--no-environment: accept programs and variables that this machine lacks"`
	Permit        string `flag:"--permit FILE: report calls that FILE doesn't permit (OB703)"`
	Fix           bool   `flag:"--fix: fix what can be fixed safely, in the files, and report the rest"`
	Diff          bool   `flag:"--diff: print what --fix would change; exit status 1 if anything"`
	reading       *project.Reader
	report        *reporter
	fixed         int // faults
}

func (o *checking) run(_ context.Context, c *cli, args []string) (err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	o.reading = c.newReading()
	o.report = &reporter{cli: c, flags: o, out: c.out, reported: map[string]bool{}}
	if o.reading.Strict = o.Strict; !c.confined { // agents learn nothing of this machine
		o.reading.Machine = &analyzer.Machine{Other: o.NoEnvironment}
	}
	if o.reading.Permit, err = c.permit(o.Permit); err != nil {
		return err
	}
	files, err := o.reading.Gather(args)
	if err != nil {
		return err
	}
	if o.Fix || o.Diff {
		for _, file := range files {
			if err := o.fix(file); err != nil {
				return err
			}
		}
		o.reading.Forget() // configurations, whose catalogues may be fixed
	}
	if o.Diff {
		return endFound(o.fixed > 0)
	}
	for _, file := range files {
		if err := o.check(file); err != nil {
			return err
		}
	}
	o.report.total.Excluded = o.reading.Excluded
	if o.report.total.Files+o.reading.Excluded == 0 && (len(files) == 0 || files[0].Found) {
		return usageErr("there is no plan in %q", args[0]).
			Advise("plans end in .yaml, .yml, .json or .jsonl and have \"calls\"")
	}
	return o.report.end()
}

// fix writes what safe fixes make of the documents of a file; with --diff it prints what would change, as a patch.
// Fixed standard input goes to standard output, and what is reported to standard error.
func (o *checking) fix(file project.Named) error {
	before, all, err := o.reading.Read(file.Name)
	if err != nil || filepath.Base(file.Name) == workspace.Settings {
		return err
	}
	copied, made, c, after := 0, 0, o.report.cli, []byte(nil)
	for d := range all {
		fixed := d
		for range 10 { // what one fix changes may show the next fault
			p := judge(fixed, file.Found)
			if p == nil {
				break
			}
			text, fixes := p.Mended(p.Findings)
			if len(fixes) == 0 {
				break
			}
			made, fixed = made+len(fixes), d.With(text)
		}
		after = append(append(after, before[copied:d.File.Base]...), fixed.File.Text...)
		copied = d.File.Base + len(d.File.Text)
	}
	after = append(after, before[copied:]...)
	o.fixed += made
	switch {
	case made == 0 && (o.Diff || file.Name != "-"):
		return err
	case o.Diff:
		return diag.Diff(c.out, file.Name, before, after, terminal.TextOptions(c.out))
	case file.Name == "-":
		o.reading.Stdin, o.report.out = bytes.NewReader(after), c.err
		_, err = c.out.Write(after)
	default:
		if err = workspace.Replace(file.Name, after); err != nil {
			return usageErr("can't write %q: %w", file.Name, workspace.Reason(err))
		}
	}
	if made > 0 {
		c.note("made %s in \"%s\"", wording.Counted(made, "fix", "fixes"), diag.Escape(file.Name))
	}
	return err
}
