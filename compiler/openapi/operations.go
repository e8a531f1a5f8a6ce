package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// methods are the keys of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

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
			refused = refuse(path.Key, misshapen, "a path begins with /")
		}
		if refused != nil {
			o := &Operation{Method: "any method", Path: path.Key.Text, Node: path.Key}
			if r.want(o) {
				o.refuse(refused)
			}
			continue
		}
		for _, f := range item.Fields {
			known := slices.Contains(methods, f.Key.Text)
			if !known && (f.Value.Kind != source.Object || strings.HasPrefix(f.Key.Text, "x-")) {
				continue
			}
			o := &Operation{Method: strings.ToUpper(f.Key.Text), Path: path.Key.Text, Node: f.Key, ID: textOf(f.Value.Get("operationId"))}
			o.Name = unique(names, cmp.Or(safeName(o.ID), safeName(f.Key.Text+" "+o.Path)))
			if tags := f.Value.Get("tags"); tags != nil {
				for _, tag := range tags.Items {
					o.Tags = append(o.Tags, textOf(tag))
				}
			}
			if !r.want(o) {
				continue
			}
			if !known {
				o.refuse(refuse(f.Key, badMethod, "%q is no method of OpenAPI: they are %s", f.Key.Text, strings.Join(methods, ", ")))
				continue
			}
			noted := len(r.Notes)
			if own := safeName(o.ID); own != "" && o.Name != own {
				r.note(f.Key, "two operations have one operationId", "%s has the operationId %q of another one; it is called %q", o, o.ID, o.Name)
			}
			b := builder{reading: r, Operation: o, node: f.Value, item: item, taken: map[string]int{}, properties: map[string]any{}}
			if refused := b.build(); refused != nil {
				o.refuse(refused)
				for _, n := range r.Notes[noted:] { // nothing is changed in what isn't imported
					delete(r.noted, n.At)
				}
				r.Notes = r.Notes[:noted]
			}
		}
	}
}

// want reports whether an operation is to be imported, and lists it then.
func (r *reading) want(o *Operation) bool {
	wanted := r.Wanted == nil || r.Wanted(o)
	if wanted {
		r.Operations = append(r.Operations, o)
	} else {
		r.Unwanted++
	}
	return wanted
}

func (o *Operation) refuse(why *refusal) *Operation {
	o.Refused, o.Reason, o.At = why.message, why.reason, why.at.Span().Head()
	if !o.At.Known() {
		o.At = o.Node.Span()
	}
	return o
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

func (b *builder) build() *refusal {
	if b.node.Kind != source.Object {
		return refuse(b.node, misshapen, "an operation is a mapping, not %s", b.node.Kind)
	}
	if b.Method == "TRACE" {
		return refuse(b.Node, badMethod, "requests of the method %s aren't sent", b.Method)
	}
	b.query, b.headers, b.http, b.scope = map[string]any{}, map[string]any{}, map[string]any{"method": b.Method}, &named{}
	for _, step := range []func() *refusal{b.server, b.parameters, b.body, b.result, b.security} {
		if refused := step(); refused != nil {
			return refused
		}
	}
	b.http["url"] = b.url
	if len(b.query) > 0 {
		b.http["query"] = b.query
	}
	if len(b.headers) > 0 {
		b.http["headers"] = maps.Clone(b.headers)
	}
	if maps.Copy(b.headers, b.Headers); len(b.headers) > 0 {
		b.http["headers"] = b.headers
	}
	b.order = append(b.order, b.scope)
	b.activity = map[string]any{"http": b.http}
	if hints := effects[b.Method]; len(hints) > 0 {
		b.activity["annotations"] = hints
	}
	input := map[string]any{"type": "object", "properties": b.properties}
	if len(b.required) > 0 {
		input["required"] = b.required
	}
	b.input = input
	b.tool = map[string]any{"x-operation": b.Operation.String()}
	if text := b.describe(); text != "" {
		b.tool["description"] = text
	}
	if b.node.Get("deprecated").IsTrue() {
		b.tool["deprecated"] = true
	}
	return nil
}

// effects are what RFC 9110 says of methods: what is safe only reads, and what is
// idempotent may be done twice. What a POST or PATCH does nobody says, which is the worst.
var effects = map[string]map[string]any{
	"GET": {"readOnlyHint": true}, "HEAD": {"readOnlyHint": true}, "OPTIONS": {"readOnlyHint": true},
	"PUT": {"idempotentHint": true}, "DELETE": {"idempotentHint": true, "destructiveHint": true},
}

// MaxDescription is how many characters a tool may say of itself.
const MaxDescription = 1_000

// describe says what the operation does, and with which codes a call of it fails as far as the
// document says.
func (b *builder) describe() string {
	summary, description := strings.TrimSpace(textOf(b.node.Get("summary"))), strings.TrimSpace(textOf(b.node.Get("description")))
	text := cmp.Or(description, summary)
	if summary != "" && description != "" && !strings.HasPrefix(description, summary) {
		text = summary + "\n\n" + description
	}
	text = wording.Cut(text, MaxDescription)
	if b.node.Get("deprecated").IsTrue() {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	var fails []string
	if responses := b.node.Get("responses"); responses != nil {
		for _, f := range responses.Fields {
			if status := f.Key.Text; len(status) == 3 && (status[0] == '4' || status[0] == '5') {
				answer, _ := b.resolve(f.Value)
				if why := strings.Join(strings.Fields(textOf(answer.Get("description"))), " "); why != "" {
					status += " (" + strings.TrimSuffix(wording.Cut(why, 80), ".") + ")"
				}
				fails = append(fails, "http-"+status)
			}
		}
	}
	if len(fails) > 0 {
		text = strings.TrimSpace(text + "\n\nFails with " + strings.Join(fails, ", ") + ".")
	}
	return text
}

// server finds the address that the operation is sent to.
func (b *builder) server() *refusal {
	address := b.Server
	at := b.root
	if address == "" {
		for _, holder := range []*source.Node{b.node, b.item, b.root} {
			if servers := holder.Get("servers"); servers != nil && len(servers.Items) > 0 {
				at = servers.Items[0]
				address = textOf(at.Get("url"))
				if variables := at.Get("variables"); variables != nil {
					for _, f := range variables.Fields {
						if usual := f.Value.Get("default"); usual != nil {
							address = strings.ReplaceAll(address, "{"+f.Key.Text+"}", usual.Text)
						}
					}
				}
				break
			}
		}
	}
	if why := NotAnAddress(address); why != "" {
		return refuse(at, NoAddress, "%s", why)
	}
	b.url = strings.TrimSuffix(address, "/") + b.Path
	return nil
}

// NotAnAddress is why a text isn't the address of a service, or "".
func NotAnAddress(text string) string {
	switch scheme, _, full := strings.Cut(text, "://"); {
	case absolute.MatchString(text):
		return ""
	case len(wording.PasswordsIn(text)) > 0:
		return fmt.Sprintf("%q has a password in it, which isn't kept in a catalogue; what shows who asks is a header that is taken from the environment", wording.WithoutPasswords(text))
	case text == "":
		return "no server is named"
	case !full:
		return fmt.Sprintf("%q has no https:// and host", text)
	case scheme != "http" && scheme != "https":
		return fmt.Sprintf("%q isn't reached by http or https", text)
	case strings.Contains(text, "{"):
		return fmt.Sprintf("%q has a variable without a \"default\"", text)
	}
	return fmt.Sprintf("%q is no address of a service: it is a host and a path", text)
}

var absolute = regexp.MustCompile(`^https?://[A-Za-z0-9.:\[\]_-]+(/[^\s{}?#\\]*)?$`)

// security adds what shows who asks, of the first requirement that can be met.
func (b *builder) security() *refusal {
	needs := b.node.Get("security")
	if needs == nil {
		needs = b.root.Get("security")
	}
	if needs == nil || needs.Kind != source.Array || len(needs.Items) == 0 {
		return nil
	}
	var unmet []string
	for _, one := range needs.Items {
		var keys []func()
		can := one.Kind == source.Object
		for _, f := range one.Fields {
			add, why := b.scheme(f.Key.Text)
			if keys = append(keys, add); why != "" {
				can, unmet = false, append(unmet, why)
			}
		}
		if can {
			for _, add := range keys {
				add()
			}
			return nil
		}
	}
	if len(b.Headers) > 0 {
		b.note(needs, UnknownKey, "what shows who asks is taken from the headers that are given: %s", strings.Join(unmet, "; "))
		return nil
	}
	return refuse(needs, UnknownKey, "none of its security schemes can be met: %s", strings.Join(unmet, "; "))
}

// scheme is what a security scheme adds to a request, or why it can't.
func (b *builder) scheme(name string) (add func(), why string) {
	n, refused := b.resolve(b.get(b.root.Get("components").Get("securitySchemes"), name))
	if refused != nil {
		return nil, fmt.Sprintf("%q isn't defined", name)
	}
	variable := func(holds string) string { // its name has the host, so that no other host is sent the secret
		_, host, _ := strings.Cut(b.url, "://")
		host, _, _ = strings.Cut(host, "/")
		v := strings.Trim(notVariable.ReplaceAllString(strings.ToUpper(host+"_"+name), "_"), "_")
		if v == "" || v[0] <= '9' {
			v = "KEY_" + v
		}
		b.holds[v] = holds
		return "{$" + v + "}"
	}
	in, field, scheme := textOf(n.Get("in")), textOf(n.Get("name")), strings.ToLower(textOf(n.Get("scheme")))
	switch kind := textOf(n.Get("type")); {
	case kind == "http" && scheme == "basic":
		return func() { b.headers["Authorization"] = "Basic " + variable("the base64 of user:password") }, ""
	case kind == "http" && scheme == "bearer", kind == "oauth2", kind == "openIdConnect":
		return func() { b.headers["Authorization"] = "Bearer " + variable("a token") }, ""
	case kind == "apiKey" && in == "header" && headerName.MatchString(field):
		return func() { b.headers[field] = variable("the key that is sent as the header " + field) }, ""
	case kind == "apiKey" && in == "query" && field != "":
		return func() { b.query[field] = variable("the key that is sent as " + field + " in the query") }, ""
	case kind == "apiKey":
		return nil, fmt.Sprintf("%q sends a key in a %s", name, in)
	default:
		return nil, fmt.Sprintf("%q is of the type %q", name, strings.TrimSpace(kind+" "+scheme))
	}
}

var (
	notVariable = regexp.MustCompile(`[^A-Z0-9]+`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)
