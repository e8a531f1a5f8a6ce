package project

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// Named is a file that arguments lead to; Found says that it was met in a folder, and may turn out to be no plan.
type Named struct {
	Name  string
	Found bool
}

// documents are the names of files in folders that may be documents.
var documents = regexp.MustCompile(`(?i)\.(ya?ml|jsonl?)$`)

// Gather lists the files that arguments name: files, folders with all below them, and - for standard input; each once,
// folders in the order of their names. It doesn't follow symbolic links inside folders, and leaves out what the
// configuration excludes from checks.
func (r *Reader) Gather(args []string) (all []Named, err error) {
	seen := map[string]bool{}
	r.Excluded = 0
	add := func(n Named) error {
		if key := filepath.Clean(n.Name); seen[key] {
			return nil
		} else if seen[key] = true; n.Name != "-" {
			_, config, err := r.locate(n.Name)
			if err != nil {
				return err
			}
			if config.Analysis.Settings.Excludes(config.Path(n.Name)) {
				r.Excluded++
				return nil
			}
		}
		all = append(all, n)
		return nil
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-", err == nil && !info.IsDir():
			err = add(Named{Name: arg})
		case err != nil:
			err = CantRead(arg, err)
		default: // walking the folder's own file system follows the argument itself when it is a link, and no other
			err = fs.WalkDir(os.DirFS(arg), ".", func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return CantRead(filepath.Join(arg, path), err)
				case entry.IsDir() && path != "." &&
					(strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
					return fs.SkipDir
				case entry.Type().IsRegular() && documents.MatchString(path):
					return add(Named{Name: filepath.Join(arg, filepath.FromSlash(path)), Found: true})
				}
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// locate gives the workspace of a file, as somebody would write it who names the file so, and its configuration: what
// was named, or the nearest obelus.yaml in its workspace. Without any, it sets nothing.
func (r *Reader) locate(name string) (root string, config *Configuration, err error) {
	if info, err := os.Stat(cmp.Or(r.Root, ".")); err != nil || !info.IsDir() {
		return "", nil, diag.NewError(ErrOutside, "can't use --root %q: it isn't a folder", r.Root)
	}
	place, err := workspace.Locate(r.folder(name), r.Root)
	if err != nil {
		return "", nil, err
	}
	if root = cmp.Or(r.Root, place.Root); r.Root == "" && !filepath.IsAbs(name) {
		root = FromHere(root)
	}
	if r.Config == "" {
		for _, one := range place.Passed {
			r.passOver(one)
		}
	}
	config, err = r.ConfigurationAt(cmp.Or(r.Config, place.Settings))
	return root, config, err
}

// folder is the one that a file lies in; standard input lies in the workspace's.
func (r *Reader) folder(name string) string {
	if name == "-" && r.Root != "" {
		return r.Root
	}
	return filepath.Dir(name)
}

// passOver tells, once, of a file that isn't read although somebody may mean it.
func (r *Reader) passOver(one workspace.Refused) {
	if r.Passed != nil && !slices.Contains(r.passed, one.Name) {
		r.passed = append(r.passed, one.Name)
		r.Passed(one)
	}
}

// filesOver are those of a name in a file's folder, by where it really lies and by its name, and in all folders above,
// the nearest first and each once: a folder doesn't leave the policy of the house that it is in by having a
// configuration of its own, nor by a link to it. Where anybody may put files, such as /tmp, nobody's word counts.
func (r *Reader) filesOver(file, name string) (names []string, err error) {
	var known []os.FileInfo
	for _, folder := range slices.Compact([]string{r.folder(whereItLies(file)), r.folder(file)}) {
		for at := range workspace.Above(absolute(folder)) {
			if info, err := os.Stat(at); err == nil && info.Mode()&fs.ModeSticky != 0 && info.Mode()&0o002 != 0 {
				continue
			}
			stem := strings.TrimSuffix(name, ".yaml")
			for _, other := range []string{"." + name, stem + ".yml", "." + stem + ".yml"} {
				other = filepath.Join(at, other)
				if info, err := os.Stat(other); err == nil && info.Mode().IsRegular() && workspace.Shared(at) == "" {
					r.passOver(workspace.Refused{Name: FromHere(other), Why: "what counts is called " + name})
				}
			}
			one := filepath.Join(at, name)
			if _, err := os.Lstat(one); err != nil {
				continue
			}
			info, err := os.Stat(one)
			switch {
			case err != nil || !info.Mode().IsRegular():
				return nil, diag.NewError(ErrRead, "%q can't be read: it isn't a regular file, nor a link to one",
					FromHere(one)).Advise("put the file there, or take away what stands in its place")
			case !slices.ContainsFunc(known, func(other os.FileInfo) bool { return os.SameFile(other, info) }):
				names, known = append(names, FromHere(one)), append(known, info)
			}
		}
	}
	return names, nil
}

// whereItLies is the name of a file behind links, or of one that is yet to be.
func whereItLies(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		return filepath.Join(real, filepath.Base(name))
	}
	return name
}

// absolute is the absolute path of a file; a path that has none is in no folder, and nothing of it is trusted.
func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// FromHere is the name of a file as somebody in this folder would write it.
func FromHere(name string) string {
	if relative, err := filepath.Rel(absolute("."), name); err == nil {
		return relative
	}
	return name
}

// PathFrom is the path of a file from a folder.
func PathFrom(dir, name string) (string, error) { return filepath.Rel(absolute(dir), absolute(name)) }

func below(dir, name string) (string, error) {
	relative, err := PathFrom(dir, name)
	if err != nil || !filepath.IsLocal(relative) {
		return "", diag.NewError(ErrOutside, "%q isn't in the workspace %q", name, dir).
			Advise("name a folder with --root that holds it")
	}
	return relative, nil
}

// under is a folder as this process sees it that is named from another one.
func under(root, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, name)
}
