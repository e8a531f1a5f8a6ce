package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// maxMendings bounds how often a document is mended anew: what one fix changes
// may show the next fault.
const maxMendings = 10

// A mending is what the safe fixes make of one file.
type mending struct {
	name          string
	before, after []byte
	made          int // fixes
}

// mendings makes the safe fixes of every document that arguments name, in
// memory. Only the document itself is ever mended, never what it imports. All
// files are there, changed or not.
func (c *cli) mendings(o checking) ([]mending, error) {
	files, err := gather(o.args)
	if err != nil {
		return nil, err
	}
	var all []mending
	for _, file := range files {
		m := mending{name: file.name}
		if m.before, err = o.reading.text(c, file.name); err != nil {
			return nil, err
		}
		copied := 0
		err := o.reading.split(c, file.name, m.before, func(d document) error {
			text, made := mended(d, file.found)
			m.made += made
			start, end := d.file.Base, d.file.Base+len(d.file.Text)
			m.after = append(append(m.after, m.before[copied:start]...), text...)
			copied = end
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.after = append(m.after, m.before[copied:]...)
		all = append(all, m)
	}
	return all, nil
}

// mended makes safe fixes of one document until there are none.
func mended(d document, found bool) (text []byte, made int) {
	for range maxMendings {
		p := d.compile()
		if found && !looksLikePlan(d.file, p.plan.Root) {
			break
		}
		j := analyzer.Judge(p.plan, p.found, d.config.analysis)
		next, fixed := diag.Apply(d.file, j.Findings, d.options.Limits)
		if len(fixed) == 0 {
			break
		}
		made += len(fixed)
		again := &source.File{Name: d.file.Name, Format: d.file.Format, Text: next, Row: d.file.Row, Base: d.file.Base}
		d.file = again
	}
	return d.file.Text, made
}

// fix writes what safe fixes make of the files, and then checks them. What it
// did is said on standard error: standard output is for the findings that are
// left, except that the text of standard input goes there, mended.
func (c *cli) fix(o checking) error {
	all, err := c.mendings(o)
	if err != nil {
		return err
	}
	next := *c
	for _, m := range all {
		if m.name == "-" {
			if _, err := c.out.Write(m.after); err != nil {
				return err
			}
			next.in, next.out = bytes.NewReader(m.after), c.err
		} else if m.made > 0 {
			if err := replaceFile(m.name, m.after); err != nil {
				return troubled("can't write %q: %s", m.name, reason(err))
			}
		}
		if m.made > 0 {
			fmt.Fprintf(c.err, "obelus: made %s in \"%s\"\n", counted(m.made, "fix", "fixes"), diag.Escape(m.name))
		}
	}
	return next.check(o)
}

// showFixes prints what fix would change, as a patch.
func (c *cli) showFixes(o checking) error {
	all, err := c.mendings(o)
	if err != nil {
		return err
	}
	changes := false
	for _, m := range all {
		if m.made == 0 {
			continue
		}
		changes = true
		if err := diag.Diff(c.out, m.name, m.before, m.after, textOptions(c.out)); err != nil {
			return err
		}
	}
	if changes {
		return ending(statusFound)
	}
	return nil
}

// replaceFile puts a text in a file's place in one step, so that nobody ever
// finds half of it. It follows a link and keeps the file's permissions.
func replaceFile(name string, text []byte) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(real), ".obelus-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // there is nothing to remove once it has its name
	_, err = temporary.Write(text)
	if err == nil {
		err = temporary.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), real)
}
