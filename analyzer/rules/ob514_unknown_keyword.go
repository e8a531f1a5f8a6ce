package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: document, Run: unknownKeywords}.As("OB514", "unknown-keyword", diag.Warning))

// unknownKeywords reports keys of schemas, and of tools' annotations, that nobody reads and that are one letter or the
// case away from one that counts. Others are somebody's own notes.
func unknownKeywords(p *Pass) {
	for _, at := range analysis.SchemaPlaces(p) {
		for _, f := range at.Node.Fields {
			unknownKeyword(p, f.Key, at.What, keywords)
			_, foreign := decode.Foreign(f.Key.Text, []string{"output"})
			if at.Tool && (foreign || f.Key.Text == "output") && f.Value.IsMapping() {
				p.Report(f.Key.Span(), "nothing reads the keyword %q in %s", f.Key.Text, at.What).
					Advise("did you mean \"outputSchema\"?").Rename(f.Key, 0, len(f.Key.Text), "outputSchema", false)
			}
		}
		if at.Tool {
			if hints := at.Node.Get("annotations"); hints != nil {
				for _, f := range hints.Fields {
					unknownKeyword(p, f.Key, "the \"annotations\" of "+at.What, hintNames)
				}
			}
		}
	}
}

func unknownKeyword(p *Pass, key *source.Node, of string, known []string) {
	word := key.Text
	if strings.HasPrefix(word, "x-") || strings.HasPrefix(word, "_") || slices.Contains(known, word) ||
		slices.Contains(otherKeywords, word) {
		return
	}
	at := slices.IndexFunc(known, func(k string) bool { return naming.IsTypo(word, k) })
	if at < 0 {
		return
	}
	p.Report(key.Span(), "nothing reads the keyword %q in %s", word, of).
		Advise("did you mean %q?", known[at]).Rename(key, 0, len(word), known[at], strings.EqualFold(word, known[at]))
}

var (
	keywords = []string{
		"type", "enum", "const", "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
		"minProperties", "maxProperties",
		"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains",
		"minContains", "maxContains",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"pattern", "format",
		"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies",
		"unevaluatedItems", "unevaluatedProperties",
		"$ref", "$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef",
		"$recursiveAnchor", "$comment", "$vocabulary",
		"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding",
		"contentMediaType", "contentSchema",
		"inputSchema", "outputSchema", "annotations",
	}
	hintNames = []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
	// otherKeywords are in use beside those, by other dialects and by people.
	otherKeywords = []string{"name", "id", "example", "nullable", "discriminator", "comment", "schema", "anchor",
		"vocabulary", "optional", "note", "cost", "titles", "units", "input_schema"}
)
