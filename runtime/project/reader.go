// Package project reads what is worked on from files: documents with what their compilation imports (imports below the
// workspace, catalogues, files of activities), the configuration that they are judged by, and their results, a checked
// [Program]. Commands, embedding programs and servers begin here.
//
// Everything that keeps a document from being read is a [*diag.UserError] of one of the
// kinds below; what is wrong with a document itself is a finding.
//
// Stable are [Reader], [Document], [Program] and the kinds of errors; embedding
// programs mostly need no more of it than package obelus, at the module's root, hands on.
package project

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// The kinds of trouble that this package has, for [errors.Is]. Any may come with an
// advice, which names the flag of the command that helps.
var (
	ErrRead     = errors.New("a file can't be read")
	ErrTooLarge = errors.New("a file is too large")
	ErrOutside  = errors.New("the file isn't in the workspace")
	ErrNotOne   = errors.New("the file doesn't hold one document")
	ErrOther    = errors.New("the plan isn't the one that is demanded")
)

// A Reader reads documents, and knows what they may import. The zero value reads
// files with the default limits, each below the workspace that it lies in.
type Reader struct {
	Root       string                // the workspace of all documents; "" looks for that of each
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
	Strict    bool              // report what the base protocol doesn't have
	Instances bool              // instances come with the run
	Machine   *analyzer.Machine // the one that plans are to be run on; nil asks nobody what it has
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
	passed         []string
}

// A Document is one text to compile, with what its compilation needs from outside.
type Document struct {
	File    *source.File
	Options compiler.Options
	Root    string            // the workspace
	Opened  map[string]string // the files that compiling opened, by their paths in the workspace
	Config  *Configuration
	Machine *analyzer.Machine
	Hosts   hosts.Rules // where its requests may go, by all but policies
	// Permit is what it may do; nil holds it to nothing.
	Permit *permit.Permit

	policies func(file string) ([]compiler.PolicyFile, error) // those that a file stands under
}

// One reads the single document of a file; - is standard input.
func (r *Reader) One(name string) (only Document, err error) {
	text, err := r.Text(name)
	if err != nil {
		return only, err
	}
	return r.Parse(name, text)
}

// Parse gives the single document of a text that stands under a file's name.
func (r *Reader) Parse(name string, text []byte) (only Document, err error) {
	all, err := r.split(name, text)
	if err != nil {
		return only, err
	}
	n := 0
	for only = range all {
		n++
	}
	if n != 1 {
		err = diag.NewError(ErrNotOne, "%q holds %d documents", name, n).
			Advise("this command takes one plan; \"obelus check\" takes any number")
	}
	return only, err
}

// Read gives the text of a file and all of its documents: itself, or the lines of a .jsonl.
func (r *Reader) Read(name string) (text []byte, all iter.Seq[Document], err error) {
	if text, err = r.Text(name); err == nil {
		all, err = r.split(name, text)
	}
	return text, all, err
}

func (r *Reader) split(name string, text []byte) (iter.Seq[Document], error) {
	d, err := r.document(name)
	files := source.Lines(name, text)
	if !isLines(name) {
		files = slices.Values([]*source.File{source.NewFile(name, text)})
	}
	return func(yield func(Document) bool) {
		for d.File = range files {
			if !yield(d) {
				return
			}
		}
	}, err
}

// document is what the documents of a file have in common: their imports are opened below the workspace root and
// nowhere else.
func (r *Reader) document(name string) (d Document, err error) {
	root, config, err := r.locate(name)
	if err != nil {
		return d, err
	}
	relative, err := below(root, filepath.Join(r.folder(name), filepath.Base(name)))
	if err != nil {
		return d, err
	}
	folder := workspace.Folder{Dir: root, Limit: r.limits().Bytes}
	d = Document{
		Root: root, Opened: map[string]string{}, Config: config, Machine: r.Machine, Permit: r.Permit,
		policies: r.policies,
		Options: compiler.Options{
			Name: filepath.ToSlash(relative), Limits: r.limits(), Instances: r.Instances, Override: r.Override,
			Functions: r.Functions, Hints: r.Hints, Catalogues: config.Catalogues, Trusted: config.Trusted,
			Files: folder,
			Show:  func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) },
		},
	}
	d.Options.Open = func(name string) ([]byte, error) {
		text, err := folder.Open(name)
		if err == nil {
			d.Opened[name] = string(text)
		}
		return text, err
	}
	if s := config.Analysis.Settings; s != nil && s.Hosts != nil {
		list := *s.Hosts
		list.Counts = config.Trusted
		d.Hosts = append(d.Hosts, list)
	}
	if len(r.Hosts) > 0 {
		d.Hosts = append(d.Hosts, hosts.List{By: "whoever runs the plan", Entries: r.Hosts, Adds: true, Counts: true})
	}
	for _, extra := range r.Activities {
		text, err := r.text(extra)
		if err != nil {
			return d, err
		}
		d.Options.Activities = append(d.Options.Activities, source.NewFile(extra, text))
	}
	if _, err = r.filesOver(name, workspace.Settings); err == nil { // which says what can't be one
		d.Options.Policies, err = r.policies(name)
	}
	return d, err
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
func (r *Reader) text(name string) (text []byte, err error) {
	most := r.limits().Bytes // of one document, whose reader says itself that it is too large
	if isLines(name) {
		most *= 16
	}
	relative, outside := below(r.Root, name)
	switch {
	case name == "-" && r.Stdin == nil:
		err = errors.New("it can be read only once")
	case name == "-":
		text, err = io.ReadAll(io.LimitReader(r.Stdin, int64(most)+1))
		r.Stdin = nil
	case r.Confined && outside == nil:
		text, err = workspace.Folder{Dir: r.Root, Limit: most}.Open(filepath.ToSlash(relative))
	default:
		text, err = workspace.Read(name, most)
	}
	if err != nil {
		return nil, CantRead(name, err)
	}
	if isLines(name) && len(text) > most {
		return nil, diag.NewError(ErrTooLarge, "%q is larger than %d bytes: split it", name, most)
	}
	return text, nil
}

func (r *Reader) limits() source.Limits { return cmp.Or(r.Limits, source.DefaultLimits()) }

// CantRead is the error of a file that can't be read; of a plan's name without its ending, it suggests the file.
func CantRead(name string, err error) *diag.UserError {
	problem := diag.NewError(ErrRead, "can't read %q: %w", name, workspace.Reason(err))
	for _, ending := range []string{".yaml", ".yml", ".json", ".jsonl"} {
		if _, absent := os.Stat(name + ending); absent == nil && errors.Is(err, fs.ErrNotExist) {
			return problem.Advise("did you mean %q?", name+ending)
		}
	}
	return problem
}
