package main

import (
	"bytes"
	"path/filepath"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// maxMendings bounds how often a document is fixed again: what one fix changes
// may show the next fault.
const maxMendings = 10

// A mending is what the safe fixes make of one file.
type mending struct {
	name          string
	before, after []byte
	made          int // fixes
}

// mendings makes, in memory, the safe fixes of every document that arguments name. The result has
// all files, changed or not.
func (c *cli) mendings(o *checking) ([]*mending, error) {
	files, err := o.reading.Gather(o.args)
	if err != nil {
		return nil, err
	}
	var all []*mending
	for _, one := range files {
		m := &mending{name: one.Name}
		if m.before, err = o.reading.Text(one.Name); err != nil {
			return nil, err
		}
		m.after = m.before
		all = append(all, m)
		if filepath.Base(m.name) == workspace.Settings {
			file := source.NewFile(m.name, m.before)
			_, found := analyzer.ReadSettings(file, o.reading.Limits)
			if !one.Found {
				text, made := diag.Apply(file, found, o.reading.Limits, nil)
				m.after, m.made = text, len(made)
			}
			continue
		}
		var text []byte
		copied := 0
		err := o.reading.Split(m.name, m.before, func(d project.Document) error {
			mended, made := mended(d, one.Found)
			m.made += made
			text = append(append(text, m.before[copied:d.File.Base]...), mended...)
			copied = d.File.Base + len(d.File.Text)
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.after = append(text, m.before[copied:]...)
	}
	return all, nil
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

// fix writes what safe fixes make of the files, and then checks them. It reports its fixes on
// standard error; standard output has the remaining findings, or the fixed standard input.
func (c *cli) fix(o *checking) error {
	all, err := c.mendings(o)
	if err != nil {
		return err
	}
	next := *c
	o.reading.Forget() // they may be fixed as well
	for _, m := range all {
		if m.name == "-" {
			if _, err := c.out.Write(m.after); err != nil {
				return err
			}
			o.reading.Stdin, next.out = bytes.NewReader(m.after), c.err
		} else if m.made > 0 {
			if err := workspace.Replace(m.name, m.after); err != nil {
				return usageErr("can't write %q: %s", m.name, reason(err))
			}
		}
		if m.made > 0 {
			c.note("made %s in \"%s\"", wording.Counted(m.made, "fix", "fixes"), diag.Escape(m.name))
		}
	}
	return next.check(o)
}

// showFixes prints what fix would change, as a patch.
func (c *cli) showFixes(o *checking) error {
	all, err := c.mendings(o)
	if err != nil {
		return err
	}
	var found error
	for _, m := range all {
		if m.made == 0 {
			continue
		}
		found = ending(statusFound)
		if err := diag.Diff(c.out, m.name, m.before, m.after, textOptions(c.out)); err != nil {
			return err
		}
	}
	return found
}
