// Package workspace says what a document may read: which folder is its
// workspace, which files of it can be read, and where its settings stand.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Settings is what the configuration of a workspace is called.
const Settings = "obelus.yaml"

// A Folder is a workspace: files are read from it and from nowhere else.
type Folder struct {
	Dir   string
	Limit int // bytes of a file; one byte more is read, so that its reader notices
}

// Open reads a file by its path from the folder, with forward slashes. The system
// refuses what lies outside, through symbolic links as well.
func (f Folder) Open(name string) ([]byte, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, Reason(err)
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil && escapes(err):
		return nil, fmt.Errorf("it leads out of the workspace %q", f.Dir)
	case err != nil:
		return nil, Reason(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it isn't a regular file")
	}
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, Reason(err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(f.Limit)+1))
}

// SumOf is the sum of a text, as [Folder.Sum] gives that of a file.
func SumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return digest(sum[:])
}

func digest(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

// escapes reports whether the system refused what lies outside of a root.
func escapes(err error) bool { return strings.HasSuffix(err.Error(), "path escapes from parent") }

// Read reads a file that somebody named, one byte beyond a limit at most, so that its
// reader notices. The text is nil if there is an error.
func Read(name string, limit int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Reason is an error of the file system in plain words, without the path and the system call. It wraps the error.
func Reason(err error) error { return reason{err} }

type reason struct{ error }

func (r reason) Unwrap() error { return r.error }

func (r reason) Error() string {
	var at *fs.PathError
	switch {
	case errors.Is(r.error, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(r.error, fs.ErrPermission):
		return "permission denied"
	case errors.As(r.error, &at):
		return at.Err.Error()
	}
	return r.error.Error()
}

// Path is the path from the workspace root of a file that a file in a folder, also
// from the root, names. What names it is for the trouble: "import".
func Path(what, dir, text string) (name, problem, help string) {
	name = path.Join(dir, text)
	switch {
	case strings.Contains(text, "://"):
		return "", "the " + what + " is a file in the workspace, never a URL",
			"fetch the file once and keep it beside the plan"
	case path.IsAbs(text), name == "..", strings.HasPrefix(name, "../"), strings.Contains(text, `\`):
		return "", "the " + what + " \"" + text + "\" leaves the workspace",
			"the workspace is the nearest folder with " + Settings + " or .git in it, else the first file's own; put " +
				Settings + " into the folder that holds all of it"
	}
	return name, "", ""
}

// A Place is where a document stands. Its paths are absolute.
type Place struct {
	Root     string    // its workspace
	Settings string    // the nearest obelus.yaml from its folder up to the root; "" when there is none
	Passed   []Refused // those that would count but for others, who may write them
}

// A Refused file isn't read, and why.
type Refused struct{ Name, Why string }

// Locate finds the workspace of a document in a folder: the nearest folder at or
// above its own that holds obelus.yaml or .git, else its own. A folder that others
// may write ends the search: they could have put either there. A chosen folder
// is the workspace in its place.
func Locate(folder, chosen string) (p Place, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return p, err
	}
	if p.Root = folder; chosen != "" {
		if p.Root, err = filepath.Abs(chosen); err != nil {
			return p, err
		}
	}
	for at := range Above(folder) {
		if chosen != "" && !Holds(p.Root, at) {
			break
		}
		_, noGit := os.Lstat(filepath.Join(at, ".git"))
		switch p.Settings = p.settings(at); {
		case chosen != "" && p.Settings == "":
			continue
		case p.Settings == "" && Shared(at) != "":
		case p.Settings == "" && noGit != nil:
			continue
		case chosen == "":
			p.Root = at
		}
		break
	}
	return p, nil
}

// Above gives a folder and all those above it, the nearest first.
func Above(folder string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(folder) && filepath.Dir(folder) != folder {
			folder = filepath.Dir(folder)
		}
	}
}

// InRepository is how services that keep repositories name a file: by its path, with forward slashes, from the nearest
// folder at or above its own that holds .git. Where there is none, or others may have put it there, its name stays.
func InRepository(name string) string {
	file, err := filepath.Abs(name)
	if err != nil || name == "-" {
		return name
	}
	for at := range Above(filepath.Dir(file)) {
		if Shared(at) != "" {
			break
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if relative, err := filepath.Rel(at, file); err == nil {
				return filepath.ToSlash(relative)
			}
		}
	}
	return name
}

// settings is a folder's obelus.yaml, "" where there is none that counts.
func (p *Place) settings(folder string) string {
	name := filepath.Join(folder, Settings)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	why := Shared(name)
	if in := Shared(folder); in != "" {
		why = "its folder " + in
	}
	if why == "" {
		return name
	}
	p.Passed = append(p.Passed, Refused{name,
		"others may have written it: " + why + "; name it with --config if it is meant"})
	return ""
}

// Holds reports whether a folder is another or lies above it; both are absolute.
func Holds(above, below string) bool {
	relative, err := filepath.Rel(above, below)
	return err == nil && filepath.IsLocal(relative)
}
