package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// A recipe is the head of a journal: what a run is made of, so that it can be
// resumed from anywhere, whatever has become of the plan's file meanwhile. Of
// files that say how activities are carried out only names and digests are kept:
// such files may hold what a journal mustn't.
type recipe struct {
	Format  int               `json:"format"` // of the events; see [runtime.Format]
	Obelus  string            `json:"obelus"` // the version
	Title   string            `json:"title"`  // the plan's name, or its file's
	Begun   time.Time         `json:"begun"`
	Folder  string            `json:"folder"` // where the run was begun
	Root    string            `json:"root"`   // the workspace, from there
	Name    string            `json:"name"`   // the plan's path in it
	Plan    writing           `json:"plan"`
	Imports map[string]string `json:"imports,omitempty"` // texts by their paths in the workspace

	Activities []reference `json:"activities,omitempty"`
	Catalogues []reference `json:"catalogues,omitempty"`

	Options runtime.Options `json:"options"`
	Planner string          `json:"planner,omitempty"`
	Record  string          `json:"record,omitempty"`
	Limits  source.Limits   `json:"limits"`

	Instances string `json:"instances,omitempty"` // the file of instances
	Out       string `json:"out,omitempty"`       // the file of results
}

// A writing is a text with the name that findings give it.
type writing struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A reference is a file that must be as it was.
type reference struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func referenceTo(f *source.File) reference {
	sum := sha256.Sum256(f.Text)
	return reference{f.Name, hex.EncodeToString(sum[:])}
}

// recipeOf is what a compiled plan was made of.
func recipeOf(p compiled) (*recipe, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	r := &recipe{
		Format: runtime.Format, Obelus: version(), Title: p.plan.Name, Begun: time.Now().UTC().Truncate(time.Second), Folder: folder, Root: p.dir, Name: p.options.Name,
		Plan: writing{p.file.Name, string(p.file.Text)}, Imports: p.opened, Limits: p.options.Limits,
	}
	if r.Title == "" {
		r.Title = filepath.Base(p.file.Name)
	}
	for _, f := range p.options.Activities {
		r.Activities = append(r.Activities, referenceTo(f))
	}
	for _, f := range p.options.Catalogues {
		r.Catalogues = append(r.Catalogues, referenceTo(f))
	}
	return r, nil
}

// check reports what in the head of a journal no run of this version can have
// written, or nil.
func (r *recipe) check() error {
	if r.Format != runtime.Format {
		return fmt.Errorf("its events are of version %d, and this obelus reads version %d", r.Format, runtime.Format)
	}
	l := r.Limits
	for _, n := range []int{l.Bytes, l.Depth, l.AliasRatio, l.AliasNodes, l.Scalar, l.Number} {
		if n < 1 {
			return fmt.Errorf("a limit of %d can't be kept", n)
		}
	}
	return r.Options.Check()
}

// prepare compiles the plan again. Other files of activities may be given in the
// place of those that the run was begun with.
func (r *recipe) prepare(c *cli, activities []string) (compiled, error) {
	d := document{
		file:   source.NewFile(r.Plan.Name, []byte(r.Plan.Text)),
		dir:    r.at(r.Root),
		config: &configuration{},
		options: compiler.Options{
			Name: r.Name, Limits: r.Limits, Instances: r.Instances != "",
			Open: func(name string) ([]byte, error) {
				if text, ok := r.Imports[name]; ok {
					return []byte(text), nil
				}
				return nil, errors.New("the journal doesn't hold it")
			},
			Show: func(name string) string { return filepath.Join(r.at(r.Root), filepath.FromSlash(name)) },
		},
	}
	var err error
	if len(activities) > 0 {
		for _, name := range activities {
			text, err := (&reading{limits: r.Limits}).text(c, name)
			if err != nil {
				return compiled{}, err
			}
			d.options.Activities = append(d.options.Activities, source.NewFile(name, text))
		}
	} else if d.options.Activities, err = r.unchanged(r.Activities); err != nil {
		return compiled{}, err
	}
	if d.options.Catalogues, err = r.unchanged(r.Catalogues); err != nil {
		return compiled{}, err
	}
	p := d.compile()
	p.analyze()
	if p.verified == nil {
		return compiled{}, troubled("the plan that this run was begun with isn't sound to this version of obelus: %s", p.found[0].Message)
	}
	return p, nil
}

// unchanged reads files that must be as they were when the run began.
func (r *recipe) unchanged(list []reference) ([]*source.File, error) {
	var files []*source.File
	for _, ref := range list {
		text, err := os.ReadFile(r.at(ref.Name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, troubled("%q, which the run was begun with, is gone", ref.Name).advise("put it back, or name another file with --activities")
		} else if err != nil {
			return nil, cantRead(ref.Name, err)
		}
		f := source.NewFile(r.at(ref.Name), text)
		if referenceTo(f).SHA256 != ref.SHA256 {
			return nil, troubled("%q has changed since the run began", ref.Name).
				advise("put it back, or say that the new one is meant: --activities %s", ref.Name)
		}
		files = append(files, f)
	}
	return files, nil
}

// at is a path of the run as this process sees it.
func (r *recipe) at(name string) string {
	if name == "-" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Folder, name)
}

// remembered keeps the texts of files that a compilation opens.
func remembered(o *compiler.Options) map[string]string {
	texts, open := map[string]string{}, o.Open
	o.Open = func(name string) ([]byte, error) {
		text, err := open(name)
		if err == nil {
			texts[name] = string(text)
		}
		return text, err
	}
	return texts
}

// runsFolder is where journals are kept: below $XDG_STATE_HOME, or the user's
// own place for such things.
func runsFolder() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "obelus", "runs"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "obelus", "runs"), nil
}
