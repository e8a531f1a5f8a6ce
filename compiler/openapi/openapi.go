// Package openapi reads OpenAPI documents, versions 3.0 and 3.1, and makes of each of
// their operations a tool and the http activity that carries it out.
//
// In comes a text. Out come tools, activities and the schemas that they share; what can't be
// expressed, with the reason and the place; and what was changed.
//
// Package source reads the text: it bounds what reading costs and knows every place. A fault in
// one operation leaves the others alone. Schemas are translated to JSON Schema 2020-12 once,
// however many refer to them; what is wrong in one is left out, with a note.
//
// The package opens no file, and fetches nothing.
package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Options say how a document is imported.
type Options struct {
	// Server is the address of the service, in the place of what the document says.
	Server string
	// Headers are sent with every request, besides what the document says.
	Headers map[string]any
	// Wanted reports whether an operation is to be imported; nil wants all.
	Wanted func(*Operation) bool
}

// An API is what was read of one document.
type API struct {
	// Operations are all those that are wanted, in the order of the document.
	Operations []*Operation
	// Notes say what was imported otherwise than it is written, in the order of the document.
	Notes []Note
	// Variables are those of the environment that requests take, with what they hold, in words.
	Variables map[string]string

	schemas map[string]any
}

// An Operation is one method of one path.
type Operation struct {
	Name   string // of the tool
	Method string // GET
	Path   string // /users/{id}
	Tags   []string
	Node   *source.Node // where it is

	Refused *Note // why it isn't imported; nil of one that is

	tool, activity map[string]any
	output         any
}

// Operation is how people call it: its method and path.
func (o *Operation) String() string { return o.Method + " " + o.Path }

// Imported are the operations that became tools.
func (a *API) Imported() (all []*Operation) {
	for _, o := range a.Operations {
		if o.Refused == nil {
			all = append(all, o)
		}
	}
	return all
}

// Catalogue is the file of definitions that the imported operations make: tools, the
// activities that carry them out, and the schemas that they share.
func (a *API) Catalogue() map[string]any {
	tools, activities := map[string]any{}, map[string]any{}
	for _, o := range a.Imported() {
		tools[o.Name], activities[o.Name] = o.tool, o.activity
	}
	out := map[string]any{"tools": tools, "activities": activities}
	if len(a.schemas) > 0 {
		out["schemas"] = a.schemas
	}
	return out
}

// A Note is something that was left out or changed, with what is in the way.
type Note struct {
	At      source.Span
	Message string
}

// reading is one document while it is read.
type reading struct {
	Options
	*API
	root     *source.Node
	old      bool               // 3.0, whose schemas aren't JSON Schema
	directed bool               // something is only read or only written
	names    map[pointer]string // of the schemas that are referred to
	named    map[string]pointer
	waiting  []string          // those that are to be translated
	taken    map[string]int    // their names
	faults   map[string]string // of keywords, by these and their values
	outside  *Note             // the last reference that leads out of the document
	left     int               // of the search for values
}

// Read reads a document. What keeps all of it from being imported are findings, and then
// there is no API.
func Read(file *source.File, o Options) (*API, []diag.Diagnostic) {
	switch file.Format { // a key such as 200 is text in these documents, quoted or not
	case source.JSON:
		file.Format = source.JSONData
		file.Text = bytes.TrimPrefix(file.Text, []byte("\uFEFF"))
	case source.YAML:
		file.Format = source.YAMLData
	}
	root, problems := source.Parse(file, source.Limits{})
	var found []diag.Diagnostic
	for _, p := range problems {
		if !p.Warning {
			found = append(found, diag.OfProblem(p))
		}
	}
	if root == nil || len(found) > 0 {
		return nil, found
	}
	r := &reading{Options: o, API: &API{Variables: map[string]string{}, schemas: map[string]any{}}, root: root,
		names: map[pointer]string{}, named: map[string]pointer{}, taken: map[string]int{}, faults: map[string]string{},
		left:     emptyBudget,
		directed: bytes.Contains(file.Text, []byte("readOnly")) || bytes.Contains(file.Text, []byte("writeOnly"))}
	if wrong := r.recognize(); wrong != nil {
		return nil, []diag.Diagnostic{*wrong}
	}
	r.operations()
	r.finish()
	slices.SortStableFunc(r.Notes, func(a, b Note) int { return a.At.Start - b.At.Start })
	r.Notes = slices.CompactFunc(r.Notes, func(a, b Note) bool { return a.At == b.At })
	return r.API, nil
}

// recognize finds out whether the text is a document of a version that can be read.
func (r *reading) recognize() *diag.Diagnostic {
	at, why, help := r.root, "", "an OpenAPI document has openapi: 3.0.x or 3.1.x, \"info\", \"servers\" and \"paths\""
	version, older, paths := r.root.Get("openapi"), r.root.Get("swagger"), r.root.Get("paths")
	number := orEmpty(version).Text + "."
	r.old = strings.HasPrefix(number, "3.0.")
	switch {
	case older != nil:
		at, why = older, "this is a document of Swagger 2.0, and OpenAPI 3.0 and 3.1 are read"
		help = "convert it first, for instance with npx swagger2openapi FILE -o openapi.yaml"
	case version == nil:
		why = "this is no OpenAPI document: it has no \"openapi\""
	case !r.old && !strings.HasPrefix(number, "3.1."):
		at, why = version, fmt.Sprintf("OpenAPI %q isn't read; 3.0 and 3.1 are", version.Text)
	case !paths.IsMapping():
		at, why = cmp.Or(paths, r.root), "the document has no \"paths\", and so no operations"
	default:
		return nil
	}
	d := diag.New(diag.WrongType, at.Span().Head(), why)
	return d.Advise("%s", help)
}

// orEmpty is a value that may be missing.
func orEmpty(n *source.Node) *source.Node { return cmp.Or(n, &source.Node{}) }

func textAt(n *source.Node, key string) string { return n.Get(key).AsText() }

// note keeps what was left out or changed.
func (r *reading) note(n *Note) { r.Notes = append(r.Notes, *n) }

func noteOf(at *source.Node, format string, args ...any) *Note {
	return &Note{At: at.Span().Head(), Message: fmt.Sprintf(format, args...)}
}

// advise adds to a note what to do about it.
func (n *Note) advise(help string) *Note {
	n.Message += "; " + help
	return n
}

// What to do about operations that aren't imported.
const (
	noAddress  = "say where the service is with --server https://…"
	outside    = "make one document of them, such as with npx @redocly/cli bundle FILE -o openapi.yaml"
	unknownKey = "say what shows who asks with --header \"NAME: {$VARIABLE}\""
	badBody    = "define an activity for it yourself, such as an exec of curl"
)

// target is where a reference leads.
func (r *reading) target(ref *source.Node) (*source.Node, *Note) {
	pointer, inside := strings.CutPrefix(ref.AsText(), "#")
	if ref.Kind == source.String && !inside {
		return nil, noteOf(ref, "%q leads out of the document, and nothing else is read", ref.Text).advise(outside)
	}
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	tokens, n := strings.Split(pointer, "/"), r.root
	if !inside || tokens[0] != "" { // no reference, or one by an anchor
		n = nil
	}
	for _, token := range tokens[1:] {
		next := n.Follow([]string{strings.NewReplacer("~1", "/", "~0", "~").Replace(token)})
		if next == n {
			next = nil
		}
		n = next
	}
	if n == nil {
		return nil, noteOf(ref, "%q leads to nothing", ref.Text)
	}
	return n, nil
}

// maxHops bounds references that lead to references.
const maxHops = 20

// resolve follows the references of a mapping that may be written elsewhere.
func (r *reading) resolve(n *source.Node) (to *source.Node, refused *Note) {
	for range maxHops {
		if !n.IsMapping() {
			return nil, noteOf(n, "expected a mapping")
		}
		ref := n.Get("$ref")
		if ref == nil {
			return n, nil
		}
		if n, refused = r.target(ref); refused != nil {
			return nil, refused
		}
	}
	return nil, noteOf(n, "its references lead on and on")
}
