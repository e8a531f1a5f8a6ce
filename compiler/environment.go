package compiler

import (
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// variable is how an activity takes a value of the environment: {$NAME}.
var variable = regexp.MustCompile(`\{\$([A-Za-z_][A-Za-z0-9_]*)\}`)

// Filled is a text of an activity with what the environment holds in the place of each {$NAME}.
func Filled(text string, lookup func(name string) string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string { return lookup(found[2 : len(found)-1]) })
}

// SentVariables are the fields of headers and query that take something from the environment, by their
// names and that of the variable: Authorization with {$KEY}.
func SentVariables(h *plan.HTTP) (sent []string) {
	for _, f := range slices.Concat(h.Headers, h.Query) {
		texts := []*source.Node{f.Value}
		if len(f.Value.Items) > 0 {
			texts = f.Value.Items
		}
		for _, text := range texts {
			for _, name := range variable.FindAllString(text.Text, -1) {
				sent = append(sent, f.Name+" with "+name)
			}
		}
	}
	return slices.Compact(sent)
}
