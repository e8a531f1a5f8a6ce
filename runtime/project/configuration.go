package project

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A Configuration is one obelus.yaml, with the catalogues that it names. Without a file it sets nothing.
type Configuration struct {
	Dir        string       // its folder
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

// configured is the configuration of a document: what was named, or the
// nearest obelus.yaml in its workspace. Without any, it sets nothing.
func (r *Reader) configured(place workspace.Place) (*Configuration, error) {
	name := r.Config
	if name == "" {
		name = place.Settings
		for _, one := range place.Passed {
			r.passOver(one)
		}
	}
	return r.ConfigurationAt(name)
}

// configurationOf is the configuration of a file's document.
func (r *Reader) configurationOf(name string) (*Configuration, error) {
	place, err := r.place(name)
	if err != nil {
		return nil, err
	}
	return r.configured(place)
}

// passOver tells, once, of a file that isn't read although somebody may mean it.
func (r *Reader) passOver(one workspace.Refused) {
	if r.Passed == nil || r.passed[one.Name] {
		return
	}
	if r.passed == nil {
		r.passed = map[string]bool{}
	}
	r.passed[one.Name] = true
	if one.Misnamed {
		one.Name = FromHere(one.Name)
	}
	r.Passed(one)
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

// filesOver are those of a name in a file's folder, by where it really lies and by its name, and in all folders above,
// the nearest first and each once: a folder doesn't leave the policy of the house that it is in by having a
// configuration of its own, nor by a link to it. Where anybody may put files, such as /tmp, nobody's word counts.
func (r *Reader) filesOver(file, name string) (names []string, err error) {
	var known []os.FileInfo
	for _, folder := range slices.Compact([]string{r.folder(whereItLies(file)), r.folder(file)}) {
		if folder, err = filepath.Abs(folder); err != nil {
			return nil, err
		}
		for at := range workspace.Above(folder) {
			if info, err := os.Stat(at); err == nil && info.Mode()&fs.ModeSticky != 0 && info.Mode()&0o002 != 0 {
				continue
			}
			stem := strings.TrimSuffix(name, ".yaml")
			for _, other := range []string{"." + name, stem + ".yml", "." + stem + ".yml"} {
				other = filepath.Join(at, other)
				if info, err := os.Stat(other); err == nil && info.Mode().IsRegular() && workspace.Shared(at) == "" {
					r.passOver(workspace.Refused{Name: other, Why: "what counts is called " + name, Misnamed: true})
				}
			}
			one := filepath.Join(at, name)
			if _, err := os.Lstat(one); err != nil {
				continue
			}
			info, err := os.Stat(one)
			switch {
			case err != nil || !info.Mode().IsRegular():
				return nil, diag.NewError(ErrRead, "%q can't be read: it isn't a regular file, nor a link to one",
					FromHere(one)).Advise("put the file there, or take away what stands in its place")
			case !slices.ContainsFunc(known, func(other os.FileInfo) bool { return os.SameFile(other, info) }):
				names, known = append(names, FromHere(one)), append(known, info)
			}
		}
	}
	return names, nil
}

// whereItLies is the name of a file behind links, or of one that is yet to be.
func whereItLies(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil && name != "-" {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil && name != "-" {
		return filepath.Join(real, filepath.Base(name))
	}
	return name
}

// ConfigurationAt reads a configuration, once; "" is one without a file.
func (r *Reader) ConfigurationAt(name string) (*Configuration, error) {
	key := name
	if name != "" && name != "-" {
		if absolute, err := filepath.Abs(name); err == nil {
			key = absolute
		}
	}
	if known := r.configurations[key]; known != nil {
		return known, nil
	}
	config, err := r.readSettings(name)
	if err != nil {
		return nil, err
	}
	config.Analysis.StrictProtocol = r.Strict
	config.Analysis.Replay, config.Analysis.SampleRun = simulate.FinalState, simulate.SampleRun
	if r.configurations == nil {
		r.configurations = map[string]*Configuration{}
	}
	r.configurations[key] = config
	return config, nil
}

func (r *Reader) readSettings(name string) (*Configuration, error) {
	config := &Configuration{}
	if name == "" {
		return config, nil
	}
	text, err := r.text(name)
	if err != nil {
		return nil, err
	}
	file := source.NewFile(FromHere(name), text)
	config.File, config.Dir = file, filepath.Dir(file.Name)
	config.Analysis.Settings, config.Found = analyzer.ReadSettings(file)
	config.Analysis.Path = config.Path
	config.read = map[string]string{filepath.Base(name): workspace.SumOf(text)}
	room, last := r.limits().Bytes, map[string]int{}
	for i, node := range config.Analysis.Settings.Tools {
		last[path.Clean(filepath.ToSlash(node.Text))] = i
	}
	for i, node := range config.Analysis.Settings.Tools {
		path := path.Clean(filepath.ToSlash(node.Text))
		if last[path] > i {
			continue // what it says there wins in any case
		}
		wrong := func(rule *diag.Rule, message, help string) {
			d := diag.New(rule, node.Span(), message)
			d.Help = help
			config.Found = append(config.Found, d)
		}
		if room < 0 {
			wrong(diag.Limit, fmt.Sprintf("the catalogues before \"%s\" are larger than %d bytes together: it and "+
				"those after it aren't read", node.Text, r.limits().Bytes), "take out what the plans don't use")
			break
		}
		catalogue, err := workspace.Folder{Dir: config.Dir, Limit: r.limits().Bytes}.Open(path)
		if err != nil {
			wrong(diag.WrongType, "the catalogue \""+node.Text+"\" can't be read: "+err.Error(),
				"catalogues are in the configuration's folder or below it, and named from there")
			continue
		}
		room -= len(catalogue)
		config.read[path] = workspace.SumOf(catalogue)
		config.Catalogues = append(config.Catalogues,
			source.NewFile(filepath.Join(config.Dir, filepath.FromSlash(path)), catalogue))
	}
	for node, list := range map[*source.Node]**source.File{config.Analysis.Settings.Signers: &config.Signers,
		config.Analysis.Settings.Revoked: &config.Revoked} {
		if node != nil {
			name := under(config.Dir, node.Text)
			text, _ := workspace.Read(name, r.limits().Bytes)
			*list = &source.File{Name: name, Text: text}
			config.read[path.Clean(filepath.ToSlash(node.Text))] = workspace.SumOf(text)
		}
	}
	diag.Sort(config.Found)
	if config.Trusted = r.Config != ""; !config.Trusted && (len(config.Catalogues) > 0 ||
		config.Analysis.Settings.Signers != nil || config.Analysis.Settings.Hosts != nil) {
		config.Trusted, err = r.trusts(file.Name, func() (*Vouching, error) { return config.vouching(r.limits()) })
		absolute, _ := filepath.Abs(file.Name)
		config.Pinned = config.Trusted && trusted(absolute) != nil
	}
	return config, err
}

// FromHere is the name of a file as somebody in this folder would write it.
func FromHere(name string) string {
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

// Path is a file's path from the configuration's folder.
func (c *Configuration) Path(shown string) string {
	if shown == "-" {
		return shown
	}
	relative, err := PathFrom(c.Dir, shown)
	if err != nil {
		return filepath.ToSlash(shown)
	}
	return filepath.ToSlash(relative)
}
