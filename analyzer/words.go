package analyzer

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

func quote(name string) string { return "\"" + name + "\"" }

// maxShown bounds how many related places one finding names.
const maxShown = 20

// listed names a few things for a message.
func listed(names []string) string {
	const most = 12
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, quote(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// brief is a value as JSON, cut where it is long.
func brief(v any) string {
	const most = 60
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	if len(text) <= most {
		return string(text)
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}
