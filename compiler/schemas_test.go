package compiler

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// S2.2, OB509: a fault inside a named schema is one finding, on that schema's
// own text, and those that refer to it are named with it.
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
	var said []string
	for _, n := range d.Related {
		said = append(said, n.Message)
	}
	want := `"inputSchema" refers to it; the tool "greet" refers to it; the "_output" of the tool "greet" refers to it`
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("related: %s\nexpected: %s", got, want)
	}
}

// OB509: a fault in a tool's own schema stays where it is written.
func TestFaultOfToolSchema(t *testing.T) {
	_, found := Compile(source.NewFile("plan.yaml", []byte("tools: {a: {properties: {x: {anyOf: [{}, {minimum: '1'}]}}}}\ncalls: []\n")), Options{})
	if len(found) != 1 || found[0].Span.Text() != "'1'" || !strings.HasPrefix(found[0].Message, `the tool "a" isn't`) {
		t.Errorf("%v", found)
	}
}
