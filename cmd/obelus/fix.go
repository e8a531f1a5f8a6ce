package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
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

// mendings makes, in memory, the safe fixes of every document that arguments name. An import is
// fixed only if it is named as well. The result has all files, changed or not.
func (c *cli) mendings(o checking) ([]*mending, error) {
	files, err := o.reading.Gather(o.args)
	if err != nil {
		return nil, err
	}
	var all []*mending
	byName := map[string]*mending{}
	for _, file := range files {
		m := &mending{name: file.Name}
		if m.before, err = o.reading.Text(file.Name); err != nil {
			return nil, err
		}
		m.after = m.before
		all = append(all, m)
		byName[filepath.Clean(file.Name)] = m
	}
	for i, m := range all {
		if isSettings(m.name) {
			file := source.NewFile(m.name, m.before)
			_, found := analyzer.ReadSettings(file, o.reading.Limits)
			if !files[i].Found {
				text, made := diag.Apply(file, found, o.reading.Limits, nil)
				m.after, m.made = text, len(made)
			}
			continue
		}
		var text []byte
		copied, original := 0, m.after // an import may have been fixed before its own turn
		err := o.reading.Split(m.name, original, func(d project.Document) error {
			mended, made := mended(d, files[i].Found, byName)
			m.made += made
			text = append(append(text, original[copied:d.File.Base]...), mended...)
			copied = d.File.Base + len(d.File.Text)
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.after = append(text, original[copied:]...)
	}
	return all, nil
}

// mended makes safe fixes of one document until there are none, and those in its
// imports that have mendings of their own.
func mended(d project.Document, found bool, edited map[string]*mending) (text []byte, made int) {
	own, open := d.File, d.Options.Open
	d.Options.Open = func(name string) ([]byte, error) {
		if other := edited[filepath.Clean(d.Options.Show(name))]; other != nil {
			return other.after, nil
		}
		return open(name)
	}
	for range maxMendings {
		p, kind, sure := d.As()
		if found && !sure || kind != project.Plan && kind != project.Definitions && kind != project.Foreign {
			break
		}
		d.Options = p.Options
		j := p.Judge()
		next, fixed := d.Mended(d.File, j.Findings)
		made += len(fixed)
		if len(fixed) == 0 && !mendImports(d, j.Findings, edited) {
			break
		}
		d.File = &source.File{Name: own.Name, Format: own.Format, Text: next, Row: own.Row, Base: own.Base}
	}
	return d.File.Text, made
}

// mendImports makes the fixes of a document's findings that are in other files.
func mendImports(d project.Document, found []diag.Diagnostic, edited map[string]*mending) (made bool) {
	done := map[*source.File]bool{d.File: true}
	for i := range found {
		file := found[i].Span.File
		if file == nil || done[file] || file.Row > 0 || slices.Contains(d.Options.Catalogues, file) || slices.Contains(d.Options.Activities, file) {
			continue
		}
		done[file] = true
		other := edited[filepath.Clean(file.Name)]
		if other == nil || !bytes.Equal(other.after, file.Text) {
			continue
		}
		if text, fixed := d.Mended(file, found); len(fixed) > 0 {
			other.after, made = text, true
			other.made += len(fixed)
		}
	}
	return made
}

// fix writes what safe fixes make of the files, and then checks them. It reports its fixes on
// standard error; standard output has the remaining findings, or the fixed standard input.
func (c *cli) fix(o checking) error {
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
			if err := replaceFile(m.name, m.after); err != nil {
				return usageErr("can't write %q: %s", m.name, reason(err))
			}
		}
		if m.made > 0 {
			fmt.Fprintf(c.err, "obelus: made %s in \"%s\"\n", wording.Counted(m.made, "fix", "fixes"), diag.Escape(m.name))
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

// replaceFile replaces a file in one step. It follows a link and keeps the permissions.
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
