package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A Manifest is the head of a journal: what a run is made of, so that it can be resumed whatever has
// become of the plan's file.
type Manifest struct {
	Format  int       `json:"format"` // of the events; see [runtime.Format]
	Obelus  string    `json:"obelus"` // the version
	Started time.Time `json:"begun"`
	Source

	Approval   *Approved `json:"approval,omitempty"`
	Policies   []File    `json:"policies,omitempty"`
	Activities []File    `json:"activities,omitempty"`
	Catalogues []File    `json:"catalogues,omitempty"`
	Untrusted  bool      `json:"untrusted,omitempty"` // what the catalogues say can lower no risk
	Functions  []string  `json:"functions,omitempty"` // that the embedding program registers

	// Digest is what the plan had to have that was begun, and Programs are the digests of the files that its activities
	// name, by their paths in the workspace: nil where neither that nor the plan itself said which they must be.
	Digest   string   `json:"digest,omitempty"`
	Programs recorded `json:"programs,omitempty"`

	Override  compiler.Override `json:"override,omitzero"`
	Options   runtime.Options   `json:"options"`
	Planner   string            `json:"planner,omitempty"`
	Model     string            `json:"model,omitempty"`
	Record    string            `json:"record,omitempty"`
	Prices    planner.Prices    `json:"prices,omitzero"`
	Hosts     hosts.Rules       `json:"hosts,omitempty"`     // where requests may go, but for what policies say
	Instances string            `json:"instances,omitempty"` // the file of instances
	Out       string            `json:"out,omitempty"`       // the file of results
}

// A Source is the plan that a run was begun with, and where.
type Source struct {
	Title   string            `json:"title"`  // the plan's name, or its file's
	Folder  string            `json:"folder"` // where the run was begun
	Root    string            `json:"root"`   // the workspace, from there
	Name    string            `json:"name"`   // the plan's path in it
	Plan    File              `json:"plan"`
	Imports map[string]string `json:"imports,omitempty"` // texts by their paths in the workspace
}

// A File is one that the run was begun with: its text, or of one that may hold secrets the digest that it must have.
type File struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Counts bool   `json:"counts,omitempty"` // of a policy: it may make things less strict
}

func references(files []*source.File) (all []File) {
	for _, f := range files {
		sum := sha256.Sum256(f.Text)
		all = append(all, File{Name: f.Name, SHA256: hex.EncodeToString(sum[:])})
	}
	return all
}

// manifestOf is what a run of a program is made of, which has to be approved where an approval is asked for.
func manifestOf(p *project.Program, o *Options) (*Manifest, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	options := &p.Document.Options
	m := &Manifest{
		Format: runtime.Format, Obelus: o.Version, Started: time.Now().UTC().Truncate(time.Second),
		Source: Source{cmp.Or(p.Plan.Name, filepath.Base(p.File.Name)), folder, p.Root, options.Name,
			File{Name: p.File.Name, Text: string(p.File.Text)}, p.Opened},
		Activities: references(options.Activities), Catalogues: references(options.Catalogues),
		Untrusted: !options.Trusted && len(options.Catalogues) > 0,
		Functions: options.Functions, Options: o.Options, Hosts: p.Hosts, Override: options.Override,
		Planner: o.PlannerName, Model: o.Model, Record: o.Record, Prices: o.Prices,
		Instances: o.Instances, Out: o.Results, Digest: o.Digest,
	}
	for _, one := range options.Policies {
		m.Policies = append(m.Policies, File{Name: one.File.Name, Text: string(one.File.Text), Counts: one.Counts})
	}
	if err := m.approve(p, o.Approval); err != nil {
		return nil, err
	}
	if m.Digest != "" || canonical.Compiled(p.Plan) {
		if m.Programs, err = canonical.Programs(p.Plan); err != nil {
			return nil, cantRun(err)
		}
	}
	return m, nil
}

// readManifest reads the head of a journal. The error is of the kind [ErrForeign].
func readManifest(path string, header []byte) (*Manifest, error) {
	m := &Manifest{}
	var err error
	switch {
	case json.Unmarshal(header, m) != nil, m.Plan.Name == "" && m.Name == "" && m.Started.IsZero():
		err = errors.New("its head doesn't say which plan it runs")
	case m.Format != runtime.Format:
		err = fmt.Errorf("its events are of version %d, and this obelus reads version %d", m.Format, runtime.Format)
	default:
		err = m.Options.Check()
	}
	if err != nil {
		return nil, diag.NewError(ErrForeign, "the journal %q isn't one that can be followed: %v", path, err).
			Advise("resume the run with the version of obelus that began it (%s), or begin a new run",
				cmp.Or(m.Obelus, "unknown"))
	}
	return m, nil
}

// program compiles the plan of a journal's head again, with other files of activities if some are given.
func (m *Manifest) program(o *ResumeOptions) (*project.Program, error) {
	root := m.At(m.Root)
	d := project.Document{
		File: source.NewFile(m.Plan.Name, []byte(m.Plan.Text)), Root: root, Hosts: m.Hosts,
		Config: &project.Configuration{},
		Options: compiler.Options{
			Name: m.Name, Trusted: !m.Untrusted, Instances: m.Instances != "", Override: m.Override,
			Functions: m.Functions, Hints: o.Hints, Files: workspace.Folder{Dir: root},
			Open: func(name string) ([]byte, error) {
				if text, ok := m.Imports[name]; ok {
					return []byte(text), nil
				}
				return nil, fmt.Errorf("the journal doesn't hold it: %w", fs.ErrNotExist)
			},
			Show: func(name string) string {
				return project.FromHere(filepath.Join(root, filepath.FromSlash(name)))
			},
		},
	}
	if m.Programs != nil {
		d.Options.Files = m.Programs
	}
	for _, one := range m.Policies {
		d.Options.Policies = append(d.Options.Policies,
			compiler.PolicyFile{File: source.NewFile(m.At(one.Name), []byte(one.Text)), Counts: one.Counts})
	}
	activities := m.Activities
	if len(o.Activities) > 0 {
		activities = nil
		for _, name := range o.Activities {
			activities = append(activities, File{Name: name})
		}
	}
	var err error
	if d.Options.Activities, err = m.read(activities); err != nil {
		return nil, err
	}
	if d.Options.Catalogues, err = m.read(m.Catalogues); err != nil {
		return nil, err
	}
	return sound(d)
}

func sound(d project.Document) (*project.Program, error) {
	p := d.Check()
	if p.Verified == nil {
		return nil, diag.NewError(ErrForeign, "the plan that this run was begun with can't be run here any more: %s",
			p.Errors[0].Message).Advise("put back what it needs, or begin a new run")
	}
	return p, nil
}

// read reads files; of those that the run was begun with it knows what they must be.
func (m *Manifest) read(list []File) (files []*source.File, err error) {
	for _, one := range list {
		name := one.Name
		if one.SHA256 != "" {
			name = m.At(name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, project.CantRead(name, err)
		}
		files = append(files, source.NewFile(name, text))
		if now := references(files[len(files)-1:])[0].SHA256; one.SHA256 != "" && now != one.SHA256 {
			return nil, diag.NewError(ErrUnrunnable, "%q has changed since the run began", one.Name).
				Advise("put it back, or use the new one: --activities %s", one.Name)
		}
	}
	return files, nil
}

// recorded are the digests of files, by their paths in the workspace.
type recorded map[string]string

// Sum is the digest of a file.
func (r recorded) Sum(from, name string) (string, error) {
	return r[canonical.PathOf(from, name)], nil
}

// Glob gives the files that match a pattern.
func (r recorded) Glob(pattern string) (names []string, err error) {
	matches := workspace.Pattern(pattern)
	for name := range r {
		if matches.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// pin adds to a question's name a digest of the files that its activity names, as they are
// now: an answer counts only as long as they are the same.
func pin(p *project.Program, q *runtime.Question) {
	q.Pin("")
	if q.Plan.Activities[q.Activity] == nil {
		return
	}
	files, err := canonical.FilesNow(q.Plan, q.Activity, workspace.Folder{Dir: p.Root}, os.Getenv)
	if len(files) > 0 || err != nil {
		sum := sha256.Sum256(fmt.Append(nil, files, err))
		q.Pin(hex.EncodeToString(sum[:8]))
	}
}

// At is a path of the run as this process sees it.
func (m *Manifest) At(name string) string {
	if here, err := os.Getwd(); filepath.IsAbs(name) || err == nil && here == m.Folder {
		return name
	}
	return filepath.Join(m.Folder, name)
}
