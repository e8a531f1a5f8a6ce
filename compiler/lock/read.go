package lock

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Read reads a lock file. What isn't as it must be is told as it is told of plans;
// the lock must not be used when a finding is an error.
func Read(file *source.File, limits source.Limits) (*Lock, []diag.Diagnostic) {
	r := reader{}
	root, problems := source.Parse(file, limits)
	for _, p := range problems {
		r.found = append(r.found, diag.OfProblem(p))
	}
	l := &Lock{}
	if root != nil {
		r.keys(root, "the lock file", nil, map[string]func(source.Field){
			"servers": func(f source.Field) { l.Servers = entries(&r, f, "server", r.server, Server.key) },
			"openapi": func(f source.Field) { l.OpenAPI = entries(&r, f, "OpenAPI file", r.file, File.key) },
		})
	}
	diag.Sort(r.found)
	return l, r.found
}

type reader struct{ found diag.Findings }

const again = "write it anew with: obelus tools import"

func (r *reader) report(rule *diag.Rule, at source.Span, format string, args ...any) *diag.Diagnostic {
	return r.found.Report(rule, at, format, args...)
}

func (r *reader) wants(n *source.Node, what, expected string) {
	r.report(diag.WrongType, n.Span(), "%s must be %s, not %s", what, expected, n.Kind).Advise(again)
}

// keys goes over a mapping that may have some keys and must have others.
func (r *reader) keys(n *source.Node, what string, required []string, known map[string]func(source.Field)) {
	if n.Kind != source.Object {
		r.wants(n, what, "a mapping")
		return
	}
	for _, f := range n.Fields {
		if read := known[f.Key.Text]; read != nil {
			read(f)
		} else if !strings.HasPrefix(f.Key.Text, "x-") {
			names := slices.Sorted(maps.Keys(known))
			d := r.report(diag.UnknownKey, f.Key.Span(), "%s has no key %q", what, f.Key.Text).Advise("known keys are %s", strings.Join(names, ", "))
			if near, ok := naming.NewSuggester(names).Nearest(f.Key.Text); ok {
				d.Advise("did you mean %q?", near).Rename(f.Key, 0, len(f.Key.Text), near, false)
			}
		}
	}
	for _, key := range required {
		if n.Get(key) == nil {
			r.report(diag.WrongType, n.Span().Head(), "%s has no %q", what, key).Advise(again)
		}
	}
}

// entries reads a mapping from names to what is locked of each.
func entries[T any](r *reader, f source.Field, what string, read func(source.Field, string) T, key func(T) string) (list []T) {
	if f.Value.Kind != source.Object {
		r.wants(f.Value, fmt.Sprintf("%q", f.Key.Text), "a mapping")
		return nil
	}
	for _, one := range f.Value.Fields {
		list = append(list, read(one, fmt.Sprintf("the %s %q", what, one.Key.Text)))
	}
	return sorted(list, key)
}

// ReadServer reads what is locked of one server, as [Server.Value] has it.
func ReadServer(name string, n *source.Node) (Server, []diag.Diagnostic) {
	r := reader{}
	s := r.server(source.Field{Key: &source.Node{Text: name}, Value: n}, fmt.Sprintf("the server %q", name))
	return s, r.found
}

func (r *reader) server(f source.Field, what string) Server {
	s := Server{Name: f.Key.Text, Node: f.Value}
	r.keys(f.Value, what, []string{"tools"}, r.choice(&s.Choice, map[string]func(source.Field){
		"tools": func(f source.Field) { s.Tools = entries(r, f, "tool", r.tool, Tool.key) },
	}))
	return s
}

// choice adds the keys of a choice to those of its source.
func (r *reader) choice(c *Choice, known map[string]func(source.Field)) map[string]func(source.Field) {
	for key, list := range map[string]*[]string{"only": &c.Only, "tags": &c.Tags, "names": &c.Names} {
		known[key] = func(f source.Field) {
			if f.Value.Kind != source.Array {
				r.wants(f.Value, fmt.Sprintf("%q", key), "a list of texts")
			}
			for _, item := range f.Value.Items {
				*list = append(*list, r.text(source.Field{Key: f.Key, Value: item}))
			}
		}
	}
	return known
}

func (r *reader) file(f source.Field, what string) File {
	one := File{Path: f.Key.Text, Node: f.Value}
	r.keys(f.Value, what, []string{"digest", "operations"}, r.choice(&one.Choice, map[string]func(source.Field){
		"digest":     func(f source.Field) { one.Digest = r.digest(f) },
		"operations": func(f source.Field) { one.Operations = entries(r, f, "operation", r.tool, Tool.key) },
		"schemas": func(f source.Field) {
			if f.Value.Kind != source.Object {
				r.wants(f.Value, "\"schemas\"", "a mapping from names to JSON Schemas")
			}
			one.Schemas, _ = f.Value.Value().(map[string]any)
		},
	}))
	return one
}

func (r *reader) tool(f source.Field, what string) Tool {
	t := Tool{Name: f.Key.Text, Node: f.Value}
	schemaOf := func(f source.Field) any {
		if f.Value.Kind != source.Object && f.Value.Kind != source.Bool {
			r.wants(f.Value, fmt.Sprintf("the %q of %s", f.Key.Text, what), "a JSON Schema (a mapping)")
		}
		return f.Value.Value()
	}
	r.keys(f.Value, what, nil, map[string]func(source.Field){
		"operation": func(f source.Field) { t.Operation = r.text(f) },
		"request": func(f source.Field) {
			if t.Request = f.Value.Value(); f.Value.Kind != source.Object {
				r.wants(f.Value, fmt.Sprintf("the \"request\" of %s", what), "a mapping")
			}
		},
		"inputSchema":  func(f source.Field) { t.Input = schemaOf(f) },
		"outputSchema": func(f source.Field) { t.Output = schemaOf(f) },
		"description":  func(f source.Field) { t.Description = r.digest(f) },
		"annotations":  func(f source.Field) { t.Annotations = r.annotations(f.Value, what) },
	})
	return t
}

func (r *reader) annotations(n *source.Node, what string) map[string]bool {
	given, known := map[string]bool{}, map[string]func(source.Field){}
	for _, name := range Hints {
		known[name] = func(f source.Field) {
			if f.Value.Kind != source.Bool {
				r.wants(f.Value, fmt.Sprintf("%q", name), "true or false")
			}
			given[name] = f.Value.Text == "true"
		}
	}
	r.keys(n, "the \"annotations\" of "+what, nil, known)
	return given
}

func (r *reader) text(f source.Field) string {
	if f.Value.Kind != source.String {
		r.wants(f.Value, fmt.Sprintf("%q", f.Key.Text), "a text")
		return ""
	}
	return f.Value.Text
}

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (r *reader) digest(f source.Field) string {
	text := r.text(f)
	if f.Value.Kind == source.String && !digest.MatchString(text) {
		r.report(diag.WrongType, f.Value.Span(), "%q must be a digest, sha256: and 64 hexadecimal digits", f.Key.Text).Advise(again)
	}
	return text
}
