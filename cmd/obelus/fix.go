package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// maxMendings bounds how often a file is mended anew: what one fix changes may
// show the next fault.
const maxMendings = 10

// A mending is what the safe fixes make of one file.
type mending struct {
	name          string
	before, after []byte
	made          int // fixes
}

// mendings makes the safe fixes of every document that arguments name, in
// memory, and lists the files that change. Files of many documents are left
// alone.
func (c *cli) mendings(args []string, reading *reading) ([]mending, error) {
	files, err := gather(args)
	if err != nil {
		return nil, err
	}
	var all []mending
	for _, file := range files {
		if file.name == "-" {
			return nil, troubled("standard input can't be mended in its place").advise("name a file")
		}
		if isLines(file.name) {
			continue
		}
		m, err := c.mending(file, reading)
		if err != nil {
			return nil, err
		}
		if m.made > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

func (c *cli) mending(file named, reading *reading) (mending, error) {
	m := mending{name: file.name}
	err := reading.read(c, file.name, func(d document) error {
		m.before, m.after = d.file.Text, d.file.Text
		for range maxMendings {
			p := d.compile()
			if file.found && !looksLikePlan(d.file, p.plan.Root) {
				return nil
			}
			p.analyze()
			text, made := diag.Apply(d.file, p.found, d.options.Limits)
			if len(made) == 0 {
				return nil
			}
			m.made += len(made)
			m.after = text
			d.file = source.NewFile(d.file.Name, text)
		}
		return nil
	})
	return m, err
}

// fix writes what safe fixes make of the files. What it did is said on standard
// error: standard output is for the findings that are left.
func (c *cli) fix(args []string, reading *reading) error {
	all, err := c.mendings(args, reading)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := replaceFile(m.name, m.after); err != nil {
			return troubled("can't write %q: %s", m.name, reason(err))
		}
		fmt.Fprintf(c.err, "obelus: made %s in \"%s\"\n", counted(m.made, "fix", "fixes"), diag.Escape(m.name))
	}
	return nil
}

// showFixes prints what fix would change, as a patch.
func (c *cli) showFixes(args []string, reading *reading) error {
	all, err := c.mendings(args, reading)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := diag.Diff(c.out, m.name, m.before, m.after, textOptions(c.out)); err != nil {
			return err
		}
	}
	if len(all) > 0 {
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
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), real)
}
