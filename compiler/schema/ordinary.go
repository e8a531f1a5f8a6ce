package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// Ordinary is the schema compiled by the ordinary validator, once. It is slower
// than [Schema.Validate] and says the same. It must be given only JSON values
// of modest depth, such as those that [Schema.Accepts] has seen.
func (s *Schema) Ordinary() (*ordinary.Schema, error) {
	n := s.ready()
	s.compile.Do(func() {
		if s.broken = s.Compile(); s.broken == nil {
			s.compiled, s.broken = compileOrdinary(n)
		}
	})
	return s.compiled, s.broken
}

// confirms reports whether the ordinary validator, too, gives this answer. What it can't read is
// ours alone to tell.
func (s *Schema) confirms(v any, accepted bool) bool {
	if s == nil {
		return accepted
	}
	compiled, err := s.Ordinary()
	return err != nil || (compiled.Validate(v) == nil) == accepted
}

func newCompiler() *ordinary.Compiler {
	c := ordinary.NewCompiler()
	c.Draft = ordinary.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside of this document", url)
	}
	return c
}

// An exporter writes nodes as texts of draft 2020-12, each that is referred to as one of its own.
type exporter struct {
	urls    map[*ast.Node]string
	pending []*ast.Node // that have a URL and no text yet
}

// compileOrdinary compiles a node with all that it refers to.
func compileOrdinary(n *ast.Node) (compiled *ordinary.Schema, err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on texts it should refuse
			compiled, err = nil, fmt.Errorf("the ordinary validator can't compile this schema: %v", r)
		}
	}()
	c, x := newCompiler(), exporter{urls: map[*ast.Node]string{}}
	c.AssertFormat = true
	top := x.url(n)
	for len(x.pending) > 0 {
		next := x.pending[len(x.pending)-1]
		x.pending = x.pending[:len(x.pending)-1]
		text, err := json.Marshal(x.text(next))
		if err == nil {
			err = c.AddResource(x.urls[next], bytes.NewReader(text))
		}
		if err != nil {
			return nil, err
		}
	}
	return c.Compile(top)
}

func (x *exporter) url(n *ast.Node) string {
	if x.urls[n] == "" {
		x.urls[n] = fmt.Sprintf("obelus:///%d", len(x.urls))
		x.pending = append(x.pending, n)
	}
	return x.urls[n]
}

func (x *exporter) text(n *ast.Node) any {
	switch {
	case n.Verdict == ast.Always:
		return true
	case n.Verdict == ast.Never || n.Values != nil && len(n.Values) == 0: // the library takes an empty enum for none
		return false
	}
	return n.Print(x.text, x.url)
}
