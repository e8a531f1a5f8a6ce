package planschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/obelus-dev/obelus/testdata/tags"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("plan.json", bytes.NewReader(JSON())); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decoded(t testing.TB, yamlOrJSON string) any {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(yamlOrJSON))
	if err != nil {
		t.Fatalf("%v in\n%s", err, yamlOrJSON)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// LANGUAGE.md#documents: the schema itself is one, by its own dialect's meta-schema.
func TestSchemaIsASchema(t *testing.T) {
	var v any
	if err := json.Unmarshal(JSON(), &v); err != nil {
		t.Fatal(err)
	}
	meta := jsonschema.MustCompile("https://json-schema.org/draft/2020-12/schema")
	if err := meta.Validate(v); err != nil {
		t.Errorf("%#v", err)
	}
	if !bytes.HasSuffix(JSON(), []byte("}\n")) {
		t.Error("the text doesn't end in a line feed")
	}
	JSON()[0] = 'x'
	if JSON()[0] != '{' {
		t.Error("a caller can change the schema for others")
	}
}

// LANGUAGE.md#documents: the schema has the keys, words and bounds that the compiler reads.
func TestSchemaAgreesWithTheCompiler(t *testing.T) {
	var v any
	if err := json.Unmarshal(JSON(), &v); err != nil {
		t.Fatal(err)
	}
	tags.Agree(t, v, plan.Settings{}, "$defs", "plan")
	tags.Agree(t, v, plan.Limits{}, "$defs", "plan", "properties", "limits")
	tags.Agree(t, v, plan.Advice{}, "$defs", "plan", "properties", "advice")
	tags.Agree(t, v, plan.Advisor{}, "$defs", "advisors", "items")
}

// LANGUAGE.md#documents: an editor shows what every key is for.
func TestEveryPropertyIsDescribed(t *testing.T) {
	var root struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(JSON(), &root); err != nil {
		t.Fatal(err)
	}
	described := func(at string, raw json.RawMessage) bool {
		var s struct {
			Description string `json:"description"`
			Ref         string `json:"$ref"`
		}
		if json.Unmarshal(raw, &s) != nil {
			return false
		}
		if s.Description != "" {
			return true
		}
		var target struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")], &target)
		return target.Description != ""
	}
	var walk func(at string, raw json.RawMessage)
	walk = func(at string, raw json.RawMessage) {
		var s struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Additional json.RawMessage            `json:"additionalProperties"`
		}
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		for name, property := range s.Properties {
			if !described(at+"."+name, property) {
				t.Errorf("%s.%s has no description: add it to compiler/planschema/schema.json", at, name)
			}
			walk(at+"."+name, property)
		}
		walk(at+".*", s.Additional)
	}
	for name, def := range root.Defs {
		walk(name, def)
	}
}

// LANGUAGE.md#documents: an editor marks a mistake that needs no compiler to see.
func TestMistakesAreMarked(t *testing.T) {
	s := compiled(t)
	for document, at := range map[string]string{
		"call: []":                            "",
		"{}":                                  "",
		"calls: {}":                           "/calls",
		"calls: [{tool: a}]":                  "/calls/0",
		"calls: [{_tool: 1}]":                 "/calls/0/_tool",
		"calls: [{_tool: a, _outputpath: b}]": "/calls/0",
		"calls: [{_tool: a, _retry: {atempts: 1}}]":                         "/calls/0/_retry",
		"calls: [{_tool: a, _retry: {attempts: 0}}]":                        "/calls/0/_retry/attempts",
		"calls: [{_tool: a, _timeout: 30}]":                                 "/calls/0/_timeout",
		"calls: [{_tool: a, _confirm: false}]":                              "/calls/0/_confirm",
		"calls: [{_tool: a, _timeout: 30 seconds}]":                         "/calls/0/_timeout",
		"calls: [{_tool: a, _outputMethod: append}]":                        "/calls/0/_outputMethod",
		"{calls: [], writes: twice}":                                        "/writes",
		"{calls: [], mode: lasy}":                                           "/mode",
		"{calls: [], policy: {}}":                                           "",
		"{calls: [], advisors: [{role: r}]}":                                "/advisors/0",
		"{calls: [], advisors: [{id: a, role: r, on: never}]}":              "/advisors/0/on",
		"{calls: [], advisors: [{id: a, role: r, onn: start}]}":             "/advisors/0",
		"{calls: [], advisors: [{id: a, role: r, scopes: [1]}]}":            "/advisors/0/scopes/0",
		"{calls: [], advisors: [{id: a, role: r, schema: 3}]}":              "/advisors/0/schema",
		"{calls: [], advice: {aggregate: max}}":                             "/advice/aggregate",
		"{calls: [], advice: {enforced: ask}}":                              "/advice",
		"{calls: [], activities: {a: {plan: 3}}}":                           "/activities/a/plan",
		"calls: [{_tool: a, _scopes: {a: 1}}]":                              "/calls/0/_scopes",
		"calls: [{_tool: a, _delegate: [a]}]":                               "/calls/0/_delegate",
		"{calls: [], meta: {}, advisors: [{id: a, calls: {deploy: much}}]}": "/advisors/0/calls",
		"{calls: [], version: 1.0}":                                         "/version",
		"{calls: [], limits: {ticks: 0}}":                                   "/limits/ticks",
		"{calls: [], limits: {tick: 1}}":                                    "/limits",
		"{calls: [], input: 5}":                                             "/input",
		"{calls: [], activities: {a: {}}}":                                  "/activities/a",
		"{calls: [], activities: {a: {exec: {argv: ls}}}}":                  "/activities/a/exec/argv",
		"{calls: [], activities: {a: {exec: {argv: []}}}}":                  "/activities/a/exec/argv",
		"{calls: [], activities: {a: {expr: a, plan: b}}}":                  "/activities/a",
		"{calls: [], activities: {a: {shell: ls}}}":                         "/activities/a",
		"{calls: [], tools: {a: 5}}":                                        "/tools/a",
		"[{_tool: a, _bad: 1}]":                                             "/0",
		"[{type: plan}]":                                                    "/0",
		"[{type: plans}]":                                                   "/0/type",
		"[{type: plan, plan: [], mode: fast}]":                              "/0/mode",
		"{context: [], solution: {call: []}}":                               "/solution",
		"{context: {}}":                                                     "/context",
		"{meta: {}, calls: [], tools: {}}":                                  "",
		"{meta: {}}":                                                        "",
		"5":                                                                 "",
	} {
		err := s.Validate(decoded(t, document))
		var invalid *jsonschema.ValidationError
		if !errors.As(err, &invalid) {
			t.Errorf("%s isn't marked: %v", document, err)
			continue
		}
		if !marks(invalid, at) {
			t.Errorf("%s is marked elsewhere than at %q:\n%#v", document, at, err)
		}
	}
}

func marks(e *jsonschema.ValidationError, at string) bool {
	if len(e.Causes) == 0 {
		return e.InstanceLocation == at
	}
	for _, cause := range e.Causes {
		if marks(cause, at) {
			return true
		}
	}
	return false
}

// LANGUAGE.md#documents: real plans validate: the examples, and the corpus.
func TestRealPlans(t *testing.T) {
	s := compiled(t)
	checked := 0
	root := filepath.Join("..", "..", "examples")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".json") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		document := decoded(t, string(text))
		if m, ok := document.(map[string]any); ok && m["calls"] == nil && m["context"] == nil {
			return nil // an import, a file of activities, or data
		} else if list, ok := document.([]any); ok && len(list) > 0 {
			if first, ok := list[0].(map[string]any); !ok || first["_tool"] == nil && first["type"] == nil {
				return nil
			}
		}
		checked++
		if err := s.Validate(document); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	t.Logf("%d examples", checked)

	for _, name := range corpus.Plans {
		t.Run(name, func(t *testing.T) {
			faults := 0
			rows := corpus.Rows[struct {
				ID       string
				Document any
			}](t, name)
			for _, row := range rows {
				if err := s.Validate(row.Document); err != nil {
					if faults++; faults <= 3 {
						t.Errorf("%s: %#v", row.ID, err)
					}
				}
			}
			t.Logf("%d rows", len(rows))
		})
	}
}

// LANGUAGE.md#tools: a real catalogue validates as tools.
func TestRealCatalogue(t *testing.T) {
	var tools any
	if err := json.Unmarshal(corpus.Text(t, "github-mcp-tools.json"), &tools); err != nil {
		t.Fatal(err)
	}
	if err := compiled(t).Validate(map[string]any{"tools": tools, "calls": []any{}}); err != nil {
		t.Errorf("%#v", err)
	}
}
