package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// checkFiles checks files one after the other. What was met in a folder and is nothing of ours is passed over.
func (r *reporter) checkFiles(files []project.Named) error {
	for _, file := range files {
		isOurs := false
		switch isSettings := filepath.Base(file.Name) == workspace.Settings; {
		case isSettings && file.Found: // it is checked where it is used
			continue
		case isSettings:
			config, err := r.reading.ConfigurationAt(file.Name)
			if err != nil {
				return err
			}
			r.introduce(config)
			isOurs = true
		default:
			err := r.reading.Read(file.Name, func(d project.Document) error {
				isOurs = r.checkDocument(d, file.Found) || isOurs
				return nil
			})
			if err != nil {
				return err
			}
		}
		if isOurs {
			r.total.Files++
		} else {
			r.total.Skipped++
			r.detail("\"%s\" is skipped: it isn't a plan", &source.File{Name: file.Name})
		}
	}
	return nil
}

// checkDocument judges a document as what it is, and reports whether it is one of ours.
func (r *reporter) checkDocument(d project.Document, met bool) bool {
	p, kind, sure := d.As()
	if met && !sure || kind == project.Given {
		return false
	}
	if kind == project.Policy {
		_, found := compiler.ReadPolicy(d.File, r.reading.Limits)
		r.judged(p, analyzer.Judgement{Findings: found}, nil)
		return true
	}
	judgement := p.Judge()
	p.Confirm(judgement.Findings)
	r.judged(p, judgement, d.File)
	return true
}

// A reporter writes findings as they are made, and finally their summary.
type reporter struct {
	*cli
	*checking
	total    diag.Summary
	fails    bool            // something of the least severity that counts was shown
	reported map[string]bool // findings that were reported for imported files
	sarif    diag.Report     // for the one format that is written in the end
	text     diag.TextOptions
	out      io.Writer // hides Flush, which would be called after each file
}

// introduce shows once what is wrong with a configuration, which --fix leaves as it is.
func (r *reporter) introduce(config *project.Configuration) {
	if !config.Noted {
		config.Noted = true
		r.detail("settings: \"%s\"", config.File)
		r.report(outOfReach(config.Found, nil), config)
	}
}

// judged shows what was found in a document.
func (r *reporter) judged(p *project.Program, j analyzer.Judgement, own *source.File) {
	r.introduce(p.Config)
	switch {
	case j.Plan == nil:
	case j.Plan.Form == plan.Definitions:
		own = nil
	default:
		if r.total.Unjudged = append(r.total.Unjudged, j.Unjudged...); j.Unjudged != nil {
			r.total.UnjudgedIn = append(r.total.UnjudgedIn, p.File.Name)
		}
	}
	r.sarif.Suppressed = append(r.sarif.Suppressed, j.Suppressed...)
	r.total.Suppressed += len(j.Suppressed)
	slices.Sort(r.total.Unjudged)
	r.total.Unjudged = slices.Compact(r.total.Unjudged)
	r.report(outOfReach(r.once(j.Findings, own), p.File), p.Config)
	if r.Explain && r.Format == "text" && j.Plan != nil {
		r.showOrder(j.Plan)
	}
}

// showOrder lists the calls that wait for others only because both may write the same place.
func (r *reporter) showOrder(p *plan.Plan) {
	for _, call := range p.Calls {
		for _, other := range call.Ordered {
			fmt.Fprintf(r.out, "%s: %q runs after %q, as listed: they may write the same path\n\n",
				diag.Escape(call.Node.Span().Where()), call.Name, p.Calls[other].Name)
		}
	}
}

// outOfReach marks the fixes that --fix leaves to people because they are in
// another file than the document itself.
func outOfReach(found []diag.Diagnostic, document *source.File) []diag.Diagnostic {
	for i := range found {
		for j := range found[i].Fixes {
			if slices.ContainsFunc(found[i].Fixes[j].Edits, func(e diag.Edit) bool { return e.Span.File != document }) {
				found[i].Fixes = slices.Clone(found[i].Fixes)
				found[i].Fixes[j].Safe = false
			}
		}
	}
	return found
}

// once leaves out what was said before about an imported file: for another of
// them, or for the file itself.
func (r *reporter) once(found []diag.Diagnostic, plan *source.File) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		if d.Span.File == plan {
			return false
		}
		key := project.Identity(&d)
		reported := r.reported[key]
		r.reported[key] = true
		return reported
	})
}

// report shows findings with the severity that a configuration asks for.
func (r *reporter) report(found []diag.Diagnostic, config *project.Configuration) {
	more := diag.Summarize(0, found)
	r.total.Errors += more.Errors
	r.total.Warnings += more.Warnings
	r.total.Infos += more.Infos
	least := diag.Error
	if settings := config.Analysis.Settings; settings != nil && settings.MinSeverity != nil {
		least = *settings.MinSeverity
	}
	if r.threshold != nil {
		least = *r.threshold
	}
	r.fails = r.fails || slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Severity >= least })
	switch r.Format {
	case "json":
		r.cli.out.Keep(diag.JSON(r.out, found))
	case "sarif":
		r.sarif.Findings = append(r.sarif.Findings, found...)
	case "github":
		r.cli.out.Keep(diag.GitHub(r.out, found, inRepository))
	default:
		r.cli.out.Keep(diag.Text(r.out, found, r.text))
	}
}

// inRepository is how services that keep repositories name a file: from the root of its
// own, whichever folder the check was begun in.
func inRepository(file string) string {
	if path, ok := workspace.InRepository(file); ok && file != "-" {
		return path
	}
	return file
}

// end closes the report.
func (r *reporter) end() (err error) {
	switch r.Format {
	case "json":
		err = r.total.JSON(r.out)
	case "sarif":
		r.sarif.Version, r.sarif.Page, r.sarif.Path = version(), rules.Page, inRepository
		for _, rule := range rules.Registered {
			r.sarif.Rules = append(r.sarif.Rules, rule.Rule)
		}
		err = diag.SARIF(r.out, r.sarif)
	default:
		if r.Format != "text" || !r.Quiet {
			err = r.total.Text(r.out, r.text)
		}
	}
	if err == nil && r.fails {
		return ending(statusFound)
	}
	return err
}

// show writes findings to standard output.
func (c *cli) show(found []diag.Diagnostic, format string) {
	if format == "json" {
		c.out.Keep(diag.JSON(c.out, found))
	} else {
		c.out.Keep(diag.Text(c.out, found, terminal.TextOptions(c.out)))
	}
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

func (c *cli) mentionWarnings(name string, p *project.Program, format string) {
	if warnings := diag.Summarize(1, p.Findings).Warnings; warnings > 0 && format == "text" {
		c.note("the plan has %s; \"%s\" shows more", wording.Count(warnings, "warning"), c.commandLine("check", name))
	}
}
