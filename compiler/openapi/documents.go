package openapi

import (
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// documents are the files that were read: the document, and those that it refers to.
type documents struct {
	roots map[string]*source.Node // by path from the document's folder; nil of one that can't be read
	paths map[*source.File]string // that way, too
}

// parse reads a file. A key such as 200 is text in these documents, quoted or not.
func (d *documents) parse(file *source.File) (root *source.Node, found []diag.Diagnostic) {
	switch file.Format {
	case source.JSON:
		file.Format = source.JSONData
		file.Text = []byte(strings.TrimPrefix(string(file.Text), "\uFEFF"))
	case source.YAML:
		file.Format = source.YAMLData
	}
	root, problems := source.Parse(file, source.Limits{})
	for _, p := range problems {
		if !p.Warning {
			found = append(found, diag.OfProblem(p))
		}
	}
	d.roots[d.paths[file]] = root
	return root, found
}

// file is the root of another file, by its path from the one that refers to it.
func (r *reading) file(ref *source.Node, name string) (*source.Node, *Note) {
	where := path.Join(path.Dir(r.documents.paths[ref.File]), name)
	if strings.Contains(name, ":") || path.IsAbs(name) ||
		!filepath.IsLocal(filepath.FromSlash(where)) || r.Open == nil {
		return nil, noteOf(ref, "%q isn't in the folder of the document, and nothing else is read", ref.Text).
			because(Outside)
	}
	if root, known := r.roots[where]; known {
		return root, nil
	}
	text, err := r.Open(where)
	if err != nil {
		return nil, noteOf(ref, "%q can't be read: %s", ref.Text, err).because(Outside)
	}
	file := source.NewFile(filepath.Join(filepath.Dir(r.root.File.Name), filepath.FromSlash(where)), text)
	r.documents.paths[file] = where
	root, problems := r.parse(file)
	if len(problems) > 0 {
		r.roots[where] = nil
		return nil, noteOf(ref, "%q can't be read: %s: %s", ref.Text, problems[0].Span.Where(), problems[0].Message)
	}
	r.Files[where] = text
	return root, nil
}

// target is where a reference leads.
func (r *reading) target(ref *source.Node) (*source.Node, *Note) {
	if ref.Kind != source.String {
		return nil, noteOf(ref, "\"$ref\" must be a string, not %s", ref.Kind)
	}
	name, _, _ := strings.Cut(ref.Text, "#")
	n := r.roots[r.documents.paths[ref.File]]
	if name != "" {
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		var refused *Note
		if n, refused = r.file(ref, name); refused != nil {
			return nil, refused
		}
	}
	for _, token := range tokensOf(ref.Text) {
		if i, err := strconv.Atoi(token); err == nil && n != nil && i >= 0 && i < len(n.Items) {
			n = n.Items[i]
		} else {
			n = n.Get(token)
		}
	}
	if n == nil {
		return nil, noteOf(ref, "%q leads to nothing", ref.Text)
	}
	return n, nil
}

// tokensOf are the steps of a reference's pointer.
func tokensOf(ref string) []string {
	_, fragment, _ := strings.Cut(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(fragment, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}

// maxHops bounds references that lead to references.
const maxHops = 20

// resolve follows the references of a mapping that may be written elsewhere.
func (r *reading) resolve(n *source.Node) (*source.Node, *Note) {
	for range maxHops {
		ref := n.Get("$ref")
		switch {
		case n == nil || n.Kind != source.Object:
			return nil, noteOf(n, "expected a mapping")
		case ref == nil:
			return n, nil
		}
		next, refused := r.target(ref)
		if refused != nil {
			return nil, refused
		}
		n = next
	}
	return nil, noteOf(n, "its references lead on and on")
}
