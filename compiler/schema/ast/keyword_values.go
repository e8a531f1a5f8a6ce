package ast

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// pattern reads a regular expression, or the key of a patternProperties.
func (p *parser) pattern(k, key string, v any) *regex.Pattern {
	source, ok := p.string(k, v)
	if !ok || p.reader.full {
		return nil
	}
	tail := []string{k}
	if k == "patternProperties" {
		tail = append(tail, key)
	}
	if n := utf8.RuneCountInString(source); n > maxPattern {
		p.reader.fail(p.node, tail, "split it, or say less", "a pattern can have %d characters, and this one has %d",
			maxPattern, n)
		return nil
	}
	re, size, err := regex.Compile(source)
	p.reader.besides += size
	if left := p.reader.family.options.Keywords; left != nil && p.reader.keywords+p.reader.besides > *left {
		p.reader.stop(p.node, together, lessTogether)
		return nil
	}
	if err != nil {
		p.reader.fail(p.node, tail, "",
			"%q isn't a usable regular expression of ECMA-262: %s", source, err)
		return nil
	}
	return re
}

// count reads a number of things.
func (p *parser) count(k string, v any, otherwise int) int {
	f, ok := Float(v)
	if !ok || f < 0 || f != math.Trunc(f) || f-f != 0 {
		p.fail(k, "", "%s is a whole number from 0 on; here is %s", k, describe(v))
		return otherwise
	}
	return int(min(f, MaxCount))
}

func (p *parser) string(k string, v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		p.fail(k, "", "%s is a string; here is %s", k, describe(v))
	}
	return s, ok
}

func (p *parser) boolean(k string, v any) bool {
	b, ok := v.(bool)
	if !ok {
		p.fail(k, "", "%s is true or false; here is %s", k, describe(v))
	}
	return b
}

func (p *parser) schema(k, key string, v any) *Node {
	return p.reader.node(p.node.Unit, p.node, k, key, v, p.node.base, p.depth+1)
}

func (p *parser) schemas(k string, v any) []*Node {
	list, ok := v.([]any)
	if !ok {
		p.fail(k, "", "%s is a list of schemas; here is %s", k, describe(v))
		return nil
	}
	if len(list) == 0 {
		p.fail(k, "leave it out", "%s has no schema", k)
	}
	nodes := make([]*Node, 0, len(list))
	for i, x := range list {
		if n := p.schema(k, IndexKey(i), x); n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (p *parser) schemaMap(k string, v any) map[string]*Node {
	m, ok := v.(map[string]any)
	if !ok {
		p.fail(k, "", "%s is an object of schemas; here is %s", k, describe(v))
		return nil
	}
	nodes := make(map[string]*Node, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) { // the first fault is the same each time
		if n := p.schema(k, name, m[name]); n != nil {
			nodes[name] = n
		}
	}
	return nodes
}

// names reads a list of property names.
func (p *parser) names(k, key string, v any) []string {
	tail := []string{k}
	if key != "" {
		tail = append(tail, key)
	}
	list, ok := v.([]any)
	if !ok {
		help := ""
		if k == "required" && KindOf(v) == Boolean {
			help = "since draft 4 it stands beside properties and lists the names"
		}
		p.reader.fail(p.node, tail, help, "%s is a list of property names; here is %s", k, describe(v))
		return nil
	}
	names := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, x := range list {
		name, ok := x.(string)
		switch {
		case !ok:
			p.reader.fail(p.node, append(tail, IndexKey(i)), "", "a property name is a string; here is %s", describe(x))
		case seen[name]:
			p.reader.fail(p.node, append(tail, IndexKey(i)), "name it once", "%s names %q twice", k, name)
		default:
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// Samples are strings of the formats, the shortest first. In the last one each 7 may be any digit but 0.
var Samples = map[string][]string{
	"date-time": {"2024-03-01T10:00:00Z", "2024-03-01T10:00:00+01:00", "2024-07-17T17:27:37Z"},
	"date":      {"2024-03-01", "2024-07-17"}, "time": {"10:00:00Z", "10:00:00+01:00", "17:27:37Z"},
	"duration": {"P1D", "PT1H", "P1DT2H", "P7DT7H"},
	"period":   {"2024-03-01T10:00:00Z/2024-03-02T10:00:00Z", "2024-07-17T17:27:37Z/P7D"},
	"hostname": {"a", "a.b", "example.com", "host777.example.com"}, "idn-hostname": {"host777.example.com"},
	"email": {"a@b", "a@b.co", "ada777@example.com"}, "idn-email": {"ada777@example.com"},
	"ipv4": {"1.2.3.4", "192.0.2.77"}, "ip-address": {"1.2.3.4", "192.0.2.77"},
	"ipv6": {"::", "::1", "2001:db8::777"},
	"uri":  {"a:", "a:b", "https://example.com/777"}, "iri": {"a:b", "https://example.com/777"},
	"uri-reference": {"", "a", "/a/777"}, "uriref": {"", "a", "/a/777"}, "iri-reference": {"", "a", "/a/777"},
	"uri-template": {"", "a", "/a/{id}/777"}, "regex": {"", "a", "^a{77}$"},
	"json-pointer": {"", "/a", "/a/777"}, "relative-json-pointer": {"0", "1/a", "7/a"},
	"uuid": {"3f2b8c1e-9d47-4a6b-8e21-5c0d7f9a1b34", "77777777-9d41-4a6b-8e21-777777777777"},
}
