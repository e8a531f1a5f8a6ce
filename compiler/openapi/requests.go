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

// parameters reads those of the operation, and those of its path that it doesn't replace.
func (b *builder) parameters() *Note {
	var all []*source.Node
	in := func(p *source.Node) int { return slices.Index(places, textAt(p, "in")) }
	for _, holder := range []*source.Node{b.item, b.node} {
		for _, item := range orEmpty(holder.Get("parameters")).Items {
			p, refused := b.resolve(item)
			if refused != nil {
				return refused
			}
			wire := textAt(p, "name")
			if wire == "" || in(p) < 0 {
				return noteOf(p, "a parameter needs a \"name\", and an \"in\" that is path, query, header or cookie")
			}
			all = append(slices.DeleteFunc(all,
				func(q *source.Node) bool { return textAt(q, "name") == wire && in(p) == in(q) }), p)
		}
	}
	// What is in the path keeps its name where others have it, too.
	slices.SortStableFunc(all, func(p, q *source.Node) int { return in(p) - in(q) })
	inPath := map[string]string{}
	for _, p := range all {
		wire, where := textAt(p, "name"), textAt(p, "in")
		name, why := b.parameter(p, wire, where)
		switch {
		case why == "":
			inPath[where+wire] = name
		case where == "path" || p.Get("required").IsTrue():
			return noteOf(p, "the parameter %q is needed: %s", wire, why)
		default:
			b.note(noteOf(p, "the parameter %q of %s is left out: %s", wire, b.Operation, why))
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
func (b *builder) parameter(p *source.Node, wire, in string) (name, why string) {
	query, header := in == "query", strings.ToLower(wire)
	switch {
	case in == "cookie":
		return "", "it is sent as a cookie"
	case in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, header):
		return "", "" // the document says these elsewhere
	case in == "header" && (!kinds.IsHeader(wire) || slices.Contains(kinds.OwnHeaders, header)):
		return "", "it is a header that follows from the request itself, or none"
	case p.Get("content") != nil:
		return "", "it is written as a document of its own (\"content\")"
	}
	value := any(map[string]any{})
	if at := p.Get("schema"); at != nil {
		value = b.schema(at, request)
	}
	style := cmp.Or(textAt(p, "style"), map[bool]string{true: "form", false: "simple"}[query])
	kinds, join := b.kindsOf(value), joins[style]
	isList := kinds&lists != 0
	if kinds.isNested() || in == "path" && isList || join == "" {
		return "", "such a value isn't sent in a " + in + " in the style \"" + style + "\""
	}
	if m, ok := value.(map[string]any); ok {
		m = maps.Clone(m)
		if text := textAt(p, "description"); text != "" && (m["description"] == nil || m["$ref"] != nil) {
			m["description"] = text
		}
		value = m
	}
	name = b.add(wire, in, value, in == "path" || p.Get("required").IsTrue())
	sent, explode := any("†"+name), p.Get("explode")
	if isList && !(query && (explode.IsTrue() || explode == nil && style == "form")) {
		sent = map[string]any{"value": sent, "join": join}
	}
	if query {
		b.query[wire] = sent
	} else if in == "header" {
		b.headers[wire] = sent
	}
	return name, ""
}

// The media types of each sort.
var (
	usual    = regexp.MustCompile("^application/json$")
	likeJSON = regexp.MustCompile(`^(application/json|\*/\*|application/\*|text/json)$|\+json$`)
	likeText = regexp.MustCompile(`^(text/|application/(text|xml|yaml)$)|\+xml$`)
	likeForm = regexp.MustCompile("^application/x-www-form-urlencoded$")
	plainly  = regexp.MustCompile("^text/plain$")
	anyMedia = regexp.MustCompile("")
)

// media is the first media type of a body or a result that is like the first pattern that any is like, with its
// schema; "" for none.
func media(n *source.Node, patterns ...*regexp.Regexp) (kind string, schema *source.Node) {
	for _, like := range patterns {
		for _, f := range orEmpty(n.Get("content")).Fields {
			kind, _, _ := strings.Cut(f.Key.Text, ";")
			if kind = strings.ToLower(strings.TrimSpace(kind)); like.MatchString(kind) {
				return kind, f.Value.Get("schema")
			}
		}
	}
	return "", nil
}

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
	required := at.Get("required").IsTrue()
	kind, schema := media(at, usual, likeJSON)
	form, fields := media(at, likeForm)
	text, _ := media(at, plainly)
	switch {
	case bodiless && required:
		return noteOf(at, "a %s with a body isn't sent", b.Method).advise(badBody)
	case bodiless:
	case kind != "":
		b.exactly("Content-Type", kind)
		return b.content(schema, "json", required)
	case form != "":
		return b.content(fields, "form", required)
	case text != "":
		b.headers["Content-Type"] = text + "; charset=utf-8"
		b.full(map[string]any{"type": "string"}, required)
	default:
		other, _ := media(at, anyMedia)
		return noteOf(at, "its body is %s", cmp.Or(other, "without \"content\"")).advise(badBody)
	}
	return nil
}

// exactly sets a header to a kind of JSON that isn't the usual one.
func (b *builder) exactly(header, kind string) {
	if !usual.MatchString(kind) && strings.HasSuffix(kind, "json") && !strings.Contains(kind, "*") {
		b.headers[header] = kind
	}
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
		object = b.schema(n, request)
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
		if sends == "form" && b.kindsOf(schema).isNested() {
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
		b.headers["Content-Type"] = "application/x-www-form-urlencoded"
	}
	return nil
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
		kind, schema := media(n, usual, likeJSON)
		plain, _ := media(n, likeText)
		first, _ := media(n, anyMedia)
		switch {
		case kind != "":
			b.exactly("Accept", kind)
			value := any(true)
			if schema != nil {
				value = b.schema(schema, response)
			}
			schemas = append(schemas, value)
		case first == "":
			isEmpty = true
		default:
			text, other = cmp.Or(text, plain), cmp.Or(other, first)
		}
	}
	others, _ := b.resolve(at.Get("default"))
	if kind, _ := media(others, likeJSON); !succeeds && kind != "" {
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
