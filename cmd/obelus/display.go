package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// display is a value as people read it: text as it is, anything else as JSON
// on several lines. Nothing in it acts on the terminal, and the lines of a text
// stand behind a bar, so that none of them passes for one of ours (S2.6).
func display(value any) string {
	text, isText := value.(string)
	if !isText {
		text = asJSON(value, "  ")
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

// brief is a value on one line; the caller cuts it to size.
func brief(value any) string {
	if value == nil {
		return ""
	}
	if text, ok := value.(string); ok {
		return diag.Escape(text)
	}
	return diag.Escape(asJSON(value, ""))
}

func asJSON(value any, indent string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// short is a duration in three digits or so.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func pad(text string, width int) string {
	return cut(text, width) + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// cut shortens text to so many characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// excerpt shows a value, and of a long one the beginning.
func excerpt(value any) string {
	const most = 200
	text := display(value)
	lines := strings.Split(text, "\n")
	shown := lines[:min(most, len(lines))]
	for i := range shown {
		shown[i] = cut(shown[i], 1000)
	}
	if more := len(lines) - most; more > 0 {
		shown = append(shown[:most:most], fmt.Sprintf("… and %s; --format json has them all", count(more, "more line")))
	}
	return strings.Join(shown, "\n")
}

// listed is a list that JSON shows as one, also when it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
