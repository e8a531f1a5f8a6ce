package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
)

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
	err    error // the first value that can't be in the request
}

// ShownRequest is the request as people see it: variables of the environment, which are secret,
// stand there by their names.
func ShownRequest(h *plan.HTTP, params map[string]any) (*plan.WebRequest, error) {
	r, err := HTTPRequest(h, params, AsWritten)
	if err == nil {
		r.URL = escapedVariable.ReplaceAllString(r.URL, "{$$$1}")
	}
	return r, err
}

var escapedVariable = regexp.MustCompile(`%7B%24([A-Za-z_][A-Za-z0-9_]*)%7D`)

// HTTPRequest is what is sent for a call with these parameters; lookup gives what a variable
// of the environment holds. The error is an [*UnfitArgument], which never tells that.
func HTTPRequest(h *plan.HTTP, params map[string]any, lookup func(variable string) string) (*plan.WebRequest, error) {
	in := &filling{params: params, lookup: lookup}
	r := &plan.WebRequest{Method: h.Method, URL: h.Scheme + "://"}
	if h.User != "" {
		r.URL += in.encoded(h.User, false) + "@"
	}
	path := in.encoded(h.Path, true)
	if slices.ContainsFunc(strings.Split(path, "/"), isDots) { // by what is beside a value
		in.unfit(cmp.Or(parametersIn(h.Path)...), "pass names",
			"the values make a segment of the url's path lead to another folder")
	}
	r.URL += h.Host + cmp.Or(path, "/")
	var query []string
	if h.Search != "" {
		query = append(query, in.encoded(h.Search, false))
	}
	for _, f := range in.fields(h.Query) {
		query = append(query, escape(f[0])+"="+escape(f[1]))
	}
	if len(query) > 0 {
		r.URL += "?" + strings.Join(query, "&")
	}
	r.Headers = in.fields(h.Headers)
	for _, f := range r.Headers {
		if badHeader(f[1]) {
			at := slices.IndexFunc(h.Headers, func(h plan.HTTPField) bool { return h.Name == f[0] })
			in.unfit(namedIn(h.Headers[at].Value), "pass it in one line",
				"the value for the header %q has a character that no header has", f[0])
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
	if reference.IsExpression(n.Text) {
		if ref, err := reference.Parse(n.Text); err == nil {
			names = []string{ref.Kind}
		}
	}
	for _, item := range n.Items {
		names = append(names, namedIn(item))
	}
	return cmp.Or(names...)
}

// escape writes a text so that it stays what it is wherever it is in an address: all but letters, digits and -._~ as
// %XX (RFC 6570, level 1).
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// encoded fills in a part of an address, with what is filled in escaped.
func (in *filling) encoded(template string, inPath bool) string {
	put := func(parameter, name, value string) string {
		if why := unnamed(value); inPath && why != "" {
			in.unfit(parameter, "pass a name", "the value of %q %s, and stands in the path of the url", name, why)
		}
		return escape(value)
	}
	return replace(template, func(name string) string {
		switch value := in.params[name].(type) {
		case nil:
			in.unfit(name, "pass it", "the url needs %q, and it isn't given", name)
			return ""
		case []any, map[string]any:
			in.unfit(name, "pass a text, a number or a boolean",
				"%q is a list or an object, which can't stand in a url", name)
			return ""
		default:
			return put(name, name, Text(value))
		}
	}, func(variable string) string { return put("", AsWritten(variable), in.lookup(variable)) })
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

// value is what a template makes of what is given, and whether that is there.
func (in *filling) value(n *source.Node) (any, bool) {
	switch n.Kind {
	case source.String:
		switch {
		case strings.HasPrefix(n.Text, "††"):
			return strings.TrimPrefix(n.Text, "†"), true
		case reference.IsExpression(n.Text):
			ref, err := reference.Parse(n.Text)
			if err != nil {
				return nil, false
			}
			return pathtree.Walk(in.params, append([]reference.Segment{{Key: ref.Kind}}, ref.Path...))
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
			in.unfit(parameter, "pass texts, numbers or booleans",
				"the value for %q is an object, or has one in it, and can't be sent there", field)
		default:
			texts = append(texts, Text(item))
		}
	}
	return texts
}

// body is what is sent, and in which form.
func (in *filling) body(h *plan.HTTP) (body any, sends string) {
	if h.Body != nil {
		value, there := in.value(h.Body)
		if body = value; !there {
			return nil, plan.StreamNone
		}
	} else {
		rest := maps.Clone(in.params) // that are nowhere by name
		maps.DeleteFunc(rest, func(name string, _ any) bool { return h.Taken[name] })
		if body = rest; h.Sends == "" && len(rest) == 0 {
			return nil, plan.StreamNone
		}
	}
	switch h.Sends {
	case plan.StreamNone:
		return nil, plan.StreamNone
	case plan.StreamText:
		if body == nil {
			body = ""
		}
		return Text(body), plan.StreamText
	case plan.BodyForm:
		fields, ok := body.(map[string]any)
		if !ok {
			in.unfit(namedIn(h.Body), "pass an object", "a form is made of an object, and this is none")
		}
		form := url.Values{}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			form[name] = in.texts(fields[name], name, name)
		}
		return form.Encode(), plan.BodyForm
	}
	return body, plan.StreamJSON
}

// HTTPUser is who asks by the address itself, nil if nobody does.
func HTTPUser(h *plan.HTTP, lookup func(variable string) string) *url.Userinfo {
	in := filling{lookup: lookup}
	at, err := url.Parse("http://" + in.encoded(h.User, false) + "@host")
	if in.err != nil || err != nil {
		return nil
	}
	return at.User
}

// SentVariables are the fields of headers and query that take something from the environment, by their
// names and that of the variable: Authorization with {$KEY}.
func SentVariables(h *plan.HTTP) (sent []string) {
	for _, f := range slices.Concat(h.Headers, h.Query) {
		for _, text := range f.Value.Several() {
			for _, name := range variable.FindAllString(text.Text, -1) {
				sent = append(sent, f.Name+" with "+name)
			}
		}
	}
	return slices.Compact(sent)
}
