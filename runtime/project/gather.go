package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Named is a file that arguments lead to; Found says that it was met in a folder, and may turn out to be no plan.
type Named struct {
	Name  string
	Found bool
}

// Gather lists the files that arguments name: files, folders with all below them, and - for standard input; each once,
// folders in the order of their names. It doesn't follow symbolic links inside folders.
func (r *Reader) Gather(args []string) ([]Named, error) {
	var all []Named
	seen := map[string]bool{}
	add := func(n Named) {
		if key := filepath.Clean(n.Name); !seen[key] {
			seen[key] = true
			all = append(all, n)
		}
	}
	for _, arg := range args {
		if arg == "-" {
			add(Named{Name: "-"})
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, CantRead(arg, err)
		}
		if !info.IsDir() {
			add(Named{Name: arg})
			continue
		}
		r.Folders = append(r.Folders, arg)
		// Walking the folder's own file system follows the argument itself when it is a link, and no other.
		err = fs.WalkDir(os.DirFS(arg), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return CantRead(filepath.Join(arg, path), err)
			case entry.IsDir() && path != "." &&
				(strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return fs.SkipDir
			case entry.Type().IsRegular() && slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
				add(Named{Name: filepath.Join(arg, filepath.FromSlash(path)), Found: true})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return r.included(all)
}

// included leaves out what the configuration excludes from checks, and counts it.
func (r *Reader) included(all []Named) ([]Named, error) {
	var left []Named
	r.Excluded = 0
	for _, n := range all {
		if n.Name != "-" {
			config, err := r.configurationOf(n.Name)
			if err != nil {
				return nil, err
			}
			if config.Analysis.Settings.Excludes(config.Path(n.Name)) {
				r.Excluded++
				continue
			}
		}
		left = append(left, n)
	}
	return left, nil
}

var extensions = []string{".yaml", ".yml", ".json", ".jsonl"}
