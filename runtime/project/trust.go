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
	"path"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// A Vouching is a file of a workspace that may say that something is harmless: an obelus.yaml or a policy. Its word
// counts only once the user has said that it is trusted, with the content that it and all that it names had then.
type Vouching struct {
	File string // its absolute path
	// Holds are the digests of what is trusted, by path from the file's folder: the file,
	// the catalogues that it names, and the files that their programs are started with.
	Holds map[string]string
	Root  *source.Node // what it says; nil where it can't be read, or is empty
	Plan  *plan.Plan   // what the catalogues define; nil of a policy
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
		v, err := r.vouching(config)
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
		v, err := r.vouchingOf(one.File)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, err
}

// vouchingOf is a file alone, as a policy is.
func (r *Reader) vouchingOf(file *source.File) (*Vouching, error) {
	absolute, err := filepath.Abs(file.Name)
	if err != nil {
		return nil, err
	}
	root, _ := source.Parse(file, r.limits()) // what is wrong with it is reported for plans
	return &Vouching{File: absolute, Holds: map[string]string{filepath.Base(absolute): workspace.SumOf(file.Text)},
		Root: root, Before: trusted(absolute)}, nil
}

// vouching is the configuration with its catalogues and their programs.
func (r *Reader) vouching(c *Configuration) (*Vouching, error) {
	v, err := r.vouchingOf(c.File)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(v.File)
	v.Plan, _ = compiler.Compile(source.NewFile(c.File.Name, nil), compiler.Options{
		Name: workspace.Settings, Limits: r.limits(), Definitions: true, Catalogues: c.Catalogues, Trusted: true,
		Files: workspace.Folder{Dir: folder},
		Show:  func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) },
	})
	programs, err := canonical.Programs(v.Plan)
	if err != nil {
		return nil, err
	}
	maps.Copy(v.Holds, programs)
	for node, list := range map[*source.Node]*approval.List{c.Analysis.Settings.Signers: &c.Signers,
		c.Analysis.Settings.Revoked: &c.Revoked} {
		switch {
		case node == nil:
		case list.Text == nil:
			return nil, fmt.Errorf("%q can't be read", node.Text)
		default:
			v.Holds[path.Clean(filepath.ToSlash(node.Text))] = workspace.SumOf(list.Text)
		}
	}
	for _, one := range c.Catalogues {
		if absolute, err := filepath.Abs(one.Name); err == nil {
			if name, err := filepath.Rel(folder, absolute); err == nil {
				v.Holds[path.Clean(filepath.ToSlash(name))] = workspace.SumOf(one.Text)
			}
		}
	}
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
	if len(names) == 0 {
		if names, err = r.policiesOver(file); err != nil {
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
				func() (*Vouching, error) { return r.vouchingOf(one.File) }); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// policiesOver are the policies in a file's folder and above it, also where it really lies: a folder doesn't leave the
// policy of the house that it is in by having a configuration of its own, nor by a link to it.
func (r *Reader) policiesOver(file string) (names []string, err error) {
	if _, err := below(r.Root, file); r.Confined && err != nil {
		return nil, nil // a record of another workspace
	}
	folders, err := r.around(file)
	var known []os.FileInfo
	for _, at := range folders {
		for _, other := range []string{"." + policy.File, "obelus.policy.yml", ".obelus.policy.yml"} {
			if info, err := os.Stat(filepath.Join(at, other)); err == nil && info.Mode().IsRegular() &&
				workspace.Shared(at) == "" {
				r.passOver(workspace.Refused{Name: filepath.Join(at, other), Why: "a policy is called " + policy.File,
					Misnamed: true})
			}
		}
		name := filepath.Join(at, policy.File)
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil || !info.Mode().IsRegular():
			return nil, diag.NewError(ErrRead,
				"the policy %q can't be read: it isn't a regular file, nor a link to one", FromHere(name)).
				Advise("put the policy there, or take away what stands in its place")
		case !slices.ContainsFunc(known, func(one os.FileInfo) bool { return os.SameFile(one, info) }):
			names, known = append(names, FromHere(name)), append(known, info)
		}
	}
	return names, err
}
