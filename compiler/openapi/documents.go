package openapi

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// parse reads the text. A key such as 200 is text in these documents, quoted or not.
func parse(file *source.File) (root *source.Node, found []diag.Diagnostic) {
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
	return root, found
}

// target is where a reference leads.
func (r *reading) target(ref *source.Node) (*source.Node, *Note) {
	pointer, inside := strings.CutPrefix(ref.AsText(), "#")
	if ref.Kind == source.String && !inside {
		return nil, noteOf(ref, "%q leads out of the document, and nothing else is read", ref.Text).because(Outside)
	}
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	n := r.root
	if !inside || pointer != "" && pointer[0] != '/' { // no reference, or one by an anchor
		n = nil
	}
	for i, token := range strings.Split(pointer, "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if at, err := strconv.Atoi(token); err == nil && n != nil && at >= 0 && at < len(n.Items) {
			n = n.Items[at]
		} else if i > 0 {
			n = n.Get(token)
		}
	}
	if n == nil {
		return nil, noteOf(ref, "%q leads to nothing", ref.Text)
	}
	return n, nil
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
