package schema

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// vary makes a schema that is like another: something is taken away, added,
// or wrapped, so that pairs are often close to fitting.
func (g *generator) vary(raw any, depth int) any {
	m, ok := raw.(map[string]any)
	if !ok || len(m) == 0 || depth <= 0 {
		return g.schema(1)
	}
	m = maps.Clone(m)
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(k string) bool { return k[0] == '$' || k == "definitions" })
	switch g.r.IntN(8) {
	case 0:
		if len(keys) > 0 {
			delete(m, pick(g, keys...))
		}
	case 1:
		g.keyword(m, 1)
	case 2:
		return map[string]any{"anyOf": []any{g.schema(1), m}}
	case 3:
		return map[string]any{"allOf": []any{m, map[string]any{"type": pick[any](g, "object", "string", "array")}}}
	case 4:
		return map[string]any{"not": map[string]any{"not": m}}
	default:
		if len(keys) > 0 {
			k := pick(g, keys...)
			switch v := m[k].(type) {
			case map[string]any:
				if k == "properties" || k == "patternProperties" || k == "dependencies" {
					v = maps.Clone(v)
					for _, name := range slices.Sorted(maps.Keys(v)) {
						if _, schema := v[name].(map[string]any); schema {
							v[name] = g.vary(v[name], depth-1)
						}
					}
					m[k] = v
				} else if k != "const" {
					m[k] = g.vary(v, depth-1)
				}
			case []any:
				if (k == "anyOf" || k == "allOf" || k == "oneOf") && len(v) > 0 {
					v = slices.Clone(v)
					i := g.r.IntN(len(v))
					v[i] = g.vary(v[i], depth-1)
					m[k] = v
				}
			}
		}
	}
	return m
}

// LANGUAGE.md#findings: a verdict is true of every value that is tried. Fits: nothing that the
// producer accepts is refused by the consumer; never: nothing is accepted.
// -long tries far more pairs.
func TestVerdictsAreTrue(t *testing.T) {
	seed := chooseSeed(t)
	counts := map[Relation]int{}
	unknowns := map[string]int{}
	tried := 0
	for i := range uint64(amount.Of(1500, 4000, 100_000)) {
		g := &generator{r: rand.New(rand.NewPCG(seed, i)), draft: dialects[i%5], refs: i%4 == 0}
		from := g.root(3)
		h := *g
		h.draft = dialects[i/5%5]
		to := h.root(3)
		if i%3 != 0 {
			to = g.vary(from, 3)
			if m, ok := to.(map[string]any); ok {
				m["$schema"] = metaURL[g.draft]
				if f, ok := from.(map[string]any); ok && f[g.definitions()] != nil {
					m[g.definitions()] = f[g.definitions()]
				}
			}
		}
		a, b := New(from, Options{}), New(to, Options{})
		if a.Compile() != nil || b.Compile() != nil {
			continue
		}
		v := Contains(a, b, Budget{})
		counts[v.Relation]++
		if v.Relation == Unknown {
			unknowns[v.Keyword]++
		}
		fail := func(value any) {
			t.Fatalf("seed %d case %d: %v (witness %v, alarm %v, reason %s)\n%s\n%s\n%v", seed, i, v.Relation, short(v.Witness), v.Alarm, v.Keyword, all(from), all(to), short(value))
		}
		if v.Alarm {
			fail(nil)
		}
		if v.Steps > 2*defaultSteps+100 {
			t.Errorf("seed %d case %d: %d steps", seed, i, v.Steps)
		}
		values := []any{}
		for range 12 {
			values = append(values, g.value(3))
		}
		for range 6 {
			for _, s := range []*Schema{a, b} {
				if x, ok := s.Sample(g.r); ok {
					values = append(values, x)
				}
			}
		}
		for _, x := range values {
			inA, inB := a.Accepts(x), b.Accepts(x)
			if inA {
				tried++
			}
			if v.Relation == Fits && inA && !inB || v.Relation == Never && inA && inB {
				fail(x)
			}
		}
	}
	t.Logf("seed %d: %v, unknown for %v; %d values tried", seed, counts, unknowns, tried)
	if counts[Fits] < 80 || counts[Never] < 80 || counts[MayNotFit] < 80 {
		t.Errorf("too few of a kind: %v", counts)
	}
}

func all(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
