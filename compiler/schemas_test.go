package compiler

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#tools: OB509: a fault inside a named schema is one finding, on that schema's
// own text.
func TestFaultOfNamedSchema(t *testing.T) {
	text := `
inputSchema: {$ref: "#/schemas/User"}
tools:
  greet:
    properties:
      who: {$ref: "#/schemas/User"}
      _output: {type: object, properties: {said: {$ref: "#/schemas/User"}}}
schemas:
  User:
    properties:
      age: {type: integr}
calls: []
`
	_, found := Compile(source.NewFile("plan.yaml", []byte(text)), Options{})
	var faults []diag.Diagnostic
	for _, d := range found {
		if d.Rule == diag.BadSchema {
			faults = append(faults, d)
		}
	}
	if len(faults) != 1 {
		t.Fatalf("%d findings, expected one: %v", len(faults), faults)
	}
	d := faults[0]
	if d.Span.Text() != "integr" || !strings.HasPrefix(d.Message, `the schema "User" isn't a valid JSON Schema`) {
		t.Errorf("%s, at %q", d.Message, d.Span.Text())
	}
}

// OB509: a fault in a tool's own schema stays where it is written.
func TestFaultOfToolSchema(t *testing.T) {
	_, found := Compile(source.NewFile("plan.yaml", []byte("tools: {a: {properties: {x: {anyOf: [{}, {minimum: '1'}]}}}}\ncalls: []\n")), Options{})
	if len(found) != 1 || found[0].Span.Text() != "'1'" || !strings.HasPrefix(found[0].Message, `the tool "a" isn't`) {
		t.Errorf("%v", found)
	}
}

// LANGUAGE.md#tools: a tool of a catalogue accepts what its own file's schemas say, whatever schemas
// of the same name a plan, an import or another catalogue has. The compiled plan says the
// same, with the catalogues and without.
func TestCataloguesKeepTheirSchemas(t *testing.T) {
	file := func(name, text string) *source.File { return source.NewFile(name, []byte(text)) }
	first := file("a.tools.yaml", "schemas: {Text: {type: string, pattern: '^SELECT '}, List: {type: array, items: {$ref: '#/schemas/Text'}}}\n"+
		"tools: {query: {properties: {sql: {$ref: '#/schemas/Text'}, more: {$ref: '#/schemas/List'}}}}\n")
	second := file("b.tools.yaml", "schemas: {Text: {type: integer}}\ntools: {count: {properties: {n: {$ref: '#/schemas/Text'}}}}\n")
	third := file("c.tools.yaml", "tools: {last: {properties: {n: {$ref: '#/schemas/Text'}}}}\n")
	thePlan := "schemas: {Text: {type: string}}\ntools: {own: {properties: {s: {$ref: '#/schemas/Text'}}}}\ncalls: [{_tool: own, s: x}]\n"
	with := Options{Catalogues: []*source.File{first, second, third}}
	p, found := Compile(file("plan.yaml", thePlan), with)
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	accepts := func(p *plan.Plan, tool string, params map[string]any, want bool) {
		t.Helper()
		if got := p.Tool(tool).Parameters.Validate(params) == nil; got != want {
			t.Errorf("%s accepts %v: %t, want %t", tool, params, got, want)
		}
	}
	text, err := canonical.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := canonical.Digest(p)
	for _, o := range []Options{with, {}} {
		again, found := Compile(file("plan.json", string(text)), o)
		if diag.HasErrors(found) || canonical.NotAsCompiled(again) != nil {
			t.Fatal(found, canonical.NotAsCompiled(again))
		}
		if sum, _ := canonical.Digest(again); sum != digest {
			t.Errorf("the digest is %s, and that of the compiled plan %s", digest, sum)
		}
		for _, p := range []*plan.Plan{p, again} {
			accepts(p, "query", map[string]any{"sql": "SELECT 1"}, true)
			accepts(p, "query", map[string]any{"sql": "DELETE"}, false)
			accepts(p, "query", map[string]any{"more": []any{"DELETE"}}, false)
			accepts(p, "count", map[string]any{"n": 1.0}, true)
			accepts(p, "count", map[string]any{"n": "1"}, false)
			accepts(p, "last", map[string]any{"n": 1.0}, true)
			accepts(p, "last", map[string]any{"n": "1"}, false)
			accepts(p, "own", map[string]any{"s": "DELETE"}, true)
		}
	}
}

// LANGUAGE.md#tools: a catalogue can't leave it to a plan what a tool accepts.
func TestCataloguesReferToNoPlan(t *testing.T) {
	o := Options{Catalogues: []*source.File{source.NewFile("a.tools.yaml", []byte("tools: {query: {properties: {sql: {$ref: '#/schemas/SQL'}}}}\n"))}}
	_, found := Compile(source.NewFile("plan.yaml", []byte("schemas: {SQL: {type: string}}\ncalls: []\n")), o)
	if len(found) != 1 || !strings.Contains(found[0].Message, `no catalogue has the schema "SQL"`) || found[0].Span.File.Name != "a.tools.yaml" {
		t.Errorf("%v", found)
	}
}
