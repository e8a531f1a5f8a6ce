package openapi

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A parameter is one of the document's, which a call passes under a name of ours.
type parameter struct {
	node     *source.Node
	wire, in string // its name there, and where it is sent
	name     string
	required bool
}

// parameters reads those of the operation, and those of its path that it doesn't
// replace.
func (b *builder) parameters() *refusal {
	var all []parameter
	for _, holder := range []*source.Node{b.item, b.node} {
		list := holder.Get("parameters")
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			n, refused := b.resolve(item)
			if refused != nil {
				return refused
			}
			p := parameter{node: n, wire: textOf(n.Get("name")), in: textOf(n.Get("in"))}
			p.required = p.in == "path" || n.Get("required").IsTrue()
			if p.wire == "" || !slices.Contains([]string{"path", "query", "header", "cookie"}, p.in) {
				return refuse(n, misshapen, "a parameter needs a \"name\", and an \"in\" that is path, query, header or cookie")
			}
			all = slices.DeleteFunc(all, func(q parameter) bool { return q.wire == p.wire && q.in == p.in })
			all = append(all, p)
		}
	}
	// What is in the path keeps its name where others have it, too.
	slices.SortStableFunc(all, func(p, q parameter) int { return strings.Compare(places[p.in], places[q.in]) })
	inPath := map[string]string{}
	for _, p := range all {
		left, refused := b.parameter(&p)
		if refused != nil {
			return refused
		}
		switch {
		case left != nil && p.required:
			return refuse(left.at, unsendable, "the parameter %q is needed: %s", p.wire, left.message)
		case left != nil:
			b.note(left.at, left.reason, "the parameter %q of %s is left out: %s", p.wire, b.Operation, left.message)
		case p.in == "path":
			inPath[p.wire] = p.name
		}
	}
	b.url = placeholder.ReplaceAllStringFunc(b.url, func(found string) string {
		wire := found[1 : len(found)-1]
		if _, known := inPath[wire]; !known {
			name := b.take(wire, "path")
			b.properties[name], inPath[wire] = map[string]any{"type": "string"}, name
			b.required = append(b.required, name)
			b.note(b.Node, "a parameter of a path isn't described", "nothing says what %q in %s is; it is taken for a text", wire, b.Operation)
		}
		return "{" + inPath[wire] + "}"
	})
	if strings.ContainsAny(placeholder.ReplaceAllString(b.url, ""), " {}#\\") {
		return refuse(b.Node, misshapen, "the path %q has a character that no address has", b.Path)
	}
	for segment := range strings.SplitSeq(placeholder.ReplaceAllString(b.url, "x"), "/") {
		switch plain, err := url.PathUnescape(segment); {
		case err != nil:
			return refuse(b.Node, misshapen, "the path %q has a %% that stands for no byte", b.Path)
		case plain == "." || plain == "..":
			return refuse(b.Node, misshapen, "the path %q leaves a folder by %q", b.Path, plain)
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
	if b.taken[name] > 0 {
		b.note(b.Node, "two parameters have one name", "%s has several parameters %q; the one of its %s is called %q", b.Operation, name, in, in+"_"+name)
		name = in + "_" + name
	}
	return unique(b.taken, name)
}

// The reasons for which something optional is left out, or isn't taken for optional.
const (
	cookies        = "cookies aren't sent"
	encodings      = "a parameter has a form that can't be sent"
	takenForNeeded = "a body that may be left out is taken for needed"
)

// styles are how the items of a list are joined where they aren't fields of their own.
var styles = map[string]string{"": ",", "form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|"}

// parameter reads one, or says why it is left out.
func (b *builder) parameter(p *parameter) (left, refused *refusal) {
	if p.in == "cookie" {
		return refuse(p.node, cookies, "it is sent as a cookie"), nil
	}
	if p.in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.wire)) {
		return nil, nil // the document says these elsewhere
	}
	if p.in == "header" && (!headerName.MatchString(p.wire) || slices.Contains(ownHeaders, strings.ToLower(p.wire))) {
		return refuse(p.node, encodings, "%q is a header that follows from the request itself, or none", p.wire), nil
	}
	if p.node.Get("content") != nil {
		return refuse(p.node, encodings, "it is written as a document of its own (\"content\")"), nil
	}
	at := p.node.Get("schema")
	style := textOf(p.node.Get("style"))
	explode := p.node.Get("explode")
	exploded := explode.IsTrue() || explode == nil && p.in == "query" && (style == "" || style == "form")
	join, known := styles[style]
	if p.in == "query" && exploded {
		join = ""
	}
	shape := b.shape(at)
	if p.in == "path" && (shape == "array" || shape == "object") {
		return refuse(p.node, encodings, "%s can't be sent in a path", called(shape)), nil
	}
	if !known && style != "deepObject" {
		return refuse(p.node, encodings, "%s in a %s can't be sent in the style %q", called(shape), p.in, style), nil
	}
	if shape == "object" && (p.in != "query" || style != "deepObject" && !exploded) || shape == "array" && style == "deepObject" {
		return refuse(p.node, encodings, "%s in a %s can't be sent in the style %q", called(shape), p.in, cmp.Or(style, map[bool]string{true: "form", false: "simple"}[p.in == "query"])), nil
	}
	if shape == "array" {
		if inner := b.shape(b.valueAt(at).Get("items")); inner == "array" || inner == "object" {
			return refuse(p.node, encodings, "a list of lists or objects can't be sent"), nil
		}
	}
	var fields map[string]any
	if shape == "object" {
		if fields = b.spread(p, at, style == "deepObject"); fields == nil {
			return refuse(p.node, encodings, "an object whose properties aren't all known texts, numbers and booleans can't be sent"), nil
		}
	}
	p.name = b.take(p.wire, p.in)
	schema := any(map[string]any{})
	if at != nil {
		schema = b.schema(at, request, b.scope)
	}
	b.properties[p.name] = describing(schema, textOf(p.node.Get("description")), p.node.Get("deprecated").IsTrue())
	if p.required {
		b.required = append(b.required, p.name)
	}
	value := any("†" + p.name)
	if shape == "array" && join != "" {
		value = map[string]any{"value": value, "join": join}
	}
	switch {
	case fields != nil:
		for field, of := range fields {
			b.query[field] = "†" + p.name + of.(string)
		}
	case p.in == "query":
		b.query[p.wire] = value
	case p.in == "header":
		b.headers[p.wire] = value
	}
	return nil, nil
}

// ownHeaders are those that an http activity doesn't take.
var ownHeaders = []string{"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

func called(shape string) string {
	switch shape {
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a value"
}

// spread are the fields of a query that the properties of an object are; nil where they
// aren't known, or aren't simple.
func (b *builder) spread(p *parameter, at *source.Node, deep bool) map[string]any {
	object := b.valueAt(at)
	properties := object.Get("properties")
	if properties == nil || len(properties.Fields) == 0 {
		return nil
	}
	fields := map[string]any{}
	for _, f := range properties.Fields {
		inner := b.shape(f.Value)
		if inner == "object" || inner == "array" && deep || !plainKey.MatchString(f.Key.Text) {
			return nil
		}
		field := f.Key.Text
		if deep {
			field = p.wire + "[" + field + "]"
		}
		fields[field] = "." + f.Key.Text
	}
	return fields
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// describing puts what a parameter says of itself beside its schema.
func describing(schema any, text string, deprecated bool) any {
	m, ok := schema.(map[string]any)
	if !ok || text == "" && !deprecated {
		return schema
	}
	m = maps.Clone(m)
	if text != "" && (m["description"] == nil || m["$ref"] != nil) {
		m["description"] = text
	}
	if deprecated {
		m["deprecated"] = true
	}
	return m
}

// valueAt is a schema behind its references, and behind an allOf of one schema.
func (b *builder) valueAt(n *source.Node) *source.Node {
	for range maxHops {
		next, refused := b.resolve(n)
		if refused != nil {
			return nil
		}
		all := next.Get("allOf")
		if next.Get("type") != nil || next.Get("properties") != nil || all == nil || len(all.Items) != 1 {
			return next
		}
		n = all.Items[0]
	}
	return nil
}

// shape is the one type that a schema's values have besides null, as far as it says so:
// "object", "array", or "" for others.
func (b *builder) shape(n *source.Node) string {
	n = b.valueAt(n)
	types := n.Get("type")
	if types == nil {
		switch {
		case n.Get("properties") != nil:
			return "object"
		case n.Get("items") != nil:
			return "array"
		}
		for _, key := range []string{"oneOf", "anyOf"} {
			if several := n.Get(key); several != nil {
				for _, one := range several.Items {
					if types := b.resolved(one).Get("type"); types != nil && (types.Text == "object" || types.Text == "array") {
						continue
					}
					return "" // there is a value that can be sent
				}
				return "object"
			}
		}
		return ""
	}
	for _, one := range append(types.Items, types) {
		if one.Text == "object" || one.Text == "array" {
			return one.Text
		}
	}
	return ""
}

func (b *builder) resolved(n *source.Node) *source.Node {
	n, _ = b.resolve(n)
	return n
}

// A media is one of the forms that a body or a result may have.
type media struct {
	kind string // without parameters, in lower case
	node *source.Node
}

// medias are the forms that a body or a result may have, in the order of the document.
func medias(holder *source.Node) (all []media) {
	content := holder.Get("content")
	if content == nil || content.Kind != source.Object {
		return nil
	}
	for _, f := range content.Fields {
		kind, _, _ := strings.Cut(f.Key.Text, ";")
		all = append(all, media{strings.ToLower(strings.TrimSpace(kind)), f.Value})
	}
	return all
}

func (m media) isJSON() bool {
	return m.kind == "application/json" || strings.HasSuffix(m.kind, "+json") || m.kind == "*/*" || m.kind == "application/*" || m.kind == "text/json"
}

func (m media) isText() bool {
	return strings.HasPrefix(m.kind, "text/") || slices.Contains([]string{"application/text", "application/xml", "application/yaml"}, m.kind) || strings.HasSuffix(m.kind, "+xml")
}

// first is the first of the forms that is of a sort, the plainest before others.
func first(all []media, plain string, is func(media) bool) *media {
	if at := slices.IndexFunc(all, func(m media) bool { return m.kind == plain }); at >= 0 {
		return &all[at]
	}
	if at := slices.IndexFunc(all, is); at >= 0 {
		return &all[at]
	}
	return nil
}

func kindsOf(all []media) string {
	var kinds []string
	for _, m := range all {
		kinds = append(kinds, m.kind)
	}
	return strings.Join(kinds, " or ")
}

const form = "application/x-www-form-urlencoded"

// body reads what the operation sends besides its parameters.
func (b *builder) body() *refusal {
	given := b.node.Get("requestBody")
	bodiless := b.Method == "GET" || b.Method == "HEAD"
	if given == nil {
		if !bodiless {
			b.http["body"] = "none"
		}
		return nil
	}
	n, refused := b.resolve(given)
	if refused != nil {
		return refused
	}
	required := n.Get("required").IsTrue()
	all := medias(n)
	asJSON := first(all, "application/json", media.isJSON)
	asForm := first(all, form, func(media) bool { return false })
	asText := first(all, "text/plain", func(media) bool { return false })
	switch {
	case bodiless && required:
		return refuse(n, BadBody, "a %s with a body isn't sent", b.Method)
	case bodiless:
		b.note(n, BadBody, "%s is sent without a body, as every %s", b.Operation, b.Method)
		return nil
	case asJSON != nil:
		if kind := asJSON.kind; kind != "application/json" && strings.HasSuffix(kind, "json") {
			b.headers["Content-Type"] = kind
		}
		return b.content(asJSON.node.Get("schema"), "json", required)
	case asForm != nil:
		if b.shape(asForm.node.Get("schema")) != "object" {
			return refuse(n, BadBody, "a form whose fields aren't known isn't sent")
		}
		return b.content(asForm.node.Get("schema"), "form", required)
	case asText != nil:
		b.headers["Content-Type"] = "text/plain; charset=utf-8"
		b.full(map[string]any{"type": "string"}, required)
		return nil
	case len(all) == 0:
		return refuse(n, BadBody, "its body has no \"content\"")
	}
	return refuse(n, BadBody, "its body is %s", kindsOf(all))
}

// whole makes a body one parameter.
func (b *builder) full(schema any, required bool) {
	name := b.take("body", "request")
	b.properties[name] = schema
	if required {
		b.required = append(b.required, name)
	}
	b.http["body"] = "†" + name
}

const maxParts = 1_000 // schemas of which a body is put together

// content makes parameters of the properties of a body, or where it isn't such an object
// one of the whole.
func (b *builder) content(n *source.Node, sends string, required bool) *refusal {
	if n == nil {
		b.full(map[string]any{}, required)
		return nil
	}
	external := b.scope.external
	object := b.schema(n, request, b.scope)
	properties, needs, budget := map[string]any{}, map[string]bool{}, maxParts
	ok := b.flat(object, &budget, properties, needs)
	for name := range needs {
		if properties[name] == nil { // it may be anything
			properties[name] = map[string]any{}
		}
	}
	if b.scope.external != external {
		return nil // it isn't imported anyway
	}
	if !ok || len(properties) == 0 {
		if sends == "form" {
			return refuse(n, BadBody, "a form whose fields aren't known isn't sent")
		}
		b.full(object, required)
		return nil
	}
	if !required && len(needs) > 0 {
		b.note(n, takenForNeeded, "the body of %s may be left out, but not the half of it; it is taken for needed", b.Operation)
	}
	template, renamed := map[string]any{}, false
	for _, wire := range slices.Sorted(maps.Keys(properties)) {
		needed := needs[wire]
		if sends == "form" && b.unfit(properties[wire]) {
			if needed {
				return refuse(n, BadBody, "the field %q of its form is an object, which isn't sent", wire)
			}
			b.note(n, encodings, "the form of %s is sent without its fields that are objects, such as %q", b.Operation, wire)
			renamed = true
			continue
		}
		name := b.take(wire, "body")
		b.properties[name], template[wire] = properties[wire], "†"+name
		renamed = renamed || name != wire
		if needed {
			b.required = append(b.required, name)
		}
	}
	switch {
	case !renamed:
		b.http["body"] = sends
	case sends == "form":
		b.headers["Content-Type"] = form
		fallthrough
	default:
		b.http["body"] = template
	}
	return nil
}

// result reads what results from the operation.
func (b *builder) result() *refusal {
	responses := b.node.Get("responses")
	var schemas []any
	var texts, rest []media
	empty, redirects, succeeds := false, false, false
	fields := []source.Field{}
	if responses != nil {
		fields = responses.Fields
	}
	for _, f := range fields {
		status := f.Key.Text
		if redirects = redirects || strings.HasPrefix(status, "3"); len(status) != 3 || status[0] != '2' {
			continue
		}
		succeeds = true
		n, refused := b.resolve(f.Value)
		if refused != nil {
			return refused
		}
		all := medias(n)
		switch answer := first(all, "application/json", media.isJSON); {
		case answer != nil:
			if answer.kind != "application/json" && strings.HasSuffix(answer.kind, "json") {
				b.headers["Accept"] = answer.kind
			}
			schema := any(true)
			if at := answer.node.Get("schema"); at != nil {
				schema = b.schema(at, response, b.scope)
			}
			schemas = append(schemas, schema)
		case len(all) == 0:
			empty = true
		case first(all, "text/plain", media.isText) != nil:
			texts = append(texts, *first(all, "text/plain", media.isText))
		default:
			rest = append(rest, all...)
		}
	}
	if usual := responses.Get("default"); !succeeds && usual != nil {
		if n, refused := b.resolve(usual); refused == nil && first(medias(n), "application/json", media.isJSON) != nil {
			schemas = []any{true} // that of errors, too
		}
	}
	switch {
	case b.Method == "HEAD":
		b.http["response"] = "none"
	case len(schemas) == 0 && len(rest) > 0:
		return refuse(responses, badResult, "its result is %s", kindsOf(rest))
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
		if kind := texts[0].kind; !strings.HasPrefix(kind, "text/") {
			b.headers["Accept"] = kind
		}
	case redirects && !succeeds:
		return refuse(responses, badResult, "its result is a redirect")
	default:
		b.http["response"] = "none"
	}
	return nil
}
