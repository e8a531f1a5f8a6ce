// Package decode reads mappings of a document into Go values. Tags of a struct declare which keys a mapping has and
// what their values may be; what differs becomes a finding with its place, the closest word and a fix. It never decides
// what a value means.
package decode

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Reader collects the findings about a document.
type Reader struct {
	Found diag.Findings
	Call  string // the call that findings are about; "" for none
}

// Report adds a finding, as [diag.Findings.Report] does.
func (r *Reader) Report(rule *diag.Rule, at source.Span, format string, args ...any) *diag.Diagnostic {
	return r.Found.Report(rule, at, format, args...).About(r.Call)
}

// Expects reports a value of the wrong kind.
func (r *Reader) Expects(n *source.Node, what, expected string) *diag.Diagnostic {
	return r.Report(diag.WrongType, n.Span(), "%s is %s; expected %s", what, n.Kind, expected)
}

// Fields are those of a mapping, nil of none; a value of another kind is reported.
func (r *Reader) Fields(n *source.Node, what, expected string) []source.Field {
	if n == nil {
		return nil
	}
	if n.Kind != source.Object {
		r.Expects(n, what, expected)
	}
	return n.Fields
}

// Items are those of a list, nil of none; a value of another kind is reported.
func (r *Reader) Items(n *source.Node, what, expected string) []*source.Node {
	if n == nil {
		return nil
	}
	if n.Kind != source.Array {
		r.Expects(n, what, expected)
	}
	return n.Items
}

// Mapping reads a mapping into the struct that to points to, and reports whether it is one. A field's tags are
//
//	key:"attempts"          the key; a field without it isn't read
//	words:"eager,lazy"      the words that a string may be; a number is the position of the word
//	from:"1" to:"9"         the bounds of a number; above:"0" excludes the lower
//	null:"allowed"          null leaves the field as it is
//	short:"attempts"        a scalar in the place of a mapping is the value of this key
//	of:"files of tools"     what a string says; it must not be blank
//	need:"write url: …"     the key is required, and this is the help where it is missing
//	pattern:"^[a-z]+$"      what each string of a list, or each name of settings, must match
//	schema:"values"         where [Complete] finds what a [*source.Node] may be
//
// Fields are strings, booleans, numbers, durations, pointers to these, structs, []string for a list, [Setting]s for a
// mapping from names to strings, []*source.Node for the strings of a list or a single one, and [*source.Node] for
// values that the caller reads afterwards. Further keys have handlers, by name, or nil for those that are read
// elsewhere. Keys that begin with x- are ignored.
func (r *Reader) Mapping(n *source.Node, what string, to any, handlers map[string]func(source.Field)) bool {
	fields := fieldsOf(reflect.TypeOf(to).Elem())
	if n.Kind != source.Object {
		found := r.Expects(n, what, "a mapping")
		for _, f := range fields {
			found.Help = cmp.Or(found.Help, f.Tag.Get("need"))
		}
		return false
	}
	for _, f := range n.Fields {
		r.Field(n, f, what, to, handlers)
	}
	for _, f := range fields {
		if help := f.Tag.Get("need"); help != "" && n.Get(f.key) == nil {
			r.Report(diag.WrongType, n.Span().Head(), "%s has no %q", what, f.key).Advise("%s", help)
		}
	}
	return true
}

// Field reads one field of a mapping into the struct that to points to, as [Reader.Mapping] reads all.
func (r *Reader) Field(n *source.Node, f source.Field, what string, to any, handlers map[string]func(source.Field)) {
	into := reflect.ValueOf(to).Elem()
	if known := fieldOf(into.Type(), f.Key.Text); known != nil {
		r.value(f.Value, known.quoted, into.FieldByIndex(known.Index), known.Tag)
	} else if handle, ok := handlers[f.Key.Text]; handle != nil {
		handle(f)
	} else if !ok && !strings.HasPrefix(f.Key.Text, "x-") {
		r.UnknownKey(n, f.Key, what, slices.AppendSeq(KeysOf(into.Interface()), maps.Keys(handlers)))
	}
}

// KeysOf are the keys that the tags of a struct declare.
func KeysOf(of any) (keys []string) {
	for _, f := range fieldsOf(reflect.TypeOf(of)) {
		keys = append(keys, f.key)
	}
	return keys
}

// Keys reads a mapping by handlers alone; see [Reader.Mapping].
func (r *Reader) Keys(n *source.Node, what string, handlers map[string]func(source.Field)) bool {
	return r.Mapping(n, what, &struct{}{}, handlers)
}

type field struct {
	reflect.StructField
	key, quoted string
}

func fieldOf(t reflect.Type, key string) *field {
	fields := fieldsOf(t)
	if at := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); at >= 0 {
		return &fields[at]
	}
	return nil
}

var layouts sync.Map // the fields of a struct, by its type

func fieldsOf(t reflect.Type) []field {
	if known, ok := layouts.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if key, ok := f.Tag.Lookup("key"); ok {
			fields = append(fields, field{f, key, strconv.Quote(key)})
		}
	}
	layouts.Store(t, fields)
	return fields
}

// Value reads one value into what to points to, and reports whether it is as the tags say, which are those of a field.
func (r *Reader) Value(n *source.Node, what string, to any, tags reflect.StructTag) bool {
	return r.value(n, what, reflect.ValueOf(to).Elem(), tags)
}

func (r *Reader) value(n *source.Node, what string, to reflect.Value, tag reflect.StructTag) bool {
	switch into := to.Addr().Interface().(type) {
	case **source.Node:
		*into = n
		return true
	case *[]*source.Node:
		*into = r.Texts(n, what, tag.Get("of"))
		return true
	case *[]string:
		*into = r.list(n, what, tag)
		return n.Kind == source.Array
	case *[]Setting:
		*into = r.settings(n, what, tag)
		return n.Kind == source.Object
	case *time.Duration:
		*into = r.Duration(n, what)
		return *into > 0
	}
	words := tag.Get("words")
	switch {
	case n.Kind == source.Null && tag.Get("null") == "allowed":
		return false
	case to.Kind() == reflect.Pointer:
		fresh := reflect.New(to.Type().Elem())
		ok := r.value(n, what, fresh.Elem(), tag)
		if ok {
			to.Set(fresh)
		}
		return ok
	case to.Kind() == reflect.Struct && n.Kind < source.Array && tag.Get("short") != "":
		only := fieldOf(to.Type(), tag.Get("short"))
		return r.value(n, what, to.FieldByIndex(only.Index), only.Tag)
	case to.Kind() == reflect.Struct:
		return r.Mapping(n, what, to.Addr().Interface(), nil)
	case words != "":
		all := strings.Split(words, ",")
		word := r.OneOf(n, what, all...)
		if word != "" && to.Kind() == reflect.String {
			to.SetString(word)
		} else if word != "" {
			to.SetUint(uint64(slices.Index(all, word)))
		}
		return word != ""
	case to.Kind() == reflect.String && tag.Get("of") != "" && !IsText(n):
		r.Expects(n, what, tag.Get("of"))
		return false
	case to.Kind() == reflect.String:
		to.SetString(r.Text(n, what))
		return n.Kind == source.String
	case to.Kind() == reflect.Bool:
		to.SetBool(r.Bool(n, what))
		return n.Kind == source.Bool
	}
	return r.number(n, what, to, tag)
}

func (r *Reader) number(n *source.Node, what string, to reflect.Value, tag reflect.StructTag) bool {
	full, expected := to.Kind() == reflect.Int, "a number"
	if full {
		expected = "a whole number"
	}
	least, most, excluded := math.Inf(-1), math.Inf(1), false
	for _, bound := range []struct {
		tag, word string
		to        *float64
	}{{"from", "from", &least}, {"above", "above", &least}, {"to", "to", &most}} {
		if text := tag.Get(bound.tag); text != "" {
			*bound.to, _ = strconv.ParseFloat(text, 64)
			expected += " " + bound.word + " " + text
			excluded = excluded || bound.tag == "above"
		}
	}
	v := n.Float()
	if n.Kind != source.Number || v < least || v > most || excluded && v == least ||
		full && (v != math.Trunc(v) || v > math.MaxInt32) {
		r.Report(diag.WrongType, n.Span(), "%s must be %s", what, expected)
		return false
	}
	if full {
		to.SetInt(int64(v))
	} else {
		to.SetFloat(v)
	}
	return true
}

// A Setting gives a name a text.
type Setting struct{ Name, Value string }

func (r *Reader) settings(n *source.Node, what string, tag reflect.StructTag) (all []Setting) {
	for _, f := range r.Fields(n, what, "a mapping from names to texts") {
		r.matches(f.Key, what, tag)
		if f.Value.Kind != source.String {
			r.Expects(f.Value, strconv.Quote(f.Key.Text)+" in "+what, "a text").Advise("write it in quotes")
			continue
		}
		all = append(all, Setting{f.Key.Text, f.Value.Text})
	}
	return all
}

func (r *Reader) list(n *source.Node, what string, tag reflect.StructTag) (all []string) {
	for _, item := range r.Items(n, what, "a list of strings") {
		if text := r.Text(item, "an item of "+what); text != "" {
			r.matches(item, what, tag)
			all = append(all, text)
		}
	}
	return all
}

func (r *Reader) matches(n *source.Node, what string, tag reflect.StructTag) {
	pattern := tag.Get("pattern")
	if ok, _ := regexp.MatchString(pattern, n.Text); n.Text != "" && !ok {
		r.Report(diag.WrongType, n.Span(), "%q in %s can't be a name", n.Text, what).Advise("it must match %s", pattern)
	}
}

// Text reads a string; "" for anything else.
func (r *Reader) Text(n *source.Node, what string) string {
	if n.Kind != source.String {
		r.Expects(n, what, "a string")
		return ""
	}
	return n.Text
}

// IsText reports whether a value is a string that isn't blank.
func IsText(n *source.Node) bool { return n.Kind == source.String && strings.TrimSpace(n.Text) != "" }

// Texts reads a list of strings that aren't blank, or a single one, and returns those that are.
func (r *Reader) Texts(n *source.Node, what, expected string) (texts []*source.Node) {
	for _, item := range n.Several() {
		if IsText(item) {
			texts = append(texts, item)
		} else {
			r.Expects(item, what, expected)
		}
	}
	return texts
}

// OneOf reads a string that must be one of a few words; "" for anything else.
func (r *Reader) OneOf(n *source.Node, what string, words ...string) string {
	if n.Kind == source.String && slices.Contains(words, n.Text) {
		return n.Text
	}
	f := r.Report(diag.WrongType, n.Span(), "%s must be one of %s", what, strings.Join(words, ", "))
	names := naming.NewSuggester(words)
	if near, ok := names.Nearest(n.Text); ok && n.Kind == source.String {
		Intended(f, n, near, names.Sure(n.Text))
	}
	return ""
}

// Bool reads true or false.
func (r *Reader) Bool(n *source.Node, what string) bool {
	if n.Kind != source.Bool {
		r.Expects(n, what, "true or false")
	}
	return n.IsTrue()
}

// Duration reads a time such as 300ms, 30s or 1h30m; 0 for anything else.
func (r *Reader) Duration(n *source.Node, what string) time.Duration {
	if n.Kind == source.String {
		if d, err := time.ParseDuration(n.Text); err == nil && d > 0 {
			return d
		}
	}
	r.Report(diag.WrongType, n.Span(), "%s must be a duration above 0", what).
		Advise("write it like 300ms, 30s or 1h30m")
	return 0
}

// Intended offers a near name in the place of a scalar. The fix is safe if no other could be meant.
func Intended(f *diag.Diagnostic, n *source.Node, near string, safe bool) *diag.Diagnostic {
	return f.Advise("did you mean %q?", near).Rename(n, 0, len(n.Text), near, safe)
}

// BadExpression reports an expression that can't be parsed.
func (r *Reader) BadExpression(n *source.Node, err *expression.Error) *diag.Diagnostic {
	f := r.Report(diag.BadExpression, n.Within(err.Start, err.End), "%s", err.Message)
	f.Help = err.Help
	after := strings.TrimLeft(string(n.File.Text[n.End:min(n.End+80, len(n.File.Text))]), " \t\r\n")
	if n.Style == source.Plain && strings.HasSuffix(err.Message, "is never closed") {
		switch {
		case strings.HasPrefix(after, ","):
			f.Help = "YAML ends an unquoted value at a comma inside { } and [ ]: put the whole expression in quotes"
		case strings.HasPrefix(after, "#"):
			f.Help = "YAML takes what follows a blank and # for a comment: put the whole expression in quotes"
		}
	}
	return f
}

// UnknownKey reports a key of a mapping that its format doesn't have.
func (r *Reader) UnknownKey(n, key *source.Node, what string, known []string) *diag.Diagnostic {
	f := r.Report(diag.UnknownKey, key.Span(), "%s has no key %q", what, key.Text)
	known = slices.Sorted(slices.Values(known))
	switch near, safe := Meant(key.Text, known); {
	case near == "":
		return f.Advise("known keys are %s; keys that begin with x- are ignored", strings.Join(known, ", "))
	case n.Get(near) != nil:
		return f.Advise("%q is there already: keep one of the two", near)
	default:
		return Intended(f, key, near, safe)
	}
}

// Meant is the word that a key must have meant, misspelt or as other systems call it, and whether it can be no other;
// "" where there is none.
func Meant(key string, words []string) (near string, safe bool) {
	names := naming.NewSuggester(words)
	near, _ = names.Nearest(key)
	if word, ok := Foreign(key, words); ok && word != near {
		return word, false
	}
	return near, near != "" && names.Sure(key)
}

// foreign are our words by the names that other systems have for them, in small letters and without separators.
// No name represents two words that one mapping knows.
var foreign = func() map[string][]string {
	all := map[string][]string{}
	for intended, names := range map[string]string{
		"calls": "steps tasks jobs nodes actions stages toolcalls", "plan": "name title workflow",
		"input":  "inputs parameters params vars variables args arguments with",
		"output": "outputs result results return returns", "tools": "functions", "description": "summary",
		"limits":     "parallel concurrency maxparallel parallelism",
		"activities": "activity implementations", "exec": "shell command cmd run program script",
		"argv":        "command cmd args run",
		"_tool":       "tool uses action function",
		"_when":       "if condition cond when guard",
		"_after":      "needs dependson depends requires after waitfor dependencies runafter",
		"_each":       "foreach loop withitems each map",
		"_retry":      "retries retry attempts maxretries maxattempts",
		"_timeout":    "timeout timeoutseconds deadline",
		"_confirm":    "confirm approval requireapproval requiresapproval needsapproval humanapproval manual",
		"_id":         "id name key step",
		"_outputPath": "outputpath saveas assignto register resultpath out result output storeas into",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], intended)
		}
	}
	return all
}()

var withoutHyphens = strings.NewReplacer("_", "", "-", "")

// Foreign is the one of some words that other systems call by this name.
func Foreign(name string, words []string) (string, bool) {
	folded := strings.ToLower(withoutHyphens.Replace(name))
	for _, intended := range foreign[folded] {
		if slices.Contains(words, intended) {
			return intended, true
		}
	}
	return "", false
}
