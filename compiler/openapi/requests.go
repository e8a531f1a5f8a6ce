package openapi

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A parameter is one of the document's.
type parameter struct {
	*source.Node
	wire, in string // its name there, and where it is sent
	required bool
}

// parameters reads those of the operation, and those of its path that it doesn't replace.
func (b *builder) parameters() *Note {
	var all []parameter
	for _, holder := range []*source.Node{b.item, b.node} {
		for _, item := range orEmpty(holder.Get("parameters")).Items {
			n, refused := b.resolve(item)
			if refused != nil {
				return refused
			}
			p := parameter{n, textAt(n, "name"), textAt(n, "in"), false}
			p.required = n.Get("required").IsTrue() || p.in == "path"
			if p.wire == "" || !slices.Contains(places, p.in) {
				return noteOf(n, "a parameter needs a \"name\", and an \"in\" that is path, query, header or cookie")
			}
			all = slices.DeleteFunc(all, func(q parameter) bool { return q.wire == p.wire && q.in == p.in })
			all = append(all, p)
		}
	}
	// What is in the path keeps its name where others have it, too.
	slices.SortStableFunc(all, func(p, q parameter) int {
		return slices.Index(places, p.in) - slices.Index(places, q.in)
	})
	inPath := map[string]string{}
	for _, p := range all {
		name, left := b.parameter(p)
		switch {
		case left != nil && p.required:
			return noteOf(p.Node, "the parameter %q is needed: %s", p.wire, left.Message)
		case left != nil:
			b.note(noteOf(p.Node, "the parameter %q of %s is left out: %s", p.wire, b.Operation, left.Message))
		case p.in == "path":
			inPath[p.wire] = name
		}
	}
	b.url = placeholder.ReplaceAllStringFunc(b.url, func(found string) string {
		wire := found[1 : len(found)-1]
		if inPath[wire] == "" {
			inPath[wire] = b.add(wire, "path", map[string]any{"type": "string"}, true)
			b.note(noteOf(b.Node, "nothing says what %q in %s is; it is taken for a text", wire, b.Operation))
		}
		return "{" + inPath[wire] + "}"
	})
	for segment := range strings.SplitSeq(placeholder.ReplaceAllString(b.url, "x"), "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." || strings.ContainsAny(segment, " {}#\\") {
			return noteOf(b.Node, "the path %q can't be that of an address", b.Path)
		}
	}
	return nil
}

var (
	places      = []string{"path", "query", "header", "cookie"}
	placeholder = regexp.MustCompile(`\{[^{}]+\}`)
	notName     = regexp.MustCompile(`[^A-Za-z0-9_]+`)
)

// add adds a parameter to the tool and gives its name: its own, or where that is taken one that says where it is sent.
func (b *builder) add(wire, in string, schema any, required bool) string {
	name := strings.Trim(notName.ReplaceAllString(wire, "_"), "_")
	if name == "" || name[0] <= '9' {
		name = strings.TrimSuffix(in+"_"+name, "_")
	}
	if other := in + "_" + name; b.taken[name] > 0 {
		b.note(noteOf(b.Node, "%s has several parameters %q; the one of its %s is called %q", b.Operation,
			name, in, other))
		name = other
	}
	name = unique(b.taken, name)
	if b.properties[name] = schema; required {
		b.required = append(b.required, name)
	}
	return name
}

// joins are how the items of a list are joined where they aren't fields of their own.
var joins = map[string]string{"form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|"}

// parameter gives a parameter its name among those of the tool and its place in the request, or
// says why it is left out.
func (b *builder) parameter(p parameter) (name string, left *Note) {
	query, header := p.in == "query", strings.ToLower(p.wire)
	switch {
	case p.in == "cookie":
		return "", noteOf(p.Node, "it is sent as a cookie")
	case p.in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, header):
		return "", nil // the document says these elsewhere
	case p.in == "header" && (!kinds.IsHeader(p.wire) || slices.Contains(kinds.OwnHeaders, header)):
		return "", noteOf(p.Node, "%q is a header that follows from the request itself, or none", p.wire)
	case p.Get("content") != nil:
		return "", noteOf(p.Node, "it is written as a document of its own (\"content\")")
	}
	scope, value := &named{}, any(map[string]any{})
	if at := p.Get("schema"); at != nil {
		value = b.schema(at, request, scope)
	}
	style := cmp.Or(textAt(p.Node, "style"), map[bool]string{true: "form", false: "simple"}[query])
	shape, join := b.shape(value), joins[style]
	if shape == "object" || p.in == "path" && shape != "" || join == "" || b.nested(value) {
		return "", noteOf(p.Node, "%s isn't sent in a %s in the style %q",
			map[string]string{"array": "such a list", "object": "an object", "": "a value"}[shape], p.in, style)
	}
	b.scope.refs, b.scope.broken = append(b.scope.refs, scope.refs...), cmp.Or(b.scope.broken, scope.broken)
	if m, ok := value.(map[string]any); ok {
		m = maps.Clone(m)
		if text := textAt(p.Node, "description"); text != "" && (m["description"] == nil || m["$ref"] != nil) {
			m["description"] = text
		}
		if p.Get("deprecated").IsTrue() {
			m["deprecated"] = true
		}
		value = m
	}
	name = b.add(p.wire, p.in, value, p.required)
	sent, explode := any("†"+name), p.Get("explode")
	if shape == "array" && !(query && (explode.IsTrue() || explode == nil && style == "form")) {
		sent = map[string]any{"value": sent, "join": join}
	}
	if query {
		b.query[p.wire] = sent
	} else if p.in == "header" {
		b.headers[p.wire] = sent
	}
	return name, nil
}

func isJSON(kind string) bool {
	return slices.Contains([]string{"application/json", "*/*", "application/*", "text/json"}, kind) ||
		strings.HasSuffix(kind, "+json")
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") ||
		slices.Contains([]string{"application/text", "application/xml", "application/yaml"}, kind)
}

// A content has the schemas of a body by its forms, such as application/json.
type content struct {
	kinds   []string // without their parameters, in lower case
	schemas []*source.Node
}

// contentOf is the content of a body or a response.
func contentOf(n *source.Node) (c content) {
	for _, media := range orEmpty(n.Get("content")).Fields {
		kind, _, _ := strings.Cut(media.Key.Text, ";")
		c.kinds = append(c.kinds, strings.ToLower(strings.TrimSpace(kind)))
		c.schemas = append(c.schemas, media.Value.Get("schema"))
	}
	return c
}

// first is the first of the forms that is of a sort, the plainest before others.
func (c content) first(plain string, is func(kind string) bool) (kind string, schema *source.Node) {
	at := slices.Index(c.kinds, plain)
	if at < 0 {
		at = slices.IndexFunc(c.kinds, is)
	}
	if at < 0 {
		return "", nil
	}
	return c.kinds[at], c.schemas[at]
}

func (c content) String() string { return strings.Join(c.kinds, " or ") }

const form = "application/x-www-form-urlencoded"

// body reads what the operation sends besides its parameters.
func (b *builder) body() *Note {
	bodiless := b.Method == "GET" || b.Method == "HEAD"
	n := b.node.Get("requestBody")
	if n == nil {
		if !bodiless {
			b.http["body"] = "none"
		}
		return nil
	}
	at, refused := b.resolve(n)
	if refused != nil {
		return refused
	}
	required, all := at.Get("required").IsTrue(), contentOf(at)
	asJSON, schema := all.first("application/json", isJSON)
	switch {
	case bodiless && required:
		return noteOf(at, "a %s with a body isn't sent", b.Method).because(badBody)
	case bodiless:
		b.note(noteOf(at, "%s is sent without a body, as every %s", b.Operation, b.Method).because(badBody))
	case asJSON != "":
		if asJSON != "application/json" && strings.HasSuffix(asJSON, "json") {
			b.headers["Content-Type"] = asJSON
		}
		return b.content(schema, "json", required)
	case slices.Contains(all.kinds, form):
		_, fields := all.first(form, isJSON)
		return b.content(fields, "form", required)
	case slices.Contains(all.kinds, "text/plain"):
		b.headers["Content-Type"] = "text/plain; charset=utf-8"
		b.full(map[string]any{"type": "string"}, required)
	case len(all.kinds) == 0:
		return noteOf(at, "its body has no \"content\"").because(badBody)
	default:
		return noteOf(at, "its body is %s", all).because(badBody)
	}
	return nil
}

// full makes a body one parameter.
func (b *builder) full(schema any, required bool) {
	b.http["body"] = "†" + b.add("body", "request", schema, required)
}

// content makes parameters of the properties of a body, or where it isn't such an object
// one of the whole.
func (b *builder) content(n *source.Node, sends string, required bool) *Note {
	object := any(map[string]any{})
	if n != nil {
		object = b.schema(n, request, b.scope)
	}
	properties, needs, budget := map[string]any{}, map[string]bool{}, maxFlat
	ok := b.flat(object, &budget, properties, needs)
	for name := range needs {
		properties[name] = cmp.Or(properties[name], any(map[string]any{})) // it may be anything
	}
	switch {
	case ok && len(properties) > 0:
	case sends == "form":
		return noteOf(n, "a form whose fields aren't known isn't sent").because(badBody)
	default:
		b.full(object, required)
		return nil
	}
	if !required && len(needs) > 0 {
		b.note(noteOf(n, "the body of %s may be left out, but not the half of it; it is taken for needed", b.Operation))
	}
	template, renamed := map[string]any{}, false
	for _, wire := range slices.Sorted(maps.Keys(properties)) {
		schema := properties[wire]
		if sends == "form" && (b.shape(schema) == "object" || b.nested(schema)) {
			at, _ := b.resolve(n)
			if at = cmp.Or(at.Get("properties").Get(wire), n); needs[wire] {
				return noteOf(at, "the field %q of its form is an object, which isn't sent", wire).because(badBody)
			}
			b.note(noteOf(at, "the form of %s is sent without its fields that are objects, such as %q",
				b.Operation, wire))
			renamed = true
			continue
		}
		name := b.add(wire, "body", schema, needs[wire])
		template[wire], renamed = "†"+name, renamed || name != wire
	}
	if b.http["body"] = template; !renamed {
		b.http["body"] = sends
	} else if sends == "form" {
		b.headers["Content-Type"] = form
	}
	return nil
}

// result reads what results from the operation.
func (b *builder) result() *Note {
	at := b.node.Get("responses")
	var schemas []any
	text, other := "", ""
	isEmpty, redirects, succeeds := false, false, false
	for _, f := range orEmpty(at).Fields {
		status := f.Key.Text
		if redirects = redirects || strings.HasPrefix(status, "3"); len(status) != 3 || status[0] != '2' {
			continue
		}
		succeeds = true
		n, refused := b.resolve(f.Value)
		if refused != nil {
			return refused
		}
		all := contentOf(n)
		asJSON, schema := all.first("application/json", isJSON)
		asText, _ := all.first("text/plain", isText)
		switch {
		case asJSON != "":
			if asJSON != "application/json" && strings.HasSuffix(asJSON, "json") {
				b.headers["Accept"] = asJSON
			}
			value := any(true)
			if schema != nil {
				value = b.schema(schema, response, b.scope)
			}
			schemas = append(schemas, value)
		case len(all.kinds) == 0:
			isEmpty = true
		case asText != "":
			text = cmp.Or(text, asText)
		default:
			other = cmp.Or(other, all.String())
		}
	}
	usual, _ := b.resolve(at.Get("default"))
	if asJSON, _ := contentOf(usual).first("application/json", isJSON); !succeeds && asJSON != "" {
		schemas = []any{true} // that of errors, too
	}
	if isEmpty && len(schemas) > 0 {
		schemas = append(schemas, map[string]any{"type": "null"})
	}
	switch {
	case b.Method == "HEAD":
		b.http["response"] = "none"
	case len(schemas) > 1:
		b.output = map[string]any{"anyOf": schemas}
	case len(schemas) == 1:
		if b.output = schemas[0]; reflect.DeepEqual(b.output, map[string]any{}) {
			b.output = true
		}
	case other != "":
		return noteOf(at, "its result is %s", other)
	case text != "":
		b.http["response"], b.output = "text", map[string]any{"type": "string"}
		if !strings.HasPrefix(text, "text/") {
			b.headers["Accept"] = text
		}
	case redirects && !succeeds:
		return noteOf(at, "its result is a redirect")
	default:
		b.http["response"] = "none"
	}
	return nil
}
