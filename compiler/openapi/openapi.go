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
	"cmp"
	"fmt"
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
	// Unwanted is how many more there are.
	Unwanted int
	// Notes say what was imported otherwise than it is written, in the order of the document.
	Notes []Note
	// Variables are those of the environment that requests take, with what they hold, in words.
	Variables map[string]string

	schemas map[string]any
}

// An Operation is one method of one path.
type Operation struct {
	Name   string // of the tool
	ID     string // the document's own, or ""
	Method string // GET
	Path   string // /users/{id}
	Tags   []string
	Node   *source.Node // where it is

	Refused *Note // why it isn't imported; nil of one that is

	tool, activity map[string]any
	input, output  any
	scope          *named // what its schemas refer to
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
	Reason  string // one of those about which somebody can do something, or ""
	Message string
}

// reading is one document while it is read.
type reading struct {
	Options
	*API
	root   *source.Node
	old    bool // 3.0, whose schemas aren't JSON Schema
	named  map[pointer]*named
	order  []*named
	byName map[string]*named
	left   int // of the search for values
	noted  map[source.Span]bool
}

// Read reads a document. What keeps all of it from being imported are findings, and then
// there is no API.
func Read(file *source.File, o Options) (*API, []diag.Diagnostic) {
	r := &reading{
		Options: o, API: &API{Variables: map[string]string{}}, named: map[pointer]*named{},
		byName: map[string]*named{}, left: emptyBudget, noted: map[source.Span]bool{},
	}
	root, found := parse(file)
	if r.root = root; root == nil || len(found) > 0 {
		return nil, found
	}
	if wrong := r.recognize(); wrong != nil {
		return nil, []diag.Diagnostic{*wrong}
	}
	r.operations()
	r.settle()
	slices.SortStableFunc(r.Notes, func(a, b Note) int { return a.At.Start - b.At.Start })
	return r.API, nil
}

// recognize finds out whether the text is a document of a version that can be read.
func (r *reading) recognize() *diag.Diagnostic {
	wrong := func(n *source.Node, format string, args ...any) *diag.Diagnostic {
		d := diag.New(diag.WrongType, n.Span().Head(), fmt.Sprintf(format, args...))
		return d.Advise("an OpenAPI document has openapi: 3.0.x or 3.1.x, \"info\", \"servers\" and \"paths\"")
	}
	version, older, paths := r.root.Get("openapi"), r.root.Get("swagger"), r.root.Get("paths")
	switch {
	case r.root.Kind != source.Object:
		return wrong(r.root, "an OpenAPI document is a mapping, not %s", r.root.Kind)
	case older != nil:
		return wrong(older, "this is a document of Swagger 2.0, and OpenAPI 3.0 and 3.1 are read").
			Advise("convert it first, for instance with npx swagger2openapi FILE -o openapi.yaml")
	case version == nil:
		return wrong(r.root, "this is no OpenAPI document: it has no \"openapi\"")
	}
	r.old = strings.HasPrefix(version.Text+".", "3.0.")
	switch {
	case !r.old && !strings.HasPrefix(version.Text+".", "3.1."):
		return wrong(version, "OpenAPI %q isn't read; 3.0 and 3.1 are", version.Text)
	case paths == nil || paths.Kind != source.Object:
		return wrong(cmp.Or(paths, r.root), "the document has no \"paths\", and so no operations")
	}
	return nil
}

// orEmpty is a value that may be missing.
func orEmpty(n *source.Node) *source.Node { return cmp.Or(n, &source.Node{}) }

func textAt(n *source.Node, key string) string { return n.Get(key).AsText() }

// note says once what was left out or changed at a place.
func (r *reading) note(n *Note) {
	if !r.noted[n.At] {
		r.noted[n.At] = true
		r.Notes = append(r.Notes, *n)
	}
}

func noteOf(at *source.Node, format string, args ...any) *Note {
	return &Note{At: at.Span().Head(), Message: fmt.Sprintf(format, args...)}
}

// because gives a note its reason.
func (n *Note) because(reason string) *Note {
	n.Reason = reason
	return n
}

// Reasons of operations that aren't imported, about which somebody can do something.
const (
	NoAddress  = "no address is known to send it to"
	Outside    = "it refers to what isn't in the document"
	UnknownKey = "who asks is shown in a way that isn't known"
	BadBody    = "its body has a form that isn't sent"
)
