package main

import (
	"bytes"
	"cmp"
	"path/filepath"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// maxMendings bounds how often a document is fixed again: what one fix changes
// may show the next fault.
const maxMendings = 10

// fix writes what safe fixes make of the files, and then checks them; with --diff it prints what would change, as a
// patch. It reports its fixes on standard error; standard output has the remaining findings, or the fixed standard
// input.
func (c *cli) fix(o *checking) error {
	files, err := o.reading.Gather(o.args)
	next, found := *c, error(nil)
	for _, one := range files {
		before, after, made, err := mending(o, one)
		switch {
		case err != nil:
			return err
		case o.Diff && made > 0:
			found = ending(statusFound)
			err = diag.Diff(c.out, one.Name, before, after, terminal.TextOptions(c.out))
		case o.Diff:
		case one.Name == "-":
			o.reading.Stdin, next.out = bytes.NewReader(after), c.err
			_, err = c.out.Write(after)
		case made > 0:
			if err = workspace.Replace(one.Name, after); err != nil {
				err = usageErr("can't write %q: %w", one.Name, reason(err))
			}
		}
		if err != nil {
			return err
		}
		if made > 0 && !o.Diff {
			c.note("made %s in \"%s\"", wording.Counted(made, "fix", "fixes"), diag.Escape(one.Name))
		}
	}
	if err != nil || o.Diff {
		return cmp.Or(err, found)
	}
	o.reading.Forget() // they may be fixed as well
	return next.check(o)
}

// mending makes, in memory, the safe fixes of the documents of a file.
func mending(o *checking, one project.Named) (before, after []byte, made int, err error) {
	before, err = o.reading.Text(one.Name)
	if err != nil || filepath.Base(one.Name) == workspace.Settings {
		return before, before, 0, err
	}
	copied := 0
	err = o.reading.Split(one.Name, before, func(d project.Document) error {
		text, n := mended(d, one.Found)
		made += n
		after = append(append(after, before[copied:d.File.Base]...), text...)
		copied = d.File.Base + len(d.File.Text)
		return nil
	})
	return before, append(after, before[copied:]...), made, err
}

// mended makes the safe fixes of one document until none is left.
func mended(d project.Document, found bool) (text []byte, made int) {
	for range maxMendings {
		p, kind, sure := d.As()
		if found && !sure || kind != project.Plan && kind != project.Definitions && kind != project.Foreign {
			break
		}
		d.Options = p.Options
		next, fixed := d.Mended(p.Judge().Findings)
		if len(fixed) == 0 {
			break
		}
		made += len(fixed)
		d = d.With(next)
	}
	return d.File.Text, made
}
