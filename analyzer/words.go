package analyzer

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/wording"
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
	shown := make([]string, len(instances))
	for i, id := range instances {
		shown[i] = compiler.Shown(id)
	}
	return quotedNames(shown)
}

// quotedNames are the names of some calls; of many the first.
func quotedNames(names []string) string {
	list := wording.Names(names[:min(len(names), maxShown)], maxShown)
	if more := len(names) - maxShown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
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
