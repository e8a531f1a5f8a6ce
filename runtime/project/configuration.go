package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A Configuration is one obelus.yaml, with the catalogues that it names. Without a file it sets nothing.
type Configuration struct {
	Dir        string       // its folder
	File       *source.File // nil when there is none
	Analysis   analyzer.Config
	Catalogues []*source.File
	Trusted    bool // what the catalogues say of effects counts, and whom it lets approve
	// Signers and Revoked are the lists that it names of whose approval counts and of keys
	// that don't; without a text if one can't be read.
	Signers, Revoked approval.List
	Found            []diag.Diagnostic // what is wrong with it
	Noted            bool              // and was said; for who shows it
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

// Around are the configurations in a file's folder, by where it really lies and by its name, and in all those above,
// the nearest first. What they demand of runs counts whatever configuration was named and no matter who wrote one: it
// makes nothing laxer.
func (r *Reader) Around(file string) (all []*Configuration, err error) {
	folders, err := r.around(file)
	for _, at := range folders {
		name := filepath.Join(at, workspace.Settings)
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil, diag.NewError(ErrRead, "%q, which may say who approves, isn't a file", FromHere(name))
		}
		config, err := r.ConfigurationAt(name)
		if err != nil {
			return nil, err
		}
		all = append(all, config)
	}
	return all, err
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

// around are the folders that a file lies in, by where it really lies and by its name, and all those above them.
func (r *Reader) around(file string) ([]string, error) {
	folders, err := foldersOver(r.folder(whereItLies(file)))
	named, wrong := foldersOver(r.folder(file))
	for _, at := range named {
		if !slices.Contains(folders, at) {
			folders = append(folders, at)
		}
	}
	return folders, errors.Join(err, wrong)
}

// foldersOver are a folder and all those above it, but for those where anybody may put
// files, such as /tmp: nobody's word counts there.
func foldersOver(folder string) (all []string, err error) {
	folder, err = filepath.Abs(folder)
	for at := range workspace.Above(folder) {
		if info, err := os.Stat(at); err != nil || info.Mode()&fs.ModeSticky == 0 || info.Mode()&0o002 == 0 {
			all = append(all, at)
		}
	}
	return all, err
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
	room, last := int64(r.limits().Bytes), map[string]int{}
	clean := func(node *source.Node) string { return path.Clean(filepath.ToSlash(node.Text)) }
	for i, node := range config.Analysis.Settings.Tools {
		last[clean(node)] = i
	}
	for i, node := range config.Analysis.Settings.Tools {
		if last[clean(node)] > i {
			continue // what it says there wins in any case
		}
		if room < 0 {
			d := diag.New(diag.Limit, node.Span(),
				fmt.Sprintf(
					"the catalogues before \"%s\" are larger than %d bytes together: it and those after it aren't read",
					node.Text, r.limits().Bytes))
			d.Help = "take out what the plans don't use"
			config.Found = append(config.Found, d)
			break
		}
		if catalogue, err := (workspace.Folder{Dir: config.Dir, Limit: r.limits().Bytes}).
			Open(filepath.ToSlash(node.Text)); err != nil {
			d := diag.New(diag.WrongType, node.Span(), "the catalogue \""+node.Text+"\" can't be read: "+err.Error())
			d.Help = "catalogues are in the configuration's folder or below it, and named from there"
			config.Found = append(config.Found, d)
		} else {
			room -= int64(len(catalogue))
			config.Catalogues = append(config.Catalogues,
				source.NewFile(filepath.Join(config.Dir, filepath.FromSlash(node.Text)), catalogue))
		}
	}
	for node, list := range map[*source.Node]*approval.List{config.Analysis.Settings.Signers: &config.Signers,
		config.Analysis.Settings.Revoked: &config.Revoked} {
		if node != nil {
			list.Name = under(config.Dir, node.Text)
			list.Text, _ = workspace.Read(list.Name, r.limits().Bytes)
		}
	}
	diag.Sort(config.Found)
	if config.Trusted = r.Config != ""; !config.Trusted && (len(config.Catalogues) > 0 ||
		config.Analysis.Settings.Signers != nil || config.Analysis.Settings.Hosts != nil) {
		config.Trusted, err = r.trusts(file.Name, func() (*Vouching, error) { return r.vouching(config) })
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
