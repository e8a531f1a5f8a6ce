package project

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A Configuration is one obelus.yaml, with the catalogues that it names. Without a file it sets nothing.
type Configuration struct {
	File       *source.File // nil when there is none
	Analysis   analyzer.Config
	Catalogues []*source.File
	Pinned     bool // trust covers the files of its programs, by their digests
	Trusted    bool // what the catalogues say of effects counts, and whom it lets approve
	// Signers and Revoked are the lists that it names of whose approval counts and of keys
	// that don't, nil for none; without a text if one can't be read.
	Signers, Revoked *source.File
	Found            []diag.Diagnostic // what is wrong with it
	Noted            bool              // and was said; for who shows it
	read             map[string]string // digests of all that was read, by path from its folder
}

// Around are the configurations over a file. What they demand of runs counts whatever configuration was named and no
// matter who wrote one: it makes nothing laxer.
func (r *Reader) Around(file string) (all []*Configuration, err error) {
	names, err := r.filesOver(file, workspace.Settings)
	for _, name := range names {
		config, err := r.ConfigurationAt(name)
		if err != nil {
			return nil, err
		}
		all = append(all, config)
	}
	return all, err
}

// ConfigurationAt reads a configuration, once; "" is one without a file.
func (r *Reader) ConfigurationAt(name string) (*Configuration, error) {
	key := name
	if name != "" {
		key = absolute(name)
	}
	if known := r.configurations[key]; known != nil {
		return known, nil
	}
	config := &Configuration{}
	if name != "" {
		text, err := r.text(name)
		if err != nil {
			return nil, err
		}
		config.File = source.NewFile(FromHere(name), text)
		r.readSettings(config)
	}
	config.Analysis.StrictProtocol = r.Strict
	config.Analysis.Replay, config.Analysis.SampleRun = simulate.FinalState, simulate.SampleRun
	if r.configurations == nil {
		r.configurations = map[string]*Configuration{}
	}
	r.configurations[key] = config
	return config, nil
}

// readSettings reads what a configuration's file says, and all that it names.
func (r *Reader) readSettings(config *Configuration) {
	settings, found := analyzer.ReadSettings(config.File)
	dir := filepath.Dir(config.File.Name)
	config.read = map[string]string{filepath.Base(config.File.Name): workspace.SumOf(config.File.Text)}
	room, last := r.limits().Bytes, map[string]int{}
	for i, node := range settings.Tools {
		last[path.Clean(filepath.ToSlash(node.Text))] = i
	}
	for i, node := range settings.Tools {
		name := path.Clean(filepath.ToSlash(node.Text))
		if last[name] > i || room < 0 {
			continue // what it says there wins in any case
		}
		text, err := workspace.Folder{Dir: dir, Limit: r.limits().Bytes}.Open(name)
		if room -= len(text); room < 0 {
			err = fmt.Errorf("with those before it, it is larger than %d bytes", r.limits().Bytes)
		}
		if err != nil {
			d := diag.New(diag.WrongType, node.Span(), "the catalogue \""+node.Text+"\" can't be read: "+err.Error())
			d.Help = "catalogues are in the configuration's folder or below it, and named from there"
			found = append(found, d)
			continue
		}
		config.read[name] = workspace.SumOf(text)
		config.Catalogues = append(config.Catalogues, source.NewFile(under(dir, name), text))
	}
	list := func(node *source.Node) *source.File {
		if node == nil {
			return nil
		}
		name := under(dir, node.Text)
		text, _ := approval.ReadFile(name, r.limits().Bytes)
		config.read[path.Clean(filepath.ToSlash(node.Text))] = workspace.SumOf(text)
		return &source.File{Name: name, Text: text}
	}
	config.Signers, config.Revoked = list(settings.Signers), list(settings.Revoked)
	diag.Sort(found)
	config.Analysis.Settings, config.Analysis.Path, config.Found = settings, config.Path, found
	config.Trusted = r.Config != ""
	if !config.Trusted && (len(config.Catalogues) > 0 || settings.Signers != nil || settings.Hosts != nil) {
		v := newVouching(config.File)
		config.Trusted = r.trusts(v, func() error { return config.complete(v, r.limits()) })
		config.Pinned = config.Trusted && v.Before != nil
	}
}

// Path is a file's path from the configuration's folder.
func (c *Configuration) Path(shown string) string {
	dir := "."
	if c.File != nil {
		dir = filepath.Dir(c.File.Name)
	}
	if relative, err := PathFrom(dir, shown); err == nil && shown != "-" {
		shown = relative
	}
	return filepath.ToSlash(shown)
}
