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
			p := parameter{n, textAt(n, "name"), textAt(n, "in")}
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
		name, why := b.parameter(p)
		switch {
		case why == "":
			inPath[p.in+p.wire] = name
		case p.in == "path" || p.Get("required").IsTrue():
			return noteOf(p.Node, "the parameter %q is needed: %s", p.wire, why)
		default:
			b.note(noteOf(p.Node, "the parameter %q of %s is left out: %s", p.wire, b.Operation, why))
		}
	}
	b.url = placeholder.ReplaceAllStringFunc(b.url, func(found string) string {
		wire := found[1 : len(found)-1]
		if inPath["path"+wire] == "" { // nothing says what it is
			inPath["path"+wire] = b.add(wire, "path", map[string]any{"type": "string"}, true)
		}
		return "{" + inPath["path"+wire] + "}"
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
	if b.taken[name] > 0 {
		name = in + "_" + name
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
func (b *builder) parameter(p parameter) (name, why string) {
	query, header := p.in == "query", strings.ToLower(p.wire)
	switch {
	case p.in == "cookie":
		return "", "it is sent as a cookie"
	case p.in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, header):
		return "", "" // the document says these elsewhere
	case p.in == "header" && (!kinds.IsHeader(p.wire) || slices.Contains(kinds.OwnHeaders, header)):
		return "", "it is a header that follows from the request itself, or none"
	case p.Get("content") != nil:
		return "", "it is written as a document of its own (\"content\")"
	}
	value := any(map[string]any{})
	if at := p.Get("schema"); at != nil {
		value = b.schema(at, request, b.scope)
	}
	style := cmp.Or(textAt(p.Node, "style"), map[bool]string{true: "form", false: "simple"}[query])
	shape, join := b.shapeOf(value), joins[style]
	if shape == object || shape == nested || p.in == "path" && shape == array || join == "" {
		return "", "such a value isn't sent in a " + p.in + " in the style \"" + style + "\""
	}
	if m, ok := value.(map[string]any); ok {
		m = maps.Clone(m)
		if text := textAt(p.Node, "description"); text != "" && (m["description"] == nil || m["$ref"] != nil) {
			m["description"] = text
		}
		value = m
	}
	name = b.add(p.wire, p.in, value, p.in == "path" || p.Get("required").IsTrue())
	sent, explode := any("†"+name), p.Get("explode")
	if shape == array && !(query && (explode.IsTrue() || explode == nil && style == "form")) {
		sent = map[string]any{"value": sent, "join": join}
	}
	if query {
		b.query[p.wire] = sent
	} else if p.in == "header" {
		b.headers[p.wire] = sent
	}
	return name, ""
}

// A content has the schemas of a body by its media types, such as application/json.
type content struct {
	types   []string // without their parameters, in lower case
	schemas []*source.Node
}

// contentOf is the content of a body or a response.
func contentOf(n *source.Node) (c content) {
	for _, media := range orEmpty(n.Get("content")).Fields {
		kind, _, _ := strings.Cut(media.Key.Text, ";")
		c.types = append(c.types, strings.ToLower(strings.TrimSpace(kind)))
		c.schemas = append(c.schemas, media.Value.Get("schema"))
	}
	return c
}

// first is the first of the media types that matches, the usual one before others; "" where none does.
func (c content) first(usual string, matches *regexp.Regexp) (kind string, schema *source.Node) {
	at := slices.Index(c.types, usual)
	if at < 0 {
		at = slices.IndexFunc(c.types, matches.MatchString)
	}
	if at < 0 {
		return "", nil
	}
	return c.types[at], c.schemas[at]
}

const (
	asJSON = "application/json"
	asText = "text/plain"
	asForm = "application/x-www-form-urlencoded"
)

// The media types of each sort.
var (
	likeJSON = regexp.MustCompile(`^(application/json|\*/\*|application/\*|text/json)$|\+json$`)
	likeText = regexp.MustCompile(`^(text/|application/(text|xml|yaml)$)|\+xml$`)
	likeForm = regexp.MustCompile("^" + asForm + "$")
)

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
	kind, schema := all.first(asJSON, likeJSON)
	form, fields := all.first(asForm, likeForm)
	switch {
	case bodiless && required:
		return noteOf(at, "a %s with a body isn't sent", b.Method).advise(badBody)
	case bodiless:
	case kind != "":
		if kind != asJSON && strings.HasSuffix(kind, "json") {
			b.headers["Content-Type"] = kind
		}
		return b.content(schema, "json", required)
	case form != "":
		return b.content(fields, "form", required)
	case slices.Contains(all.types, asText):
		b.headers["Content-Type"] = asText + "; charset=utf-8"
		b.full(map[string]any{"type": "string"}, required)
	default:
		return noteOf(at, "its body is %s", cmp.Or(strings.Join(all.types, " or "), "without \"content\"")).
			advise(badBody)
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
		return noteOf(n, "a form whose fields aren't known isn't sent").advise(badBody)
	default:
		b.full(object, required)
		return nil
	}
	template, renamed := map[string]any{}, false
	for _, wire := range slices.Sorted(maps.Keys(properties)) {
		schema := properties[wire]
		if shape := b.shapeOf(schema); sends == "form" && (shape == object || shape == nested) {
			left := noteOf(n, "the field %q of the form of %s is an object, which isn't sent", wire, b.Operation)
			if needs[wire] {
				return left.advise(badBody)
			}
			b.note(left)
			renamed = true
			continue
		}
		name := b.add(wire, "body", schema, needs[wire])
		template[wire], renamed = "†"+name, renamed || name != wire
	}
	if b.http["body"] = template; !renamed {
		b.http["body"] = sends
	} else if sends == "form" {
		b.headers["Content-Type"] = asForm
	}
	return nil
}

// shapeOf is the shape of what a schema allows.
func (b *builder) shapeOf(v any) shape {
	budget := maxFlat
	return b.shape(v, &budget)
}

// result reads what results from the operation.
func (b *builder) result() *Note {
	at := orEmpty(b.node.Get("responses"))
	var schemas []any
	text, other := "", ""
	isEmpty, redirects, succeeds := false, false, false
	for _, f := range at.Fields {
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
		kind, schema := all.first(asJSON, likeJSON)
		plain, _ := all.first(asText, likeText)
		switch {
		case kind != "":
			if kind != asJSON && strings.HasSuffix(kind, "json") {
				b.headers["Accept"] = kind
			}
			value := any(true)
			if schema != nil {
				value = b.schema(schema, response, b.scope)
			}
			schemas = append(schemas, value)
		case len(all.types) == 0:
			isEmpty = true
		default:
			text, other = cmp.Or(text, plain), cmp.Or(other, strings.Join(all.types, " or "))
		}
	}
	usual, _ := b.resolve(at.Get("default"))
	if kind, _ := contentOf(usual).first(asJSON, likeJSON); !succeeds && kind != "" {
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
	case text != "":
		b.http["response"], b.output = "text", map[string]any{"type": "string"}
		if !strings.HasPrefix(text, "text/") {
			b.headers["Accept"] = text
		}
	case other != "":
		return noteOf(at, "its result is %s", other)
	case redirects && !succeeds:
		return noteOf(at, "its result is a redirect")
	default:
		b.http["response"] = "none"
	}
	return nil
}
