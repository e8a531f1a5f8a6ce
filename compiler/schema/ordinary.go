package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// Ordinary is the schema compiled by the ordinary validator, once. It is slower
// than [Schema.Validate] and says the same. It must be given only JSON values
// of modest depth, such as those that [Schema.Accepts] has seen.
func (s *Schema) Ordinary() (*ordinary.Schema, error) {
	s.ready()
	s.compile.Do(func() {
		if s.err != nil {
			s.broken = s.err
			return
		}
		s.compiled, s.broken = compileOrdinary(s.node)
	})
	return s.compiled, s.broken
}

// confirms reports whether the ordinary validator, too, gives this answer. It isn't
// able to where it can't read the schema, or reads it otherwise (the patterns and
// dynamic references of some).
func (s *Schema) confirms(v any, accepted bool) (confirmed, able bool) {
	if s == nil {
		return accepted, true
	}
	compiled, err := s.Ordinary()
	if err != nil {
		return false, false
	}
	return (compiled.Validate(v) == nil) == accepted, !s.node.scoped
}

func newCompiler() *ordinary.Compiler {
	c := ordinary.NewCompiler()
	c.Draft = ordinary.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside of this document", url)
	}
	c.RegisterExtension(irregularPattern, nil, irregular{})
	return c
}

// irregularPattern replaces the keyword pattern where Go's expressions can't say what it says. Of patternProperties
// there is no such thing: the library can't read those.
const irregularPattern = "x-irregular-pattern"

type irregular struct{ *regex.Pattern }

func (irregular) Compile(_ ordinary.CompilerContext, m map[string]any) (ordinary.ExtSchema, error) {
	source, ok := m[irregularPattern].(string)
	if !ok {
		return nil, nil
	}
	p, _, err := regex.Compile(source)
	return irregular{p}, err
}

func (p irregular) Validate(c ordinary.ValidationContext, v any) error {
	if text, ok := v.(string); ok && !p.Match(text) {
		return c.Error(irregularPattern, "the pattern doesn't match")
	}
	return nil
}

var metaschemas sync.Map // URL → *ordinary.Schema

func metaschemaOf(url string) (*ordinary.Schema, error) {
	if found, ok := metaschemas.Load(url); ok {
		return found.(*ordinary.Schema), nil
	}
	compiled, err := newCompiler().Compile(url)
	if err == nil {
		metaschemas.Store(url, compiled)
	}
	return compiled, err
}

// compileOrdinary compiles a node. A combination becomes a small document of its own,
// whose parts are compiled where they stand.
func compileOrdinary(n *node) (*ordinary.Schema, error) {
	if n.unit != detached {
		return n.unit.family.export.compile(n)
	}
	c, parts := newCompiler(), &partPlaces{}
	c.RegisterExtension(partKeyword, nil, parts)
	const top = "obelus:///combination"
	if err := add(c, top, map[string]any{"$schema": metaURL[Draft2020], "allOf": []any{parts.place(n)}}); err != nil {
		return nil, err
	}
	return c.Compile(top)
}

// partKeyword represents a part of a combination in its text, by number.
const partKeyword = "x-part"

type partPlaces struct{ nodes []*node }

// place is the text of a combination, or refers to a node of another text.
func (x *partPlaces) place(n *node) any {
	if n.unit != detached {
		x.nodes = append(x.nodes, n)
		return map[string]any{partKeyword: len(x.nodes) - 1}
	}
	if n.meta != "" {
		return n.raw
	}
	switch n.verdict {
	case always:
		return true
	case never:
		return false
	}
	return n.made(x.place)
}

func (x *partPlaces) Compile(_ ordinary.CompilerContext, m map[string]any) (ordinary.ExtSchema, error) {
	number, ok := m[partKeyword].(json.Number)
	if !ok {
		return nil, nil
	}
	i, err := strconv.Atoi(string(number))
	if err != nil {
		return nil, err
	}
	compiled, err := compileOrdinary(x.nodes[i])
	return compiledPart{compiled}, err
}

type compiledPart struct{ *ordinary.Schema }

func (p compiledPart) Validate(c ordinary.ValidationContext, v any) error {
	if p.Schema.Validate(v) != nil {
		return c.Error(partKeyword, "the part doesn't accept this")
	}
	return nil
}

// An exporter hands the texts of a family to the ordinary validator, each once, as a
// resource of its own with every reference spelled out.
type exporter struct {
	mutex      sync.Mutex
	compiler   *ordinary.Compiler // nil before anything is compiled
	urls       map[*unit]string
	units      []*unit // that have a URL
	added      int     // how many of the units the compiler has
	unreadable bool    // something has no form that the library can read
	err        error   // of what was compiled before, which leaves the compiler unusable
}

// compile compiles the place of a node.
func (x *exporter) compile(n *node) (compiled *ordinary.Schema, err error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.err != nil {
		return nil, x.err
	}
	defer func() {
		if r := recover(); r != nil { // the library panics on texts it should refuse
			compiled, err = nil, fmt.Errorf("the ordinary validator can't compile this schema: %v", r)
		}
		x.err = err
	}()
	if x.compiler == nil {
		x.compiler, x.urls = newCompiler(), map[*unit]string{}
		x.compiler.AssertFormat = n.unit.family.options.AssertFormat
	}
	url := x.address(n)
	for ; x.added < len(x.units); x.added++ {
		u := x.units[x.added]
		if err := add(x.compiler, x.urls[u], x.export(u)); err != nil {
			return nil, err
		}
	}
	if x.unreadable {
		return nil, errors.New("the ordinary validator can't compile patterns of names with look-around or back-references")
	}
	return x.compiler.Compile(url)
}

func add(c *ordinary.Compiler, url string, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return c.AddResource(url, bytes.NewReader(text))
}

// exportedKey is the key of a node under patternProperties as Go reads the pattern,
// and of any other the one that it has. Of patterns that are alike then, all but the
// first end in groups of nothing.
func (n *node) exportedKey() string {
	if n.keyword != "patternProperties" || n.parent.objects == nil {
		return n.key
	}
	list := n.parent.objects.patterns
	i := slices.IndexFunc(list, func(p patternRule) bool { return p.node == n })
	if i < 0 {
		return n.key
	}
	key := list[i].pattern.Text()
	for _, p := range list[:i] {
		if p.pattern.Text() == list[i].pattern.Text() {
			key += "(?:)"
		}
	}
	return key
}

// address is where a node stands.
func (x *exporter) address(n *node) string {
	if n.meta != "" {
		return n.meta
	}
	u := n.unit
	if x.urls[u] == "" {
		x.urls[u] = fmt.Sprintf("obelus:///%d", len(x.units))
		x.units = append(x.units, u)
	}
	var b strings.Builder
	b.WriteString(x.urls[u])
	b.WriteByte('#')
	for _, token := range n.pathBy((*node).exportedKey) {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")))
	}
	return b.String()
}

// export is a unit's text with its references spelled out and its own names
// for places taken away, so that nothing is left to resolve. Where dynamic
// references depend on those names, the text is left alone.
func (x *exporter) export(u *unit) any {
	doc := clone(u.raw)
	if m, ok := doc.(map[string]any); ok {
		m["$schema"] = metaURL[u.draft]
	}
	nodes := []*node{u.root}
	for _, key := range slices.Sorted(maps.Keys(u.odd)) {
		nodes = append(nodes, u.odd[key])
	}
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		nodes = append(nodes, n.children...)
		at, _ := along(doc, n.pathBy((*node).exportedKey))
		if m, ok := at.(map[string]any); ok {
			x.spellOut(n, m)
		}
	}
	return doc
}

func (x *exporter) spellOut(n *node, m map[string]any) {
	u := n.unit
	delete(m, "regexProperties") // a private keyword of the library
	delete(m, irregularPattern)
	if n.parent != nil {
		delete(m, "$schema")
	}
	if u.draft == Draft7 {
		delete(m, "contentSchema") // of a later draft, but the library reads it
	}
	for _, k := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
		if f, ok := number(m[k]); ok && f > maxCount {
			m[k] = float64(maxCount)
		}
	}
	if n.strings != nil && n.strings.pattern != nil {
		if m["pattern"] = n.strings.pattern.Text(); !n.strings.pattern.Regular() {
			delete(m, "pattern")
			m[irregularPattern] = n.strings.pattern.Source
		}
	}
	if old, ok := m["patternProperties"].(map[string]any); ok && n.objects != nil {
		patterns := map[string]any{}
		for _, p := range n.objects.patterns {
			patterns[p.node.exportedKey()] = old[p.pattern.Source]
			x.unreadable = x.unreadable || !p.pattern.Regular()
		}
		m["patternProperties"] = patterns
	}
	if u.family.scoped {
		return
	}
	for _, k := range []string{"$anchor", "$dynamicAnchor", "$recursiveAnchor", "$recursiveRef", "$dynamicRef"} {
		if u.draft >= Draft2019 {
			delete(m, k)
		}
	}
	if u.draft == Draft4 {
		delete(m, "id")
	} else {
		delete(m, "$id")
	}
	if n.ref == nil {
		delete(m, "$ref")
		return
	}
	m["$ref"] = x.address(n.ref)
	for _, extra := range n.allOf { // a settled $dynamicRef beside a $ref
		if extra.parent != n {
			list, _ := m["allOf"].([]any)
			m["allOf"] = append(list, map[string]any{"$ref": x.address(extra)})
		}
	}
}

// along follows a pointer through plain JSON.
func along(doc any, path []string) (any, bool) {
	for _, token := range path {
		step := Key(token)
		if _, list := doc.([]any); list {
			i, err := strconv.Atoi(token)
			if err != nil {
				return nil, false
			}
			step = Step{Index: i, IsIndex: true}
		}
		var there bool
		if doc, there = stepInto(doc, step); !there {
			return nil, false
		}
	}
	return doc, true
}

// clone copies a JSON value and makes all its numbers float64.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = clone(x)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = clone(x)
		}
		return list
	}
	if f, ok := number(v); ok {
		return f
	}
	return v
}
