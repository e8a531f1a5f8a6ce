package kinds

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
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
	read: func(r *Reader, a *plan.Activity, n *source.Node, what string) {
		var keys httpKeys
		h := &plan.HTTP{Taken: map[string]bool{}}
		if a.HTTP = h; !r.Mapping(n, what, &keys, nil) {
			return
		}
		h.Response, a.Timeout = keys.Response, cmp.Or(keys.Timeout, usualTimeout)
		if h.Method = keys.Method; n.Get("method") == nil {
			h.Method = "GET"
		}
		r.httpURL(a, keys.URL)
		h.Query = r.httpFields(a, keys.Query, "query")
		h.Headers = r.httpFields(a, keys.Headers, "headers")
		r.headerNames(keys.Headers)
		// No digest covers the order of the text.
		slices.SortStableFunc(h.Query, func(a, b plan.HTTPField) int { return strings.Compare(a.Name, b.Name) })
		if keys.Body != nil {
			r.httpBody(a, keys.Body)
		} else if !slices.Contains([]string{"POST", "PUT", "PATCH"}, h.Method) {
			h.Sends = plan.StreamNone
		}
		for _, p := range a.Parameters {
			h.Taken[p.Name] = true
		}
	},
})

const ownHost = "the host comes from no parameter and no variable, and another file of activities can name another"

// httpURL reads the template of an address.
func (r *Reader) httpURL(a *plan.Activity, n *source.Node) {
	if n == nil {
		return
	}
	text := r.Text(n, "\"url\"")
	if text == "" {
		return
	}
	r.note(a, n, true, false)
	wrong := func(part, format string, args ...any) *diag.Diagnostic {
		at := max(0, strings.Index(text, part))
		return r.Report(diag.WrongType, n.Within(at, at+len(part)), format, args...)
	}
	part := plan.HttpAddress.FindStringSubmatch(text)
	if part == nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		wrong(text, "%q is no address", text).
			Advise("write it like https://api.example.com/users/{name}, and a blank in it as %%20; " + ownHost)
		return
	}
	h := a.HTTP
	h.Scheme, h.User, h.Host, h.Path, h.Search = strings.ToLower(part[1]), part[2], part[3], part[4], part[5]
	at, err := url.Parse("http://" + h.Host)
	switch {
	case h.Scheme != "http" && h.Scheme != "https":
		wrong(part[1], "requests go by http or https, and the url says %q", part[1]).Advise("begin it with https://")
	case err != nil || at.Hostname() == "" || strings.HasSuffix(h.Host, ":") ||
		!strings.HasPrefix(h.Host, "[") && !hosts.IsName(hosts.Name(at.Hostname())):
		wrong(text, "%q is no host", h.Host).
			Advise("write it in ASCII, like api.example.com:8443, other letters as xn--…; " + ownHost)
	case len(parametersIn(h.User)) > 0:
		wrong(h.User, "who asks can't come from a parameter").
			Advise("take it from the environment: {$USER}:{$PASSWORD}@")
	case part[6] != "":
		wrong(part[6], "what follows # is never sent").Advise("leave it out")
	default:
		for _, at := range wording.PasswordsIn(text) {
			r.Report(diag.WrongType, n.Within(at[0], at[1]),
				"the url contains a password, which everyone who reads this file or a journal can see").
				As(diag.Warning).Advise("take it from the environment: {$USER}:{$PASSWORD}@")
		}
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

// httpFields reads the fields of a query, or headers.
func (r *Reader) httpFields(a *plan.Activity, n *source.Node, key string) (all []plan.HTTPField) {
	for _, f := range r.Fields(n, fmt.Sprintf("%q", key), "a mapping from names to texts or †parameters") {
		one := plan.HTTPField{Name: f.Key.Text, Value: f.Value}
		if f.Value.Get("value") != nil {
			var keys httpFieldKeys
			r.Mapping(f.Value, fmt.Sprintf("%q in %q", f.Key.Text, key), &keys, nil)
			one.Value, one.Join = keys.Value, keys.Join
		}
		if isDeep(one.Value) {
			r.Expects(one.Value, fmt.Sprintf("%q in %q", f.Key.Text, key), "a text, a †parameter, or a list of them").
				Advise("a list is sent as several fields, and as one where {value: †list, join: \",\"} says so")
			continue
		}
		r.note(a, one.Value, true, true)
		all = append(all, one)
	}
	return all
}

// isDeep reports whether a template is no text, number or boolean, nor a list of them.
func isDeep(n *source.Node) bool {
	return n.Kind == source.Object || slices.ContainsFunc(n.Items,
		func(n *source.Node) bool { return n.Kind == source.Object || n.Kind == source.Array })
}

// IsHeader reports whether a text can be the name of a header.
func IsHeader(name string) bool { return headerName.MatchString(name) }

// OwnHeaders are those that follow from the request and its connection, in small letters.
var OwnHeaders = []string{"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
	"proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headerNames refuses headers that can't be sent as they are written; nil has none.
func (r *Reader) headerNames(n *source.Node) {
	if n == nil {
		return
	}
	first := map[string]bool{}
	for _, f := range n.Fields {
		name := strings.ToLower(f.Key.Text)
		switch {
		case !IsHeader(name):
			r.Report(diag.WrongType, f.Key.Span(), "%q can't be the name of a header", f.Key.Text).
				Advise("a name is made of letters, digits and -")
		case slices.Contains(OwnHeaders, name):
			r.Report(diag.WrongType, f.Key.Span(), "the header %q follows from the request itself", f.Key.Text).
				Advise("leave it out")
		case first[name]:
			r.Report(diag.DuplicateKey, f.Key.Span(), "the header %q is there twice", f.Key.Text).
				Advise("give it a list of values")
		}
		first[name] = true
		if f.Value.Kind == source.String && badHeader(f.Value.Text) {
			r.Report(diag.WrongType, f.Value.Span(), "the header %q has a character that no header has", f.Key.Text).
				Advise("write it in one line")
		}
	}
}

// httpBody reads what is sent.
func (r *Reader) httpBody(a *plan.Activity, n *source.Node) {
	h, kind := a.HTTP, "" // what the headers say of the body
	for _, f := range h.Headers {
		if strings.EqualFold(f.Name, "content-type") {
			kind, _, _ = strings.Cut(f.Value.Text, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
		}
	}
	words := []string{plan.StreamJSON, plan.BodyForm, plan.StreamNone}
	isReference := n.Kind == source.String && reference.IsExpression(n.Text)
	switch {
	case n.Kind == source.String && slices.Contains(words, n.Text):
		h.Sends = n.Text
	case n.Kind == source.String && !isReference && !placeholder().MatchString(n.Text), n.Kind != source.String &&
		n.Kind != source.Object && n.Kind != source.Array:
		r.OneOf(n, "\"body\"", append(words, "†parameter", "a mapping", "a text with {parameter}")...)
	default:
		h.Body, h.Sends = n, plan.StreamText
		r.note(a, n, true, true)
		isText := n.Kind == source.String && !isReference
		if isForm := kind == "application/x-www-form-urlencoded"; isForm && !isText {
			h.Sends = plan.BodyForm
		} else if !isText && (kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")) {
			h.Sends = plan.StreamJSON
		}
		if h.Sends == plan.StreamText && n.Kind != source.String || h.Sends == plan.BodyForm && n.Kind == source.Array {
			r.Report(diag.WrongType, n.Span().Head(), "this can't be sent as %s", kind).Advise(
				"a mapping is sent as JSON, or where Content-Type says application/x-www-form-urlencoded as a form")
		} else if h.Sends == plan.BodyForm {
			for _, f := range n.Fields {
				if isDeep(f.Value) {
					r.Expects(f.Value, fmt.Sprintf("%q in a form", f.Key.Text),
						"a text, a †parameter, or a list of them")
				}
			}
		}
	}
	if h.Sends != plan.StreamNone && (h.Method == "GET" || h.Method == "HEAD") {
		r.Report(diag.WrongType, n.Span().Head(), "a %s has no body", h.Method).
			Advise("say method: POST, or pass the values under \"query\"")
	}
}
