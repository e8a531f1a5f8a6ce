package main

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// judge finds what is wrong with a document; it is nil for one that was met in a folder and isn't ours.
func judge(d project.Document, met bool) *project.Program {
	p, kind, sure := d.As()
	if met && !sure || kind == project.Given {
		return nil
	}
	if kind == project.Policy {
		_, found := compiler.ReadPolicy(d.File, d.Options.Limits)
		p.Judgement = analyzer.Judgement{Findings: found}
	} else {
		p.Judgement = p.Judge()
	}
	return p
}

// check reports what is wrong with the documents of a file.
func (o *checking) check(file project.Named) error {
	if filepath.Base(file.Name) == workspace.Settings {
		if file.Found { // it is checked where it is used
			return nil
		}
		o.report.total.Files++
		config, err := o.reading.ConfigurationAt(file.Name)
		if err == nil {
			o.report.settings(config)
		}
		return err
	}
	_, all, err := o.reading.Read(file.Name)
	if err != nil {
		return err
	}
	isOurs := false
	for d := range all {
		if p := judge(d, file.Found); p != nil {
			isOurs = true
			p.Confirm(p.Findings)
			o.report.program(p)
		}
	}
	if isOurs {
		o.report.total.Files++
	} else {
		o.report.total.Skipped++
		o.report.detail("\"%s\" is skipped: it isn't a plan", &source.File{Name: file.Name})
	}
	return nil
}

// A reporter writes findings as they are made, and finally their summary.
type reporter struct {
	*cli
	flags    *checking
	out      *terminal.Screen
	total    diag.Summary
	fails    bool            // something of the least severity that counts was shown
	reported map[string]bool // findings about imported files
	sarif    diag.Report     // all of it
}

// settings reports once what is wrong with a configuration, which --fix leaves as it is.
func (r *reporter) settings(config *project.Configuration) {
	if !config.Noted {
		config.Noted = true
		r.detail("settings: \"%s\"", config.File)
		r.write(config.Found, config, nil)
	}
}

// program reports what is wrong with a document; what is wrong with a file that several import, once.
func (r *reporter) program(p *project.Program) {
	r.settings(p.Config)
	isPlan := p.Plan != nil && p.Plan.Form != plan.Definitions
	if isPlan && p.Unjudged != nil {
		r.total.Unjudged = append(r.total.Unjudged, p.Unjudged...)
		r.total.UnjudgedIn = append(r.total.UnjudgedIn, p.File.Name)
	}
	r.sarif.Suppressed = append(r.sarif.Suppressed, p.Suppressed...)
	r.total.Suppressed += len(p.Suppressed)
	found := slices.DeleteFunc(p.Findings, func(d diag.Diagnostic) bool {
		if isPlan && d.Span.File == p.File {
			return false
		}
		key := project.Identity(&d)
		before := r.reported[key]
		r.reported[key] = true
		return before
	})
	r.write(found, p.Config, p.Plan)
}

var severities = map[string]diag.Severity{"info": diag.Info, "warning": diag.Warning, "error": diag.Error}

// write writes findings, and finds out whether they count by the severity that a flag or a configuration names.
func (r *reporter) write(found []diag.Diagnostic, config *project.Configuration, p *plan.Plan) {
	r.sarif.Findings = append(r.sarif.Findings, found...)
	least := severities[r.flags.MinSeverity]
	if settings := config.Analysis.Settings; settings != nil && settings.MinSeverity != nil &&
		!r.changed("min-severity") {
		least = *settings.MinSeverity
	}
	r.fails = r.fails || len(diag.AtLeast(least, found)) > 0
	switch r.flags.Format {
	case "json":
		r.out.Keep(diag.JSON(r.out, found))
	case "sarif": // in the end
	case "github":
		r.out.Keep(diag.GitHub(r.out, found, workspace.InRepository))
	default:
		options := terminal.TextOptions(r.out)
		options.Evidence = r.flags.Explain
		if p != nil {
			options.Fixed = "--fix does it"
		}
		r.out.Keep(diag.Text(r.out, found, options))
		if r.flags.Explain && p != nil {
			r.order(p)
		}
	}
}

// order lists the calls that wait for others only because both may write the same place.
func (r *reporter) order(p *plan.Plan) {
	for _, call := range p.Calls {
		for _, other := range call.Ordered {
			r.out.Print("%s: %q runs after %q, as listed: they may write the same path\n\n",
				diag.Escape(call.Node.Span().Where()), call.Name, p.Calls[other].Name)
		}
	}
}

func (r *reporter) end() error {
	all := diag.Summarize(r.total.Files, r.sarif.Findings)
	r.total.Errors, r.total.Warnings, r.total.Infos = all.Errors, all.Warnings, all.Infos
	slices.Sort(r.total.Unjudged)
	r.total.Unjudged = slices.Compact(r.total.Unjudged)
	switch {
	case r.flags.Format == "json":
		r.out.Keep(r.total.JSON(r.out))
	case r.flags.Format == "sarif":
		r.sarif.Version, r.sarif.Page, r.sarif.Path = version(), rules.Page, workspace.InRepository
		for _, rule := range rules.Registered {
			r.sarif.Rules = append(r.sarif.Rules, rule.Rule)
		}
		r.out.Keep(diag.SARIF(r.out, r.sarif))
	case r.flags.Format == "github" || !r.Quiet:
		r.out.Keep(r.total.Text(r.out, terminal.TextOptions(r.out)))
	}
	return endFound(r.fails)
}

// faultyPlan shows what keeps a plan from going further, and ends the command.
func (c *cli) faultyPlan(p *project.Program, format string, status ending) error {
	summary, options := diag.Summarize(1, p.Findings), terminal.TextOptions(c.out)
	summary.Unjudged = p.Unjudged
	if format == "json" {
		c.out.Keep(cmp.Or(diag.JSON(c.out, p.Findings), summary.JSON(c.out)))
	} else {
		c.out.Keep(cmp.Or(diag.Text(c.out, p.Findings, options), summary.Text(c.out, options)))
	}
	return status
}

// prepared reads, compiles and analyzes the one plan that a command works on.
func (c *cli) prepared(name string, reading *project.Reader) (*project.Program, error) {
	d, err := reading.One(name)
	if err != nil {
		return nil, err
	}
	p := d.Check()
	c.detail("settings: \"%s\"", p.Config.File)
	return p, nil
}
