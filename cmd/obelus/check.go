package main

import (
	"bufio"
	"cmp"
	"context"
	"io"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/project"
)

// checking is a check: its flags, and what it reads.
type checking struct {
	Format        string `flag:"--format text|json|sarif|github: how findings are written"`
	MinSeverity   string `flag:"--min-severity error|warning|info: lowest severity with exit status 1"`
	Explain       bool   `flag:"--explain: show the evidence of findings"`
	Strict        bool   `flag:"--strict-protocol: report keys beyond the base protocol"`
	NoEnvironment bool   `flag:"--no-environment: accept programs and variables that this machine lacks"`
	Permit        string `flag:"--permit FILE: report calls that FILE doesn't permit (OB703)"`
	Fix           bool   `flag:"--fix: fix what can be fixed safely, in the files, and report the rest"`
	Diff          bool   `flag:"--diff: print what --fix would change; exit status 1 if anything"`

	args      []string
	reading   *project.Reader
	threshold *diag.Severity // nil where the configuration names it
}

var severities = map[string]diag.Severity{"info": diag.Info, "warning": diag.Warning, "error": diag.Error}

func (o *checking) run(_ context.Context, c *cli, args []string) (err error) {
	o.args, o.reading = args, c.newReading()
	if len(args) == 0 {
		o.args = []string{"."}
	}
	if c.changed("min-severity") {
		o.threshold = new(severities[o.MinSeverity])
	}
	o.reading.Strict = o.Strict
	switch {
	case o.reading.Confined: // agents learn nothing of this machine
	case o.NoEnvironment:
		o.reading.Machine = project.OtherMachine
	default:
		o.reading.Machine = project.ThisMachine
	}
	if o.reading.Permit, err = c.permit(o.Permit); err != nil {
		return err
	}
	if o.Diff || o.Fix {
		return c.fix(o)
	}
	return c.check(o)
}

func (c *cli) check(o *checking) (err error) {
	files, err := o.reading.Gather(o.args)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	defer func() { err = cmp.Or(out.Flush(), err) }()
	r := &reporter{cli: c, checking: o, reported: map[string]bool{}, out: struct{ io.Writer }{out}}
	r.text, r.total.Excluded = terminal.TextOptions(c.out), o.reading.Excluded
	r.text.Fixed = "--fix does it"
	r.text.Evidence = o.Explain
	if err := r.checkFiles(files); err != nil {
		return err
	}
	if r.total.Files == 0 && r.total.Excluded == 0 && (len(files) == 0 || files[0].Found) {
		return usageErr("there is no plan in %q", o.args[0]).
			Advise("plans end in .yaml, .yml, .json or .jsonl and have \"calls\"")
	}
	return r.end()
}
