package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A configuration is one obelus.yaml, with the catalogues that it names.
type configuration struct {
	dir        string       // the folder that it stands in
	file       *source.File // nil when there is none
	analysis   analyzer.Config
	catalogues []*source.File
	found      []diag.Diagnostic // what is wrong with it
	told       bool              // and was said
	used       map[*analyzer.Ignore]bool
	checked    map[string]bool // the files that were judged by it, from its folder
}

// configured is the configuration of a document: what --config names, or the
// nearest obelus.yaml in its workspace. Without any, it sets nothing.
func (r *reading) configured(c *cli, place workspace.Place) (*configuration, error) {
	name := r.config
	if name == "" {
		name = place.Settings
		for _, one := range place.Passed {
			if r.passed == nil {
				r.passed = map[string]bool{}
			}
			if !r.passed[one.Name] {
				r.passed[one.Name] = true
				fmt.Fprintf(c.err, "obelus: \"%s\" isn't read, since others may have written it: %s; name it with --config if it is meant\n", diag.Escape(one.Name), one.Why)
			}
		}
	}
	return r.configurationAt(c, name)
}

// configurationAt reads a configuration, once.
func (r *reading) configurationAt(c *cli, name string) (*configuration, error) {
	key := name
	if absolute, err := filepath.Abs(name); err == nil && name != "" && name != "-" {
		key = absolute
	}
	if known := r.configurations[key]; known != nil {
		return known, nil
	}
	config, err := r.readSettings(c, name)
	if err != nil {
		return nil, err
	}
	config.analysis.StrictProtocol = r.strict
	config.analysis.Replay = simulate.FinalState
	if r.configurations == nil {
		r.configurations = map[string]*configuration{}
	}
	r.configurations[key] = config
	return config, nil
}

func (r *reading) readSettings(c *cli, name string) (*configuration, error) {
	config := &configuration{used: map[*analyzer.Ignore]bool{}, checked: map[string]bool{}}
	if name == "" {
		return config, nil
	}
	text, err := r.text(c, name)
	if err != nil {
		return nil, err
	}
	file := source.NewFile(fromHere(name), text)
	config.file, config.dir = file, filepath.Dir(file.Name)
	config.analysis.Settings, config.found = analyzer.ReadSettings(file, r.limits)
	config.analysis.Path = config.path
	for _, node := range config.analysis.Settings.Tools {
		if catalogue, err := (workspace.Folder{Dir: config.dir, Limit: r.limits.Bytes}).Open(filepath.ToSlash(node.Text)); err != nil {
			d := diag.New(diag.WrongType, node.Span(), "the catalogue \""+node.Text+"\" can't be read: "+err.Error())
			d.Help = "catalogues are in the configuration's folder or below it, and named from there"
			config.found = append(config.found, d)
		} else {
			config.catalogues = append(config.catalogues, source.NewFile(filepath.Join(config.dir, filepath.FromSlash(node.Text)), catalogue))
		}
	}
	diag.Sort(config.found)
	return config, nil
}

// fromHere is the name of a file as somebody in this folder would write it.
func fromHere(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if relative, err := filepath.Rel(here, name); err == nil {
		return relative
	}
	return name
}

// path is a file's path from the configuration's folder.
func (c *configuration) path(shown string) string {
	if shown == "-" {
		return shown
	}
	file, err := filepath.Abs(shown)
	if err != nil {
		return filepath.ToSlash(shown)
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return filepath.ToSlash(shown)
	}
	relative, err := filepath.Rel(dir, file)
	if err != nil {
		return filepath.ToSlash(shown)
	}
	return filepath.ToSlash(relative)
}

// within tells whether a folder that was checked is the configuration's own or
// one above it, so that every file that it speaks of was met.
func (c *configuration) within(folders []string) bool {
	for _, folder := range folders {
		above, err1 := filepath.Abs(folder)
		own, err2 := filepath.Abs(c.dir)
		if err1 != nil || err2 != nil {
			continue
		}
		if relative, err := filepath.Rel(above, own); err == nil && filepath.IsLocal(relative) {
			return true
		}
	}
	return false
}

// useless reports the ignores that suppressed nothing although what they speak of
// was checked: the very file, or everything that the configuration is about.
func (c *configuration) useless(folders []string) []diag.Diagnostic {
	if c.analysis.Settings == nil {
		return nil
	}
	all := c.within(folders)
	var found []diag.Diagnostic
	for _, ignore := range c.analysis.Settings.Ignores {
		if c.used[ignore] || !all && !(ignore.Literal && c.checked[ignore.Pattern]) {
			continue
		}
		d := diag.New(diag.UselessSuppression, ignore.Node.Span(), "this suppresses nothing: no file that it speaks of has a finding "+ignore.Rule.Code+" "+ignore.Rule.Name)
		d.Help = "take it out"
		if level, set := c.analysis.Settings.Rules[d.Rule]; set {
			if level.Off {
				continue
			}
			d.Severity = level.Severity
		}
		found = append(found, d)
	}
	return found
}
