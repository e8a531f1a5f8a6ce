package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// methods are the keys of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch"}

// operations goes over all operations of the document. Each has its name before one is
// chosen, so that which are wanted changes no name.
func (r *reading) operations() {
	names := map[string]int{}
	for _, path := range r.root.Get("paths").Fields {
		if strings.HasPrefix(path.Key.Text, "x-") {
			continue // an extension
		}
		item, refused := r.resolve(path.Value)
		if refused == nil && !strings.HasPrefix(path.Key.Text, "/") {
			refused = noteOf(path.Key, "a path begins with /")
		}
		if refused != nil {
			r.operation(&Operation{Method: "any method", Path: path.Key.Text, Node: path.Key}, refused, nil, nil)
			continue
		}
		for _, f := range item.Fields {
			if !slices.Contains(methods, f.Key.Text) {
				continue
			}
			node, refused := r.resolve(f.Value)
			o := &Operation{Method: strings.ToUpper(f.Key.Text), Path: path.Key.Text, Node: f.Key}
			o.Name = unique(names, cmp.Or(safeName(textAt(node, "operationId")), safeName(f.Key.Text+" "+o.Path)))
			for _, tag := range orEmpty(node.Get("tags")).Items {
				o.Tags = append(o.Tags, tag.AsText())
			}
			r.operation(o, refused, node, item)
		}
	}
}

// operation makes a tool and an activity of an operation that is wanted. Nothing is changed in
// what isn't imported, so that there are no notes of it.
func (r *reading) operation(o *Operation, refused *Note, node, item *source.Node) {
	if r.Wanted != nil && !r.Wanted(o) {
		return
	}
	noted := len(r.Notes)
	if refused == nil {
		b := builder{reading: r, Operation: o, node: node, item: item, taken: map[string]int{},
			properties: map[string]any{}, query: map[string]any{}, headers: map[string]any{},
			http: map[string]any{"method": o.Method}}
		if refused = b.build(); refused != nil {
			r.Notes = r.Notes[:noted]
		}
	}
	if refused != nil && !refused.At.Known() {
		refused.At = o.Node.Span()
	}
	o.Refused = refused
	r.Operations = append(r.Operations, o)
}

const maxName = 64 // characters of a tool's name, as models' interfaces have it

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// safeName is a name of letters, digits, - and _, or "".
func safeName(text string) string {
	name := strings.Trim(unsafe.ReplaceAllString(text, "_"), "_-")
	return name[:min(len(name), maxName)]
}

// unique is a name that isn't taken, and takes it. What is kept of a name is how many
// there are that begin so.
func unique(taken map[string]int, name string) string {
	one := name
	for i := taken[name] + 1; taken[one] > 0; i++ {
		end := fmt.Sprintf("_%d", i)
		one = name[:min(len(name), maxName-len(end))] + end
		taken[name] = i
	}
	taken[one]++
	return one
}

// Named is a name for what comes from elsewhere under some name: of letters, digits, - and
// _, and one that isn't taken, which it is then.
func Named(taken map[string]int, name string) string {
	return unique(taken, cmp.Or(safeName(name), "tool"))
}

// A builder makes a tool and an activity of one operation.
type builder struct {
	*reading
	*Operation
	node, item *source.Node

	taken      map[string]int // names of parameters
	properties map[string]any
	required   []any
	query      map[string]any
	headers    map[string]any
	url        string
	http       map[string]any
}

func (b *builder) build() *Note {
	b.outside = nil
	for _, step := range []func() *Note{b.server, b.parameters, b.body, b.result, b.security} {
		if refused := cmp.Or(step(), b.outside); refused != nil {
			return refused
		}
	}
	b.http["url"] = b.url
	if len(b.query) > 0 {
		b.http["query"] = b.query
	}
	if maps.Copy(b.headers, b.Headers); len(b.headers) > 0 {
		b.http["headers"] = b.headers
	}
	b.activity = map[string]any{"http": b.http}
	if hints := effects[b.Method]; hints != nil {
		b.activity["annotations"] = hints
	}
	b.tool = map[string]any{"x-operation": b.Operation.String(), "type": "object", "properties": b.properties}
	if len(b.required) > 0 {
		b.tool["required"] = b.required
	}
	if text := b.describe(); text != "" {
		b.tool["description"] = text
	}
	if b.node.Get("deprecated").IsTrue() {
		b.tool["deprecated"] = true
	}
	return nil
}

// effects are what RFC 9110 says of methods: what is safe only reads, and what is
// idempotent may be done twice. The effect of a POST or PATCH is unknown, which is the worst.
var effects = map[string]map[string]any{
	"GET": {"readOnlyHint": true}, "HEAD": {"readOnlyHint": true}, "OPTIONS": {"readOnlyHint": true},
	"PUT": {"idempotentHint": true}, "DELETE": {"idempotentHint": true, "destructiveHint": true},
}

// MaxDescription is how many characters a tool may say of itself.
const MaxDescription = 1_000

// describe says what the operation does.
func (b *builder) describe() string {
	summary, text := strings.TrimSpace(textAt(b.node, "summary")), strings.TrimSpace(textAt(b.node, "description"))
	if !strings.HasPrefix(text, summary) {
		text = strings.TrimSpace(summary + "\n\n" + text)
	}
	if b.node.Get("deprecated").IsTrue() {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	return wording.Cut(text, MaxDescription)
}

// server finds the address that the operation is sent to.
func (b *builder) server() *Note {
	address, at := b.Server, b.root
	for _, holder := range []*source.Node{b.node, b.item, b.root} {
		servers := orEmpty(holder.Get("servers")).Items
		if len(servers) == 0 || address != "" {
			continue
		}
		at = servers[0]
		address = textAt(at, "url")
		for _, f := range orEmpty(at.Get("variables")).Fields {
			if usual := f.Value.Get("default"); usual != nil {
				address = strings.ReplaceAll(address, "{"+f.Key.Text+"}", usual.Text)
			}
		}
	}
	if why := NotAnAddress(address); why != "" {
		return noteOf(at, "%s", why).advise(noAddress)
	}
	b.url = strings.TrimSuffix(address, "/") + b.Path
	return nil
}

// NotAnAddress is why a text isn't the address of a service, or "".
func NotAnAddress(text string) string {
	switch {
	case absolute.MatchString(text):
		return ""
	case len(wording.PasswordsIn(text)) > 0:
		return fmt.Sprintf(
			"%q has a password in it, which isn't kept in a catalogue; what shows who asks is a header that is "+
				"taken from the environment", wording.WithoutPasswords(text))
	case text == "":
		return "no server is named"
	}
	return fmt.Sprintf("%q is no address of a service: expected https://, a host and a path", text)
}

var absolute = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]_-]+(/[^\s{}?#\\]*)?$`)

// A credential is what a security scheme adds to a request.
type credential struct {
	into                 map[string]any
	field, before, holds string
	scheme               string
}

// security adds what shows who asks, of the first requirement that can be met.
func (b *builder) security() *Note {
	needs := orEmpty(cmp.Or(b.node.Get("security"), b.root.Get("security")))
	var unmet []string
	for _, need := range needs.Items {
		var all []credential
		for _, f := range need.Fields {
			if c := b.credential(f.Key.Text); c.into != nil {
				all = append(all, c)
			} else {
				unmet = append(unmet, f.Key.Text)
			}
		}
		if need.Kind == source.Object && len(all) == len(need.Fields) {
			for _, c := range all {
				c.into[c.field] = c.before + b.variable(c.scheme, c.holds)
			}
			return nil
		}
	}
	if len(needs.Items) == 0 || len(b.Headers) > 0 { // which show who asks
		return nil
	}
	return noteOf(needs, "of its security schemes %s can't be met: expected a bearer token, basic, or a key in a "+
		"header or in the query", wording.Names(unmet, 5)).advise(unknownKey)
}

// credential is that of a scheme; empty where it is none that can be sent.
func (b *builder) credential(name string) (c credential) {
	n, _ := b.resolve(b.root.Get("components").Get("securitySchemes").Get(name))
	in, field, way := textAt(n, "in"), textAt(n, "name"), strings.ToLower(textAt(n, "scheme"))
	switch kind := textAt(n, "type"); {
	case kind == "http" && way == "basic":
		return credential{b.headers, "Authorization", "Basic ", "the base64 of user:password", name}
	case kind == "http" && way == "bearer", kind == "oauth2", kind == "openIdConnect":
		return credential{b.headers, "Authorization", "Bearer ", "a token", name}
	case kind == "apiKey" && in == "header" && kinds.IsHeader(field):
		return credential{b.headers, field, "", "the key that is sent as the header " + field, name}
	case kind == "apiKey" && in == "query" && field != "":
		return credential{b.query, field, "", "the key that is sent as " + field + " in the query", name}
	}
	return c
}

// variable is the text that takes a secret from the environment. The variable's name has the
// host, so that no other host is sent the secret, and begins so that it is nobody else's:
// the user sets it for this service or not at all.
func (b *builder) variable(scheme, holds string) string {
	_, host, _ := strings.Cut(b.url, "://")
	host, _, _ = strings.Cut(host, "/")
	name := "OBELUS_" + strings.Trim(notVariable.ReplaceAllString(strings.ToUpper(host+"_"+scheme), "_"), "_")
	b.Variables[name] = holds
	return "{$" + name + "}"
}

var notVariable = regexp.MustCompile(`[^A-Z0-9]+`)
