package request

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A bundler copies JSON Schemas into a request as they were written, in their own dialect and order. The document's
// named schemas to which they refer are carried along under one "$defs", so that the copy needs no other document.
type bundler struct {
	plan *plan.Plan
	root *source.Node // what is copied; nil of several

	defs      Object
	names     map[string]string // of definitions, by those of named schemas
	instances string            // the name of the definition of what names one; "" before it is needed
}

// deepest is how many levels of a schema are copied. A request has to be readable
// again; what lies deeper is left to the check of each call.
const deepest = 64

// alone is the copy of a schema that is self-contained; around lends it definitions.
func (s Context) alone(n, around *source.Node) any {
	w := &bundler{plan: s.Plan, root: n}
	return w.closed(w.schema(n, around, ""))
}

// closed is a schema with the definitions that were carried along.
func (w *bundler) closed(schema any) any {
	copied, ok := schema.(Object)
	if !ok || len(w.defs) == 0 {
		return schema
	}
	own, _ := copied.Get("$defs").(Object)
	copied = slices.DeleteFunc(copied, func(m Member) bool { return m.Key == "$defs" })
	return copied.With("$defs", append(own, w.defs...))
}

// schema copies a schema to a place in a document, by its JSON pointer, with the definitions that around lends it.
func (w *bundler) schema(n, around *source.Node, at string) any {
	copied := w.copied(Of(n), at)
	out, ok := copied.(Object)
	if !ok {
		return copied
	}
	if lent := around.Get("$schema"); lent != nil && at == "" && !out.Has("$schema") {
		out = out.With("$schema", Of(lent))
	}
	for _, key := range []string{"$defs", "definitions"} {
		if lent := around.Field(key); lent != nil && n.Get(key) == nil {
			out = append(out, w.keyword(*lent, at)...)
		}
	}
	return out
}

func (w *bundler) copied(v any, at string) any {
	return rewritten(v, 0, func(key string) bool {
		return strings.HasPrefix(key, "x-") || key == "$comment" || (key == "$schema" || key == "$id") && at != ""
	}, func(ref string) string { return w.reference(ref, at) })
}

// keyword is the copy of one keyword; none of one that is left out.
func (w *bundler) keyword(f source.Field, at string) Object {
	return w.copied(Object{{f.Key.Text, Of(f.Value)}}, at).(Object)
}

// byName are the keywords under which there are schemas by name, and literal those under which there are values.
var (
	byName  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	literal = []string{"const", "enum", "default", "examples", "required", "dependentRequired"}
)

// rewritten is a schema at a depth without some keywords and with other references.
func rewritten(v any, depth int, leaves func(key string) bool, reference func(string) string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = rewritten(item, depth+1, leaves, reference)
		}
		return list
	case Object:
		out := Object{}
		for _, m := range v {
			named, isObject := m.Value.(Object)
			ref, isText := m.Value.(string)
			switch {
			case depth > deepest || leaves(m.Key):
				continue
			case m.Key == "$ref" && isText:
				m.Value = reference(ref)
			case slices.Contains(byName, m.Key) && isObject:
				all := make(Object, len(named))
				for i, one := range named {
					all[i] = Member{one.Key, rewritten(one.Value, depth+2, leaves, reference)}
				}
				m.Value = all
			case !slices.Contains(literal, m.Key):
				m.Value = rewritten(m.Value, depth+1, leaves, reference)
			}
			out = append(out, m)
		}
		return out
	}
	return v
}

// reference is a reference of a schema that is copied to a place.
func (w *bundler) reference(ref, at string) string {
	fragment, local := strings.CutPrefix(ref, "#")
	if name, named := strings.CutPrefix(fragment, "/schemas/"); named && local && w.root.Get("schemas") == nil {
		name, rest, below := strings.Cut(name, "/")
		if defined, ok := w.define(name); ok {
			if below {
				defined += "/" + rest
			}
			return "#/$defs/" + defined
		}
	}
	if local && (fragment == "" || fragment[0] == '/') {
		return "#" + at + fragment
	}
	return ref
}

// define carries a named schema along, and gives its name here.
func (w *bundler) define(name string) (string, bool) {
	name = unescaped(name)
	n := w.plan.NamedSchemas[name]
	if defined, ok := w.names[name]; ok || n == nil {
		return defined, ok
	}
	if w.names == nil {
		w.names = map[string]string{}
	}
	defined := w.name(name)
	w.names[name] = defined
	at := len(w.defs)
	w.defs = append(w.defs, Member{Key: defined})
	w.defs[at].Value = w.copied(Of(n), "/$defs/"+defined) // may define others
	return defined, true
}

// Below moves a schema to a place in another one, by its JSON pointer: it gives what stays outermost, its definitions,
// and what is to stand there.
func Below(schema any, at string) (outer Object, inner any) {
	nothing := func(string) bool { return false }
	schema = rewritten(schema, -deepest, nothing, func(ref string) string {
		if ref == "#" || strings.HasPrefix(ref, "#/") && !strings.HasPrefix(ref, "#/$defs/") &&
			!strings.HasPrefix(ref, "#/definitions/") {
			return "#" + at + ref[1:]
		}
		return ref
	})
	o, ok := schema.(Object)
	if !ok {
		return nil, schema
	}
	stays := func(m Member) bool { return slices.Contains([]string{"$defs", "definitions", "$schema"}, m.Key) }
	outer = slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return !stays(m) })
	return outer, slices.DeleteFunc(o, stays)
}

// unescaped is a word of a JSON pointer in a reference.
func unescaped(word string) string {
	if decoded, err := url.PathUnescape(word); err == nil {
		word = decoded
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
}

// name makes a name that can be in a reference as it is, and that no other
// definition has.
func (w *bundler) name(like string) string {
	like = special.ReplaceAllString(like, "_")
	name := like
	for n := 2; w.defs.Has(name) || w.root.Get("$defs").Get(name) != nil; n++ {
		name = like + strconv.Itoa(n)
	}
	return name
}

var special = regexp.MustCompile(`[^A-Za-z0-9._-]`)
