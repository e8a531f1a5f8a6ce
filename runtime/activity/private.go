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
// from beside itself. A copy can't be written to; one that a program has put something else
// in the place of nevertheless isn't started. A file that no copy can take the place of
// ([compiler.Activity.Held]) must stay untouched itself.
type Private struct {
	root, dir string
	like      map[string]bool               // folders of the workspace that there is one like
	copies    map[string]string             // by file
	sums      map[string]string             // likewise, the digests
	made      map[string]fs.FileInfo        // what each copy is, and each file that is held, by its path
	kept      map[string]*compiler.Activity // as they were, without the copies
}

// What keeps a program from being started as it was approved.
var (
	ErrOther  = errors.New("another file than was approved")
	ErrUnseen = errors.New("what is started can't be held to what was approved")
)

// Keep copies the files of a workspace that have these digests by their paths, and has
// the activities started with the copies. It takes nothing if a file holds something else
// by now, or if an activity that is in use ([InUse]) names a further one: the error wraps
// [ErrOther], or [ErrUnseen] where no digest could be over it.
func Keep(root string, digests map[string]string, activities map[string]*compiler.Activity, inUse func(name string) bool) (*Private, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	p := &Private{root: root, like: map[string]bool{}, copies: map[string]string{}, made: map[string]fs.FileInfo{}, kept: maps.Clone(activities)}
	if p.dir, err = os.MkdirTemp("", "obelus-"); err != nil {
		return nil, err
	}
	if err := errors.Join(p.all(digests, activities, inUse), p.seal()); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// seal notes what the copies are, and has the folders take nothing more.
func (p *Private) seal() (err error) {
	for _, copied := range p.copies {
		if p.made[copied], err = os.Lstat(copied); err != nil {
			return err
		}
	}
	return p.folders(0o500)
}

// hold notes what the files are that no copy takes the place of, before they are compared.
func (p *Private) hold() (err error) {
	for _, a := range p.kept {
		if a.Kind != "exec" {
			continue
		}
		for _, name := range a.Held() {
			file, err := filepath.Abs(filepath.FromSlash(name))
			if err != nil {
				return err
			}
			if p.sums[file] == "" {
				continue
			}
			if p.made[file], err = os.Stat(file); err != nil {
				return fmt.Errorf("%w: %q", ErrOther, p.inside(file))
			}
		}
	}
	return nil
}

// inside is a file of the workspace, as it is named to people.
func (p *Private) inside(file string) string {
	if inside, err := filepath.Rel(p.root, file); err == nil {
		return filepath.ToSlash(inside)
	}
	return file
}

// folders changes who may write into the folders.
func (p *Private) folders(mode fs.FileMode) (err error) {
	for inside := range p.like {
		err = errors.Join(err, os.Chmod(filepath.Join(p.dir, inside), mode))
	}
	return err
}

// replaced finds a copy, or a file that an activity holds, that isn't what it was any more.
func (p *Private) replaced(a *compiler.Activity) error {
	for _, file := range slices.Sorted(maps.Keys(p.copies)) {
		if is, err := os.Lstat(p.copies[file]); !p.untouched(p.copies[file], is, err) {
			return fmt.Errorf("%w: a program of the run has put something else in the place of %q", ErrOther, p.inside(file))
		}
	}
	for _, name := range a.Held() {
		file, err := filepath.Abs(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		is, err := os.Stat(file)
		same := p.untouched(file, is, err)
		if same && p.made[file] != nil { // the clock of the files may be coarse
			sum, err := (workspace.Folder{Dir: p.root}).Sum(file)
			same = err == nil && sum == p.sums[file]
		}
		if !same {
			return fmt.Errorf("%w: %q, which the code of the activity %q names, has been touched since the run began", ErrOther, p.inside(file), a.Name)
		}
	}
	return nil
}

// untouched reports whether a file is what it was, if it is known what that is.
func (p *Private) untouched(file string, is fs.FileInfo, err error) bool {
	was := p.made[file]
	return was == nil || err == nil && os.SameFile(is, was) && is.Mode() == was.Mode() && is.Size() == was.Size() && is.ModTime().Equal(was.ModTime()) && changed(is) == changed(was)
}

func (p *Private) all(digests map[string]string, activities map[string]*compiler.Activity, inUse func(name string) bool) (err error) {
	p.sums = map[string]string{}
	for name, digest := range digests {
		file := filepath.FromSlash(name)
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.root, file)
		}
		p.sums[file] = digest
	}
	if err := p.hold(); err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(p.sums)) {
		if p.copies[file], err = p.keep(file, p.sums[file]); err != nil {
			return err
		}
	}
	for _, of := range slices.Sorted(maps.Keys(activities)) {
		a := activities[of]
		if len(a.Argv) == 0 {
			continue
		}
		if inUse == nil || inUse(of) {
			program, _ := exec.LookPath(compiler.Filled(a.Argv[0].Texts[0], os.Getenv))
			if err := p.unseen(of, program); err != nil {
				return err
			}
		}
		with, err := a.WithFiles(p.copyOf)
		if err != nil {
			return err
		}
		activities[of] = with
	}
	return nil
}

// copyOf is the copy of a file, "" where there is none.
func (p *Private) copyOf(name string) string {
	file, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return ""
	}
	return p.copies[file]
}

// unseen finds what is a file of the workspace by now and no copy is of, among what an
// activity names and the program that PATH finds for it: no digest is over it, or it has
// come since. A nil Private holds nothing to anything.
func (p *Private) unseen(activity, program string) error {
	if p == nil {
		return nil
	}
	a := p.kept[activity]
	if err := p.replaced(a); err != nil {
		return err
	}
	named := a.Files(nil)
	for _, name := range append(a.Files(os.Getenv), program) {
		if name == "" || name == program && (!filepath.IsAbs(program) || workspace.Holds(p.dir, program)) || p.copyOf(name) != "" {
			continue
		}
		file, err := filepath.Abs(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		sum, err := (workspace.Folder{Dir: p.root}).Sum(file)
		switch {
		case sum == "" && err == nil:
		case slices.Contains(named, name):
			return fmt.Errorf("%w: %q, which the activity %q names, wasn't there", ErrOther, name, a.Name)
		case name == program:
			return fmt.Errorf("%w: PATH finds the program of the activity %q in the workspace, as %q, which no digest is over", ErrUnseen, a.Name, name)
		default:
			return fmt.Errorf("%w: a variable of the environment has the activity %q start %q, a file of the workspace, which no digest is over", ErrUnseen, a.Name, name)
		}
	}
	return nil
}

// keep copies one file.
func (p *Private) keep(file, digest string) (copied string, err error) {
	inside, err := filepath.Rel(p.root, file)
	if err != nil {
		return "", err
	}
	if err := p.beside(filepath.Dir(inside)); err != nil {
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
	taken, err := workspace.Folder{Dir: p.root}.Take(file, to)
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
func (p *Private) beside(inside string) error {
	if p.like[inside] {
		return nil
	}
	p.like[inside] = true
	dir := filepath.Join(p.dir, inside)
	if inside != "." {
		if err := p.beside(filepath.Dir(inside)); err != nil {
			return err
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	all, err := os.ReadDir(filepath.Join(p.root, inside))
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := os.Symlink(filepath.Join(p.root, inside, one.Name()), filepath.Join(dir, one.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the copies.
func (p *Private) Close() error {
	return errors.Join(p.folders(0o700), os.RemoveAll(p.dir))
}
