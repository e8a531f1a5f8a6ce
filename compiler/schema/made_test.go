package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// EXECUTION.md#simulation: whatever is made up is valid, formats included, for the ordinary validator, and has
// all properties that its schema names where some value has; over real schemas, generated ones
// and formats with bounds.
func TestMadeUpValuesAreValid(t *testing.T) {
	var all []any
	for _, name := range []string{"schema-pairs/ibm-jsonsubschema.jsonl", "schema-pairs/jsc-draft7.jsonl", "schema-pairs/json-schema-diff.jsonl"} {
		for n, line := range strings.Split(strings.TrimSpace(string(corpus.Text(t, name))), "\n") {
			if n%amount.Of(1, 8, 1) > 0 {
				continue
			}
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			for _, side := range []string{"sub", "super"} {
				one := row[side]
				if _, ok := one.(map[string]any); ok {
					all = append(all, one)
				}
			}
		}
	}
	var tools map[string]any
	if err := json.Unmarshal(corpus.Text(t, "github-mcp-tools.json"), &tools); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		all = append(all, tools[name])
	}
	real := len(all)
	g := &generator{r: rand.New(rand.NewPCG(15, 1)), draft: draft2020}
	for range amount.Of(300, 1_500, 100_000) {
		all = append(all, g.schema(3))
	}
	drawn := len(all)
	for _, format := range []string{"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex"} {
		text := map[string]any{"type": "string", "format": format}
		all = append(all, text, map[string]any{"type": "array", "items": text, "uniqueItems": true, "minItems": 4.0},
			map[string]any{"type": "string", "format": format, "maxLength": 40.0, "minLength": 1.0}, map[string]any{"type": "string", "format": format, "pattern": "."})
	}
	refused, empty, unmade, realUnmade, lacking, formless := 0, 0, 0, 0, 0, 0
	for at, raw := range all {
		s := New(raw, Options{})
		compiled, err := strictly(raw)
		if s.Compile() != nil || err != nil {
			refused++
			continue
		}
		for seed := range uint64(3) {
			steps := SampleSteps
			v, ok := s.FullWithin(rand.New(rand.NewPCG(seed, uint64(at))), &steps)
			if !ok {
				if left := defaultSteps; Empty(s, left, &left) {
					empty++
				} else if unmade++; at < real {
					realUnmade++
				}
				break
			}
			if err := compiled.Validate(v); err != nil && real <= at && at < drawn && s.Accepts(v) {
				formless++ // a format that no text has room for
			} else if err != nil {
				text, _ := json.Marshal(raw)
				value, _ := json.Marshal(v)
				t.Errorf("%s\naccepts not %s: %v", text, value, err)
			}
			if lacks(raw, v) {
				lacking++
			}
		}
	}
	t.Logf("%d schemas, %d of them real; %d were refused, %d accept nothing, for %d no value could be made up (%d real); %d values lack a property", len(all), real, refused, empty, unmade, realUnmade, lacking)
	if formless > len(all)/500 {
		t.Errorf("%d values of made-up schemas haven't their format", formless)
	}
	if unmade > len(all)/500 || lacking > len(all)/10 {
		t.Error("that is more than it was")
	}
}

// lacks reports whether an object has not all properties that an unconditional schema names.
func lacks(raw, v any) bool {
	s, _ := raw.(map[string]any)
	object, ok := v.(map[string]any)
	if _, wide := s["maxProperties"]; !ok || wide {
		return false
	}
	names, _ := s["properties"].(map[string]any)
	for name := range names {
		if _, there := object[name]; !there {
			return true
		}
	}
	return false
}

func strictly(raw any) (*ordinary.Schema, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	c := newCompiler()
	c.AssertFormat = true
	if err := c.AddResource("obelus:///raw", bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("it isn't one: %w", err)
	}
	return c.Compile("obelus:///raw")
}
