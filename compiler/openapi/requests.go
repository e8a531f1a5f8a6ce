package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
			p := parameter{n, textAt(n, "name"), textAt(n, "in"), n.Get("required").IsTrue() ||
				textAt(n, "in") == "path"}
			if p.wire == "" || places[p.in] == "" {
				return noteOf(n, "a parameter needs a \"name\", and an \"in\" that is path, query, header or cookie")
			}
			all = slices.DeleteFunc(all, func(q parameter) bool { return q.wire == p.wire && q.in == p.in })
			all = append(all, p)
		}
	}
	// What is in the path keeps its name where others have it, too.
	slices.SortStableFunc(all, func(p, q parameter) int { return strings.Compare(places[p.in], places[q.in]) })
	inPath := map[string]string{}
	for _, p := range all {
		name, left := b.parameter(p)
		switch {
		case left != nil && p.required:
			return &Note{At: left.At, Message: fmt.Sprintf("the parameter %q is needed: %s", p.wire, left.Message)}
		case left != nil:
			left.Message = fmt.Sprintf("the parameter %q of %s is left out: %s", p.wire, b.Operation, left.Message)
			b.note(left)
		case p.in == "path":
			inPath[p.wire] = name
		}
	}
	b.url = placeholder.ReplaceAllStringFunc(b.url, func(found string) string {
		wire := found[1 : len(found)-1]
		if _, known := inPath[wire]; !known {
			name := b.take(wire, "path")
			b.properties[name], inPath[wire] = map[string]any{"type": "string"}, name
			b.required = append(b.required, name)
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
	places      = map[string]string{"path": "1", "query": "2", "header": "3", "cookie": "4"}
	placeholder = regexp.MustCompile(`\{[^{}]+\}`)
	notName     = regexp.MustCompile(`[^A-Za-z0-9_]+`)
)

// take gives a parameter its name: its own, or where that is taken one that says where it
// is sent.
func (b *builder) take(wire, in string) string {
	name := strings.Trim(notName.ReplaceAllString(wire, "_"), "_")
	if name == "" || name[0] <= '9' {
		name = strings.TrimSuffix(in+"_"+name, "_")
	}
	if other := in + "_" + name; b.taken[name] > 0 {
		b.note(noteOf(b.Node, "%s has several parameters %q; the one of its %s is called %q", b.Operation,
			name, in, other))
		name = other
	}
	return unique(b.taken, name)
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
	case p.in == "header" && (!headerName.MatchString(p.wire) || slices.Contains(ownHeaders, header)):
		return "", noteOf(p.Node, "%q is a header that follows from the request itself, or none", p.wire)
	case p.Get("content") != nil:
		return "", noteOf(p.Node, "it is written as a document of its own (\"content\")")
	}
	scope, value := &named{}, any(map[string]any{})
	if at := p.Get("schema"); at != nil {
		value = b.schema(at, request, scope)
	}
	style, explode := cmp.Or(textAt(p.Node, "style"), map[bool]string{true: "form", false: "simple"}[query]),
		p.Get("explode")
	exploded := explode.IsTrue() || explode == nil && query && style == "form"
	shape, join := b.shape(value), joins[style]
	if shape == "object" || p.in == "path" && shape != "" || join == "" || b.nested(value) {
		return "", noteOf(p.Node, "%s isn't sent in a %s in the style %q",
			map[string]string{"array": "such a list", "object": "an object", "": "a value"}[shape], p.in, style)
	}
	b.scope.refs, b.scope.broken = append(b.scope.refs, scope.refs...), cmp.Or(b.scope.broken, scope.broken)
	name = b.take(p.wire, p.in)
	b.properties[name] = value
	if m, ok := value.(map[string]any); ok {
		m = maps.Clone(m)
		if text := textAt(p.Node, "description"); text != "" && (m["description"] == nil || m["$ref"] != nil) {
			m["description"] = text
		}
		if p.Get("deprecated").IsTrue() {
			m["deprecated"] = true
		}
		b.properties[name] = m
	}
	if p.required {
		b.required = append(b.required, name)
	}
	sent := any("†" + name)
	if shape == "array" && (!query || !exploded) {
		sent = map[string]any{"value": sent, "join": join}
	}
	if query {
		b.query[p.wire] = sent
	} else if p.in == "header" {
		b.headers[p.wire] = sent
	}
	return name, nil
}

// ownHeaders are those that an http activity doesn't take.
var ownHeaders = []string{"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
	"proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

// kindOf is a form without its parameters, in lower case.
func kindOf(media source.Field) string {
	kind, _, _ := strings.Cut(media.Key.Text, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

func isJSON(kind string) bool {
	return slices.Contains([]string{"application/json", "*/*", "application/*", "text/json"}, kind) ||
		strings.HasSuffix(kind, "+json")
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") ||
		slices.Contains([]string{"application/text", "application/xml", "application/yaml"}, kind)
}

// first is the first of the forms that is of a sort, the plainest before others.
func first(all []source.Field, plain string, is func(kind string) bool) (kind string, schema *source.Node) {
	for _, media := range all {
		if one := kindOf(media); one == plain || kind == "" && is(one) {
			kind, schema = one, media.Value.Get("schema")
		}
	}
	return kind, schema
}

func kindsOf(all []source.Field) string {
	var kinds []string
	for _, media := range all {
		kinds = append(kinds, kindOf(media))
	}
	return strings.Join(kinds, " or ")
}

const form = "application/x-www-form-urlencoded"

// body reads what the operation sends besides its parameters.
func (b *builder) body() *Note {
	bodiless := b.Method == "GET" || b.Method == "HEAD"
	given := b.node.Get("requestBody")
	if given == nil {
		if !bodiless {
			b.http["body"] = "none"
		}
		return nil
	}
	at, refused := b.resolve(given)
	if refused != nil {
		return refused
	}
	required, all := at.Get("required").IsTrue(), orEmpty(at.Get("content")).Fields
	only := func(string) bool { return false }
	asJSON, schema := first(all, "application/json", isJSON)
	asForm, fields := first(all, form, only)
	asText, _ := first(all, "text/plain", only)
	switch {
	case bodiless && required:
		return noteOf(at, "a %s with a body isn't sent", b.Method).because(BadBody)
	case bodiless:
		b.note(noteOf(at, "%s is sent without a body, as every %s", b.Operation, b.Method).because(BadBody))
		return nil
	case asJSON != "":
		if asJSON != "application/json" && strings.HasSuffix(asJSON, "json") {
			b.headers["Content-Type"] = asJSON
		}
		return b.content(schema, "json", required)
	case fields != nil:
		return b.content(fields, "form", required)
	case asForm != "":
		return noteOf(at, "a form whose fields aren't known isn't sent").because(BadBody)
	case asText != "":
		b.headers["Content-Type"] = "text/plain; charset=utf-8"
		b.full(map[string]any{"type": "string"}, required)
		return nil
	case len(all) == 0:
		return noteOf(at, "its body has no \"content\"").because(BadBody)
	}
	return noteOf(at, "its body is %s", kindsOf(all)).because(BadBody)
}

// full makes a body one parameter.
func (b *builder) full(schema any, required bool) {
	name := b.take("body", "request")
	b.properties[name] = schema
	if required {
		b.required = append(b.required, name)
	}
	b.http["body"] = "†" + name
}

// content makes parameters of the properties of a body, or where it isn't such an object
// one of the whole.
func (b *builder) content(n *source.Node, sends string, required bool) *Note {
	if n == nil {
		b.full(map[string]any{}, required)
		return nil
	}
	object := b.schema(n, request, b.scope)
	properties, needs, budget := map[string]any{}, map[string]bool{}, maxFlat
	ok := b.flat(object, &budget, properties, needs)
	for name := range needs {
		if properties[name] == nil { // it may be anything
			properties[name] = map[string]any{}
		}
	}
	if !ok || len(properties) == 0 {
		if sends == "form" {
			return noteOf(n, "a form whose fields aren't known isn't sent").because(BadBody)
		}
		b.full(object, required)
		return nil
	}
	if !required && len(needs) > 0 {
		b.note(noteOf(n, "the body of %s may be left out, but not the half of it; it is taken for needed", b.Operation))
	}
	template, renamed := map[string]any{}, false
	for _, wire := range slices.Sorted(maps.Keys(properties)) {
		if sends == "form" && (b.shape(properties[wire]) == "object" || b.nested(properties[wire])) {
			if needs[wire] {
				return noteOf(n, "the field %q of its form is an object, which isn't sent", wire).because(BadBody)
			}
			b.note(noteOf(n, "the form of %s is sent without its fields that are objects, such as %q",
				b.Operation, wire))
			renamed = true
			continue
		}
		name := b.take(wire, "body")
		b.properties[name], template[wire] = properties[wire], "†"+name
		renamed = renamed || name != wire
		if needs[wire] {
			b.required = append(b.required, name)
		}
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
	var schemas []any
	var texts []string
	var rest []source.Field
	empty, redirects, succeeds := false, false, false
	for _, f := range orEmpty(b.node.Get("responses")).Fields {
		status := f.Key.Text
		if redirects = redirects || strings.HasPrefix(status, "3"); len(status) != 3 || status[0] != '2' {
			continue
		}
		succeeds = true
		n, refused := b.resolve(f.Value)
		if refused != nil {
			return refused
		}
		all := orEmpty(n.Get("content")).Fields
		asJSON, schema := first(all, "application/json", isJSON)
		asText, _ := first(all, "text/plain", isText)
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
		case len(all) == 0:
			empty = true
		case asText != "":
			texts = append(texts, asText)
		default:
			rest = append(rest, all...)
		}
	}
	at := b.node.Get("responses")
	usual, _ := b.resolve(at.Get("default"))
	if asJSON, _ := first(orEmpty(usual.Get("content")).Fields, "application/json", isJSON); !succeeds && asJSON != "" {
		schemas = []any{true} // that of errors, too
	}
	switch {
	case b.Method == "HEAD":
		b.http["response"] = "none"
	case len(schemas) == 0 && len(rest) > 0:
		return noteOf(at, "its result is %s", kindsOf(rest))
	case len(schemas) > 0:
		if empty {
			schemas = append(schemas, map[string]any{"type": "null"})
		}
		if b.output = any(map[string]any{"anyOf": schemas}); len(schemas) == 1 {
			b.output = schemas[0]
		}
		if m, ok := b.output.(map[string]any); ok && len(m) == 0 {
			b.output = true
		}
	case len(texts) > 0:
		b.http["response"], b.output = "text", map[string]any{"type": "string"}
		if kind := texts[0]; !strings.HasPrefix(kind, "text/") {
			b.headers["Accept"] = kind
		}
	case redirects && !succeeds:
		return noteOf(at, "its result is a redirect")
	default:
		b.http["response"] = "none"
	}
	return nil
}
