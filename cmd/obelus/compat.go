package main

import (
	"context"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
)

type comparing struct {
	Format string `flag:"--format text|json: how the verdict is written; always json with --batch"`
	Batch  string `flag:"--batch FILE: compare the pairs of a file of JSON lines; - is standard input"`
}

func (o *comparing) run(ctx context.Context, c *cli, args []string) error {
	j := judge{cli: c, reading: c.newReading(), json: o.Format == "json" || o.Batch != ""}
	if o.Batch != "" {
		if err := counted("", 0, 0)(c.cmd, args); err != nil {
			return err
		}
		return j.batch(ctx, o.Batch)
	}
	if err := counted("a producer's schema and a consumer's", 2, 2)(c.cmd, args); err != nil {
		return err
	}
	return j.pair(args[0], args[1])
}

// A judge holds schemas against each other and says how they stand.
type judge struct {
	*cli
	reading *project.Reader
	json    bool
}

// A ruling is the answer to one pair.
type ruling struct {
	name     any // as the pair has it; nil when it has none
	verdict  schema.Verdict
	consumer *schema.Schema
}

func ruleOn(producer, consumer *schema.Schema) ruling {
	return ruling{verdict: schema.Contains(producer, consumer, schema.Budget{}), consumer: consumer}
}

// pair judges the schemas of two files.
func (j judge) pair(producer, consumer string) error {
	var schemas [2]*schema.Schema
	var found []diag.Diagnostic
	for i, name := range []string{producer, consumer} {
		text, err := j.reading.Text(name)
		if err != nil {
			return err
		}
		root, problems := j.read(source.NewFile(name, text))
		found = append(found, problems...)
		if !diag.HasErrors(problems) {
			s, wrong := schemaOf(root)
			schemas[i], found = s, append(found, wrong...)
		}
	}
	format := map[bool]string{true: "json", false: "text"}[j.json]
	if err := j.show(found, format); err != nil {
		return err
	}
	if diag.HasErrors(found) {
		return ending(statusError)
	}
	r := ruleOn(schemas[0], schemas[1])
	if err := j.answer(r); err != nil {
		return err
	}
	switch r.verdict.Relation {
	case schema.Fits:
		return nil
	case schema.Unknown:
		return ending(statusUndecided)
	}
	return ending(statusFound)
}

// statusUndecided is that of a question without an answer: neither a yes, on
// which somebody might build, nor a no.
const statusUndecided = 3

// answer writes one verdict.
func (j judge) answer(r ruling) error {
	if j.json {
		return r.writeJSON(j.out)
	}
	return r.writeText(j.out, terminal.StyleFor(j.out))
}
