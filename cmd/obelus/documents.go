package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/spf13/cobra"
)

// Reading says how documents are read, and what they may take in.
type reading struct {
	root       string
	activities []string
	limits     source.Limits
	config     string // the configuration's file; "" looks for one
	strict     bool   // report what the base protocol doesn't have
	instances  bool   // instances come with the run

	configurations map[string]*configuration // by file, as they were met
}

// addReading gives a command the flags that say how plans are read.
func addReading(cmd *cobra.Command) *reading {
	r := &reading{limits: source.DefaultLimits()}
	flags := cmd.Flags()
	flags.StringVar(&r.root, "root", "", "the workspace, which no import leaves; by default the folder of each file")
	stands(cmd, "root", "DIR")
	_ = cmd.MarkFlagDirname("root")
	flags.StringArrayVar(&r.activities, "activities", nil, "a file of activities that are taken before the plan's own; may be given several times")
	stands(cmd, "activities", "FILE")
	flags.StringVar(&r.config, "config", "", "the configuration; by default the nearest obelus.yaml in the workspace or above it")
	stands(cmd, "config", "FILE")
	addLimits(cmd, &r.limits)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml", "json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return r
}

// A document is one text to compile, with what its compilation needs from
// outside.
type document struct {
	file    *source.File
	options compiler.Options
	dir     string            // the workspace root
	opened  map[string]string // the files that compiling opened, by their paths in the workspace
	config  *configuration
}

func (d document) compile() compiled {
	plan, found := compiler.Compile(d.file, d.options)
	return compiled{document: d, plan: plan, found: found}
}

// one reads the single document that a command works on; - is standard input.
func (r *reading) one(c *cli, name string) (document, error) {
	var only document
	read := 0
	err := r.read(c, name, func(d document) error {
		only = d
		read++
		return nil
	})
	switch {
	case err != nil:
		return document{}, err
	case read != 1:
		return document{}, troubled("%q holds %s", name, count(read, "document")).advise("this command takes one plan; \"obelus check\" takes any number")
	}
	return only, nil
}

// read hands on every document of one file: itself, or the lines of a .jsonl.
func (r *reading) read(c *cli, name string, each func(document) error) error {
	text, err := r.text(c, name)
	if err != nil {
		return err
	}
	return r.split(c, name, text, each)
}

// split hands on every document of a text that stands under a file's name.
func (r *reading) split(c *cli, name string, text []byte, each func(document) error) error {
	options, dir, err := r.options(c, name)
	if err != nil {
		return err
	}
	config, err := r.configured(c, dir)
	if err != nil {
		return err
	}
	options.Catalogues = config.catalogues
	opened := remembered(&options)
	if isLines(name) {
		for file := range source.Lines(name, text) {
			if err := each(document{file, options, dir, opened, config}); err != nil {
				return err
			}
		}
		return nil
	}
	return each(document{source.NewFile(name, text), options, dir, opened, config})
}

func isLines(name string) bool { return strings.EqualFold(filepath.Ext(name), ".jsonl") }

// text reads a file that the user named, one byte beyond the limit at most: the
// reader then says that it is too large.
func (r *reading) text(c *cli, name string) ([]byte, error) {
	in := c.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, cantRead(name, err)
		}
		defer file.Close()
		in = file
	}
	limit := int64(r.limits.Bytes)
	if isLines(name) {
		limit *= linesFactor // the limit is a document's
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, cantRead(name, err)
	}
	if isLines(name) && int64(len(text)) > limit {
		return nil, troubled("%q is larger than %d bytes", name, limit).advise("split it into several files")
	}
	return text, nil
}

// linesFactor is how much larger than one document a file of many may be.
const linesFactor = 16

func cantRead(name string, err error) error {
	return troubled("can't read %q: %s", name, reason(err))
}

// reason is an error of the file system without the path and the system call.
func reason(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// options are those of a file's compilation: its imports are opened below the
// workspace root and nowhere else (S1.6).
func (r *reading) options(c *cli, name string) (o compiler.Options, dir string, err error) {
	dir = r.root
	if dir == "" {
		dir = "."
		if name != "-" {
			dir = filepath.Dir(name)
		}
	} else if info, err := os.Stat(dir); err != nil {
		return o, "", troubled("can't use --root %q: %s", dir, reason(err))
	} else if !info.IsDir() {
		return o, "", troubled("can't use --root %q: it isn't a folder", dir)
	}
	relative := filepath.Base(name)
	if r.root != "" && name != "-" {
		if relative, err = below(dir, name); err != nil {
			return o, "", err
		}
	}
	o = compiler.Options{Name: filepath.ToSlash(relative), Limits: r.limits, Instances: r.instances, Open: workspace{dir, r.limits}.open}
	o.Show = func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, extra := range r.activities {
		text, err := r.text(c, extra)
		if err != nil {
			return o, "", err
		}
		o.Activities = append(o.Activities, source.NewFile(extra, text))
	}
	return o, dir, nil
}

func below(dir, name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	top, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(top, absolute)
	if err != nil || !filepath.IsLocal(relative) {
		return "", troubled("%q isn't in the workspace %q", name, dir).advise("name a folder with --root that holds it")
	}
	return relative, nil
}

// A workspace is the folder that imports are read from.
type workspace struct {
	dir    string
	limits source.Limits
}

// open reads a file by its path from the workspace root. The system refuses
// what lies outside, through symbolic links as well.
func (w workspace) open(name string) ([]byte, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "path escapes from parent"):
		return nil, fmt.Errorf("it leads out of the workspace %q", w.dir)
	case err != nil:
		return nil, errors.New(reason(err))
	case !info.Mode().IsRegular():
		return nil, errors.New("it isn't a regular file")
	}
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, errors.New(reason(err))
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(w.limits.Bytes)+1))
}

// A named file is one that arguments lead to; found says that it was met in a
// folder, and may turn out to be no plan.
type named struct {
	name  string
	found bool
}

// gather lists the files that arguments name: files, folders with all below
// them, and - for standard input; each once, folders in the order of their
// names. It doesn't follow symbolic links inside folders.
func gather(args []string) ([]named, error) {
	var all []named
	seen := map[string]bool{}
	add := func(n named) {
		if key := filepath.Clean(n.name); !seen[key] {
			seen[key] = true
			all = append(all, n)
		}
	}
	for _, arg := range args {
		if arg == "-" {
			add(named{name: "-"})
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, cantRead(arg, err)
		}
		if !info.IsDir() {
			add(named{name: arg})
			continue
		}
		// Walking the folder's own file system follows the argument itself when
		// it is a link, and no other.
		err = fs.WalkDir(os.DirFS(arg), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return cantRead(filepath.Join(arg, path), err)
			case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return fs.SkipDir
			case entry.Type().IsRegular() && slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
				add(named{name: filepath.Join(arg, filepath.FromSlash(path)), found: true})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// extensions are those of files that may hold plans.
var extensions = []string{".yaml", ".yml", ".json", ".jsonl"}

// looksLikePlan tells whether a file that nobody named is one to check: it has
// the outline of an accepted shape (S1.2), or can't be read but mentions calls.
func looksLikePlan(file *source.File, root *source.Node) bool {
	if root == nil {
		return strings.Contains(string(file.Text), "_tool")
	}
	if inner := root.Get("document"); inner != nil && file.Row > 0 {
		root = inner
	}
	if holdsCalls(root) || holdsMessages(root) || root.Get("calls") != nil && root.Get("calls").Kind == source.Array {
		return true
	}
	for _, field := range root.Fields {
		if holdsCalls(field.Value) || field.Key.Text == "context" && holdsMessages(field.Value) {
			return true
		}
	}
	return false
}

func holdsCalls(n *source.Node) bool {
	return n.Kind == source.Array && len(n.Items) > 0 && n.Items[0].Get("_tool") != nil
}

var messageTypes = []string{"tool", "input", "state", "data", "plan", "advisor", "error", "meta", "text"}

func holdsMessages(n *source.Node) bool {
	if n.Kind != source.Array || len(n.Items) == 0 {
		return false
	}
	kind := n.Items[0].Get("type")
	return kind != nil && slices.Contains(messageTypes, kind.Text)
}

func count(n int, what string) string { return counted(n, what, what+"s") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
