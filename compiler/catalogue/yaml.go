package catalogue

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// YAML writes a JSON value as YAML below some comments, the keys of mappings sorted: the
// same value gives the same bytes. It was read back: what the text says is the value.
func YAML(comments string, value any) ([]byte, error) {
	var out strings.Builder
	out.WriteString(comments)
	write(&out, value, "\n")
	text := []byte(out.String() + "\n")
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
	old, list, items := string(file.Text), root.Get(key), []any{}
	at, added := len(strings.TrimSuffix(old, "\n")), "\n"+key+":\n- "+spelled(text)
	if list != nil {
		for _, item := range list.Several() {
			items = append(items, item.Value())
		}
		last := list.Several()[max(0, len(list.Items)-1):]
		switch {
		case len(last) == 0: // []
			at, added = list.Start+1, spelled(text)
		case old[list.Start] == '[':
			at, added = last[0].End, ", "+spelled(text)
		default:
			line, _, _ := strings.Cut(old[last[0].End:], "\n")
			at = last[0].End + len(line)
			added = "\n" + old[strings.LastIndexByte(old[:list.Start], '\n')+1:list.Start] + "- " + spelled(text)
		}
	}
	if slices.Contains(items, any(text)) {
		return nil, nil
	}
	value[key] = append(items, text)
	edited := []byte(old[:at] + added + old[at:])
	after, _ := source.Parse(source.NewFile(file.Name, edited), source.DefaultLimits())
	if after != nil && schema.Equal(after.Value(), value) {
		return edited, nil
	}
	return YAML("", value)
}

// write writes a JSON value. A further line of it begins with a line feed and its indentation.
func write(out *strings.Builder, value any, line string) {
	between := ""
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out.WriteString(between + spelled(key) + ":")
			between = line
			further := " "
			if below, _ := v[key].(map[string]any); len(below) > 0 {
				further = line + "  "
			} else if below, _ := v[key].([]any); len(below) > 0 {
				further = line
			}
			out.WriteString(further)
			write(out, v[key], further)
		}
	case []any:
		for _, item := range v {
			out.WriteString(between + "- ")
			between = line
			write(out, item, line+"  ")
		}
	case string:
		between = spelled(v)
		out.WriteString(between)
	}
	if between == "" {
		text, _ := json.Marshal(value) // a scalar, or nothing in it
		out.Write(text)
	}
}

var (
	bare  = regexp.MustCompile(`^[A-Za-z$][A-Za-z0-9_./$-]*(:[A-Za-z0-9_./$-]+)*( [A-Za-z0-9_./$-]+)*$`)
	taken = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
)

// spelled is a text in quotes, unless it reads as itself to everybody.
func spelled(text string) string {
	if bare.MatchString(text) && !taken.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
