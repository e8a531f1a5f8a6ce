package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
)

// read reads a text; what is wrong with it are findings. A schema in JSON may say what
// a plan may not: NUL, and integers beyond 2^53 that lose no digit.
func (j judge) read(file *source.File) (*source.Node, []diag.Diagnostic) {
	if file.Format == source.JSON {
		file.Format = source.JSONData
	}
	node, problems := source.Parse(file, j.reading.Limits)
	found := make([]diag.Diagnostic, len(problems))
	for i, p := range problems {
		found[i] = diag.OfProblem(p)
	}
	return node, found
}

// schemaOf makes a schema of a value. What is wrong with it is reported at its place.
func schemaOf(n *source.Node) (*schema.Schema, []diag.Diagnostic) {
	if n.Kind != source.Object && n.Kind != source.Bool {
		d := diag.New(diag.BadSchema, n.Span(), fmt.Sprintf("%s is no JSON Schema; expected a mapping, true or false", schema.KindOf(n.Value())))
		return nil, []diag.Diagnostic{d}
	}
	s := schema.New(n.Value(), schema.Options{})
	err := s.Compile()
	if err == nil {
		return s, nil
	}
	d := diag.New(diag.BadSchema, n.Span(), "this isn't a valid JSON Schema: "+err.Error())
	var bad *schema.SchemaError
	if errors.As(err, &bad) {
		d.Help = bad.Help
		d.Span = n.Follow(bad.Path).Span()
	}
	return nil, []diag.Diagnostic{d}
}

// batch judges a pair a line, and answers each before it reads the next.
func (j judge) batch(ctx context.Context, name string) error {
	in := j.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return project.CantRead(name, err)
		}
		defer file.Close()
		in = file
	}
	lines := source.NewLineReader(name, in, j.reading.Limits.Bytes)
	faulty := false
	for ctx.Err() == nil {
		file, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return project.CantRead(name, err)
		}
		r, found := j.line(file)
		if len(found) > 0 {
			if err := diag.Text(j.err, found, textOptions(j.err)); err != nil {
				return err
			}
		}
		faulty = faulty || diag.HasErrors(found)
		if err := j.answer(r); err != nil {
			return err
		}
	}
	if faulty {
		return ending(statusError)
	}
	return ctx.Err()
}

// line judges one pair. Where it can't be judged the verdict is unknown, and
// the findings say why.
func (j judge) line(file *source.File) (ruling, []diag.Diagnostic) {
	pair, found := j.read(file)
	if diag.HasErrors(found) {
		return unjudged(pair.Get("name").Value(), found), found
	}
	name := pair.Get("name").Value()
	if d := pair.Get("dialect"); d != nil {
		found = append(found, diag.New(diag.WrongType, d.Span(), "\"dialect\" isn't read any more; name the draft in \"$schema\""))
	}
	var schemas [2]*schema.Schema
	for i, key := range []string{"sub", "super"} {
		raw := pair.Get(key)
		if raw == nil {
			found = append(found, diag.New(diag.WrongType, pair.Span(),
				fmt.Sprintf("this line has no %q; expected {\"sub\": PRODUCER, \"super\": CONSUMER}", key)))
			continue
		}
		s, wrong := schemaOf(raw)
		schemas[i], found = s, append(found, wrong...)
	}
	if diag.HasErrors(found) {
		return unjudged(name, found), found
	}
	r := ruleOn(schemas[0], schemas[1])
	r.name = name
	return r, found
}

// unjudged is the answer to a pair that has a fault, with its place.
func unjudged(name any, found []diag.Diagnostic) ruling {
	reason := "the pair can't be judged"
	for i := range found {
		if d := &found[i]; d.Severity == diag.Error {
			at := d.Span.From()
			reason = fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, d.Message)
			break
		}
	}
	return ruling{name: name, verdict: schema.Verdict{Reason: reason}}
}

// writeJSON writes the verdict for programs. All keys but the name are always
// there; a witness of null is one when the verdict is never or may-not-fit.
func (r ruling) writeJSON(w io.Writer) error {
	line := struct {
		Kind    string  `json:"kind"`
		Name    any     `json:"name,omitempty"`
		Verdict string  `json:"verdict"`
		Witness any     `json:"witness"`
		Keyword *string `json:"keyword"`
		Reason  *string `json:"reason"`
	}{Kind: "verdict", Name: r.name, Verdict: r.verdict.Relation.String()}
	if r.verdict.Relation == schema.Never || r.verdict.Relation == schema.MayNotFit { // a value shows it, and may be null
		line.Witness = r.verdict.Witness
	}
	line.Keyword, line.Reason = diag.OrNull(r.verdict.Keyword), diag.OrNull(r.verdict.Reason)
	return diag.JSONLine(w, line)
}

// writeText writes the verdict for people: the word itself, what it means here,
// and the value that shows it.
func (r ruling) writeText(w io.Writer, style terminal.Style) error {
	var text strings.Builder
	word := r.verdict.Relation.String()
	switch r.verdict.Relation {
	case schema.Fits:
		text.WriteString(style.Green(word) + "\n  the consumer accepts every value of the producer\n")
	case schema.Unknown:
		text.WriteString(style.Yellow(word) + "\n  " + diag.Escape(r.verdict.Reason) + "\n")
		if r.verdict.Keyword != "" {
			text.WriteString("  keyword: " + diag.Escape(r.verdict.Keyword) + "\n")
		}
	default:
		meaning := "the consumer refuses some values of the producer, such as"
		if r.verdict.Relation == schema.Never {
			meaning = "the consumer accepts no value of the producer; one of them is"
		}
		text.WriteString(style.Red(word) + "\n  " + meaning + "\n    " + diag.Escape(terminal.JSON(r.verdict.Witness, "")) + "\n")
		if why := r.consumer.Validate(r.verdict.Witness); why != nil {
			where := ""
			if place := strings.TrimPrefix(why.Where(), "."); place != "" {
				where = " at " + place
			}
			text.WriteString("  because" + diag.Escape(where) + ": " + diag.Escape(why.Message) + "\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
