package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// usualTimeout is how long a request and all of its answer may take by default.
const usualTimeout = time.Minute

type httpKeys struct {
	Method   string        `key:"method" words:"GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS"`
	URL      *source.Node  `key:"url" need:"write http: {method: GET, url: \"https://host/path/{parameter}\"}"`
	Query    *source.Node  `key:"query"`
	Headers  *source.Node  `key:"headers"`
	Body     *source.Node  `key:"body"`
	Response string        `key:"response" words:"json,text,full,none"`
	Timeout  time.Duration `key:"timeout"`
}

type httpFieldKeys struct {
	Value *source.Node `key:"value" need:"write {value: †list, join: \",\"}"`
	Join  string       `key:"join"`
}

var _ = register(Kind{
	Name: "http", Keys: httpKeys{},
	About: "A request over HTTP. In its texts {name} stands for a parameter, {{name}} for that text and {$NAME} for " +
		"what the environment holds, which is secret; a text that is †name is the parameter itself.",
	read: func(c *compilation, a *plan.Activity, n *source.Node, what string) {
		var keys httpKeys
		h := &plan.HTTP{Taken: map[string]bool{}}
		if a.HTTP = h; !c.Mapping(n, what, &keys, nil) {
			return
		}
		h.Response, a.Timeout = keys.Response, cmp.Or(keys.Timeout, usualTimeout)
		if h.Method = keys.Method; n.Get("method") == nil {
			h.Method = "GET"
		}
		c.httpURL(a, keys.URL)
		h.Query = c.httpFields(a, keys.Query, "query")
		h.Headers = c.httpFields(a, keys.Headers, "headers")
		c.headerNames(keys.Headers)
		// No digest covers the order of the text.
		slices.SortStableFunc(h.Query, func(a, b plan.HTTPField) int { return strings.Compare(a.Name, b.Name) })
		if keys.Body != nil {
			c.httpBody(a, keys.Body)
		} else if !slices.Contains([]string{"POST", "PUT", "PATCH"}, h.Method) {
			h.Sends = StreamNone
		}
		for _, p := range a.Parameters {
			h.Taken[p.Name] = true
		}
	},
})

// httpURL reads the template of an address.
func (c *compilation) httpURL(a *plan.Activity, n *source.Node) {
	if n == nil {
		return
	}
	text := c.Text(n, "\"url\"")
	if text == "" {
		return
	}
	notePlaces(a, n)
	wrong := func(part, format string, args ...any) *diag.Diagnostic {
		at := max(0, strings.Index(text, part))
		return c.Report(diag.WrongType, n.Within(at, at+len(part)), format, args...)
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }); at >= 0 {
		wrong(text[at:at+1], "the url has a character that no address has").Advise("write it as %%%02X", text[at])
		return
	}
	part := plan.HttpAddress.FindStringSubmatch(text)
	if part == nil {
		wrong(text, "%q is no address", text).Advise("write it like https://api.example.com/users/{name}; the host comes from no parameter and no variable, and another file of activities can name another")
		return
	}
	h := a.HTTP
	h.Scheme, h.User, h.Host, h.Path, h.Search = strings.ToLower(part[1]), part[2], part[3], part[4], part[5]
	at, err := url.Parse("http://" + h.Host)
	switch {
	case h.Scheme != "http" && h.Scheme != "https":
		wrong(part[1], "requests go by http or https, and the url says %q", part[1]).Advise("begin it with https://")
	case strings.ContainsAny(h.Host, "{}"):
		wrong(h.Host, "the host can't come from a parameter or the environment").Advise("write it out; another file of activities can name another host")
	case err != nil || at.Hostname() == "" || strings.HasSuffix(h.Host, ":") || !strings.HasPrefix(h.Host, "[") && !hosts.IsName(hosts.Name(at.Hostname())):
		wrong(text, "%q is no host", h.Host).Advise("write it in ASCII, like api.example.com:8443; other letters as xn--…")
	case len(parametersIn(h.User)) > 0:
		wrong(h.User, "who asks can't come from a parameter").Advise("take it from the environment: {$USER}:{$PASSWORD}@")
	case part[6] != "":
		wrong(part[6], "what follows # is never sent").Advise("leave it out")
	default:
		c.openPassword(n)
		for segment := range strings.SplitSeq(h.Path, "/") {
			plain, err := url.PathUnescape(placeholder().ReplaceAllString(segment, "x"))
			switch {
			case err != nil:
				wrong(segment, "a %% in the url stands for no byte").Advise("write it as %%25")
			case isDots(plain):
				wrong("/"+segment, "the url leaves a folder by %q", plain).Advise("write the path that is meant")
			}
		}
	}
}

// httpTemplate reads a value of a request, in which †name is a parameter and {name} its text.
func (c *compilation) httpTemplate(a *plan.Activity, n *source.Node) {
	for _, item := range n.Items {
		c.httpTemplate(a, item)
	}
	for _, f := range n.Fields {
		c.httpTemplate(a, f.Value)
	}
	if n.Kind == source.String && expression.IsExpression(n.Text) {
		c.reference(a, n)
	} else {
		notePlaces(a, n)
	}
}

// httpFields reads the fields of a query, or headers.
func (c *compilation) httpFields(a *plan.Activity, n *source.Node, key string) (all []plan.HTTPField) {
	if n == nil {
		return nil
	}
	if n.Kind != source.Object {
		c.Expects(n, fmt.Sprintf("%q", key), "a mapping from names to texts or †parameters")
	}
	for _, f := range n.Fields {
		one := plan.HTTPField{Name: f.Key.Text, Value: f.Value}
		if f.Value.Get("value") != nil {
			var keys httpFieldKeys
			c.Mapping(f.Value, fmt.Sprintf("%q in %q", f.Key.Text, key), &keys, nil)
			one.Value, one.Join = keys.Value, keys.Join
		}
		if isDeep(one.Value) {
			c.Expects(one.Value, fmt.Sprintf("%q in %q", f.Key.Text, key), "a text, a †parameter, or a list of them").
				Advise("a list is sent as several fields, and as one where {value: †list, join: \",\"} says so")
			continue
		}
		c.httpTemplate(a, one.Value)
		all = append(all, one)
	}
	return all
}

// isDeep reports whether a template is no text, number or boolean, nor a list of them.
func isDeep(n *source.Node) bool {
	return n.Kind == source.Object || slices.ContainsFunc(n.Items, func(n *source.Node) bool { return n.Kind == source.Object || n.Kind == source.Array })
}

// ownHeaders are those that follow from the request and its connection.
var ownHeaders = []string{"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headerNames refuses headers that can't be sent as they are written; nil has none.
func (c *compilation) headerNames(n *source.Node) {
	if n == nil {
		return
	}
	first := map[string]bool{}
	for _, f := range n.Fields {
		name := strings.ToLower(f.Key.Text)
		switch {
		case !headerName.MatchString(name):
			c.Report(diag.WrongType, f.Key.Span(), "%q can't be the name of a header", f.Key.Text).Advise("a name is made of letters, digits and -")
		case slices.Contains(ownHeaders, name):
			c.Report(diag.WrongType, f.Key.Span(), "the header %q follows from the request itself", f.Key.Text).Advise("leave it out")
		case first[name]:
			c.Report(diag.DuplicateKey, f.Key.Span(), "the header %q is there twice", f.Key.Text).Advise("give it a list of values")
		}
		first[name] = true
		if f.Value.Kind == source.String && badHeader(f.Value.Text) {
			c.Report(diag.WrongType, f.Value.Span(), "the header %q has a character that no header has", f.Key.Text).Advise("write it in one line")
		}
	}
}

// contentType is what the headers say of the body, in lower case and without parameters.
func contentType(h *plan.HTTP) string {
	for _, f := range h.Headers {
		if strings.EqualFold(f.Name, "content-type") {
			kind, _, _ := strings.Cut(f.Value.Text, ";")
			return strings.ToLower(strings.TrimSpace(kind))
		}
	}
	return ""
}

// httpBody reads what is sent.
func (c *compilation) httpBody(a *plan.Activity, n *source.Node) {
	h := a.HTTP
	words := []string{StreamJSON, plan.BodyForm, StreamText, StreamNone}
	kind := contentType(h)
	isJSON := kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")
	switch {
	case n.Kind == source.String && slices.Contains(words, n.Text):
		h.Sends = n.Text
	case n.Kind == source.Object || n.Kind == source.Array || n.Kind == source.String && expression.IsExpression(n.Text):
		h.Body, h.Sends = n, StreamJSON
		if kind == "application/x-www-form-urlencoded" {
			h.Sends = plan.BodyForm
		} else if !isJSON {
			h.Sends = StreamText
		}
		if h.Sends == StreamText && n.Kind != source.String || h.Sends == plan.BodyForm && n.Kind == source.Array {
			c.Report(diag.WrongType, n.Span().Head(), "this can't be sent as %s", kind).Advise("a mapping is sent as JSON, or where Content-Type says application/x-www-form-urlencoded as a form")
		} else if h.Sends == plan.BodyForm {
			for _, f := range n.Fields {
				if isDeep(f.Value) {
					c.Expects(f.Value, fmt.Sprintf("%q in a form", f.Key.Text), "a text, a †parameter, or a list of them")
				}
			}
		}
	case n.Kind == source.String && placeholder().MatchString(n.Text):
		h.Body, h.Sends = n, StreamText
	default:
		c.OneOf(n, "\"body\"", append(words, "†parameter", "a mapping", "a text with {parameter}")...)
	}
	if h.Body != nil {
		c.httpTemplate(a, h.Body)
	}
	if h.Sends != StreamNone && (h.Method == "GET" || h.Method == "HEAD") {
		c.Report(diag.WrongType, n.Span().Head(), "a %s has no body", h.Method).Advise("say method: POST, or pass the values under \"query\"")
	}
}

// isDots reports whether a segment of a path represents another folder.
func isDots(segment string) bool { return segment == "." || segment == ".." }

// badHeader reports whether a text can't be the value of a header.
func badHeader(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// A filling puts what a call passes into a request.
type filling struct {
	params map[string]any
	lookup func(variable string) string
	shown  bool  // for people: variables stand there by their names
	err    error // the first value that can't be in the request
}

// HTTPRequest is what is sent for a call with these parameters; lookup gives what a variable
// of the environment holds. The error is an [*UnfitArgument], which never tells that.
func HTTPRequest(h *plan.HTTP, params map[string]any, lookup func(variable string) string) (*plan.WebRequest, error) {
	return request(h, &filling{params: params, lookup: lookup})
}

// ShownRequest is the request as people see it: variables of the environment, which are secret,
// stand there by their names.
func ShownRequest(h *plan.HTTP, params map[string]any) (*plan.WebRequest, error) {
	return request(h, &filling{params: params, lookup: AsWritten, shown: true})
}

func request(h *plan.HTTP, in *filling) (*plan.WebRequest, error) {
	r := &plan.WebRequest{Method: h.Method, URL: h.Scheme + "://"}
	if h.User != "" {
		r.URL += in.encoded(h.User, false) + "@"
	}
	r.URL += h.Host + in.path(h.Path)
	query := in.encoded(h.Search, false)
	for _, f := range in.fields(h.Query) {
		if query != "" {
			query += "&"
		}
		query += in.escape(f[0]) + "=" + in.escape(f[1])
	}
	if query != "" {
		r.URL += "?" + query
	}
	for _, h := range h.Headers {
		for _, f := range in.fields([]plan.HTTPField{h}) {
			if r.Headers = append(r.Headers, f); badHeader(f[1]) {
				in.unfit(namedIn(h.Value), "pass it in one line", "the value for the header %q has a character that no header has", f[0])
			}
		}
	}
	r.Body, r.Sends = in.body(h)
	if in.err != nil {
		return nil, in.err
	}
	return r, nil
}

// unfit notes why a value can't be in a request, unless another can't.
func (in *filling) unfit(parameter, help, format string, args ...any) {
	if in.err == nil {
		in.err = &UnfitArgument{parameter, fmt.Sprintf(format, args...), help}
	}
}

// namedIn is the first parameter in a template; "" for none.
func namedIn(n *source.Node) string {
	names := parametersIn(n.Text)
	if expression.IsExpression(n.Text) {
		if ref, err := expression.ParsePath(n.Text); err == nil {
			names = []string{ref.Kind}
		}
	}
	for _, item := range n.Items {
		names = append(names, namedIn(item))
	}
	return cmp.Or(names...)
}

// escape writes a text so that it stays what it is wherever it is in an address: all but letters, digits and -._~ as
// %XX (RFC 6570, level 1). What people are shown is escaped but for the names of variables.
func (in *filling) escape(text string) string {
	text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	if in.shown {
		text = escapedVariable.ReplaceAllString(text, "{$$$1}")
	}
	return text
}

var escapedVariable = regexp.MustCompile(`%7B%24([A-Za-z_][A-Za-z0-9_]*)%7D`)

// encoded fills in a part of an address, with what is filled in escaped.
func (in *filling) encoded(template string, inPath bool) string {
	return placeholder().ReplaceAllStringFunc(template, func(found string) string {
		name, value := named(found), ""
		switch {
		case name != "":
			switch v := in.params[name].(type) {
			case nil:
				in.unfit(name, "pass it", "the url needs %q, and it isn't given", name)
				return ""
			case []any, map[string]any:
				in.unfit(name, "pass a text, a number or a boolean", "%q is a list or an object, which can't stand in a url", name)
				return ""
			default:
				value = argumentText(v)
			}
		case found[0] == '$':
			return found
		case found[1] == '$':
			value = in.lookup(found[2 : len(found)-1])
		default:
			return found[1 : len(found)-1]
		}
		if why := unnamed(value); inPath && why != "" {
			in.unfit(name, "pass a name", "the value of %q %s, and stands in the path of the url", cmp.Or(name, found), why)
		}
		return in.escape(value)
	})
}

// unnamed says why a value isn't one name in a path, also once more decoded; "" for one that is.
func unnamed(value string) string {
	plain, err := url.PathUnescape(value)
	if err != nil {
		plain = value
	}
	for _, text := range []string{value, plain} {
		switch {
		case text == "":
			return "is empty"
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return "has a control character"
		case slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }), isDots):
			return "leads to another folder"
		}
	}
	return ""
}

// path fills in the path of an address. No segment becomes another folder, whatever is beside a value in it.
func (in *filling) path(template string) string {
	path := in.encoded(template, true)
	if slices.ContainsFunc(strings.Split(path, "/"), isDots) {
		in.unfit(cmp.Or(parametersIn(template)...), "pass names", "the values make a segment of the url's path lead to another folder")
	}
	return cmp.Or(path, "/")
}

// value is what a template makes of what is given, and whether that is there.
func (in *filling) value(n *source.Node) (any, bool) {
	switch n.Kind {
	case source.String:
		switch {
		case strings.HasPrefix(n.Text, "††"):
			return strings.TrimPrefix(n.Text, "†"), true
		case expression.IsExpression(n.Text):
			ref, err := expression.ParsePath(n.Text)
			if err != nil {
				return nil, false
			}
			return pathtree.Walk(in.params, append([]expression.Segment{{Key: ref.Kind}}, ref.Path...))
		}
		for _, name := range parametersIn(n.Text) {
			if in.params[name] == nil {
				return nil, false
			}
		}
		return fill(n.Text, in.params, in.lookup), true
	case source.Array:
		list := []any{}
		for _, item := range n.Items {
			if v, there := in.value(item); there {
				list = append(list, v)
			}
		}
		return list, true
	case source.Object:
		object := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			if v, there := in.value(f.Value); there {
				object[f.Key.Text] = v
			}
		}
		return object, true
	}
	return n.Value(), true
}

// fields are the fields of a query or of headers: a list is as many fields, and what isn't given is none.
func (in *filling) fields(all []plan.HTTPField) (list [][2]string) {
	for _, f := range all {
		value, _ := in.value(f.Value)
		texts := in.texts(value, f.Name, namedIn(f.Value))
		if f.Join != "" && len(texts) > 0 {
			texts = []string{strings.Join(texts, f.Join)}
		}
		for _, text := range texts {
			list = append(list, [2]string{f.Name, text})
		}
	}
	return list
}

// texts are those of one field.
func (in *filling) texts(value any, field, parameter string) (texts []string) {
	items, many := value.([]any)
	if !many {
		items = []any{value}
	}
	for _, item := range items {
		switch item.(type) {
		case nil:
		case []any, map[string]any:
			in.unfit(parameter, "pass texts, numbers or booleans", "the value for %q is an object, or has one in it, and can't be sent there", field)
		default:
			texts = append(texts, argumentText(item))
		}
	}
	return texts
}

// body is what is sent, and in which form.
func (in *filling) body(h *plan.HTTP) (body any, sends string) {
	var of any
	rest := maps.Clone(in.params) // that are nowhere by name
	maps.DeleteFunc(rest, func(name string, _ any) bool { return h.Taken[name] })
	switch {
	case h.Sends == StreamNone, h.Body == nil && h.Sends == "" && len(rest) == 0:
		return nil, StreamNone
	case h.Body != nil:
		value, there := in.value(h.Body)
		if of = value; !there {
			return nil, StreamNone
		}
	case h.Sends == StreamText:
		for _, name := range slices.Sorted(maps.Keys(rest)) {
			if of != nil {
				in.unfit(name, "say in \"body\" which: †name", "one parameter is sent as a text, and %q is another", name)
			}
			of = rest[name]
		}
	default:
		of = rest
	}
	switch h.Sends {
	case StreamText:
		text, ok := of.(string)
		if !ok && of != nil {
			text = argumentText(of)
		}
		return text, StreamText
	case plan.BodyForm:
		fields, ok := of.(map[string]any)
		if !ok {
			in.unfit(namedIn(h.Body), "pass an object", "a form is made of an object, and this is none")
		}
		form := url.Values{}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			form[name] = in.texts(fields[name], name, name)
		}
		return form.Encode(), plan.BodyForm
	}
	return of, StreamJSON
}
