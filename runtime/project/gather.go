package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// Named is a file that arguments lead to; Found says that it was met in a
// folder, and may turn out to be no plan.
type Named struct {
	Name  string
	Found bool
}

// Gather lists the files that arguments name: files, folders with all below
// them, and - for standard input; each once, folders in the order of their
// names. It doesn't follow symbolic links inside folders.
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
		// Walking the folder's own file system follows the argument itself when
		// it is a link, and no other.
		err = fs.WalkDir(os.DirFS(arg), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return CantRead(filepath.Join(arg, path), err)
			case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
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
	return all, nil
}

// extensions are those of files that may hold plans.
var extensions = []string{".yaml", ".yml", ".json", ".jsonl"}

// LooksLikePlan reports whether a file that nobody named is one to check: it has
// the outline of an accepted shape (S1.2), or can't be read but mentions calls.
func LooksLikePlan(file *source.File, root *source.Node) bool {
	if root == nil {
		return strings.Contains(string(file.Text), "_tool")
	}
	if inner := root.Get("document"); inner != nil && file.Row > 0 {
		root = inner
	}
	if holdsCalls(root) || holdsMessages(root) || root.Get("calls") != nil && root.Get("calls").Kind == source.Array {
		return true
	}
	for _, field := range root.Fields {
		if holdsCalls(field.Value) || field.Key.Text == "context" && holdsMessages(field.Value) {
			return true
		}
	}
	return false
}

func holdsCalls(n *source.Node) bool {
	return n.Kind == source.Array && len(n.Items) > 0 && n.Items[0].Get("_tool") != nil
}

var messageTypes = []string{"tool", "input", "state", "data", "plan", "advisor", "error", "meta", "text"}

func holdsMessages(n *source.Node) bool {
	if n.Kind != source.Array || len(n.Items) == 0 {
		return false
	}
	kind := n.Items[0].Get("type")
	return kind != nil && slices.Contains(messageTypes, kind.Text)
}
