package compiler

import (
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
)

// S6.6: the digest is the same however a plan is laid out, and compiling the
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
		text, err := p.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		sum, _ := p.Digest()
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
	if again, _ := p.Canonical(); string(again) != bytes {
		t.Errorf("again it compiles to\n%s\nnot to\n%s", again, bytes)
	}
}
