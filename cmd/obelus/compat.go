package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
)

type comparing struct {
	Format string `flag:"--format text|json: how the verdict is written; always json with --batch"`
	Batch  string `flag:"--batch FILE: compare the pairs of a file of JSON lines; - is standard input"`
}

// statusUndecided is the exit status of a question without an answer: neither a yes, on
// which somebody might build, nor a no.
const statusUndecided = 3

func (o *comparing) run(ctx context.Context, c *cli, args []string) error {
	if o.Batch != "" {
		if err := counted("", 0, 0)(c.cmd, args); err != nil {
			return err
		}
		return o.batch(ctx, c)
	}
	if err := counted("a producer's schema and a consumer's", 2, 2)(c.cmd, args); err != nil {
		return err
	}
	reading := c.newReading()
	var schemas [2]*schema.Schema
	var found []diag.Diagnostic
	for i, name := range args {
		text, err := reading.Text(name)
		if err != nil {
			return err
		}
		root, problems := schemaData(source.NewFile(name, text), reading.Limits)
		if found = append(found, problems...); !diag.HasErrors(problems) {
			schemas[i], found = schemaOf(root, found)
		}
	}
	v := compareSchemas(nil, schemas, found)
	if err := c.show(found, o.Format); err != nil {
		return err
	}
	if diag.HasErrors(found) {
		return ending(statusError)
	}
	write := v.writeText
	if o.Format == "json" {
		write = v.writeJSON
	}
	if err := write(c.out); err != nil {
		return err
	}
	switch v.Relation {
	case schema.Fits:
		return nil
	case schema.Unknown:
		return ending(statusUndecided)
	}
	return ending(statusFound)
}

// batch compares a pair a line, and answers each before it reads the next.
func (o *comparing) batch(ctx context.Context, c *cli) error {
	in, limits := c.in, c.newReading().Limits
	if o.Batch != "-" {
		file, err := os.Open(o.Batch)
		if err != nil {
			return project.CantRead(o.Batch, err)
		}
		defer file.Close()
		in = file
	}
	lines := source.NewLineReader(o.Batch, in, limits.Bytes)
	faulty := false
	for ctx.Err() == nil {
		file, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return project.CantRead(o.Batch, err)
		}
		v, found := compareLine(file, limits)
		if err := diag.Text(c.err, found, textOptions(c.err)); err != nil {
			return err
		}
		faulty = faulty || diag.HasErrors(found)
		if err := v.writeJSON(c.out); err != nil {
			return err
		}
	}
	if faulty {
		return ending(statusError)
	}
	return ctx.Err()
}

// schemaData reads a text; what is wrong with it are findings. A schema in JSON may contain what
// a plan may not: NUL, and integers beyond 2^53 that lose no digit.
func schemaData(file *source.File, limits source.Limits) (*source.Node, []diag.Diagnostic) {
	if file.Format == source.JSON {
		file.Format = source.JSONData
	}
	node, problems := source.Parse(file, limits)
	found := make([]diag.Diagnostic, len(problems))
	for i, p := range problems {
		found[i] = diag.OfProblem(p)
	}
	return node, found
}

// compareLine compares the two schemas of a line.
func compareLine(file *source.File, limits source.Limits) (verdict, []diag.Diagnostic) {
	pair, found := schemaData(file, limits)
	var schemas [2]*schema.Schema
	if !diag.HasErrors(found) {
		if d := pair.Get("dialect"); d != nil {
			found = append(found, diag.New(diag.WrongType, d.Span(),
				"\"dialect\" isn't read any more; name the draft in \"$schema\""))
		}
		for i, key := range []string{"sub", "super"} {
			if side := pair.Get(key); side != nil {
				schemas[i], found = schemaOf(side, found)
				continue
			}
			found = append(found, diag.New(diag.WrongType, pair.Span(),
				fmt.Sprintf("this line has no %q; expected {\"sub\": PRODUCER, \"super\": CONSUMER}", key)))
		}
	}
	return compareSchemas(pair.Get("name").Value(), schemas, found), found
}
