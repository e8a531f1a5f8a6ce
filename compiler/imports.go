package compiler

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// maxImports bounds the files that a document imports. Together with delegates, catalogues and further files of
// activities they may have as many bytes as one document.
const maxImports = 1_000

// Reads are the files that a compilation has read, with all plans below it: each is opened and parsed once.
type reads struct {
	files  map[string]opened
	parsed map[*source.File]tree
	bytes  int

	// Keywords is how many the schemas may still have with their references expanded: reading them costs in proportion
	// to all texts. A definition counts as some, in each plan that takes it in.
	keywords int
}

const (
	keywordsAtFirst      = 400_000 // there may be so many however short the texts are
	keywordsOfDefinition = 16
)

type opened struct {
	file *source.File
	err  error
}

type tree struct {
	root     *source.Node
	problems []source.Problem
}

// errTooMuch says that all files together are larger than one may be.
var errTooMuch = errors.New("bytes together")

// ruleOfReading is the rule of the finding about a file that can't be read: that of a
// limit, or the one that speaks of what names it.
func ruleOfReading(err error, rule *diag.Rule) *diag.Rule {
	if errors.Is(err, errTooMuch) {
		return diag.Limit
	}
	return rule
}

// open reads a file of the workspace.
func (c *compilation) open(name string) (*source.File, error) {
	r := &c.delegation.reads
	known, ok := r.files[name]
	if !ok {
		text, err := c.options.Open(name)
		if r.bytes += len(text); err == nil && r.bytes > c.options.Limits.Bytes {
			err = fmt.Errorf("the plan and its imports have more than %d %w", c.options.Limits.Bytes, errTooMuch)
		}
		if known.err = err; err == nil {
			known.file = source.NewFile(c.shown(name), text)
		}
		r.files[name] = known
	}
	return known.file, known.err
}

// shown is how findings name a file of the workspace.
func (c *compilation) shown(name string) string {
	if c.options.Show != nil {
		return c.options.Show(name)
	}
	return name
}

// A definitionReader reads what files define: tools, activities, servers and schemas, with the files that these import.
type definitionReader struct {
	*compilation
	files map[string]*source.Node // those that are imported, by path; nil of one without a text to read
	order []definitions           // see imports
}

// The definitions of a file, and the folder that its paths are relative to.
type definitions struct {
	root *source.Node
	dir  string
}

// imports notes a file and those that it imports, each once, the last to be read first: those of a file are read before
// the file itself, and otherwise as they are named. Where one is named several times the last counts, because the later
// definition wins. The chain are the files that are being read, the outermost first.
func (c *definitionReader) imports(file definitions, chain []string) {
	c.order = append(c.order, file)
	if file.root.Get("import") == nil {
		return
	}
	for _, item := range slices.Backward(c.Texts(file.root.Get("import"), "an import",
		"a file's path, relative to this file")) {
		name, problem, help := workspace.Path("import", file.dir, item.Text)
		at := slices.Index(chain, name)
		switch {
		case problem != "":
			c.Report(diag.WrongType, item.Span(), "%s", problem).Advise("%s", help)
		case at >= 0 || name == path.Clean(c.options.Name):
			c.Report(diag.WrongType, item.Span(), "the import %q comes back to a file that is being read, through %s",
				item.Text, quotedList(append(slices.Clip(chain[max(at, 0):]), name), fewListed)).
				Advise("move what both need into a third file")
		case c.options.Open == nil:
			c.Report(diag.WrongType, item.Span(), "the import %q can't be read here: there is no workspace", item.Text)
		default:
			if root := c.imported(name, item); root != nil {
				c.imports(definitions{root, path.Dir(name)}, append(slices.Clip(chain), name))
			}
		}
	}
}

// imported is what a file holds that is read for the first time; nil otherwise.
func (c *definitionReader) imported(name string, item *source.Node) *source.Node {
	_, known := c.files[name]
	if !known && len(c.files) >= maxImports {
		c.Report(diag.Limit, item.Span(), "the document imports more than %d files", maxImports).
			Advise("put the definitions of several into one")
		return nil
	}
	file, err := c.open(name)
	if err != nil {
		c.Report(ruleOfReading(err, diag.WrongType), item.Span(), "the import %q can't be read: %v", item.Text, err).
			Advise("imports are relative to the file that names them")
	}
	if err != nil || known {
		return nil
	}
	c.files[name] = c.parse(file)
	return c.files[name]
}

// all collects what a plan file defines, and before it what its imports
// do, so that its own definitions, being later, win.
func (c *definitionReader) all(root *source.Node, dir string) {
	c.imports(definitions{root, dir}, nil)
	files := c.order
	slices.Reverse(files)
	for _, f := range files {
		if f.root != root {
			c.onlyDefines(f.root, "a file of definitions", "tools", "activities", "schemas", "import", "advisors")
		}
		c.nameSchemas(f.root)
	}
	c.takeCatalogues()
	for _, f := range files { // schemas may refer to those of any file
		c.judgeSchemas(f.root)
	}
	for _, f := range files {
		c.implementations(f.root, f.dir)
	}
}

// onlyDefines reports what a file holds besides some kinds of definitions, and reads of these what isn't found by name.
func (c *definitionReader) onlyDefines(root *source.Node, what string, kinds ...string) {
	dir := path.Dir(root.File.Name)
	if root == c.plan.Root {
		dir = c.plan.Folder
	}
	handlers := map[string]func(source.Field){"description": nil}
	for _, kind := range kinds {
		switch handlers[kind] = nil; kind {
		case "advisors":
			advisorReader{c.compilation}.advisors(root.Get(kind))
		case "servers":
			c.servers(root.Get(kind), dir)
		}
	}
	c.Keys(root, what, handlers)
}

// lowerDefinitions takes apart a file of definitions by itself: one that plans import, that the configuration names, or
// one of activities. What it doesn't hold may be beside it, wherever it is imported.
func (c *definitionReader) lowerDefinitions(root *source.Node) {
	c.plan.Form = plan.Definitions
	c.onlyDefines(root, "a file of definitions", "tools", "activities", "schemas", "import", "advisors", "servers")
	catalogue.Open(root, c.schemas)
	if root.Kind == source.Object {
		c.all(root, c.plan.Folder)
	}
}

// implementations collects the tools and activities of a plan file, an import or a catalogue.
func (c *definitionReader) implementations(root *source.Node, dir string) {
	if tools := root.Get("tools"); tools != nil {
		c.plan.ToolsDeclared = true
		c.delegation.reads.keywords -= keywordsOfDefinition * (len(tools.Fields) + len(tools.Items))
		c.collectTools(tools, dir)
	}
	if activities := root.Get("activities"); activities != nil {
		c.delegation.reads.keywords -= keywordsOfDefinition * len(activities.Fields)
		c.collectActivities(activities, dir)
	}
}

// nameSchemas reads "schemas", which every other schema of the document may refer to, those of imports included.
func (c *definitionReader) nameSchemas(root *source.Node) {
	for _, f := range c.Fields(root.Get("schemas"), "\"schemas\"", "a mapping from names to JSON Schemas") {
		c.schemas[f.Key.Text], c.schemaNodes[f.Key.Text] = f.Value.Value(), f.Value
	}
}

// judgeSchemas reports what is wrong with the schemas that a file names.
func (c *definitionReader) judgeSchemas(root *source.Node) {
	if named := root.Get("schemas"); named != nil {
		for _, f := range named.Fields {
			c.schemaOf(f.Value, f.Value.Value(), "the schema \""+f.Key.Text+"\"")
		}
	}
}

// nameCatalogue reads which schemas a file defines that the configuration gives to every document: it is an import that
// comes before all others, except that it stands outside the workspace's own files and so imports nothing itself.
func (c *definitionReader) nameCatalogue(file *source.File) {
	root := c.parse(file)
	if root == nil || root.Kind == source.Null {
		return
	}
	c.onlyDefines(root, "a file of definitions", "tools", "activities", "schemas", "servers")
	if root.Kind == source.Object {
		c.nameSchemas(root)
		c.catalogues = append(c.catalogues, root)
	}
}

// takeCatalogues reads the definitions of the catalogues, once the document has named its own schemas.
func (c *definitionReader) takeCatalogues() {
	files := c.catalogues
	c.catalogues = nil
	for i, root := range catalogue.Separate(files,
		catalogue.Schemas{Values: c.schemas, Nodes: c.schemaNodes}, &c.Found) {
		c.judgeSchemas(root)
		c.implementations(root, path.Dir(files[i].File.Name))
	}
}
