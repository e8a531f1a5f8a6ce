package compiler

import (
	"strconv"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#compiled-plans-and-digests: the digest is the same however a plan is laid out, and compiling the
// compiled plan gives the same bytes.
func TestCanonical(t *testing.T) {
	forms := []struct{ name, text string }{
		{"a.yaml", "plan: p\ncalls:\n- _tool: t\n  x: †input.n\n  w: †input.m\n  y: 1.0\n  _outputPath: state\n- {_tool: u, z: †state.state}\ninput: {n: 10, m: 1}\n"},
		{"b.yaml", "# laid out anew\ninput:\n  \"n\": 10.0\n  m: 1\ncalls: [{_outputPath: \"state\", w: †input.m, _tool: t, y: 1, x: '†input.n'}, {z: †state.state, _tool: u}]\nplan: p\n"},
		{"c.json", `{"calls":[{"_tool":"t","x":"\u2020input.n","y":1,"w":"†input.m","_outputPath":"state"},{"_tool":"u","z":"†state.state"}],"plan":"p","input":{"m":1,"n":10}}`},
	}
	var bytes, digest string
	for _, form := range forms {
		p, found := Compile(source.NewFile(form.name, []byte(form.text)), Options{})
		if len(found) > 0 {
			t.Fatalf("%s: %s", form.name, found[0].Message)
		}
		text, err := canonical.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		sum, _ := canonical.Digest(p)
		if bytes == "" {
			bytes, digest = string(text), sum
		}
		if string(text) != bytes || sum != digest {
			t.Errorf("%s compiles to\n%s\nnot to\n%s", form.name, text, bytes)
		}
	}
	p, found := Compile(source.NewFile("again.json", []byte(bytes)), Options{})
	if len(found) > 0 {
		t.Fatalf("the compiled plan: %s", found[0].Message)
	}
	if again, _ := canonical.Plan(p); string(again) != bytes {
		t.Errorf("again it compiles to\n%s\nnot to\n%s", again, bytes)
	}
}

// LANGUAGE.md#compiled-plans-and-digests: the order in which instances run counts, and a compiled plan keeps it, though
// its keys are sorted. That of a query's fields is the same for all texts.
func TestOrderOfMappings(t *testing.T) {
	digests := map[string]string{}
	for _, ids := range []string{"a: {}, b: {}", "b: {}, a: {}"} {
		p, found := Compile(source.NewFile("p.yaml", []byte("instances: {"+ids+"}\ncalls: [{_tool: t}]\n")), Options{})
		if len(found) > 0 {
			t.Fatal(found[0].Message)
		}
		text, err := canonical.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		digest, _ := canonical.Digest(p)
		if digests[digest] != "" {
			t.Errorf("%q has the digest of %q", ids, digests[digest])
		}
		digests[digest] = ids
		again, found := Compile(source.NewFile("p.json", text), Options{})
		if len(found) > 0 || again.Instances[0].ID != p.Instances[0].ID {
			t.Errorf("compiled, %q begins with %q: %v", ids, again.Instances[0].ID, found)
		}
	}
	for _, query := range []string{"a: 1, b: 2", "b: 2, a: 1"} {
		p, _ := Compile(source.NewFile("p.yaml", []byte("activities: {t: {http: {url: \"https://h.test/\", query: {"+query+"}}}}\ncalls: []\n")), Options{})
		if h := p.Activities["t"].HTTP; h.Query[0].Name != "a" {
			t.Errorf("the query %q begins with %q", query, h.Query[0].Name)
		}
	}
}

// LANGUAGE.md#compiled-plans-and-digests: the compiled plan grows with the plan and not with its square: where it
// would, it is refused.
func TestCanonicalIsBounded(t *testing.T) {
	repeat := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "%", strconv.Itoa(i)) + "\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"readers of all":   "calls:\n" + repeat(1000, "- {_tool: t, _outputPath: p%}") + repeat(1000, "- {_tool: t, x: †state}"),
		"offers":           "writes: once\ncalls:\n" + repeat(1800, "- {_tool: t, _outputPath: †state.a || †state.b%}"),
		"a name too often": "calls:\n- {_tool: t, _id: " + strings.Repeat("i", 40_000) + ", _outputPath: p}\n" + repeat(2000, "- {_tool: t, x: †state.p}"),
		"a chain":          "calls:\n" + repeat(900, "- {_tool: t, x: †state.p%0, _outputPath: p%1}"),
	} {
		p, _ := Compile(source.NewFile("plan.yaml", []byte(text)), Options{})
		compiled, err := canonical.Plan(p)
		if refused := err != nil; refused != (name != "a chain") {
			t.Errorf("%s: %v", name, err)
		}
		if most := 2<<20 + 10*len(text); len(compiled) > most {
			t.Errorf("%s: %d bytes of %d", name, len(compiled), len(text))
		}
	}
}
