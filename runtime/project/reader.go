package project

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Reader reads documents, and knows what they may import. The zero value reads
// files with the default limits, each below the workspace that it lies in.
type Reader struct {
	Root       string                // the workspace of all documents; "" looks for that of each
	Folders    []string              // that were named, with all that is in them
	Activities []string              // files of activities, over the documents' own
	Policies   []string              // files that say what plans may do, in the place of the workspace's
	Functions  []string              // activities that the program registers
	Hints      map[string]plan.Hints // what these do to the world
	Override   compiler.Override     // settings in the place of the documents' own
	Limits     source.Limits
	Config     string // the configuration's file; "" looks for one
	// Trust has the word of workspaces count where they say that something is harmless, and Trusted
	// the word of those in or below these folders; of others it counts
	// if the user has declared so ([Vouching]). What is named by itself counts.
	Trust     bool
	Trusted   []string
	Strict    bool // report what the base protocol doesn't have
	Instances bool // instances come with the run
	Machine   Machine
	// Hosts are further ones that requests may go to, as given by the user who runs plans.
	Hosts  []hosts.Entry
	Permit *permit.Permit // what plans may do; nil holds them to nothing
	Stdin  io.Reader
	// Confined reads a file that is named from the workspace that Root is, and refuses those
	// outside of it and links that lead there, as is done with what documents name.
	Confined bool
	Excluded int // files that [Reader.Gather] left out because the configuration says so
	// Passed, if given, is called once for each configuration that isn't read because others may have written it.
	Passed func(workspace.Refused)

	configurations map[string]*Configuration // by file, as they were met
	passed         map[string]bool
}

// Machine says which machine a plan is to be run on.
type Machine uint8

const (
	AnyMachine   Machine = iota // nobody asks what it has
	ThisMachine                 // what it lacks is an error (OB609)
	OtherMachine                // what this one lacks is a warning
)

// A Document is one text to compile, with what its compilation needs from outside.
type Document struct {
	File    *source.File
	Options compiler.Options
	Root    string            // the workspace
	Opened  map[string]string // the files that compiling opened, by their paths in the workspace
	Config  *Configuration
	Machine Machine
	Hosts   hosts.Rules // where its requests may go, by all but policies
	// Permit is what it may do; nil holds it to nothing.
	Permit *permit.Permit

	policies func(file string) ([]compiler.PolicyFile, error) // those that a file stands under
}

// One reads the single document of a file; - is standard input.
func (r *Reader) One(name string) (Document, error) {
	var only Document
	read := 0
	err := r.Read(name, func(d Document) error {
		only = d
		read++
		return nil
	})
	if err == nil && read != 1 {
		err = diag.NewError(ErrNotOne, "%q holds %d documents", name, read).
			Advise("this command takes one plan; \"obelus check\" takes any number")
	}
	return only, err
}

// Read hands on every document of one file: itself, or the lines of a .jsonl.
func (r *Reader) Read(name string, each func(Document) error) error {
	text, err := r.Text(name)
	if err != nil {
		return err
	}
	return r.Split(name, text, each)
}

// Split hands on every document of a text that stands under a file's name.
func (r *Reader) Split(name string, text []byte, each func(Document) error) error {
	options, place, err := r.options(name)
	if err != nil {
		return err
	}
	config, err := r.configured(place)
	if err != nil {
		return err
	}
	options.Catalogues, options.Trusted = config.Catalogues, config.Trusted
	d := Document{
		Opened: remembered(&options), Root: place.Root, Config: config, Machine: r.Machine, Hosts: r.hosts(config),
		Permit: r.Permit, policies: r.policies,
	}
	if d.Options = options; !isLines(name) {
		d.File = source.NewFile(name, text)
		return each(d)
	}
	for d.File = range source.Lines(name, text) {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) hosts(config *Configuration) (rules hosts.Rules) {
	if config.Analysis.Settings != nil && config.Analysis.Settings.Hosts != nil {
		list := *config.Analysis.Settings.Hosts
		list.Counts = config.Trusted
		rules = append(rules, list)
	}
	if len(r.Hosts) > 0 {
		rules = append(rules, hosts.List{By: "whoever runs the plan", Entries: r.Hosts, Adds: true, Counts: true})
	}
	return rules
}

// Forget lets configurations be read anew.
func (r *Reader) Forget() { r.configurations = nil }

func isLines(name string) bool { return strings.EqualFold(filepath.Ext(name), ".jsonl") }

// Text reads a file that somebody named, one byte beyond the limit at most: its reader then says that it is too large.
func (r *Reader) Text(name string) ([]byte, error) {
	if _, err := below(r.Root, name); r.Confined && name != "-" && err != nil {
		return nil, err
	}
	return r.text(name)
}

// text is Text for files that may be outside of the workspace, such as a policy above it. If
// [Reader.Confined], it follows no link out of the workspace.
func (r *Reader) text(name string) ([]byte, error) {
	most := r.limits().Bytes // of one document, whose reader says itself that it is too large
	if isLines(name) {
		most *= linesFactor
	}
	var text []byte
	relative, err := below(r.Root, name)
	switch {
	case name == "-" && r.Stdin == nil:
		err = nil
	case name == "-":
		text, err = io.ReadAll(io.LimitReader(r.Stdin, int64(most)+1))
		ended, end := io.Pipe()
		end.CloseWithError(errors.New("it can be read only once"))
		r.Stdin = ended
	case r.Confined && err == nil:
		text, err = workspace.Folder{Dir: r.Root, Limit: most}.Open(filepath.ToSlash(relative))
	default:
		text, err = workspace.Read(name, most)
	}
	switch {
	case err != nil:
		return nil, CantRead(name, err)
	case isLines(name) && len(text) > most:
		return nil, diag.NewError(ErrTooLarge, "%q is larger than %d bytes", name, most).
			Advise("split it into several files")
	}
	return text, nil
}

const linesFactor = 16

func (r *Reader) limits() source.Limits { return cmp.Or(r.Limits, source.DefaultLimits()) }

// CantRead is the trouble with a file that can't be read.
func CantRead(name string, err error) *diag.UserError {
	problem := diag.NewError(ErrRead, "can't read %q: %w", name, workspace.Reason(err))
	for _, extension := range extensions {
		if _, absent := os.Stat(name + extension); absent == nil && errors.Is(err, fs.ErrNotExist) {
			return problem.Advise("did you mean %q?", name+extension)
		}
	}
	return problem
}

// place is where a file's workspace is, as somebody would write it who names the file so.
func (r *Reader) place(name string) (place workspace.Place, err error) {
	if r.Root != "" {
		info, err := os.Stat(r.Root)
		if err == nil && !info.IsDir() {
			err = errors.New("it isn't a folder")
		}
		if err != nil {
			return place, diag.NewError(ErrRoot, "can't use --root %q: %w", r.Root, workspace.Reason(err))
		}
	}
	folder := r.folder(name)
	if place, err = workspace.Locate(folder, r.given(folder), r.Root); err != nil {
		return place, err
	}
	if r.Root != "" {
		place.Root = r.Root
	} else if !filepath.IsAbs(name) {
		place.Root = FromHere(place.Root)
	}
	return place, nil
}

// folder is the one that a file lies in; standard input lies in the workspace's.
func (r *Reader) folder(name string) string {
	if name == "-" && r.Root != "" {
		return r.Root
	}
	return filepath.Dir(name)
}

// options are those of a file's compilation: its imports are opened below the workspace root and nowhere else.
func (r *Reader) options(name string) (o compiler.Options, place workspace.Place, err error) {
	if place, err = r.place(name); err != nil {
		return o, place, err
	}
	root := place.Root
	relative, err := below(root, filepath.Join(r.folder(name), filepath.Base(name)))
	if err != nil {
		return o, place, err
	}
	limits := r.limits()
	o = compiler.Options{
		Name: filepath.ToSlash(relative), Limits: limits, Instances: r.Instances, Override: r.Override,
		Functions: r.Functions, Hints: r.Hints,
		Open:  workspace.Folder{Dir: root, Limit: limits.Bytes}.Open,
		Files: workspace.Folder{Dir: root},
		Show:  func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) },
	}
	for _, extra := range r.Activities {
		text, err := r.text(extra)
		if err != nil {
			return o, place, err
		}
		o.Activities = append(o.Activities, source.NewFile(extra, text))
	}
	if _, err = r.filesOver(name, workspace.Settings); err == nil { // which says what can't be one
		o.Policies, err = r.policies(name)
	}
	return o, place, err
}

// given is the topmost of the folders that were named which holds another.
func (r *Reader) given(folder string) string {
	given := ""
	below, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	for _, one := range r.Folders {
		if path, err := filepath.Abs(one); err == nil && workspace.Holds(path, below) &&
			(given == "" || len(path) < len(given)) {
			given = path
		}
	}
	return given
}

// PathFrom is the path of a file from a folder.
func PathFrom(dir, name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	top, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.Rel(top, absolute)
}

func below(dir, name string) (string, error) {
	relative, err := PathFrom(dir, name)
	if err != nil || !filepath.IsLocal(relative) {
		return "", diag.NewError(ErrOutside, "%q isn't in the workspace %q", name, dir).
			Advise("name a folder with --root that holds it")
	}
	return relative, nil
}

func remembered(o *compiler.Options) map[string]string {
	texts, open := map[string]string{}, o.Open
	o.Open = func(name string) ([]byte, error) {
		text, err := open(name)
		if err == nil {
			texts[name] = string(text)
		}
		return text, err
	}
	return texts
}
