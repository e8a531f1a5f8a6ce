package catalogue

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// YAML writes a JSON value as YAML below some comments, the keys of mappings sorted: the
// same value gives the same bytes. It was read back: what the text says is the value.
func YAML(comments string, value any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(comments)
	tree, err := yaml.NewEncoder(&out, yaml.Indent(2)).EncodeToNode(plain(value))
	if err != nil {
		return nil, fmt.Errorf("it can't be written as YAML: %w", err)
	}
	ast.Walk(spelling{}, tree)
	fmt.Fprintln(&out, tree)
	text := out.Bytes()
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

// AddTo adds a text to the list under a key of a YAML file and keeps its comments; it is nil where the list has it.
// A file that says something else afterwards is written anew, without its comments.
func AddTo(file *source.File, key, text string) ([]byte, error) {
	root, problems := source.Parse(file, source.DefaultLimits())
	value, ok := root.Value().(map[string]any)
	if !ok || slices.ContainsFunc(problems, func(p source.Problem) bool { return !p.Warning }) {
		return nil, fmt.Errorf("it isn't a mapping that can be read")
	}
	where, items := "$."+key, []any{}
	add := any([]any{text})
	if list := root.Get(key); list == nil {
		where, add = "$", map[string]any{key: add}
	} else {
		for _, item := range list.Several() {
			items = append(items, item.Value())
		}
	}
	if slices.Contains(items, any(text)) {
		return nil, nil
	}
	value[key] = append(items, text)
	added, err := YAML("", add)
	tree, wrong := parser.ParseBytes(file.Text, parser.ParseComments)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	if at, err := yaml.PathString(where); err == nil && at.MergeFromReader(tree, bytes.NewReader(added)) == nil {
		edited := source.NewFile(file.Name, []byte(tree.String()))
		after, _ := source.Parse(edited, source.DefaultLimits())
		if after != nil && schema.Equal(after.Value(), value) {
			return edited.Text, nil
		}
	}
	return YAML("", value)
}

// plain is a JSON value in the form in which every encoder writes the same bytes.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := yaml.MapSlice{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, yaml.MapItem{Key: hidden(key), Value: plain(v[key])})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case string:
		return hidden(v)
	}
	return v
}

// hidden hides a text from goccy's own judgement of what needs quotes, which lets texts
// pass that read as something else; see spelling.
func hidden(text string) string { return "x" + hex.EncodeToString([]byte(text)) }

// spelling gives the texts of a tree back, in quotes unless they read as themselves to everybody.
type spelling struct{}

var (
	bare  = regexp.MustCompile(`^[A-Za-z$][A-Za-z0-9_./$-]*(:[A-Za-z0-9_./$-]+)*( [A-Za-z0-9_./$-]+)*$`)
	taken = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
)

func (s spelling) Visit(n ast.Node) ast.Visitor {
	if text, ok := n.(*ast.StringNode); ok {
		if was, err := hex.DecodeString(text.Value[1:]); err == nil {
			text.Value, text.Token.Type = string(was), token.DoubleQuoteType
			if bare.Match(was) && !taken.Match(was) {
				text.Token.Type = token.StringType
			}
		}
	}
	return s
}
