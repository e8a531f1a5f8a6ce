package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Parse reads a policy and returns its findings. The policy is never nil. It must not be used if a
// finding is an error.
func Parse(file *source.File, limits source.Limits) (*Policy, []diag.Diagnostic) {
	r := &reader{policy: &Policy{File: file}, tried: schema.NewAllowance()}
	root, problems := source.Parse(file, limits)
	for _, p := range problems {
		r.Found = append(r.Found, diag.OfProblem(p))
	}
	r.policy.Root = root
	switch {
	case root == nil:
	case root.Kind != source.Object:
		r.Report(diag.WrongType, root.Span(),
			"a policy is %s; expected a mapping with \"tools\", \"values\" and \"rules\"", root.Kind)
	default:
		r.root(root)
	}
	diag.Sort(r.Found)
	return r.policy, r.Found
}

type reader struct {
	decode.Reader
	policy *Policy
	tried  schema.Allowance // for the patterns of all examples
}

// parts are the schemas of the kinds of rules, by name; "" is that of everything else.
var parts = sync.OnceValue(func() map[string]*schema.Schema {
	var document map[string]any
	if err := json.Unmarshal(schemaText, &document); err != nil {
		panic(err)
	}
	all := map[string]*schema.Schema{}
	for _, kind := range kinds {
		all[kind] = schema.New(map[string]any{"$ref": "#/$defs/" + kind, "$defs": document["$defs"]}, schema.Options{})
	}
	delete(document, "$id")
	delete(document["properties"].(map[string]any)["rules"].(map[string]any), "items")
	all[""] = schema.New(document, schema.Options{})
	return all
})

// fits holds a part of the policy against its schema.
func (r *reader) fits(n *source.Node, part, what string) bool {
	s := parts()[part]
	v := s.Validate(n.Value())
	if v == nil {
		return true
	}
	last := len(v.Path) - 1
	if v.Keyword != "additionalProperties" || last < 0 {
		r.Report(diag.WrongType, n.Along(v.Path).Span().Head(), "%s: %s", what, v.Error())
		return false
	}
	within := n.Along(v.Path[:last])
	if last > 0 {
		what += "'s " + reference.Below("", v.Path[:last])
	}
	r.UnknownKey(within, within.Field(v.Path[last].Key).Key, what, s.At(v.Path).Known())
	return false
}

func (r *reader) root(root *source.Node) {
	p := r.policy
	if !r.fits(root, "", "the policy") {
		return
	}
	at := func(key string) *source.Node { return cmp.Or(root.Get(key), &source.Node{}) }
	p.Name, p.Strict = at("policy").AsText(), at("strict").IsTrue()
	for _, f := range at("tools").Fields {
		p.Tools = append(p.Tools, toolOf(f))
		r.names("", f.Key)
	}
	for _, f := range at("values").Fields {
		r.value(f)
	}
	if list := root.Get("hosts"); list != nil {
		p.Hosts = HostsOf(&r.Reader, list)
	}
	for i, n := range at("rules").Items {
		r.rule(n, i)
	}
}

// HostsOf reads a list of hosts that requests may go to, of a policy or of settings.
func HostsOf(r *decode.Reader, list *source.Node) *hosts.List {
	all := &hosts.List{}
	const expected = "a list of hosts like api.example.com, *.example.com:8443, 127.0.0.1:8080 or 10.0.0.0/8"
	for _, n := range r.Texts(list, "\"hosts\"", expected) {
		if one, err := hosts.Parse(n.Text); err != nil {
			r.Report(diag.WrongType, n.Span(), "%q names no host: %v", n.Text, err).Advise("expected %s", expected)
		} else {
			all.Entries = append(all.Entries, one)
		}
	}
	return all
}

func toolOf(f source.Field) Tool {
	t := Tool{Name: f.Key.Text, Node: f.Key, Output: saidOf(f.Value.Get("output"))}
	if list := f.Value.Get("effects"); list != nil {
		t.Effects = new(Effects)
		for _, word := range list.Items {
			*t.Effects |= effectOf(word.Text)
		}
	}
	return t
}

// names notes a parameter of a tool that the policy names, or a tool where that is "".
func (r *reader) names(tool string, n *source.Node) {
	r.policy.Named = append(r.policy.Named, Named{tool, n})
}

// saidOf reads a label that fits its schema.
func saidOf(n *source.Node) (s Said) {
	for r, key := range []string{"integrity", "confidentiality"} {
		if i := slices.Index(levels[r], n.Get(key).AsText()); i >= 0 {
			s[r] = new(Level(i))
		}
	}
	return s
}

func (r *reader) value(f source.Field) {
	key := f.Key
	ref, err := reference.Parse(string(reference.Mark) + strings.TrimPrefix(key.Text, string(reference.Mark)))
	if err != nil {
		r.Report(diag.WrongType, key.Span(), "%q isn't a path: %s", key.Text, err.Message).
			Advise("write it as a reference without †: state.customer.iban")
		return
	}
	if near, ok := naming.Nearest(ref.Kind, reference.Kinds); ok {
		r.Report(diag.WrongType, key.Span(), "the label is of †%s, and nothing but a message's kind is called that",
			ref.Kind).As(diag.Warning).Advise("did you mean %q?", near)
	}
	path := append([]reference.Segment{{Key: ref.Kind}}, ref.Path...)
	r.policy.Values = append(r.policy.Values, Value{Path: path, Node: key, Said: saidOf(f.Value)})
}

// kinds of rules, by the key that tells them.
var kinds = []string{"requires", "bounds", "only", "order", "endorse"}

func (r *reader) rule(n *source.Node, i int) {
	what := fmt.Sprintf("rule %d", i+1)
	if name := n.Get("rule").AsText(); name != "" {
		what = fmt.Sprintf("the rule %q", name)
	}
	var kind []string
	for _, word := range kinds {
		if n.Get(word) != nil {
			kind = append(kind, word)
		}
	}
	if len(kind) != 1 {
		f := r.Report(diag.WrongType, n.Span().Head(), "%s needs exactly one of %s; it has %d", what,
			strings.Join(kinds, ", "), len(kind))
		for _, one := range n.Fields {
			if near, ok := naming.Nearest(one.Key.Text, kinds); ok && len(kind) == 0 {
				f.Advise("did you mean %q?", near).Rename(one.Key, 0, len(one.Key.Text), near, false)
			}
		}
		return
	}
	if !r.fits(n, kind[0], what) {
		return
	}
	rule := Rule{Name: n.Get("rule").Text, Node: n.Get("rule")}
	trial := map[string]func(*source.Node, Rule) trial{
		"requires": r.requires, "bounds": r.bounds, "only": r.only, "order": r.orders, "endorse": r.endorse,
	}[kind[0]](n, rule)
	if trial == nil {
		return
	}
	const advice = "mend the rule, or the example"
	if why, at := trial(n.Get("allows")); at != nil {
		r.Report(diag.WrongType, at.Span().Head(), "%s refuses its own example of what it allows: %s", what, why).
			Advise(advice)
	}
	if _, at := trial(n.Get("denies")); at == nil {
		r.Report(diag.WrongType, n.Get("denies").Span().Head(), "%s lets its own example of what it denies through",
			what).Advise(advice)
	}
}

// A trial is why a rule refuses an example, and the place in it that shows it; nil where it doesn't.
type trial func(example *source.Node) (why string, at *source.Node)
