package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/lock"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/project"
)

// lockBefore is the lock in a folder to which something is added. What is wrong with it
// counts but where it is read again, which the nodes say that again gives: what stands there
// is written anew. Else all that is locked of others would be lost.
func (c *cli) lockBefore(folder string, limits source.Limits, again func(*lock.Lock) []*source.Node) (*lock.Lock, error) {
	name := filepath.Join(folder, lock.Name)
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return &lock.Lock{}, nil
	}
	if err != nil {
		return nil, project.CantRead(name, err)
	}
	l, found := lock.Read(source.NewFile(name, text), limits)
	if !diag.HasErrors(found) {
		return l, nil
	}
	anew := again(l)
	found = slices.DeleteFunc(found, func(f diag.Diagnostic) bool {
		return slices.ContainsFunc(anew, func(n *source.Node) bool { return f.Span.Start >= n.Start && f.Span.End <= n.End })
	})
	if !diag.HasErrors(found) {
		return l, nil
	}
	if err := c.show(found, "text"); err != nil {
		return nil, err
	}
	return nil, troubled("nothing is imported: %q, which locks other sources as well, can't be read", name).Advise("mend it, or remove it and import each of them again")
}

// lockOf is the lock beside a catalogue, to which a document is to be added.
func (c *cli) lockOf(o importing, file string) (l *lock.Lock, relative string, err error) {
	folder := filepath.Dir(o.output)
	if relative, err = relativeTo(folder, file); err != nil {
		return nil, "", err
	}
	l, err = c.lockBefore(folder, o.limits, func(l *lock.Lock) []*source.Node {
		if was := l.File(relative); was != nil {
			return []*source.Node{was.Node}
		}
		return nil
	})
	return l, relative, err
}

func (c *cli) writeLock(folder string, l *lock.Lock) error {
	out, err := l.Text()
	if err != nil {
		return troubled("%v", err)
	}
	return c.write(filepath.Join(folder, lock.Name), out)
}

// relativeTo is the path of a file from a folder, with slashes.
func relativeTo(folder, file string) (string, error) {
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return "", troubled("there is no way from %q to %q", folder, file)
	}
	return filepath.ToSlash(relative), nil
}

// readLock reads a lock file; one that isn't there locks nothing.
func (c *cli) readLock(name string, limits source.Limits) (*lock.Lock, error) {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return &lock.Lock{}, nil
	}
	if err != nil {
		return nil, project.CantRead(name, err)
	}
	l, found := lock.Read(source.NewFile(name, text), limits)
	if diag.HasErrors(found) {
		return nil, c.faulty(found, false)
	}
	return l, nil
}

// faulty shows what is wrong with a file, and ends the command.
func (c *cli) faulty(found []diag.Diagnostic, json bool) error {
	if err := c.show(found, map[bool]string{true: "json", false: "text"}[json]); err != nil {
		return err
	}
	return ending(statusTrouble)
}

// A drifting is a source of tools that is another than it was locked.
type drifting struct {
	name string                   // of the file
	held bool                     // a run ends by whatever breaks plans
	key  func(tool string) string // what stands as x-operation in a catalogue
	now  map[string]any           // tools as a catalogue has them, by that
	all  []lock.Drift

	schemas map[string]any // that these refer to
	places  map[string]string
}

// checkLock says how the sources of a lock file differ from it.
func (c *cli) checkLock(ctx context.Context, folder string, reading *reading, plans []string, asJSON bool) error {
	name := folder
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		name = filepath.Join(folder, lock.Name)
	}
	if _, err := os.Stat(name); err != nil {
		return project.CantRead(name, err).Advise("\"obelus tools import FILE -o CATALOGUE\" writes it beside the catalogue")
	}
	l, err := c.readLock(name, reading.Limits)
	if err != nil {
		return err
	}
	var sources []*drifting
	for _, f := range l.OpenAPI {
		one, err := c.drift(filepath.Dir(name), f, reading.Limits)
		if err != nil {
			return err
		}
		sources = append(sources, one)
	}
	servers, err := c.serversDrift(ctx, filepath.Dir(name), l, reading)
	if err != nil {
		return err
	}
	sources = append(sources, servers...)
	report := driftReport{sources: sources}
	for _, plan := range plans {
		found, err := c.broken(plan, reading, sources)
		if err != nil {
			return err
		}
		report.plans = append(report.plans, planBreaks{plan, found})
	}
	if asJSON {
		err = report.json(c)
	} else {
		_, err = fmt.Fprint(c.out, report.text(terminal.StyleFor(c.out)))
		for _, p := range report.plans {
			if err == nil && len(p.found) > 0 {
				err = diag.Text(c.out, p.found, textOptions(c.out))
			}
		}
	}
	if err == nil && report.breaks() {
		return ending(statusFound)
	}
	return err
}

// drift reads the source of locked operations again. They are known by method and path,
// since a name is only what we call them.
func (c *cli) drift(folder string, was lock.File, limits source.Limits) (*drifting, error) {
	operations := map[string]string{}
	d := &drifting{name: filepath.Join(folder, filepath.FromSlash(was.Path)), key: func(tool string) string { return operations[tool] }, now: map[string]any{}, places: map[string]string{}}
	text, err := os.ReadFile(d.name)
	if err != nil {
		return nil, project.CantRead(d.name, err)
	}
	if lock.Digest(string(text)) == was.Digest {
		return d, nil
	}
	// Where the document didn't say where requests go, it needn't do so now.
	o := importing{Choice: was.Choice, limits: limits, server: "https://server.invalid"}
	names := map[string]string{}
	for _, t := range was.Operations {
		names[t.Operation], operations[t.Name] = t.Name, t.Operation
		if request, _ := t.Request.(map[string]any); strings.Contains(fmt.Sprint(request["url"]), "://") {
			o.server = ""
		}
	}
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	chosen := options.Wanted
	options.Headers = map[string]any{"Authorization": ""} // these aren't locked; whoever imported may have given some
	options.Called, options.Wanted = names, func(o *openapi.Operation) bool { return names[o.String()] != "" || chosen(o) }
	api, found := openapi.Read(source.NewFile(d.name, text), options)
	if api == nil {
		return nil, c.faulty(found, false)
	}
	d.schemas = api.Schemas()
	renewed := api.Catalogue()["tools"].(map[string]any)
	for _, o := range api.Operations {
		d.places[o.Name] = o.Node.Span().Where()
		if tool := renewed[o.Name]; tool != nil {
			d.now[o.String()] = tool
		}
	}
	is := lock.File{Operations: api.Locked(), Schemas: api.Schemas()}
	slices.SortFunc(is.Operations, func(a, b lock.Tool) int { return strings.Compare(a.Name, b.Name) })
	d.all = was.Drifts(is)
	for i, one := range d.all {
		if at := slices.IndexFunc(api.Operations, func(o *openapi.Operation) bool { return o.Name == one.Tool && o.Refused != "" }); at >= 0 {
			d.all[i].What = "it can't be imported any more: " + api.Operations[at].Refused
		}
	}
	return d, nil
}

// at is where an operation stands, or its file.
func (d *drifting) at(tool string) string {
	if at := d.places[tool]; at != "" {
		return at
	}
	return d.name
}

// A driftReport is what is told of the sources of a lock file.
type driftReport struct {
	sources []*drifting
	plans   []planBreaks
}

// A planBreaks is a plan with what is wrong with it by what has drifted.
type planBreaks struct {
	name  string
	found []diag.Diagnostic
}

// breaks reports whether a drift breaks a plan: one of those that were named, or else one
// that there might be.
func (r *driftReport) breaks() bool {
	if len(r.plans) > 0 {
		return slices.ContainsFunc(r.plans, func(p planBreaks) bool { return len(p.found) > 0 })
	}
	return slices.ContainsFunc(r.sources, func(d *drifting) bool { return lock.Breaking(d.all) })
}

func (r *driftReport) text(style terminal.Style) string {
	var out strings.Builder
	for _, d := range r.sources {
		if len(d.all) == 0 {
			fmt.Fprintf(&out, "%s: as it was\n", diag.Escape(d.name))
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", diag.Escape(d.name), wording.Count(len(d.all), "difference"))
		for _, kind := range []struct {
			title       string
			breaks, new bool
		}{{style.Red("breaks plans:"), true, false}, {style.Green("harmless:"), false, false}, {style.Green("new:"), false, true}} {
			title := kind.title
			for _, one := range d.all {
				if one.Breaks != kind.breaks || one.New != kind.new {
					continue
				}
				if title != "" {
					out.WriteString(title + "\n")
					title = ""
				}
				fmt.Fprintf(&out, "  %s: %s: %s\n", diag.Escape(d.at(one.Tool)), diag.Escape(one.Tool), diag.Escape(one.What))
			}
		}
	}
	if len(r.sources) == 0 {
		out.WriteString("the lock file locks nothing\n")
	}
	for _, p := range r.plans {
		if len(p.found) == 0 {
			fmt.Fprintf(&out, "%s: nothing of it breaks\n", diag.Escape(p.name))
		} else {
			fmt.Fprintf(&out, "%s: %s\n", diag.Escape(p.name), style.Red("breaks"))
		}
	}
	return out.String()
}

type (
	driftLine struct {
		Kind    string `json:"kind"`
		File    string `json:"file"`
		Tool    string `json:"tool"`
		Breaks  bool   `json:"breaks"`
		New     bool   `json:"new"`
		Message string `json:"message"`
		Witness any    `json:"witness"`
	}
	driftSummary struct {
		Kind     string   `json:"kind"`
		Files    int      `json:"files"`
		Breaking int      `json:"breaking"`
		Harmless int      `json:"harmless"`
		New      int      `json:"new"`
		Plans    []string `json:"plans"` // that break, of those that were named
	}
)

func (r *driftReport) json(c *cli) error {
	sum := driftSummary{Kind: "summary", Files: len(r.sources), Plans: []string{}}
	for _, d := range r.sources {
		for _, one := range d.all {
			switch {
			case one.Breaks:
				sum.Breaking++
			case one.New:
				sum.New++
			default:
				sum.Harmless++
			}
			if err := diag.JSONLine(c.out, driftLine{"drift", d.name, one.Tool, one.Breaks, one.New, one.What, one.Witness}); err != nil {
				return err
			}
		}
	}
	for _, p := range r.plans {
		if len(p.found) > 0 {
			sum.Plans = append(sum.Plans, p.name)
		}
		if err := diag.JSON(c.out, p.found); err != nil {
			return err
		}
	}
	return diag.JSONLine(c.out, sum)
}
