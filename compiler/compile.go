package compiler

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Options is what a compilation takes from outside the document.
type Options struct {
	// Open reads a file that the document names, by its path from the workspace root with forward slashes. It must
	// refuse what lies outside the root, symbolic links included. Without it imports are errors.
	Open func(name string) ([]byte, error)
	// Files are those of the workspace. Without them those that activities name aren't in the plan's digest.
	Files plan.Files
	// Name is the document's own path from the workspace root: imports are relative to its folder.
	Name string
	// Show is how findings name a file of the workspace to people, given its
	// path from the root. Without it that path is shown.
	Show func(name string) string
	// Activities are further files of activities, the later over the earlier, and all over the document's own.
	Activities []*source.File
	// Catalogues are files of tools, activities and schemas that every document has, as if it imported them first.
	Catalogues []*source.File
	// Trusted says that what the catalogues say of effects counts, also where it makes them less.
	Trusted bool
	// Functions are the activities that the embedding program registers.
	Functions []string
	// Policies say what plans may do. They stand outside of the document, and hold for its delegates as well.
	Policies []PolicyFile
	// Hints say what those functions do to the world, by name; about any that isn't here nothing is known.
	Hints map[string]plan.Hints
	// Instances says that the instances are given at run time: the
	// document needn't know them, and what they hold isn't known.
	Instances bool
	// Definitions says that the document is no plan but a file of definitions for others to import.
	Definitions bool
	// Override takes the place of the document's own settings.
	Override Override
	// Limits bound the reading; the zero value means the defaults.
	Limits source.Limits
}

// An Override is settings that the user who runs a plan chooses; "" leaves that of the plan.
type Override struct {
	Writes    string         `json:"writes,omitempty"` // "last" or "once"
	Terminate plan.Terminate `json:"terminate,omitempty"`
}

func (o Override) apply(to *plan.Settings) {
	switch o.Writes {
	case "once":
		to.Writes = plan.Once
	case "last":
		to.Writes = plan.Last
	}
	to.Terminate = cmp.Or(o.Terminate, to.Terminate)
}

// A PolicyFile is a policy, and whether it may make anything less strict: one that the
// workspace brings along must be trusted first.
type PolicyFile struct {
	File   *source.File
	Counts bool
}

// Compile reads a document of any accepted shape and binds it. It is pure: the same text and options give the same plan
// and findings, in the same order. The plan is never nil; when findings hold an error it may be partial.
func Compile(file *source.File, o Options) (*plan.Plan, []diag.Diagnostic) {
	o.Limits = cmp.Or(o.Limits, source.DefaultLimits())
	all := newDelegation(path.Clean(o.Name), &redact.Set{})
	for _, taken := range slices.Concat(o.Catalogues, o.Activities) {
		all.reads.bytes += len(taken.Text)
	}
	var problems []diag.Diagnostic
	for _, one := range o.Policies {
		read, found := ReadPolicy(one.File, o.Limits)
		read.Counts = one.Counts
		all.policies, problems = append(all.policies, read), append(problems, found...)
	}
	p, found := compile(file, o, all)
	problems = append(problems, misnamed(p)...)
	p.Files = map[string]string{}
	for name, one := range all.reads.files {
		if one.err == nil {
			p.Files[name] = string(one.file.Text)
		}
	}
	if len(problems) > 0 {
		found = append(found, problems...)
		diag.Sort(found)
	}
	return p, found
}

// ReadPolicy reads a policy as [policy.Parse] does, and says besides which names of tools in
// it a reader can't see or may take for others, whatever plans there are.
func ReadPolicy(file *source.File, limits source.Limits) (*policy.Policy, []diag.Diagnostic) {
	p, problems := policy.Parse(file, limits)
	found := diag.Findings(problems)
	tools := newNames(found.Report, "policy's tools")
	for _, named := range p.Named {
		n := named.Node
		if named.Tool != "" {
			continue
		}
		known := tools.has(n.Text)
		tools.add(n.Text, n.Span())
		if !known && !naming.IsMixed(n.Text) && len(naming.Deceptive(n.Text)) > 0 {
			found.Report(diag.ConfusableName, n.Span(), "the name %q is drawn like %q", naming.Spelled(n.Text),
				naming.Skeleton(n.Text)).As(diag.Warning).
				Advise("a rule for another tool has no effect")
		}
	}
	diag.Sort(found)
	return p, found
}

// misnamed warns of the tools and parameters that a policy names and the plan doesn't have, where the plan has one that
// must have been meant: a rule about another than that one keeps nothing from happening. One that only looks like it is
// an error. A policy may speak of tools that other plans have.
func misnamed(p *plan.Plan) (found diag.Findings) {
	known := callableNames(p)
	tools := naming.NewSuggester(known)
	misspelt := func(n *source.Node, names *naming.Suggester, certain bool, what string) {
		near, ok := names.Nearest(n.Text)
		if certain || ok && naming.IsTypo(n.Text, near) {
			f := found.Report(diag.WrongType, n.Span(), "the policy names a %s", what).As(diag.Warning).
				Advise("name one that it has: this rule has no effect")
			if ok {
				decode.Intended(f, n, near, false)
			}
		}
	}
	noted, parameters := map[string]bool{}, map[*plan.Tool]*naming.Suggester{}
	for _, one := range p.Policies {
		for _, named := range one.Named {
			n := named.Node
			if named.Tool != "" || noted[n.Text] || slices.Contains(known, n.Text) {
				continue
			}
			noted[n.Text] = true
			if duplicate := slices.IndexFunc(known,
				func(name string) bool { return naming.Skeleton(name) == naming.Skeleton(n.Text) }); duplicate >= 0 {
				found.Report(diag.ConfusableName, n.Span(),
					"the policy names a tool %q, which looks like the plan's %q", naming.Spelled(n.Text),
					naming.Spelled(known[duplicate])).
					Advise("write the plan's name: a rule for another tool has no effect").
					Rename(n, 0, len(n.Text), known[duplicate], false)
				continue
			}
			misspelt(n, tools, false, fmt.Sprintf("tool %q, which the plan doesn't have", n.Text))
		}
		for _, named := range one.Named {
			tool := p.Tool(named.Tool)
			if tool == nil || tool.Parameters == nil || tool.Parameters.Part(named.Node.Text).Named {
				continue
			}
			if parameters[tool] == nil {
				parameters[tool] = naming.NewSuggester(tool.Parameters.Properties())
			}
			misspelt(named.Node, parameters[tool], !tool.Open && named.Node.Text != "*",
				fmt.Sprintf("parameter %q, which %q doesn't have", named.Node.Text, named.Tool))
		}
	}
	return found
}

// compile is Compile for a plan and for those that are run within it.
func compile(file *source.File, o Options, all *delegation) (*plan.Plan, []diag.Diagnostic) {
	c := newCompilation(o, all, &plan.Plan{
		Text: plan.Text{File: file, Folder: path.Dir(o.Name), Workspaces: o.Files, Workspace: all.workspace},
		Declarations: plan.Declarations{Activities: map[string]*plan.Activity{},
			Servers: map[string]*plan.Server{}},
		Settings: plan.Settings{Terminate: plan.TerminateOutput, Mode: plan.Eager,
			Advice: plan.Advice{Aggregate: "mean", Enforce: "off"}},
		Bindings:   plan.Bindings{Paths: pathtree.New()},
		Population: plan.Population{AwaitsInstances: o.Instances},
		Policies:   all.policies, Secrets: all.secrets,
	}, map[string]any{})
	canonical.DecidedBy(c.plan)
	c.plan.Root = c.parse(file)
	if row := c.plan.Root.Get("document"); row != nil && file.Row > 0 {
		c.plan.Root = row // a line of a .jsonl file may say more than its document
	}
	c.hold()
	defs := c.definitions()
	for _, file := range o.Catalogues {
		defs.nameCatalogue(file)
	}
	switch {
	case c.plan.Root == nil:
	case o.Definitions:
		defs.lowerDefinitions(c.plan.Root)
	default:
		c.lower(c.plan.Root)
		if len(all.chain) == 1 { // delegates keep theirs
			o.Override.apply(&c.plan.Settings)
		}
	}
	defs.takeCatalogues() // where the document defines nothing itself
	for _, extra := range o.Activities {
		defs.overlay(extra)
	}
	for _, name := range o.Functions {
		c.plan.Activities[name] = &plan.Activity{Name: name, Kind: "go", Origin: plan.Program, Hints: o.Hints[name]}
	}
	defs.serve()
	defs.defineTools()
	if !o.Definitions { // whose kinds aren't known
		advisorReader{c}.scopesOfAdvisors()
	}
	c.lowerAll()
	(&callReader{compilation: c}).offered()
	c.plan.Schemas, c.plan.NamedSchemas = c.schemas, c.schemaNodes
	c.judgeValues()
	diag.Sort(c.Found)
	return c.plan, c.Found
}

// lowerAll reads what the document lists, of which everything that it uses is known.
func (c *compilation) lowerAll() {
	advisorReader{c}.judgeOpinions()
	c.lowerCalls()
	contextReader{c}.takeUpHistory()
	c.judgeInstances()
	c.lowerOutput()
	c.bind()
	c.judgeNames()
}

// A compilation is the state of one call to Compile.
type compilation struct {
	decode.Reader
	options Options
	plan    *plan.Plan

	toolDefs    []definition
	tools       map[string]*plan.Tool
	schemas     map[string]any          // the document's named schemas
	schemaNodes map[string]*source.Node // where they stand
	catalogues  []*source.Node          // those whose definitions aren't read yet
	outputNode  *source.Node
	ownValues   []ownValue // those of instances, in source order
	ids         map[string]*plan.Call
	idNames     *naming.Suggester  // over ids, once all are known
	byTool      map[string][]int32 // by tool: its calls
	delegation  *delegation
	refused     map[plan.Link]bool   // delegates that were reported
	made        map[any]*plan.Tool   // of calls that plans carry out, and of those that run for each item of a list
	everywhere  map[pathtree.ID]bool // what every instance begins with, of the paths that were asked for
}

func newCompilation(o Options, all *delegation, p *plan.Plan, schemas map[string]any) *compilation {
	return &compilation{
		options: o, delegation: all, plan: p, schemas: schemas, schemaNodes: map[string]*source.Node{},
		tools: map[string]*plan.Tool{}, ids: map[string]*plan.Call{},
		refused: map[plan.Link]bool{}, made: map[any]*plan.Tool{}, everywhere: map[pathtree.ID]bool{},
	}
}

// definitions reads definitions.
func (c *compilation) definitions() *definitionReader {
	return &definitionReader{compilation: c, files: map[string]*source.Node{}}
}

// A definition is a named thing as it is in a document.
type definition struct {
	name string
	key  *source.Node
	node *source.Node
	dir  string // folder of the file it is in
}

// Misspelt reports whether a name can only be another one, written with other letters in case or other separators: it
// stands nowhere else, and the other one is declared or is in more than one place. Which of two names that are in one
// place each is right nobody can tell.
func Misspelt(p *plan.Plan, name, other string, names *naming.Suggester, declared bool) bool {
	return names.Sure(name) && p.File.Mentions(name) == 1 && (declared || p.File.Mentions(other) > 1)
}

// closest offers the declared name that a scalar must have meant, or else gives other advice.
func (c *compilation) closest(f *diag.Diagnostic, n *source.Node, names *naming.Suggester,
	help string) *diag.Diagnostic {
	near, ok := names.Nearest(n.Text)
	if !ok || n.Kind != source.String {
		return f.Advise("%s", help)
	}
	return decode.Intended(f, n, near, Misspelt(c.plan, n.Text, near, names, true))
}

// parse reads one file and reports what is wrong with its text. A file that several plans import is read once.
func (c *compilation) parse(file *source.File) *source.Node {
	known, ok := c.delegation.reads.parsed[file]
	if !ok {
		known.root, known.problems = source.Parse(file, c.options.Limits)
		c.delegation.reads.keywords += 2 * len(file.Text)
		c.delegation.reads.parsed[file] = known
	}
	for _, p := range known.problems {
		c.Found = append(c.Found, diag.OfProblem(p))
	}
	if known.root != nil {
		if len(known.problems) == 0 { // else the tree needn't have all of the text
			file.SetParsed()
		}
		c.secretsIn(known.root, "")
	}
	return known.root
}

// partial reports whether some of a node's text couldn't be read, or stands there in
// the place of something else: what is missing may have been meant to be there.
func (c *compilation) partial(n *source.Node) bool {
	if n == nil {
		return false
	}
	inside := func(s source.Span) bool { return n.Start <= s.Start && s.Start < n.End }
	return slices.ContainsFunc(c.delegation.reads.parsed[n.File].problems, func(p source.Problem) bool {
		return !p.Warning && (inside(p.Span) ||
			slices.ContainsFunc(p.Related, func(n source.Note) bool { return inside(n.Span) }))
	})
}

// schemaOf makes a schema of a node and reports what is wrong with it at the spot inside the node. A fault of a named
// schema that it refers to is reported there alone.
func (c *compilation) schemaOf(n *source.Node, raw any, what string) *schema.Schema {
	if n.Kind != source.Object && n.Kind != source.Bool {
		c.Expects(n, what, "a JSON Schema (a mapping, true or false)")
		return nil
	}
	s := schema.New(raw, schema.Options{Defs: c.schemas, Keywords: &c.delegation.reads.keywords})
	err := s.Compile()
	if err == nil {
		return s
	}
	bad, ok := err.(*schema.SchemaError)
	if !ok {
		c.Report(diag.BadSchema, n.Span(), "%s isn't a valid JSON Schema: %v", what, err)
		return nil
	}
	if named := c.schemaNodes[bad.Def]; bad.Def == "" || named == nil || named == n { // else see judgeSchemas
		c.Report(diag.BadSchema, n.Follow(bad.Path).Span(), "%s isn't a valid JSON Schema: %s", what, bad.Message).
			Advise("%s", cmp.Or(bad.Help, "write a valid value, or remove the keyword"))
	}
	return nil
}

// hold lets a compiled plan find the plans that it is run with in itself.
func (c *compilation) hold() {
	held := c.plan.Root.Get(canonical.CompiledKey).Get("delegates")
	if held == nil || len(c.delegation.chain) > 1 {
		return
	}
	for _, f := range held.Fields {
		if text, err := canonical.JSON(f.Value.Value()); err == nil {
			file := source.NewFile(c.plan.File.Name+"#"+f.Key.Text, text)
			file.Format = source.JSON
			c.delegation.reads.files[path.Join(c.plan.Folder, f.Key.Text)] = opened{file: file}
		}
	}
}

// Reference is the reference of the plan language, in Markdown: a heading for each
// section ("## Output paths and state").
//
//go:embed LANGUAGE.md
var Reference string
