package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A verdict is the answer to one pair.
type verdict struct {
	schema.Verdict
	name     any // as the pair has it; nil when it has none
	consumer *schema.Schema
}

// compareSchemas compares a producer's schema with a consumer's. The answer to a pair with errors is
// unknown, and the first error is the reason.
func compareSchemas(name any, schemas [2]*schema.Schema, found []diag.Diagnostic) verdict {
	for i := range found {
		if d := &found[i]; d.Severity == diag.Error {
			at := d.Span.From()
			reason := fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, d.Message)
			return verdict{Verdict: schema.Verdict{Reason: reason}, name: name}
		}
	}
	return verdict{schema.Contains(schemas[0], schemas[1], schema.Budget{}), name, schemas[1]}
}

// schemaOf makes a schema of a value. What is wrong with it is a further finding.
func schemaOf(n *source.Node, found []diag.Diagnostic) (*schema.Schema, []diag.Diagnostic) {
	if n.Kind != source.Object && n.Kind != source.Bool {
		d := diag.New(diag.BadSchema, n.Span(),
			fmt.Sprintf("%s is no JSON Schema; expected a mapping, true or false", schema.KindOf(n.Value())))
		return nil, append(found, d)
	}
	s := schema.New(n.Value(), schema.Options{})
	err := s.Compile()
	if err == nil {
		return s, found
	}
	d := diag.New(diag.BadSchema, n.Span(), "this isn't a valid JSON Schema: "+err.Error())
	var bad *schema.SchemaError
	if errors.As(err, &bad) {
		d.Help = bad.Help
		d.Span = n.Follow(bad.Path).Span()
	}
	return nil, append(found, d)
}

// shown reports whether a value shows the verdict; it may be null.
func (v verdict) shown() bool { return v.Relation == schema.Never || v.Relation == schema.MayNotFit }

// writeJSON writes the verdict for programs. All keys but the name are always there.
func (v verdict) writeJSON(w io.Writer) error {
	line := struct {
		Kind    string  `json:"kind"`
		Name    any     `json:"name,omitempty"`
		Verdict string  `json:"verdict"`
		Witness any     `json:"witness"`
		Keyword *string `json:"keyword"`
		Reason  *string `json:"reason"`
	}{Kind: "verdict", Name: v.name, Verdict: v.Relation.String()}
	if v.shown() {
		line.Witness = v.Witness
	}
	line.Keyword, line.Reason = diag.OrNull(v.Keyword), diag.OrNull(v.Reason)
	return diag.JSONLine(w, line)
}

// writeText writes the verdict for people: the word itself, what it means here,
// and the value that shows it.
func (v verdict) writeText(w io.Writer) error {
	style := terminal.StyleFor(w)
	word := v.Relation.String()
	var text string
	switch {
	case v.Relation == schema.Fits:
		text = style.Green(word) + "\n  the consumer accepts every value of the producer\n"
	case !v.shown():
		text = style.Yellow(word) + "\n  " + diag.Escape(v.Reason) + "\n"
		if v.Keyword != "" {
			text += "  keyword: " + diag.Escape(v.Keyword) + "\n"
		}
	default:
		meaning := "the consumer refuses some values of the producer, such as"
		if v.Relation == schema.Never {
			meaning = "the consumer accepts no value of the producer; one of them is"
		}
		text = style.Red(word) + "\n  " + meaning + "\n    " + diag.Escape(terminal.JSON(v.Witness, "")) + "\n"
		if why := v.consumer.Validate(v.Witness); why != nil {
			where := ""
			if place := strings.TrimPrefix(why.Where(), "."); place != "" {
				where = " at " + place
			}
			text += "  because" + diag.Escape(where) + ": " + diag.Escape(why.Message) + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
