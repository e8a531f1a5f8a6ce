package catalogue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// YAML writes a JSON value as YAML below some comments, the keys of mappings sorted: the
// same value gives the same bytes. What is read back from it is the value; where a key would read
// as something else, or has characters that aren't seen, all of it is in JSON.
func YAML(comments string, value any) ([]byte, error) {
	written, err := yaml.MarshalWithOptions(value, yaml.Indent(2), yaml.CustomMarshaler(spelled),
		yaml.CustomMarshaler(number))
	for range 2 {
		if err != nil {
			return nil, fmt.Errorf("it can't be written as YAML: %w", err)
		}
		text := []byte(comments)
		for line := range bytes.Lines(written) {
			text = append(append(text, diag.EscapeJSON(bytes.TrimRight(line, "\n"))...), '\n')
		}
		if root, ok := read(source.NewFile("written.yaml", text)); ok && schema.Equal(root.Value(), value) {
			return text, nil
		}
		written, err = json.MarshalIndent(value, "", "  ")
	}
	return nil, errors.New("it says something else when it is read back")
}

// read is the document of a file; ok is false where it has an error.
func read(file *source.File) (root *source.Node, ok bool) {
	root, problems := source.Parse(file, source.DefaultLimits())
	return root, !slices.ContainsFunc(problems, func(p source.Problem) bool { return !p.Warning })
}

// AddTo adds a text to the list under a key of a YAML file and keeps its comments; it is nil where the list has it.
// A file that says something else afterwards is written anew, without its comments.
func AddTo(file *source.File, key, text string) ([]byte, error) {
	root, readable := read(file)
	value, ok := root.Value().(map[string]any)
	if !ok || !readable {
		return nil, fmt.Errorf("it isn't a mapping that can be read")
	}
	where, add, items := "$."+key, any([]any{text}), []any{}
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
		if after, ok := read(edited); ok && schema.Equal(after.Value(), value) {
			return edited.Text, nil
		}
	}
	return YAML("", value)
}

// number is a number as JSON has it; a whole one has no fraction.
func number(v float64) ([]byte, error) {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.AppendInt(nil, int64(v), 10), nil
	}
	return json.Marshal(v)
}

var (
	bare  = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_./$-]*(:[A-Za-z0-9_./$-]+)*( [A-Za-z0-9_./$-]+)*$`)
	taken = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
)

// spelled is a text in quotes, unless it reads as itself to everybody.
func spelled(text string) ([]byte, error) {
	if bare.MatchString(text) && !taken.MatchString(text) {
		return []byte(text), nil
	}
	return json.Marshal(text)
}
