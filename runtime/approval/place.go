package approval

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A List is a file that names whose signatures count, or which keys don't any more. Without
// a text it is read.
type List struct {
	Name string // "" for none
	Text []byte
}

// Judging reads whose signatures count for a plan, by its file's name: an allowed_signers
// file, and lists of revoked keys. The judge's time and how many approvals it takes are
// for the caller to say.
func Judging(plan string, signers List, revoked []List) (j Judge, err error) {
	for i, l := range append([]List{signers}, revoked...) {
		if i == 0 && l.Name == "" {
			continue
		}
		if err = Outside(plan, l.Name); err == nil && l.Text == nil {
			l.Text, err = ReadFile(l.Name, mostList)
		}
		if err != nil {
			return j, err
		}
		if i == 0 {
			j.Signers, err = ReadSigners(l.Name, l.Text)
		} else {
			var list Revoked
			list, err = ReadRevoked(l.Name, l.Text)
			j.Revoked = append(j.Revoked, list)
		}
		if err != nil {
			return j, err
		}
	}
	return j, nil
}

// ReadFile reads a file, one byte beyond a limit at most: its reader then says that it is
// too large.
func ReadFile(name string, limit int) ([]byte, error) {
	var text []byte
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // a pipe would keep one waiting
		err = errors.New("it isn't a regular file")
	}
	if err == nil {
		text, err = workspace.Read(name, limit)
	}
	if err != nil {
		return nil, diag.NewError(ErrNoFile, "can't read %q: %w", name, workspace.Reason(err))
	}
	return text, nil
}

// Outside reports as an error that a file lies in a plan's folder or below it, by its name
// or by where a symbolic link of that name leads, or that others may write it: whoever
// writes a plan doesn't say who may approve it.
func Outside(plan, file string) error {
	inside := func() error {
		return diag.NewError(ErrPlace,
			"%q lies in the plan's folder, where the plan's author may have written it", file).
			Advise("keep it above that folder, or elsewhere, and name it with --signers")
	}
	var own []os.FileInfo
	resolved, _ := filepath.EvalSymlinks(plan)
	for _, name := range []string{plan, cmp.Or(resolved, plan)} {
		info, err := os.Stat(filepath.Dir(name))
		if err != nil {
			return diag.NewError(ErrPlace, "where the plan lies can't be told: %w", workspace.Reason(err))
		}
		own = append(own, info)
	}
	var err error
	const mostLinks = 40
	at := file
	for range mostLinks {
		if at, err = filepath.Abs(at); err != nil {
			return inside()
		}
		if resolved, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
			at = filepath.Join(resolved, filepath.Base(at))
		}
		for above := range workspace.Above(filepath.Dir(at)) {
			if info, err := os.Stat(above); err == nil &&
				slices.ContainsFunc(own, func(f os.FileInfo) bool { return os.SameFile(info, f) }) {
				return inside()
			}
		}
		for _, one := range []string{at, filepath.Dir(at)} {
			if why := workspace.Shared(one); why != "" {
				return diag.NewError(ErrPlace, "%q %s: others may have written it", one, why).
					Advise("keep it where only you may write")
			}
		}
		to, err := os.Readlink(at)
		if err != nil {
			return nil // no link
		}
		if at = filepath.Join(filepath.Dir(at), to); filepath.IsAbs(to) {
			at = to
		}
	}
	return inside()
}
