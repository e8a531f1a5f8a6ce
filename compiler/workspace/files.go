package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Sum is the digest of what a file of the folder holds: "sha256:" and the SHA-256; "" where
// a name leads to none, through links too. The name is seen from another folder, where a
// program is started, and that from this one; either may be absolute. Of a link in the
// folder that leads out of it the digest is over where it leads as well.
func (f Folder) Sum(from, name string) (string, error) {
	top, err := filepath.Abs(f.Dir)
	if err != nil {
		return "", err
	}
	from = seenFrom(top, from)
	name = seenFrom(from, name)
	file, err := resolve(name, from)
	if err != nil {
		return "", nil
	}
	root, err := filepath.EvalSymlinks(top)
	if err != nil {
		return "", Reason(err)
	}
	switch info, err := os.Stat(file); {
	case err != nil && errors.Is(err, fs.ErrPermission) && Holds(root, file):
		return "", Reason(err)
	case err != nil || !info.Mode().IsRegular() || !Holds(root, file) && !Holds(top, filepath.Clean(name)):
		return "", nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return "", Reason(err)
	}
	defer opened.Close()
	sum, err := SumFrom(opened)
	if err == nil && !Holds(root, file) {
		sum = SumOfLink(file, sum)
	}
	return sum, err
}

// SumOfLink is the digest of a link that leads out of the folder, to a file that has a digest of its own.
func SumOfLink(file, sum string) string { return SumOf(fmt.Appendf(nil, "leads to %q: %s", file, sum)) }

// SumFrom is the sum of what is read, as [Folder.Sum] gives that of a file.
func SumFrom(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", Reason(err)
	}
	return digest(sum.Sum(nil)), nil
}

// seenFrom is the path of a file that is named from a folder. Nothing of it is left out:
// behind a link .. means the folder above where that leads.
func seenFrom(folder, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return folder + string(filepath.Separator) + name
}

// resolve follows the links of an absolute path, as a program does that is started in a
// folder: /proc/self is that program.
func resolve(name, folder string) (string, error) {
	const most = 40 // links, as many as Linux follows
	split := func(name string) (volume string, parts []string) {
		volume = filepath.VolumeName(name)
		return volume + string(filepath.Separator), strings.Split(name[len(volume):], string(filepath.Separator))
	}
	done, left := split(name)
	for links := 0; len(left) > 0; {
		at := filepath.Join(done, left[0])
		left = left[1:]
		to, err := os.Readlink(at)
		switch at {
		case "/proc/self", "/proc/thread-self":
			done = at
			continue
		case "/proc/self/cwd", "/proc/thread-self/cwd":
			to, err = folder, nil
		case "/proc/self/root", "/proc/thread-self/root":
			to, err = "/", nil
		}
		if err != nil {
			done = at
			continue
		}
		if links++; links > most {
			return "", errors.New("too many links")
		}
		parts := strings.Split(to, string(filepath.Separator))
		if filepath.IsAbs(to) {
			done, parts = split(to)
		}
		left = append(parts, left...)
	}
	if strings.HasPrefix(done, "/proc/self/") || strings.HasPrefix(done, "/proc/thread-self/") {
		return "", errors.New("only the program tells what that is")
	}
	return done, nil
}

// mostEntries is how many entries of folders a pattern is held against.
const mostEntries = 100_000

// Glob gives the files of the folder that match a pattern ([Pattern]), by their paths from
// it, also through links to folders. A link to a folder elsewhere is an error.
func (f Folder) Glob(pattern string) (names []string, err error) {
	if top, err := filepath.Abs(f.Dir); err == nil && filepath.IsAbs(pattern) {
		below, _ := filepath.Rel(top, pattern)
		names, err = f.Glob(filepath.ToSlash(below))
		for i, name := range names {
			names[i] = filepath.Join(top, name)
		}
		return names, err
	}
	matches := Pattern(pattern)
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, Reason(err)
	}
	defer root.Close()
	top := path.Clean(pattern)
	if !fs.ValidPath(top) {
		return names, nil // another workspace's
	}
	if i := strings.IndexAny(top, "*?"); i >= 0 {
		top = top[:i] + "x"
	}
	top = path.Dir(top)
	leads := func(folder string) bool { // something in it may match
		return folder == top || strings.Contains(pattern, "**") ||
			strings.Count(folder, "/") < strings.Count(path.Clean(pattern), "/")
	}
	entries := 0
	var walk func(name string, above []os.FileInfo) error // in what it was found: a link may lead back
	walk = func(name string, above []os.FileInfo) error {
		info, err := root.Stat(filepath.FromSlash(name))
		switch {
		case err == nil && info.IsDir():
			again := func(above os.FileInfo) bool { return os.SameFile(above, info) }
			if !leads(name) || slices.ContainsFunc(above, again) {
				return nil
			}
			all, err := fs.ReadDir(root.FS(), name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Reason(err)
			}
			above = append(slices.Clip(above), info)
			for _, entry := range all {
				if entries++; entries > mostEntries {
					return fmt.Errorf("more than %d entries lie below %q", mostEntries, top)
				}
				if err := walk(path.Join(name, entry.Name()), above); err != nil {
					return err
				}
			}
		case err != nil && escapes(err) && leads(name) && isFolder(filepath.Join(f.Dir, name)):
			return fmt.Errorf("%q leads out of the workspace", name)
		case matches.MatchString(name):
			names = append(names, name)
		}
		return nil
	}
	if err := walk(top, nil); err != nil {
		return nil, err
	}
	return names, nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Pattern matches the paths that a pattern means: * is any part of a name, ? a letter of
// one, and ** any folders.
func Pattern(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(path.Clean(pattern))
	text = strings.NewReplacer(`\*\*/`, "(?:.*/)?", `\*\*`, ".*", `\*`, "[^/]*", `\?`, "[^/]").Replace(text)
	return regexp.MustCompile("(?s)^" + text + "$")
}

// Replace writes a file in one step: readers see the old text or the new. It follows a link and keeps the
// permissions of a file that exists; only its owner may read a new one.
func Replace(name string, text []byte) error {
	mode := os.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(name); err == nil {
		if info, err := os.Stat(real); err == nil {
			name, mode = real, info.Mode().Perm()
		}
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), ".obelus-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // nothing to remove after the rename
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
