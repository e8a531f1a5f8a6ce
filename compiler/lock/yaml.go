package lock

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// YAML writes a JSON value as YAML below some comments, the keys of mappings sorted: the
// same value gives the same bytes. It was read back: what the text says is the value.
func YAML(comments string, value any) ([]byte, error) {
	text, err := encoded(comments, plain(value))
	if err != nil {
		return nil, fmt.Errorf("it can't be written as YAML: %w", err)
	}
	root, problems := source.Parse(source.NewFile("written.yaml", text), source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			return nil, fmt.Errorf("it can't be read back: line %d: %s", p.Span.From().Line, p.Message)
		}
	}
	if !schema.Equal(root.Value(), value) {
		return nil, fmt.Errorf("it says something else when it is read back")
	}
	return text, nil
}

// encoded writes what plain has made as YAML below some comments.
func encoded(comments string, value any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(comments)
	tree, err := yaml.NewEncoder(&out, yaml.Indent(2)).EncodeToNode(value)
	if err != nil {
		return nil, err
	}
	ast.Walk(spelling{}, tree)
	fmt.Fprintln(&out, tree)
	return out.Bytes(), nil
}
