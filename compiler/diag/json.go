package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// JSON writes findings for programs, one object a line, in the order given: LANGUAGE.md#findings. Keys are never
// renamed, and every key is always there: file, start, end, call, help and witness are null when there is none, related
// and fixes are [] then. An edit in another file than its finding's names it under "file". The error is that of w, or a
// witness that JSON can't hold.
func JSON(w io.Writer, findings []Diagnostic) error {
	for i := range findings {
		if err := JSONLine(w, findingJSON(&findings[i])); err != nil {
			return err
		}
	}
	return nil
}

func findingJSON(d *Diagnostic) Ordered {
	related, fixes := make([]Ordered, len(d.Related)), make([]Ordered, len(d.Fixes))
	for i, n := range d.Related {
		related[i] = placed(n.Span, "message", n.Message)
	}
	for i, fix := range d.Fixes {
		edits := make([]Ordered, len(fix.Edits))
		for j, e := range fix.Edits {
			edits[j] = append(placed(e.Span), "text", e.Text)
			if e.Span.File == d.Span.File {
				edits[j] = edits[j][2:]
			}
		}
		fixes[i] = Ordered{"message", fix.Message, "safe", fix.Safe, "edits", edits}
	}
	return append(placed(d.Span, "kind", "finding", "code", d.Rule.Code, "name", d.Rule.Name, "severity",
		d.Severity.String(), "message", d.Message), "call", OrNull(d.Call), "related", related, "fixes", fixes,
		"witness", d.Witness, "help", OrNull(d.Help))
}

// OrNull is a text that JSON shows as null where it is empty.
func OrNull[T ~string](text T) *string {
	if text == "" {
		return nil
	}
	plain := string(text)
	return &plain
}

// Listed is a list that JSON shows as one, also when it is empty.
func Listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Ordered is a JSON object whose keys keep their order: keys, each before its value.
type Ordered []any

// If is the object and one key more, unless its value is zero.
func (o Ordered) If(key string, value any) Ordered {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() {
		return o
	}
	return append(o, key, value)
}

// MarshalJSON writes the keys in their order.
func (o Ordered) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i := 0; i < len(o); i += 2 {
		value, err := Encode(o[i+1], "")
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(fmt.Appendf(text, "%q:", o[i]), value...)
	}
	return append(text, '}'), nil
}

// placed adds where something is.
func placed(s source.Span, before ...any) Ordered {
	if !s.Known() {
		return append(before, "file", nil, "start", nil, "end", nil)
	}
	return append(before, "file", s.File.Name, "start", s.From(), "end", s.To())
}

// JSONLine writes a value as JSON on a line of its own. It has no character
// that could act on a terminal or break the line: what [Escape] would spell
// out is written as \u escapes, so the value is the same. Maps come out
// with their keys sorted.
func JSONLine(w io.Writer, value any) error {
	text, err := Encode(value, "")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err = w.Write(append(EscapeJSON(text), '\n'))
	return err
}

// Encode is a value as JSON as people write it, with < and & as they are: indented by a text, or on one line.
func Encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// EscapeJSON spells out hidden characters of a JSON text. Beyond ASCII they
// can only be in strings, where an escape means the same.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, hidden) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !hidden(r) {
			b.Write(text[:size])
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return b.Bytes()
}

// A Summary counts what was found, and closes the list.
type Summary struct {
	Files, Errors, Warnings, Infos int
	Suppressed                     int // findings that somebody lets stay; not counted above
	Excluded                       int // files that the configuration lets nobody check
	Skipped                        int // files of a folder that aren't documents of obelus
	// Unjudged are what errors kept from being judged yet, in the files UnjudgedIn.
	Unjudged, UnjudgedIn []string
}

// Summarize counts findings in so many files.
func Summarize(files int, findings []Diagnostic) Summary {
	s := Summary{Files: files}
	for i := range findings {
		switch findings[i].Severity {
		case Error:
			s.Errors++
		case Warning:
			s.Warnings++
		default:
			s.Infos++
		}
	}
	return s
}

// JSON writes the summary as the last line of LANGUAGE.md#findings.
func (s Summary) JSON(w io.Writer) error {
	return JSONLine(w, struct {
		Kind     string   `json:"kind"`
		Files    int      `json:"files"`
		Errors   int      `json:"errors"`
		Warnings int      `json:"warnings"`
		Infos    int      `json:"infos"`
		Unjudged []string `json:"unjudged,omitempty"`
		Excluded int      `json:"excluded,omitempty"`
		Skipped  int      `json:"skipped,omitempty"`
	}{"summary", s.Files, s.Errors, s.Warnings, s.Infos, s.Unjudged, s.Excluded, s.Skipped})
}

// Text writes the summary as one line for people, as in
// "2 errors, 1 warning in 3 files".
func (s Summary) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(w, o)
	var parts []string
	for _, part := range []struct {
		n        int
		what     string
		severity Severity
	}{{s.Errors, "error", Error}, {s.Warnings, "warning", Warning}, {s.Infos, "info", Info}} {
		if part.n > 0 {
			parts = append(parts, part.severity.style()(p.Style, wording.Count(part.n, part.what)))
		}
	}
	found := strings.Join(parts, ", ")
	if found == "" {
		found = p.Green("nothing to report")
	}
	if s.Suppressed > 0 {
		found += fmt.Sprintf(", %d suppressed", s.Suppressed)
	}
	line := found + " in " + wording.Count(s.Files, "file")
	if s.Excluded > 0 {
		line += fmt.Sprintf(", %d excluded", s.Excluded)
	}
	if s.Skipped > 0 {
		line += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	if len(s.Unjudged) > 0 {
		line += "; not checked yet"
		if s.Files > 1 && len(s.UnjudgedIn) > 0 {
			line += " in " + Escape(wording.Names(s.UnjudgedIn, 3))
		}
		line += ": " + strings.Join(s.Unjudged, ", ")
	}
	p.line("%s", line)
	return p.out.Flush()
}
