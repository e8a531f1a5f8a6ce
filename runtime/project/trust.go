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
	File string `json:"file"` // its absolute path
	// Holds are the digests of what is trusted, by path from the file's folder: the file,
	// the catalogues that it names, and the files that their programs are started with.
	Holds map[string]string `json:"holds"`
	// Before are the digests of what was trusted; nil when nothing was.
	Before map[string]string `json:"-"`
	Text   *source.File      `json:"-"`

	store string // where it is kept that it is trusted, in the user's own configuration folder; "" for nowhere
}

func newVouching(file *source.File) *Vouching {
	v := &Vouching{File: absolute(file.Name), Text: file}
	v.Holds = map[string]string{filepath.Base(v.File): workspace.SumOf(file.Text)}
	if folder, err := os.UserConfigDir(); err == nil {
		sum := sha256.Sum256([]byte(v.File))
		v.store = filepath.Join(folder, "obelus", "trusted", hex.EncodeToString(sum[:16])+".json")
	}
	var kept Vouching
	if text, err := os.ReadFile(v.store); err == nil && json.Unmarshal(text, &kept) == nil && kept.File == v.File {
		v.Before = kept.Holds
	}
	return v
}

// IsTrusted reports whether the file, and all that it names, are what was trusted.
func (v *Vouching) IsTrusted() bool { return maps.Equal(v.Before, v.Holds) }

// Trust keeps that the file is trusted as it is.
func (v *Vouching) Trust() error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(v.store), 0o700)
	}
	if err != nil {
		return err
	}
	return workspace.Replace(v.store, append(text, '\n'))
}

// Revoke forgets that the file was trusted.
func (v *Vouching) Revoke() error {
	if err := os.Remove(v.store); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Vouching are the files of a folder's workspace that may say that something is harmless.
func (r *Reader) Vouching(folder string) (all []*Vouching, err error) {
	name := filepath.Join(folder, workspace.Settings)
	_, config, err := r.locate(name)
	if err == nil && config.File != nil {
		v := newVouching(config.File)
		err = config.complete(v, r.limits())
		all = append(all, v)
	}
	if err != nil || len(r.Policies) > 0 {
		return all, err
	}
	policies, err := r.policies(name)
	for _, one := range policies {
		all = append(all, newVouching(one.File))
	}
	return all, err
}

// complete adds to what a configuration vouches with its catalogues and their programs.
func (c *Configuration) complete(v *Vouching, limits source.Limits) error {
	folder := filepath.Dir(v.File)
	defined, _ := compiler.Compile(source.NewFile(c.File.Name, nil), compiler.Options{
		Name: workspace.Settings, Limits: limits, Definitions: true, Catalogues: c.Catalogues, Trusted: true,
		Files: workspace.Folder{Dir: folder},
		Show:  func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) },
	})
	programs, err := canonical.Programs(defined)
	for _, list := range []*source.File{c.Signers, c.Revoked} {
		if list != nil && list.Text == nil {
			err = fmt.Errorf("%q can't be read", FromHere(list.Name))
		}
	}
	maps.Copy(v.Holds, programs)
	maps.Copy(v.Holds, c.read)
	return err
}

// trusts reports whether the user trusts a file with all that it names, which is added only where that isn't known
// without.
func (r *Reader) trusts(v *Vouching, complete func() error) bool {
	if r.Trust || slices.ContainsFunc(r.Trusted, func(folder string) bool {
		return folder != "" && workspace.Holds(whereItLies(absolute(folder)), whereItLies(v.File))
	}) {
		return true
	}
	return v.Before != nil && complete() == nil && v.IsTrusted()
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
		one := source.NewFile(name, text)
		counts := len(r.Policies) > 0 || r.trusts(newVouching(one), func() error { return nil })
		all = append(all, compiler.PolicyFile{File: one, Counts: counts})
	}
	return all, nil
}
