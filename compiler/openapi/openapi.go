// Package openapi reads OpenAPI documents, versions 3.0 and 3.1, and makes of each of
// their operations a tool and the http activity that carries it out.
//
// A document comes from elsewhere and is often not quite what it should be. So each
// operation is independent: one that can't be expressed isn't imported, and says why
// and where, and so does a keyword of a schema that is no JSON Schema, which is left out.
// Nothing but the text is ever read: references out of the document are
// reported, and never opened.
//
// The text is read by package source, which bounds what reading costs and knows
// every place, and not by a reader of OpenAPI's own types: that refuses a whole document
// for one example that has another type than it should, without a place.
package openapi

import (
	"fmt"
	"net/url"
	"strconv"
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
	// Variables are those of the environment that requests take, by name.
	Variables []Variable

	schemas map[string]any
}

// An Operation is one method of one path.
type Operation struct {
	Name   string // of the tool
	ID     string // the document's own, or ""
	Method string // GET
	Path   string // /users/{id}
	Tags   []string
	Node   *source.Node // where it stands

	// Refused says why it isn't imported, and Reason the same of all that share the
	// reason; "" of one that is. At is what is in the way.
	Refused, Reason string
	At              source.Span

	tool, activity map[string]any
	input, output  any
	scope          *named // what its schemas refer to
}

// Operation is how people call it: its method and path.
func (o *Operation) String() string { return o.Method + " " + o.Path }

// Imported are the operations that became tools.
func (a *API) Imported() (all []*Operation) {
	for _, o := range a.Operations {
		if o.Refused == "" {
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

// A Note is something that was left out or changed.
type Note struct {
	At      source.Span
	Reason  string // the same of all that were changed for it
	Message string
}

// A Variable is one of the environment that holds a secret.
type Variable struct {
	Name  string
	Holds string // in words
}

// reading is one document while it is read.
type reading struct {
	Options
	*API
	root    *source.Node
	old     bool // 3.0, whose schemas aren't JSON Schema
	indexes map[*source.Node]map[string]*source.Node
	named   map[pointer]*named
	order   []*named
	byName  map[string]*named
	left    int // of the search for values
	noted   map[source.Span]bool
	holds   map[string]string
}

// Read reads a document. What keeps all of it from being imported are findings, and then
// there is no API.
func Read(file *source.File, o Options) (*API, []diag.Diagnostic) {
	r := &reading{Options: o, API: &API{}, indexes: map[*source.Node]map[string]*source.Node{}, named: map[pointer]*named{}, byName: map[string]*named{}, left: emptyBudget,
		noted: map[source.Span]bool{}, holds: map[string]string{}}
	if file.Format == source.JSON {
		file.Format = source.JSONData
		file.Text = []byte(strings.TrimPrefix(string(file.Text), "\uFEFF"))
	}
	root, problems := source.Parse(file, source.Limits{})
	var found []diag.Diagnostic
	for _, p := range problems {
		if !p.Warning && !p.Quote { // a key such as 200 is text in these documents, quoted or not
			found = append(found, diag.OfProblem(p))
		}
	}
	if r.root = root; root == nil || len(found) > 0 {
		return nil, found
	}
	if wrong := r.recognize(); wrong != nil {
		return nil, []diag.Diagnostic{*wrong}
	}
	r.operations()
	r.settle()
	return r.API, nil
}

// recognize finds out whether the text is a document of a version that can be read.
func (r *reading) recognize() *diag.Diagnostic {
	wrong := func(n *source.Node, format string, args ...any) *diag.Diagnostic {
		d := diag.New(diag.WrongType, n.Span().Head(), fmt.Sprintf(format, args...))
		return d.Advise("an OpenAPI document has openapi: 3.0.x or 3.1.x, \"info\", \"servers\" and \"paths\"")
	}
	version := r.root.Get("openapi")
	switch {
	case r.root.Kind != source.Object:
		return wrong(r.root, "an OpenAPI document is a mapping, not %s", r.root.Kind)
	case r.root.Get("swagger") != nil:
		return wrong(r.root.Get("swagger"), "this is a document of Swagger 2.0, and OpenAPI 3.0 and 3.1 are read").Advise("convert it first, for instance with npx swagger2openapi FILE -o openapi.yaml")
	case version == nil:
		return wrong(r.root, "this is no OpenAPI document: it has no \"openapi\"")
	}
	text := version.Text
	r.old = text == "3.0" || strings.HasPrefix(text, "3.0.")
	if !r.old && text != "3.1" && !strings.HasPrefix(text, "3.1.") {
		return wrong(version, "OpenAPI %q isn't read; 3.0 and 3.1 are", text)
	}
	if paths := r.root.Get("paths"); paths == nil || paths.Kind != source.Object {
		if paths == nil {
			paths = r.root
		}
		return wrong(paths, "the document has no \"paths\", and so no operations")
	}
	return nil
}

func textOf(n *source.Node) string {
	if n == nil || n.Kind != source.String {
		return ""
	}
	return n.Text
}

// note says once what was left out or changed at a place.
func (r *reading) note(n *source.Node, reason, format string, args ...any) {
	if at := n.Span().Head(); !r.noted[at] {
		r.noted[at] = true
		r.Notes = append(r.Notes, Note{at, reason, fmt.Sprintf(format, args...)})
	}
}

// get is the value of a key, found quickly in large mappings.
func (r *reading) get(n *source.Node, key string) *source.Node {
	if n == nil || len(n.Fields) < 16 {
		return n.Get(key)
	}
	index := r.indexes[n]
	if index == nil {
		index = make(map[string]*source.Node, len(n.Fields))
		for _, f := range n.Fields {
			index[f.Key.Text] = f.Value
		}
		r.indexes[n] = index
	}
	return index[key]
}

// at is where a pointer ("#/components/schemas/Pet") leads, or nil.
func (r *reading) at(ref string) *source.Node {
	n := r.root
	for _, token := range tokensOf(ref) {
		switch {
		case n == nil:
			return nil
		case n.Kind == source.Array:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
		default:
			n = r.get(n, token)
		}
	}
	return n
}

func tokensOf(ref string) []string {
	fragment := strings.TrimPrefix(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(fragment, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

// maxHops bounds references that lead to references.
const maxHops = 20

// A refusal is why an operation can't be imported.
type refusal struct {
	at              *source.Node
	reason, message string
}

func refuse(at *source.Node, reason, format string, args ...any) *refusal {
	return &refusal{at, reason, fmt.Sprintf(format, args...)}
}

// Reasons of operations that aren't imported, about which somebody can do something.
const (
	NoAddress  = "no address is known to send it to"
	Outside    = "it refers to what is outside of the document"
	UnknownKey = "who asks is shown in a way that isn't known"
	BadBody    = "its body has a form that isn't sent"
)

// The other reasons that operations share.
const (
	dangling   = "it refers to what isn't there"
	misshapen  = "it isn't written as OpenAPI has it"
	unsendable = "a parameter that it needs can't be sent"
	badResult  = "its result has a form that isn't read"
	badMethod  = "its method isn't sent"
)

// resolve follows the references of a parameter, a body, a response or a path.
func (r *reading) resolve(n *source.Node) (*source.Node, *refusal) {
	for range maxHops {
		ref := n.Get("$ref")
		switch {
		case n == nil || n.Kind != source.Object:
			return nil, refuse(n, misshapen, "expected a mapping")
		case ref == nil:
			return n, nil
		case ref.Kind != source.String:
			return nil, refuse(ref, misshapen, "\"$ref\" must be a string, not %s", ref.Kind)
		case !strings.HasPrefix(ref.Text, "#"):
			return nil, refuse(ref, Outside, "%q is outside of the document, and only the document itself is read", ref.Text)
		}
		next := r.at(ref.Text)
		if next == nil {
			return nil, refuse(ref, dangling, "%q leads to nothing", ref.Text)
		}
		n = next
	}
	return nil, refuse(n, dangling, "its references lead on and on")
}
