package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/spf13/cobra"
)

// Reading says how documents are read, and what they may take in.
type reading struct {
	root       string
	folders    []string // that were named, with all that is in them
	activities []string
	limits     source.Limits
	config     string // the configuration's file; "" looks for one
	strict     bool   // report what the base protocol doesn't have
	instances  bool   // instances come with the run

	configurations map[string]*configuration // by file, as they were met
	passed         map[string]bool           // configurations that were refused, and said to be
}

// addReading gives a command the flags that say how plans are read.
func addReading(cmd *cobra.Command) *reading {
	r := &reading{limits: source.DefaultLimits()}
	flags := cmd.Flags()
	flags.StringVar(&r.root, "root", "", "the workspace, which no import leaves; by default the nearest folder with obelus.yaml or .git in it, else the file's own")
	stands(cmd, "root", "DIR")
	_ = cmd.MarkFlagDirname("root")
	flags.StringArrayVar(&r.activities, "activities", nil, "a file of activities that are taken before the plan's own; may be given several times")
	stands(cmd, "activities", "FILE")
	flags.StringVar(&r.config, "config", "", "the configuration; by default the nearest obelus.yaml in the workspace")
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
	options, place, err := r.options(c, name)
	if err != nil {
		return err
	}
	config, err := r.configured(c, place)
	if err != nil {
		return err
	}
	dir := place.Root
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
func reason(err error) string { return workspace.Reason(err) }

// options are those of a file's compilation: its imports are opened below the
// workspace root and nowhere else (S1.6).
func (r *reading) options(c *cli, name string) (o compiler.Options, place workspace.Place, err error) {
	if r.root != "" {
		if info, err := os.Stat(r.root); err != nil {
			return o, place, troubled("can't use --root %q: %s", r.root, reason(err))
		} else if !info.IsDir() {
			return o, place, troubled("can't use --root %q: it isn't a folder", r.root)
		}
	}
	folder := filepath.Dir(name)
	if name == "-" && r.root != "" {
		folder = r.root
	}
	given := ""
	for _, one := range r.folders {
		if path, err := filepath.Abs(one); err == nil && within(path, folder) && (given == "" || len(path) < len(given)) {
			given = path
		}
	}
	if place, err = workspace.Locate(folder, given, r.root); err != nil {
		return o, place, troubled("%v", err)
	}
	root := asNamed(place.Root, name)
	if r.root != "" {
		root = r.root
	}
	place.Root = root
	relative, err := below(root, filepath.Join(folder, filepath.Base(name)))
	if err != nil {
		return o, place, err
	}
	o = compiler.Options{Name: filepath.ToSlash(relative), Limits: r.limits, Instances: r.instances, Open: workspace.Folder{Dir: root, Limit: r.limits.Bytes}.Open}
	o.Show = func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, extra := range r.activities {
		text, err := r.text(c, extra)
		if err != nil {
			return o, place, err
		}
		o.Activities = append(o.Activities, source.NewFile(extra, text))
	}
	return o, place, nil
}

func within(above, folder string) bool {
	path, err := filepath.Abs(folder)
	return err == nil && workspace.Holds(above, path)
}

// asNamed is a folder as somebody would write it who names a file so.
func asNamed(folder, name string) string {
	if filepath.IsAbs(name) {
		return folder
	}
	return fromHere(folder)
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

// A named file is one that arguments lead to; found says that it was met in a
// folder, and may turn out to be no plan.
type named struct {
	name  string
	found bool
}

// gather lists the files that arguments name: files, folders with all below
// them, and - for standard input; each once, folders in the order of their
// names. It doesn't follow symbolic links inside folders.
func (r *reading) gather(args []string) ([]named, error) {
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
		r.folders = append(r.folders, arg)
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
