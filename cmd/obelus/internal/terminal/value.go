package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/text/unicode/norm"
)

// Display is a text as it is, or any other value as indented JSON. Control characters are
// escaped. A text of several lines has a bar before each, which sets it apart from other output.
func Display(value any) string {
	text, isText := value.(string)
	if !isText {
		text = JSON(value, "  ")
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = diag.Escape(line)
		if isText && len(lines) > 1 {
			lines[i] = "│ " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// JSON is a value as JSON, indented by a text; on one line if that is "".
func JSON(value any, indent string) string {
	text, err := diag.Encode(value, indent)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// visibly is a value as JSON that looks like no other value: invisible and confusable characters are escaped.
func visibly(value any, indent string) string {
	text := JSON(value, indent)
	isDeceptive := len(naming.Deceptive(text)) > 0
	var b strings.Builder
	before := ' '
	for _, r := range text {
		isPlain := r == '\n' || r < utf8.RuneSelf && r >= ' ' && r != 0x7f
		if isPlain || !isDeceptive && !ambiguous(before, r) {
			b.WriteRune(r)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
		before = r
	}
	return b.String()
}

// ambiguous reports whether a character is invisible or looks like others: an unusual space, a
// letter or mark with another composition, or the mark of a continued line.
func ambiguous(before, r rune) bool {
	text := string(r)
	return text == continued || diag.Escape(text) != text || unicode.IsSpace(r) || norm.NFC.String(text) != text ||
		unicode.Is(unicode.M, r) && utf8.RuneCountInString(norm.NFC.String(string(before)+text)) == 1
}

// continued ends a line that the next line continues. No value contains it.
const continued = "↩"

// jsonLines is a value as JSON in lines of at most so many columns. A text of several lines has
// each of them in quotes, so that spaces at their ends are visible.
func jsonLines(value any, columns int) (lines []string) {
	line := visibly(value, "")
	if diag.Columns(line) <= columns {
		return []string{line}
	}
	all := strings.Split(visibly(value, "  "), "\n")
	if text, ok := value.(string); ok {
		all = nil
		for part := range strings.SplitAfterSeq(text, "\n") {
			if part != "" {
				all = append(all, visibly(part, ""))
			}
		}
	}
	for _, one := range all {
		lines = append(lines, diag.Wrap(one, columns, continued)...)
	}
	return lines
}

// ValueOf is the JSON value of a text, or the text itself if it isn't JSON. Valid JSON that can't
// be represented, such as an integer that would lose digits, is a problem.
func ValueOf(text string) (value any, problem string) {
	node, problems := source.Parse(source.NewFile("value.json", []byte(text)), source.DefaultLimits())
	switch {
	case node != nil && len(problems) == 0:
		return node.Value(), ""
	case len(problems) > 0 && json.Valid([]byte(text)):
		return nil, problems[0].Message
	}
	return text, ""
}

// ObjectOf reads an object of JSON or YAML, which messages call by a name.
func ObjectOf(name string, file *source.File) (map[string]any, error) {
	node, problems := source.Parse(file, source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			at := p.Span.From()
			return nil, diag.NewError(nil, "%s: %q, line %d, column %d: %s", name, file.Name, at.Line, at.Column,
				p.Message).Advise("%s", p.Help)
		}
	}
	if node == nil || node.Kind != source.Object {
		return nil, diag.NewError(nil, "%s: %q doesn't hold a mapping from keys to values", name, file.Name)
	}
	return node.Value().(map[string]any), nil
}
