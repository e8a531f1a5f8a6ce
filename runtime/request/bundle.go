package request

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// alone is a schema that needs no other document: the document's named schemas come with it if it refers to any, as
// "schemas.NAME" among its "$defs", and so do the definitions of what is around it.
func (s Context) alone(n, around *source.Node) any {
	refers := false
	moved := func(at string) func(string) string {
		return func(ref string) string {
			if name, named := strings.CutPrefix(ref, "#/schemas/"); named && n.Get("schemas") == nil {
				refers = true
				return "#/$defs/schemas." + name
			}
			return below(ref, at)
		}
	}
	out, isObject := rewritten(Of(n), moved("")).(Object)
	if !isObject {
		return Of(n)
	}
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if lent := around.Get(key); lent != nil && n.Get(key) == nil {
			out = append(out, rewritten(Object{{key, Of(lent)}}, moved("")).(Object)...)
		}
	}
	if !refers {
		return out
	}
	defs, _ := out.Get("$defs").(Object)
	named := s.Plan.NamedSchemas
	for _, name := range slices.Sorted(maps.Keys(named)) {
		key := "schemas." + name
		at := "/$defs/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
		defs = defs.With(key, rewritten(Of(named[name]), moved(at)))
	}
	out = slices.DeleteFunc(out, func(m Member) bool { return m.Key == "$defs" })
	return out.With("$defs", defs)
}

// below is a reference within a schema that is moved to a place of another one, by its JSON pointer.
func below(ref, at string) string {
	if ref == "#" || strings.HasPrefix(ref, "#/") {
		return "#" + at + ref[1:]
	}
	return ref
}

// Below moves a schema to a place in another one, by its JSON pointer: it gives what stays outermost, its definitions,
// and what is to stand there.
func Below(schema any, at string) (outer Object, inner any) {
	stays := func(key string) bool { return slices.Contains([]string{"$defs", "definitions", "$schema"}, key) }
	schema = rewritten(schema, func(ref string) string {
		if first, _, _ := strings.Cut(strings.TrimPrefix(ref, "#/"), "/"); stays(first) {
			return ref
		}
		return below(ref, at)
	})
	o, ok := schema.(Object)
	if !ok {
		return nil, schema
	}
	outer = slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return !stays(m.Key) })
	return outer, slices.DeleteFunc(o, func(m Member) bool { return stays(m.Key) })
}

// plain is a schema as it was written, without extensions.
func plain(n *source.Node) any { return rewritten(Of(n), func(ref string) string { return ref }) }

// byName are the keywords under which there are schemas by name, and literal those under which there are values.
var (
	byName  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	literal = []string{"const", "enum", "default", "examples", "required", "dependentRequired"}
)

// rewritten is a schema without extensions and comments, and with other references.
func rewritten(v any, reference func(string) string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = rewritten(item, reference)
		}
		return list
	case Object:
		out := Object{}
		for _, m := range v {
			named, isObject := m.Value.(Object)
			ref, isText := m.Value.(string)
			switch {
			case strings.HasPrefix(m.Key, "x-") || m.Key == "$comment":
				continue
			case m.Key == "$ref" && isText:
				m.Value = reference(ref)
			case slices.Contains(byName, m.Key) && isObject:
				all := make(Object, len(named))
				for i, one := range named {
					all[i] = Member{one.Key, rewritten(one.Value, reference)}
				}
				m.Value = all
			case !slices.Contains(literal, m.Key):
				m.Value = rewritten(m.Value, reference)
			}
			out = append(out, m)
		}
		return out
	}
	return v
}
