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
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A Manifest is the head of a journal: what a run is made of, so that it can be resumed whatever has
// become of the plan's file. Of files of activities, which may hold secrets, it has only names and
// digests.
type Manifest struct {
	Format  int       `json:"format"` // of the events; see [runtime.Format]
	Obelus  string    `json:"obelus"` // the version
	Started time.Time `json:"begun"`
	Source

	Approval   *Approved   `json:"approval,omitempty"`
	Policies   []Policy    `json:"policies,omitempty"`
	Activities []Reference `json:"activities,omitempty"`
	Catalogues []Reference `json:"catalogues,omitempty"`
	Untrusted  bool        `json:"untrusted,omitempty"` // what the catalogues say can lower no risk
	Functions  []string    `json:"functions,omitempty"` // that the embedding program registers

	// Digest is what the plan had to have that was begun, and Programs are the digests of
	// the files that its activities name, by their paths in the workspace: nil where neither
	// that nor the plan itself said which they must be.
	Digest   string   `json:"digest,omitempty"`
	Programs recorded `json:"programs,omitempty"`

	Override compiler.Override `json:"override,omitzero"`

	Options runtime.Options `json:"options"`
	Planner string          `json:"planner,omitempty"`
	Model   string          `json:"model,omitempty"`
	Record  string          `json:"record,omitempty"`
	Prices  planner.Prices  `json:"prices,omitzero"`
	Hosts   hosts.Rules     `json:"hosts,omitempty"` // where requests may go, but for what policies say

	Forked *Forked `json:"forked,omitempty"` // of a run that continues from a tick of another

	Instances string `json:"instances,omitempty"` // the file of instances
	Out       string `json:"out,omitempty"`       // the file of results
}

// A Source is the plan that a run was begun with, and where.
type Source struct {
	Title   string            `json:"title"`  // the plan's name, or its file's
	Folder  string            `json:"folder"` // where the run was begun
	Root    string            `json:"root"`   // the workspace, from there
	Name    string            `json:"name"`   // the plan's path in it
	Plan    Text              `json:"plan"`
	Imports map[string]string `json:"imports,omitempty"` // texts by their paths in the workspace
}

// Forked is the run and the tick from which another run continues.
type Forked struct {
	Run string `json:"run"`
	At  string `json:"at"`
}

// A Text is a text with the name that findings give it.
type Text struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A Policy is one that the run was begun under, whatever has become of its file.
type Policy struct {
	Text
	Counts bool `json:"counts"` // it may make things less strict
}

// A Reference is a file that must be as it was.
type Reference struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func referenceTo(f *source.File) Reference {
	sum := sha256.Sum256(f.Text)
	return Reference{f.Name, hex.EncodeToString(sum[:])}
}

// manifestOf is what a run of a program is made of.
func manifestOf(p *project.Program, o *Options) (*Manifest, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	options := &p.Document.Options
	m := &Manifest{
		Format: runtime.Format, Obelus: o.Version, Started: time.Now().UTC().Truncate(time.Second),
		Source: Source{
			Title: cmp.Or(p.Plan.Name, filepath.Base(p.File.Name)), Folder: folder, Root: p.Root, Name: options.Name,
			Plan: Text{p.File.Name, string(p.File.Text)}, Imports: p.Opened,
		},
		Functions: options.Functions, Options: o.Options, Hosts: p.Hosts,
		Override: options.Override,
		Planner:  o.PlannerName, Model: o.Model, Record: o.Record, Prices: o.Prices,
		Instances: o.Instances, Out: o.Results,
	}
	if m.Digest = o.Digest; m.Digest != "" || canonical.Compiled(p.Plan) {
		if m.Programs, err = canonical.Programs(p.Plan); err != nil {
			return nil, diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
		}
	}
	for _, one := range options.Policies {
		m.Policies = append(m.Policies, Policy{Text{one.File.Name, string(one.File.Text)}, one.Counts})
	}
	for _, f := range options.Activities {
		m.Activities = append(m.Activities, referenceTo(f))
	}
	m.Untrusted = !options.Trusted && len(options.Catalogues) > 0
	for _, f := range options.Catalogues {
		m.Catalogues = append(m.Catalogues, referenceTo(f))
	}
	return m, nil
}

// readManifest reads the head of a journal. The error is of the kind [ErrForeign].
func readManifest(path string, header []byte) (*Manifest, error) {
	m := &Manifest{}
	err := json.Unmarshal(header, m)
	if err != nil || m.Plan.Name == "" && m.Name == "" && m.Started.IsZero() {
		err = errors.New("its head doesn't say which plan it runs")
	}
	if err != nil {
		return nil, diag.NewError(ErrForeign, "the journal %q isn't one of a run: %v", path, err)
	}
	if err = m.Options.Check(); m.Format != runtime.Format {
		err = fmt.Errorf("its events are of version %d, and this obelus reads version %d", m.Format, runtime.Format)
	}
	if err != nil {
		return nil, diag.NewError(ErrForeign, "the journal %q can't be followed: %v", path, err).
			Advise("resume the run with the version of obelus that began it (%s), or begin a new run", m.Obelus)
	}
	return m, nil
}

// program compiles the plan of a journal's head again, with other files of activities if some are
// given.
func (m *Manifest) program(activities []string, hints map[string]plan.Hints) (*project.Program, error) {
	d := project.Document{
		File:   source.NewFile(m.Plan.Name, []byte(m.Plan.Text)),
		Root:   m.At(m.Root),
		Hosts:  m.Hosts,
		Config: &project.Configuration{},
		Options: compiler.Options{
			Name: m.Name, Trusted: !m.Untrusted, Instances: m.Instances != "",
			Override:  m.Override,
			Functions: m.Functions, Hints: hints,
			Open: func(name string) ([]byte, error) {
				if text, ok := m.Imports[name]; ok {
					return []byte(text), nil
				}
				return nil, fmt.Errorf("the journal doesn't hold it: %w", fs.ErrNotExist)
			},
			Files: m.files(),
			Show: func(name string) string {
				return project.FromHere(filepath.Join(m.At(m.Root), filepath.FromSlash(name)))
			},
		},
	}
	for _, one := range m.Policies {
		d.Options.Policies = append(d.Options.Policies,
			compiler.PolicyFile{File: source.NewFile(m.At(one.Name), []byte(one.Text.Text)), Counts: one.Counts})
	}
	var err error
	if len(activities) > 0 {
		read := &project.Reader{}
		for _, name := range activities {
			text, err := read.Text(name)
			if err != nil {
				return nil, err
			}
			d.Options.Activities = append(d.Options.Activities, source.NewFile(name, text))
		}
	} else if d.Options.Activities, err = m.unchanged(m.Activities); err != nil {
		return nil, err
	}
	if d.Options.Catalogues, err = m.unchanged(m.Catalogues); err != nil {
		return nil, err
	}
	p := d.Check()
	if p.Verified == nil {
		return nil, diag.NewError(ErrForeign,
			"the plan that this run was begun with isn't sound to this version of obelus: %s", p.Findings[0].Message)
	}
	return p, nil
}

// unchanged reads files that must be as they were when the run began.
func (m *Manifest) unchanged(list []Reference) ([]*source.File, error) {
	var files []*source.File
	for _, ref := range list {
		text, err := os.ReadFile(m.At(ref.Name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, diag.NewError(ErrUnrunnable, "%q, which the run was begun with, is gone", ref.Name).
				Advise("put it back, or name another file with --activities")
		} else if err != nil {
			return nil, project.CantRead(ref.Name, err)
		}
		f := source.NewFile(m.At(ref.Name), text)
		if referenceTo(f).SHA256 != ref.SHA256 {
			return nil, diag.NewError(ErrUnrunnable, "%q has changed since the run began", ref.Name).
				Advise("put it back, or use the new one: --activities %s", ref.Name)
		}
		files = append(files, f)
	}
	return files, nil
}

// files are those that the run was begun with, if they are recorded.
func (m *Manifest) files() plan.Files {
	if m.Programs != nil {
		return m.Programs
	}
	return workspace.Folder{Dir: m.At(m.Root)}
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
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(m.Folder, name)
}

// at is a path of the run as this process sees it.
func (s *Session) at(name string) string {
	if s.Replay == nil {
		return name
	}
	return s.manifest.At(name)
}
