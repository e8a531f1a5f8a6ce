package activity

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Private folder holds copies of the files of a workspace that programs are started
// with, so that what was approved runs whatever becomes of the files (S6.6). Around the
// copies lie links to what lies around the files, so that a program finds what it takes
// from beside itself. A copy can't be written to.
type Private struct {
	dir  string
	like map[string]bool // folders of the workspace that there is one like
}

// ErrOther says that a file isn't what was approved.
var ErrOther = errors.New("another file than was approved")

// Keep copies the files of a workspace that have these digests by their paths, and has
// the activities started with the copies. It takes nothing if a file holds something else
// by now, or if an activity that is in use ([InUse]) names a further one: the error wraps
// [ErrOther].
func Keep(root string, digests map[string]string, activities map[string]*compiler.Activity, inUse func(name string) bool) (*Private, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	p := &Private{like: map[string]bool{}}
	if p.dir, err = os.MkdirTemp("", "obelus-"); err != nil {
		return nil, err
	}
	if err := p.all(root, digests, activities, inUse); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Private) all(root string, digests map[string]string, activities map[string]*compiler.Activity, inUse func(name string) bool) (err error) {
	copies := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		file := filepath.FromSlash(name)
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, file)
		}
		if copies[file], err = p.keep(root, file, digests[name]); err != nil {
			return err
		}
	}
	for _, of := range slices.Sorted(maps.Keys(activities)) {
		a := activities[of]
		if a.Kind != "exec" {
			continue
		}
		// A file that PATH finds or a variable names isn't in a digest, nor one that has come
		// since.
		names := a.Files(os.Getenv)
		if found, err := exec.LookPath(compiler.Filled(a.Argv[0].Texts[0], os.Getenv)); err == nil && filepath.IsAbs(found) {
			names = append(names, found)
		}
		for _, name := range names {
			file, err := filepath.Abs(filepath.FromSlash(name))
			if err != nil || copies[file] != "" || inUse != nil && !inUse(of) {
				continue
			}
			if sum, err := (workspace.Folder{Dir: root}).Sum(file); sum != "" || err != nil {
				return fmt.Errorf("%w: %q, which the activity %q names", ErrOther, name, a.Name)
			}
		}
		with, err := a.WithFiles(func(name string) string {
			file, err := filepath.Abs(filepath.FromSlash(name))
			if err != nil {
				return ""
			}
			return copies[file]
		})
		if err != nil {
			return err
		}
		*a = *with
	}
	return nil
}

// keep copies one file.
func (p *Private) keep(root, file, digest string) (copied string, err error) {
	inside, err := filepath.Rel(root, file)
	if err != nil {
		return "", err
	}
	if err := p.beside(root, filepath.Dir(inside)); err != nil {
		return "", err
	}
	copied = filepath.Join(p.dir, inside)
	if err := os.Remove(copied); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %q", ErrOther, filepath.ToSlash(inside))
	} else if err != nil {
		return "", err
	}
	syscall.ForkLock.RLock() // a program that starts meanwhile would hold the file open to be written
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(copied, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer to.Close()
	taken, err := workspace.Folder{Dir: root}.Take(file, to)
	switch {
	case err != nil:
		return "", fmt.Errorf("the file %q can't be read: %w", filepath.ToSlash(inside), err)
	case taken.Sum != digest:
		return "", fmt.Errorf("%w: %q", ErrOther, filepath.ToSlash(inside))
	case taken.Leads != "":
		if err := os.Remove(copied); err != nil {
			return "", err
		}
		return copied, os.Symlink(taken.Leads, copied)
	}
	return copied, to.Chmod(taken.Mode.Perm() &^ 0o222)
}

// beside makes a folder like one of the workspace, of links to all that is in that one.
func (p *Private) beside(root, inside string) error {
	if p.like[inside] {
		return nil
	}
	p.like[inside] = true
	dir := filepath.Join(p.dir, inside)
	if inside != "." {
		if err := p.beside(root, filepath.Dir(inside)); err != nil {
			return err
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	all, err := os.ReadDir(filepath.Join(root, inside))
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := os.Symlink(filepath.Join(root, inside, one.Name()), filepath.Join(dir, one.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the copies.
func (p *Private) Close() error { return os.RemoveAll(p.dir) }
