package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

func steps(path string) []Step {
	var list []Step
	for _, part := range strings.Fields(path) {
		var i int
		if _, err := fmt.Sscanf(part, "[%d]", &i); err == nil {
			list = append(list, Index(i))
		} else {
			list = append(list, Key(part))
		}
	}
	return list
}

// OB513, OB204, OB405: what is known of a path into a schema.
func TestAt(t *testing.T) {
	order := `{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"lines":{"type":"array","items":{"$ref":"#/$defs/line"}},
		"meta":{"type":"object"},"tags":{"type":"object","additionalProperties":{"type":"string"}},"any":{},"gone":false},"$defs":{"line":{"type":"object","properties":{"sku":{"type":"string"}},"additionalProperties":false}}}`
	const (
		possible = 1 << iota
		named
		silent
		required
	)
	for _, c := range []struct {
		schema, path string
		flags        int
		kinds        Kinds
		depth        int
		known        string
	}{
		{order, "id", possible | named | required, String, 1, ""},
		{order, "di", possible, Anything, 0, "any id lines meta tags"},
		{order, "gone", 0, 0, 0, "any id lines meta tags"},
		{order, "id x", 0, 0, 1, ""},
		{order, "id [0]", 0, 0, 1, ""},
		{order, "lines [3] sku", possible | named, String, 3, ""},
		{order, "lines [3] suk", 0, 0, 2, "sku"},
		{order, "lines sku", 0, 0, 1, ""},
		{order, "meta whatever", possible | silent, Anything, 1, ""},
		{order, "any thing at all", possible | silent, Anything, 1, ""},
		{order, "tags red", possible | named, String, 2, ""},
		{`{}`, "a", possible | silent, Anything, 0, ""},
		{`true`, "a [1]", possible | silent, Anything, 0, ""},
		{`false`, "a", 0, 0, 0, ""},
		{`{"type":["object","null"],"properties":{"a":{"type":"integer"}},"required":["a"]}`, "a", possible | named, Integer, 1, ""},
		{`{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}]}`, "a", possible | named, Integer, 1, ""},
		{`{"type":"object","anyOf":[{"type":"null"},{"properties":{"a":{"type":"integer"}},"required":["a"]}]}`, "a", possible | named | required, Integer, 1, ""},
		{`{"oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}},{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}]}`, "a", possible | named | required, Integer | String, 1, ""},
		{`{"allOf":[{"type":"object","properties":{"a":{"type":["string","null"]}}},{"properties":{"a":{"type":["string","boolean"]}}}]}`, "a", possible | named, String, 1, ""},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false,"minItems":1}`, "[0]", possible | named | required, String, 1, ""},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false,"minItems":1}`, "[1]", possible | named, Null, 1, ""},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`, "[2]", 0, 0, 0, ""},
		{`{"type":"array","maxItems":2}`, "[2]", 0, 0, 0, ""},
		{`{"type":"array"}`, "[2]", possible | named, Anything, 1, ""},
		{`{"const":{"a":[1,"x"]}}`, "a [1]", possible | named | required, String, 2, ""},
		{`{"enum":[{"a":1},{"b":2},5]}`, "a", possible | named, Integer, 1, ""},
		{`{"patternProperties":{"^x":{"type":"boolean"}},"additionalProperties":false,"type":"object"}`, "xy", possible | named, Boolean, 1, ""},
		{`{"patternProperties":{"^x":{"type":"boolean"}},"additionalProperties":false,"type":"object"}`, "yx", 0, 0, 0, ""},
		{`{"properties":{"a":{"type":"string"}},"if":{"required":["k"]},"then":{"properties":{"b":{"type":"null"}}}}`, "b", possible | named, Anything, 1, ""},
		{`{"type":"object","properties":{"child":{"$ref":"#"},"v":{"type":"number"}}}`, "child child child v", possible | named, Number, 4, ""},
	} {
		p := parse(t, c.schema).At(steps(c.path))
		flags := 0
		for bit, set := range []bool{p.Possible, p.Named, p.Silent, p.Required} {
			if set {
				flags |= 1 << bit
			}
		}
		if flags != c.flags || p.Schema.Kinds() != c.kinds || p.Depth != c.depth || strings.Join(p.Known(), " ") != c.known {
			t.Errorf("%s at %s:\n got %04b %v depth %d known %q\nwant %04b %v depth %d known %q", c.schema, c.path,
				flags, p.Schema.Kinds(), p.Depth, p.Known(), c.flags, c.kinds, c.depth, c.known)
		}
	}
}

// What a schema is said to hold is true of every value that it accepts: on
// random schemas and values, of every part of the value.
func TestProjectionIsTrue(t *testing.T) {
	seed, accepted, closed, needed := chooseSeed(t), 0, 0, 0
	for i := range uint64(amount.Of(1500, 4000, 100_000)) {
		g := &generator{r: rand.New(rand.NewPCG(seed, i)), draft: dialects[i%5], refs: i%2 == 0}
		raw := g.root(3)
		s := New(raw, Options{})
		if s.Compile() != nil {
			continue
		}
		shown, _ := json.Marshal(raw)
		fail := func(v any, format string, args ...any) {
			text, _ := json.Marshal(v)
			t.Fatalf("seed %d case %d: %s\naccepts %s\nbut %s", seed, i, shown, text, fmt.Sprintf(format, args...))
		}
		for range 20 {
			v := g.value(3)
			if !s.Accepts(v) {
				continue
			}
			accepted++
			if s.Kinds()&KindOf(v) == 0 {
				fail(v, "its kinds are %v", s.Kinds())
			}
			if m, ok := v.(map[string]any); ok {
				for _, name := range s.Required() {
					if needed++; !has(m, name) {
						fail(v, "it requires %q", name)
					}
				}
				if s.Closed() {
					closed++
					for name := range m {
						if !slices.Contains(s.Properties(), name) {
							fail(v, "it is closed and names %q", s.Properties())
						}
					}
				}
			}
			everyPath(v, nil, func(path []Step, part any) {
				p := s.At(path)
				if !p.Possible || !p.Schema.Accepts(part) {
					fail(v, "at %v it says %+v of kinds %v", path, p, p.Schema.Kinds())
				}
				if p := s.AtIn(v, path); !p.Possible || !p.Schema.Accepts(part) {
					fail(v, "at %v of it it says %+v of kinds %v", path, p, p.Schema.Kinds())
				}
			})
			for _, path := range [][]Step{{Key("a")}, {Index(0)}, {Key("a"), Key("b")}, {Index(1), Key("a")}} {
				if p := s.At(path); p.Required && !reaches(v, path) {
					fail(v, "it says that %v is required", path)
				}
			}
		}
	}
	if accepted < 10_000 || closed < 10 || needed < 50 {
		t.Errorf("too little was tried: %d accepted, %d closed, %d required", accepted, closed, needed)
	}
}

func has(m map[string]any, name string) bool { _, ok := m[name]; return ok }

func reaches(v any, path []Step) bool {
	for _, step := range path {
		x, ok := stepInto(v, step)
		if !ok {
			return false
		}
		v = x
	}
	return true
}

func everyPath(v any, path []Step, visit func([]Step, any)) {
	visit(path, v)
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			everyPath(x, append(slices.Clone(path), Index(i)), visit)
		}
	case map[string]any:
		for k, x := range v {
			everyPath(x, append(slices.Clone(path), Key(k)), visit)
		}
	}
}

// A join accepts what any of its parts accepts, and a meet what all do; the
// ordinary validator says the same of what is handed over to it.
func TestCombinations(t *testing.T) {
	a := New(decode(t, `{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"s":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/s"}},"required":["x"]}`), Options{})
	b := parse(t, `{"type":["object","null"],"properties":{"x":{"minLength":2}}}`)
	for _, c := range []struct {
		value            string
		inA, inB, joined bool
	}{
		{`{"x":"abc"}`, true, true, true}, {`{"x":"a"}`, true, false, true}, {`null`, true, true, true}, {`5`, true, false, true}, {`{"x":1}`, false, true, true}, {`{"y":1}`, false, true, true},
	} {
		v := decode(t, c.value)
		for what, s := range map[string]*Schema{"join": AnyOf(a, b), "meet": AllOf(a, b)} {
			want := c.inA || c.inB
			if what == "meet" {
				want = c.inA && c.inB
			}
			library, err := s.Ordinary()
			if err != nil {
				t.Fatal(err)
			}
			if got, ordinarily := s.Accepts(v), library.Validate(v) == nil; got != want || ordinarily != want {
				t.Errorf("%s of %s: %v, ordinarily %v", what, c.value, got, ordinarily)
			}
		}
	}
	if AnyOf().Accepts(1.0) || !AnyOf(a, nil).Accepts(5.0) || AnyOf(a, nil) != nil {
		t.Error("the empty join accepts, or a nil part isn't everything")
	}
	if c := Const(map[string]any{"a": 1.0}); !c.Accepts(map[string]any{"a": 1}) || c.Accepts(1.0) || c.At([]Step{Key("a")}).Schema.Kinds() != Integer {
		t.Error("a constant isn't its value")
	}
}
