package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// What the tools of a shaped plan give, each exactly one value, as their schemas say.
var shapedResults = map[string]struct {
	value  any
	schema map[string]any
}{
	"number": {1.0, map[string]any{"type": "integer"}},
	"pair":   {[]any{1.0, 2.0}, map[string]any{"type": "array", "items": map[string]any{"type": "integer"}, "minItems": 2.0, "maxItems": 2.0}},
	"closed": {map[string]any{"z": 1.0}, map[string]any{"type": "object", "properties": map[string]any{"z": map[string]any{"type": "integer"}}, "required": []any{"z"}, "additionalProperties": false}},
	"open":   {map[string]any{}, map[string]any{"type": "object"}},
}

// A shaped plan has a few calls, one after the other, that write into each other's
// values, and at times instances that begin with states of their own. Whether each
// write has a place therefore follows from the plan.
func shapedPlan(n int) map[string]any {
	r := rand.New(rand.NewPCG(uint64(n), 405))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	tools := map[string]any{}
	for name, result := range shapedResults {
		tools[name] = map[string]any{"type": "object", "properties": map[string]any{"_output": result.schema, "of": map[string]any{}}}
	}
	state := func() map[string]any {
		s := map[string]any{}
		if r.IntN(3) > 0 {
			s["a"] = []any{1.0, "text", []any{}, []any{9.0}, map[string]any{}, map[string]any{"k": 3.0}, map[string]any{"k": []any{}}}[r.IntN(7)]
		}
		return s
	}
	doc := map[string]any{"tools": tools, "state": state()}
	if r.IntN(3) == 0 {
		instances := map[string]any{}
		for _, id := range []string{"p", "q", "r"}[:1+r.IntN(3)] {
			instances[id] = map[string]any{"state": state()}
		}
		doc["instances"] = instances
	}
	var calls []any
	var last string
	for i := range 1 + r.IntN(4) {
		c := map[string]any{
			"_tool": one("number", "pair", "closed", "open"), "_id": fmt.Sprint("c", i), "_outputMethod": one("set", "set", "set", "push", "merge"),
			"_outputPath": one("a", "a", "a.k", "a.k", "a.k.m", "a[0]", "a[1]", "a[0].k"),
		}
		if i > 0 {
			if c["_after"] = []any{fmt.Sprint("c", i-1)}; r.IntN(2) == 0 {
				c["of"] = "†state." + last + " || 0"
			}
		}
		if c["_outputMethod"] == "merge" {
			c["_tool"] = one("closed", "open") // merging anything else is setting it
		}
		last = c["_outputPath"].(string)
		calls = append(calls, c)
	}
	doc["calls"] = calls
	return plainDocument(doc)
}

// misfits are the calls whose write has no place in one state, as LANGUAGE.md#output-paths-and-state says it of
// values. What doesn't fit isn't written.
func misfits(doc map[string]any, state any) (calls []string) {
	for _, c := range readPlan(doc).calls {
		tool := doc["calls"].([]any)[c.place].(map[string]any)["_tool"].(string)
		if next, fits := written(state, c.routes[0][0], c.method, shapedResults[tool].value); fits {
			state = next
		} else {
			calls = append(calls, c.name)
		}
	}
	return calls
}

// isPlain reports whether it takes no more than the initial state, or what the call
// before has set, to see that a write has no place.
func isPlain(doc map[string]any, misfit string) bool {
	p := readPlan(doc)
	at := slices.IndexFunc(p.calls, func(c *callModel) bool { return c.name == misfit })
	if at == 0 {
		return true
	}
	above, path := p.calls[at-1], p.calls[at].routes[0][0]
	isNumber := doc["calls"].([]any)[at-1].(map[string]any)["_tool"] == "number"
	set := above.routes[0][0]
	return isNumber && above.method == "set" && len(set) < len(path) && slices.Equal(set, path[:len(set)])
}

// A plan is refused for the shape of what it writes (OB405, OB511) only where a write
// has no place, but for what the rule's page says of a closed schema and of a
// list beside an object; and where it is plain to see that one has none, in the
// instances that the finding names.
func TestPlansAreRefusedForWritesWithoutAPlace(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for n := range amount.Of(120, 4_000, 100_000) {
		doc := shapedPlan(n)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, _, found := checked(text)
		refused, other, named := "", false, []string{}
		for _, d := range found {
			switch {
			case d.Severity.String() != "error":
			case d.Rule.Code == "OB405" || d.Rule.Code == "OB511":
				refused += d.Message + "\n"
				named = append(named, d.Message)
			default:
				other = true
			}
		}
		if other {
			count["of another kind"]++
			continue
		}
		states := map[string]any{"": doc["state"]}
		if instances, ok := doc["instances"].(map[string]any); ok {
			states = map[string]any{}
			for id, own := range instances {
				state := copied(doc["state"].(map[string]any))
				for key, value := range own.(map[string]any)["state"].(map[string]any) {
					if state[key] = value; doc["state"].(map[string]any)[key] != nil {
						state[key] = merged(doc["state"].(map[string]any)[key], value)
					}
				}
				states[id] = state
			}
		}
		harm := 0
		for id, state := range states {
			bad := misfits(doc, state)
			if len(bad) == 0 {
				continue
			}
			harm++
			if slices.ContainsFunc(named, func(m string) bool {
				return !strings.Contains(m, "(in the instance") || strings.Contains(m, `"`+id+`"`)
			}) {
				continue
			}
			if count["missed"]++; isPlain(doc, bad[0]) {
				t.Fatalf("plan %d: %v have no place in %q, and no finding says so: %s%s", n, bad, id, refused, inJSON(doc))
			}
		}
		switch {
		case refused == "" && harm == 0:
			count["clean"]++
		case refused != "" && harm > 0:
			count["refused with harm"]++
		case refused != "":
			count["refused without harm"]++
			if !strings.Contains(refused, `" has no "`) && !strings.Contains(refused, "can't be both") {
				t.Fatalf("plan %d: every write has its place, and yet: %s%s", n, refused, inJSON(doc))
			}
		}
	}
	t.Log(count)
	if count["clean"] < amount.Of(120, 4_000, 100_000)/10 || count["refused without harm"] > count["refused with harm"]/20 {
		t.Errorf("too few are clean, or too many refused in vain: %v", count)
	}
}
