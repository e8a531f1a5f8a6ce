package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Vouching is a file of a workspace that may say that something is harmless: an obelus.yaml or a policy. Its word
// counts only once the user has said that it is trusted, with the content that it and all that it names had then.
type Vouching struct {
	File string // its absolute path
	// Holds are the digests of what is trusted, by path from the file's folder: the file,
	// the catalogues that it names, and the files that their programs are started with.
	Holds map[string]string
	Root  *source.Node // what it says; nil where it can't be read, or is empty
	// Before are the digests of what was trusted; nil when nothing was.
	Before map[string]string
}

// trust is what the user trusts of a file, as it is kept in the user's own configuration folder.
type trust struct {
	File  string            `json:"file"`
	Holds map[string]string `json:"holds"`
}

// Changed are the files that aren't what was trusted, by their paths from the file's
// folder. It has none if the file is trusted.
func (v *Vouching) Changed() (changed []string) {
	all := maps.Clone(v.Holds)
	maps.Copy(all, v.Before)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		now, is := v.Holds[name]
		if was, known := v.Before[name]; is != known || now != was {
			changed = append(changed, name)
		}
	}
	return changed
}

// Trust keeps that the file is trusted as it is.
func (v *Vouching) Trust() error {
	name, err := trustOf(v.File)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(trust{v.File, v.Holds}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return workspace.Replace(name, append(text, '\n'))
}

// Revoke forgets that the file was trusted.
func (v *Vouching) Revoke() error {
	name, err := trustOf(v.File)
	if err == nil {
		if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

func trustOf(file string) (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(folder, "obelus", "trusted", hex.EncodeToString(sum[:16])+".json"), nil
}

// trusted are the digests of what is trusted of a file; nil when nothing is, or nobody can tell.
func trusted(file string) map[string]string {
	name, err := trustOf(file)
	if err != nil {
		return nil
	}
	var t trust
	if text, err := os.ReadFile(name); err != nil || json.Unmarshal(text, &t) != nil || t.File != file {
		return nil
	}
	return t.Holds
}

// Vouching are the files of a folder's workspace that may say that something is harmless.
func (r *Reader) Vouching(folder string) (all []*Vouching, err error) {
	config, err := r.configurationOf(filepath.Join(folder, workspace.Settings))
	if err != nil {
		return nil, err
	}
	if config.File != nil && config.File.Name != "-" {
		v, err := config.vouching(r.limits())
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(r.Policies) > 0 {
		return all, nil
	}
	policies, err := r.policies(filepath.Join(folder, workspace.Settings))
	for _, one := range policies {
		v, err := vouchingOf(one.File)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, err
}

func vouchingOf(file *source.File) (*Vouching, error) {
	absolute, err := filepath.Abs(file.Name)
	if err != nil {
		return nil, err
	}
	root, _ := source.Parse(file, source.DefaultLimits()) // what is wrong with it is reported for plans
	return &Vouching{File: absolute, Holds: map[string]string{filepath.Base(absolute): workspace.SumOf(file.Text)},
		Root: root, Before: trusted(absolute)}, nil
}

// vouching is the configuration with its catalogues and their programs.
func (c *Configuration) vouching(limits source.Limits) (*Vouching, error) {
	v, err := vouchingOf(c.File)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(v.File)
	defined, _ := compiler.Compile(source.NewFile(c.File.Name, nil), compiler.Options{
		Name: workspace.Settings, Limits: limits, Definitions: true, Catalogues: c.Catalogues, Trusted: true,
		Files: workspace.Folder{Dir: folder},
		Show:  func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) },
	})
	programs, err := canonical.Programs(defined)
	if err != nil {
		return nil, err
	}
	for _, list := range []*source.File{c.Signers, c.Revoked} {
		if list != nil && list.Text == nil {
			return nil, fmt.Errorf("%q can't be read", FromHere(list.Name))
		}
	}
	maps.Copy(v.Holds, programs)
	maps.Copy(v.Holds, c.read)
	return v, nil
}

// trusts reports whether the user trusts what is asked for, which is made up only where that isn't known without.
func (r *Reader) trusts(file string, vouching func() (*Vouching, error)) (bool, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return false, err
	}
	if r.Trust || slices.ContainsFunc(r.Trusted, func(folder string) bool {
		below, err := filepath.Abs(folder)
		return err == nil && folder != "" && workspace.Holds(whereItLies(below), whereItLies(absolute))
	}) {
		return true, nil
	}
	if trusted(absolute) == nil {
		return false, nil
	}
	v, err := vouching()
	return err == nil && len(v.Changed()) == 0, nil
}

// policies are those that were named, which count as they are, or else those that a file
// stands under, which only make things stricter until they are trusted.
func (r *Reader) policies(file string) (all []compiler.PolicyFile, err error) {
	names := r.Policies
	_, elsewhere := below(r.Root, file)
	if len(names) == 0 && (!r.Confined || elsewhere == nil) { // a record of another workspace stands under none of this
		if names, err = r.filesOver(file, policy.File); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		text, err := r.text(name)
		if err != nil {
			return nil, err
		}
		one := compiler.PolicyFile{File: source.NewFile(name, text), Counts: len(r.Policies) > 0}
		if !one.Counts {
			if one.Counts, err = r.trusts(name,
				func() (*Vouching, error) { return vouchingOf(one.File) }); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}
