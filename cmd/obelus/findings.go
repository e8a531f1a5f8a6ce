package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/planner/recording"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// judgeFiles reads files one after the other, judges them side by side, and shows what was
// found in their order.
func (r *reporter) judgeFiles(files []project.Named) error {
	ahead, judged := 8*runtime.GOMAXPROCS(0), make([]chan func() error, 0, len(files))
	if len(files) > ahead {
		debug.SetGCPercent(300) // little stays of a file that was judged: collecting less often costs little memory
	}
	for i := range files {
		for n := len(judged); n < min(i+ahead, len(files)); n++ {
			judge, show := r.readFile(files[n]), make(chan func() error, 1)
			judged = append(judged, show)
			go func() { show <- judge() }()
		}
		if err := (<-judged[i])(); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file. The function judges it as what it is, and gives the one that
// shows what was found. What was met in a folder and is nothing of ours is passed over.
func (r *reporter) readFile(file project.Named) (judge func() (show func() error)) {
	if filepath.Base(file.Name) == workspace.Settings {
		return func() func() error { return func() error { return r.judgeSettings(file) } }
	}
	var documents []project.Document
	text, err := r.reading.Text(file.Name)
	if err == nil {
		err = r.reading.Split(file.Name, text, func(d project.Document) error {
			documents = append(documents, d)
			return nil
		})
	}
	return func() func() error {
		shows := []func() error{func() error { return err }}
		for _, d := range documents {
			p, kind, sure := d.As()
			if file.Found && !sure {
				continue
			}
			var found []diag.Diagnostic
			var judged analyzer.Judgement
			switch kind {
			case project.Recording:
				found = recording.Judge(d.File, r.reading.Limits)
			case project.Instances:
				found = session.JudgeInstances(file.Name, text, r.reading.Limits)
			case project.Policy:
				_, found = compiler.ReadPolicy(d.File, r.reading.Limits)
			default:
				judged = p.Judge()
				p.Confirm(judged.Findings)
			}
			shows = append(shows, func() error { return r.judged(p, kind, judged, found) })
			if kind == project.Instances { // all of the file
				break
			}
		}
		return func() error {
			if len(shows) > 1 || !file.Found {
				r.total.Files++
			} else {
				r.total.Skipped++
				r.detail("\"%s\" is skipped: it isn't a plan", file.Name)
			}
			for _, show := range shows {
				if err := show(); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// A reporter writes findings as they are made, and finally their summary.
type reporter struct {
	*cli
	*checking
	total    diag.Summary
	maturity analyzer.Maturity // of the least mature plan
	plans    int
	fails    bool            // something of the least severity that counts was shown
	reported map[string]bool // findings that were reported for imported files
	report   diag.Report     // for the one format that is written in the end
	text     diag.TextOptions
	out      io.Writer // hides Flush, which would be called after each file
}

// judgeSettings checks a configuration that was named. One that is met in a
// folder is checked where it is used.
func (r *reporter) judgeSettings(file project.Named) error {
	if file.Found {
		return nil
	}
	r.total.Files++
	config, err := r.reading.ConfigurationAt(file.Name)
	if err != nil {
		return err
	}
	return r.introduce(config)
}

// introduce shows once what is wrong with a configuration.
func (r *reporter) introduce(config *project.Configuration) error {
	if config.Noted {
		return nil
	}
	config.Noted = true
	r.describe(config)
	return r.show(outOfReach(config.Found, r.named(config)), config)
}

// judged shows what was found in a document.
func (r *reporter) judged(p *project.Program, kind project.Kind, j analyzer.Judgement, found []diag.Diagnostic) error {
	config := p.Config
	if err := r.introduce(config); err != nil {
		return err
	}
	switch kind {
	case project.Policy:
		return r.show(r.once(found, nil), config)
	case project.Recording, project.Instances:
		return r.show(found, config)
	}
	var compiled *source.File // nil where it is of an imported kind
	if p.Plan.Form != plan.Definitions {
		compiled = p.File
		if r.plans++; r.plans == 1 || j.Maturity < r.maturity {
			r.maturity = j.Maturity
		}
		if r.total.Unjudged = append(r.total.Unjudged, j.Unjudged...); j.Unjudged != nil {
			r.total.UnjudgedIn = append(r.total.UnjudgedIn, p.File.Name)
		}
	}
	r.report.Suppressed = append(r.report.Suppressed, j.Suppressed...)
	r.total.Suppressed += len(j.Suppressed)
	slices.Sort(r.total.Unjudged)
	r.total.Unjudged = slices.Compact(r.total.Unjudged)
	err := r.show(outOfReach(r.once(j.Findings, compiled), p.File), config)
	if err == nil && r.Explain && r.Format == "text" {
		err = r.showOrder(j.Plan)
	}
	return err
}

// showOrder lists the calls that wait for others only because both may write the same place.
func (r *reporter) showOrder(p *plan.Plan) (err error) {
	for _, call := range p.Calls {
		for _, other := range call.Ordered {
			_, err = fmt.Fprintf(r.out, "%s: %q runs after %q, as listed: they may write the same path\n\n",
				diag.Escape(call.Node.Span().Where()), call.Name, p.Calls[other].Name)
		}
	}
	return err
}

// named is the file of a configuration that --fix may fix: one that was named.
func (r *reporter) named(config *project.Configuration) *source.File {
	for _, arg := range r.args {
		if config.File != nil && filepath.Clean(arg) == filepath.Clean(config.File.Name) {
			return config.File
		}
	}
	return nil
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

func (r *reporter) show(found []diag.Diagnostic, config *project.Configuration) error {
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
		return diag.JSON(r.out, found)
	case "sarif":
		r.report.Findings = append(r.report.Findings, found...)
		return nil
	case "github":
		return diag.GitHub(r.out, found, inRepository)
	}
	return diag.Text(r.out, found, r.text)
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
	r.total.Maturity = r.maturity.String()
	switch r.Format {
	case "json":
		err = r.total.JSON(r.out)
	case "sarif":
		r.report.Version, r.report.Page, r.report.Path = version(), rules.Page, inRepository
		for _, rule := range rules.Registered {
			r.report.Rules = append(r.report.Rules, rule.Rule)
		}
		err = diag.SARIF(r.out, r.report)
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
func (c *cli) show(found []diag.Diagnostic, format string) error {
	if format == "json" {
		return diag.JSON(c.out, found)
	}
	return diag.Text(c.out, found, textOptions(c.out))
}

// prepared reads, compiles and analyzes the one plan that a command works on.
func (c *cli) prepared(name string, reading *project.Reader) (*project.Program, error) {
	d, err := reading.One(name)
	if err != nil {
		return nil, err
	}
	p := d.Check()
	c.describe(p.Config)
	return p, nil
}
