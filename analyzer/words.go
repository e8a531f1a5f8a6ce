package analyzer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler"
)

func quote(name string) string { return "\"" + name + "\"" }

// maxNamed is how many names of a kind a message lists.
const maxNamed = 12

// maxShown bounds how many related places one finding names.
const maxShown = 20

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

// namedInstances lists instances, so many as one reads.
func namedInstances(instances []string) string {
	var shown []string
	for _, id := range instances[:min(len(instances), maxShown)] {
		shown = append(shown, quote(compiler.Shown(id)))
	}
	list := strings.Join(shown, ", ")
	if more := len(instances) - maxShown; more > 0 {
		return fmt.Sprintf("%s and %d more", list, more)
	}
	return list
}

// inInstances says in which instances something is so.
func inInstances(ids []string) string {
	if len(ids) == 1 {
		return "in the instance " + namedInstances(ids)
	}
	return "in the instances " + namedInstances(ids)
}

// short is a text for a message.
func short(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "…"
	}
	return text
}
