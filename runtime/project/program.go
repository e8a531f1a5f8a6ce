package project

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// A Program is a document with all that was found out about it. Its Plan is never nil, and partial when findings hold
// an error; before Analyze there are only that and the findings of the compiler.
type Program struct {
	Document
	analyzer.Judgement
}

// Compile compiles a document. The policies in the folders of its delegates, and above them, hold for all of it; those
// of the folder that a record names as its plan's only make it stricter, since a record may name any.
func (d Document) Compile() *Program {
	p := &Program{Document: d}
	p.Plan, p.Findings = compiler.Compile(d.File, d.Options)
	if d.policies == nil { // as of a journal, which has them all
		return p
	}
	delegates, known := len(p.Plan.AllDelegates()), len(d.Options.Policies)
	for at, file := range p.Sources()[1:] {
		policies, err := d.policies(file)
		if err != nil {
			p.Findings = append(p.Findings, diag.New(diag.BadDelegate, p.Plan.Root.Span(), err.Error()))
		}
		for _, one := range policies {
			one.Counts = one.Counts && at < delegates
			if !slices.ContainsFunc(d.Options.Policies,
				func(other compiler.PolicyFile) bool { return other.File.Name == one.File.Name }) {
				d.Options.Policies = append(slices.Clip(d.Options.Policies), one)
			}
		}
	}
	if len(d.Options.Policies) > known {
		return d.Compile()
	}
	return p
}

// Sources are the files of the document and of all the plans that it delegates to, and last where a record would lie
// in its plan's folder.
func (p *Program) Sources() []string {
	files := []string{p.File.Name}
	for _, delegate := range slices.Sorted(maps.Keys(p.Plan.AllDelegates())) {
		files = append(files, under(p.Root, delegate))
	}
	if p.Plan.Workspace != "" {
		files = append(files, filepath.Join(p.Workspace(), filepath.Base(p.File.Name)))
	}
	return files
}

// Check compiles and analyzes a document.
func (d Document) Check() *Program {
	p := d.Compile()
	p.Analyze()
	return p
}

// DigestHelp is what to do about a digest that isn't the one demanded.
const DigestHelp = "\"obelus compile --digest --explain\" lists what the digest is over; look at what has changed " +
	"before you demand another"

// Demand refuses a program that isn't the one with a digest; "" demands nothing.
func (p *Program) Demand(digest string) error {
	if digest == "" {
		return nil
	}
	if options := p.Document.Options; options.Override != (compiler.Override{}) {
		options.Override = compiler.Override{}
		if own, _ := compiler.Compile(p.File, options); own.Settings != p.Plan.Settings {
			return diag.NewError(ErrOther, "the plan is demanded with its own settings, and the run has others").
				Advise("write them in the plan, and have that approved")
		}
	}
	is, err := canonical.Digest(p.Plan)
	if err == nil && is != digest {
		err = fmt.Errorf("its digest is now %s", is)
	}
	if err != nil {
		return diag.NewError(ErrOther, "this isn't the plan that is demanded: %w", err).Advise(DigestHelp)
	}
	return nil
}

// Judge analyzes a document without making it ready to run. What is suppressed isn't among the findings.
func (p *Program) Judge() analyzer.Judgement {
	c := p.Config.Analysis
	c.Permit = p.Permit
	if p.Machine != nil {
		c.Machine = &analyzer.Machine{Other: p.Machine.Other,
			Unrunnable: func(a *plan.Activity, tell func(what, help string, at source.Span)) {
				there := p.here(a)
				if p.Plan.Workspace != "" { // of a record, whose patterns are seen from elsewhere
					there.Files = nil
				}
				activity.Unrunnable(there, p.Options.Files, p.HostRules(), tell)
			}}
	}
	return analyzer.Analyze(p.Plan, p.Findings, c)
}

// Analyze judges a plan that something is to be done with. The errors that keep it from being run are among the
// findings, suppressed or not, and so are those of the configuration that its tools come from.
func (p *Program) Analyze() {
	p.Judgement = p.Judge()
	isError := map[string]bool{}
	for i := range p.Errors {
		isError[Identity(&p.Errors[i])] = true
	}
	p.Findings = append(slices.Clip(p.Errors),
		slices.DeleteFunc(p.Findings, func(d diag.Diagnostic) bool { return isError[Identity(&d)] })...)
	if diag.HasErrors(p.Config.Found) {
		p.Verified, p.Findings = nil, append(p.Findings, p.Config.Found...)
	}
	diag.Sort(p.Findings)
}

// Identity tells findings apart, whatever their severity.
func Identity(d *diag.Diagnostic) string {
	file := ""
	if d.Span.Known() {
		file = filepath.Clean(d.Span.File.Name)
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%s", d.Rule.Code, file, d.Span.Start, d.Message)
}

// Activities are those of the plan and of each plan that it delegates to, by their names ([activity.Of]), with
// the folders that programs start in as this process sees them: the compiler knows them from the workspace root. What a
// plan carries out isn't among them: the machine runs it.
func (p *Program) Activities() map[string]*plan.Activity {
	all := make(map[string]*plan.Activity, len(p.Plan.Activities))
	for delegate, plan := range p.plans() {
		for own, a := range plan.Activities {
			if a.Kind == "plan" || a.Kind == "go" && delegate != "" { // functions are everyone's
				continue
			}
			all[activity.Of(delegate, own)] = p.here(a)
		}
	}
	return all
}

func (p *Program) plans() map[string]*plan.Plan {
	all := maps.Clone(p.Plan.AllDelegates())
	if all == nil {
		all = map[string]*plan.Plan{}
	}
	all[""] = p.Plan
	return all
}

// Unchanged returns a function that reports about an activity, by its name ([activity.Of]), whether its files are still
// those that the plan's digest covers ([canonical.Unchanged]): of all activities, or of those of a trusted workspace.
func (p *Program) Unchanged(all bool) func(name, program string) (string, error) {
	return func(name, program string) (string, error) {
		for delegate, in := range p.plans() {
			for own, a := range in.Activities {
				if activity.Of(delegate, own) == name && (all || plan.DefinedIn(a) == plan.Workspace) {
					return canonical.Unchanged(in, own, program, workspace.Folder{Dir: p.Root}, os.Getenv)
				}
			}
		}
		return "", nil
	}
}

// HostRules are where requests of the plan may go: the lists of policies are held to whatever else is listed.
func (p *Program) HostRules() hosts.Rules {
	rules := slices.Clone(p.Hosts)
	for _, one := range p.Plan.Policies {
		if one.Hosts != nil {
			list := *one.Hosts
			list.By, list.Counts, list.Final = one.Title(), one.Counts, true
			rules = append(rules, list)
		}
	}
	return rules
}

// Workspace is the folder from which the plan names those of its own activities: the
// workspace, or of a record that lies elsewhere that of its plan.
func (p *Program) Workspace() string { return under(p.Root, p.Plan.Workspace) }

// here is an activity with the folder that its programs start in as this process sees it.
func (p *Program) here(a *plan.Activity) *plan.Activity {
	there := *a
	root := p.Root
	if plan.DefinedIn(a) == plan.Document {
		root = p.Workspace()
	}
	there.Dir = under(root, a.Dir)
	return &there
}

// Mended is the document's text with the safe fixes of its findings, and which of them
// these were. A fix that brings the document an error or a warning which it hadn't isn't made.
func (d Document) Mended(found []diag.Diagnostic) (text []byte, made []int) {
	left := max(1, min(40, 1<<18/(len(d.File.Text)+1))) // the larger it is, the less often it is judged
	return diag.Apply(d.File, found, d.Options.Limits, func(text []byte) bool {
		if left--; left < 0 {
			return false
		}
		return nothingNew(found, d.With(text).Compile().Judge().Findings)
	})
}

// Confirm marks those of a document's fixes that [Document.Mended] doesn't make as not safe.
func (d Document) Confirm(found []diag.Diagnostic) {
	_, made := d.Mended(found)
	for i := range found {
		if slices.Contains(made, i) {
			continue
		}
		found[i].Fixes = slices.Clone(found[i].Fixes)
		for j := range found[i].Fixes {
			found[i].Fixes[j].Safe = false
		}
	}
}

// With is the document with another text.
func (d Document) With(text []byte) Document {
	d.File = &source.File{Name: d.File.Name, Format: d.File.Format, Text: text, Row: d.File.Row, Base: d.File.Base}
	return d
}

// nothingNew reports whether no rule has more errors and warnings than before, an error counted as two.
func nothingNew(before, after []diag.Diagnostic) bool {
	left := map[*diag.Rule]int{}
	for _, d := range before {
		left[d.Rule] += int(d.Severity)
	}
	for _, d := range after {
		left[d.Rule] -= int(d.Severity)
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(left)), func(n int) bool { return n < 0 })
}
