package compiler

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Setting is what a model's solution is compiled against: a plan, and where its run stands as a tick begins.
type Setting struct {
	// Plan gives the tools, activities, schemas and settings. A solution can't define any of them.
	Plan *plan.Plan
	// Input, State and Data are the values as the tick begins; Errors is what †error reads.
	Input, State map[string]any
	Data         map[string]any
	// Instances are those of the run, in its order; each holds the whole input and
	// state of one, which nothing shared lies under.
	Instances []plan.Instance
	Errors    []any
	// Paths is shared by all solutions of one run, so that a path keeps its number; see [pathtree.Tree.Clone].
	Paths *pathtree.Tree
	// Live is how worthy of trust what stands there is; nil without policies.
	Live *policy.Live
}

// Solve compiles a solution in its setting: a plan of the form [Replan]. One that begins with the text of another gives
// the same calls with the same numbers, paths and reads; only what a read is bound to may be another matter while it is
// bound to no call listed before it.
func (s Setting) Solve(file *source.File, o Options) (*plan.Plan, []diag.Diagnostic) {
	c := s.begin(file, o)
	c.lowerCalls()
	c.judgeInstances()
	c.lowerOutput()
	c.bind()
	c.judgeNames()
	return c.plan, c.foundIn(0)
}

// begin compiles all of a solution but its calls and its output.
func (s Setting) begin(file *source.File, o Options) *compilation {
	if o.Limits == (source.Limits{}) {
		o.Limits = source.DefaultLimits()
	}
	base := s.Plan
	p := &plan.Plan{
		Name: base.Name, Form: plan.Replan, File: file,
		Tools: base.Tools, ToolsDeclared: base.ToolsDeclared, Activities: base.Activities, Paths: s.Paths, Kinds: base.Kinds,
		Values:       plan.Values{InputSchema: base.InputSchema, StateSchema: base.StateSchema, DataSchemas: base.DataSchemas},
		OutputSchema: base.OutputSchema,
		Settings:     base.Settings, Policies: base.Policies, Live: s.Live, Advisors: base.Advisors, Delegates: base.Delegates, Folder: base.Folder,
		Schemas: base.Schemas, Secrets: base.Secrets, Workspaces: base.Workspaces,
	}
	decidedBy(p)
	s.applyTo(p)
	c := &compilation{
		options: o, plan: p, delegation: &delegation{chain: []plan.Link{{}}, secrets: base.Secrets}, schemas: base.Schemas,
		tools: make(map[string]*plan.Tool, len(base.Tools)), ids: map[string]*plan.Call{},
		schemaNodes: map[string]*source.Node{}, badSchemas: map[source.Span]int{},
	}
	for _, tool := range base.Tools {
		c.tools[tool.Name] = tool
		if tool.NameNode != nil {
			c.toolDefs = append(c.toolDefs, definition{name: tool.Name, key: tool.NameNode, node: tool.Node})
		}
	}
	if p.Root = c.parse(file); p.Root != nil {
		c.lowerAnswer(p.Root)
	}
	c.judgeOpinions()
	return c
}

// applyTo gives a plan the values of a setting.
func (s Setting) applyTo(p *plan.Plan) {
	p.Input, p.State, p.Data, p.Errors, p.Instances, p.InstanceAt = s.Input, s.State, s.Data, s.Errors, s.Instances, placesOf(s.Instances)
}

// foundIn are the findings about the solution itself from a number on, in order: what
// is amiss in the setting was said when it was checked.
func (c *compilation) foundIn(from int) []diag.Diagnostic {
	found := slices.DeleteFunc(slices.Clone(c.Found[from:]), func(d diag.Diagnostic) bool { return d.Span.File != c.plan.File })
	diag.Sort(found)
	return found
}

func (c *compilation) lowerAnswer(root *source.Node) {
	if root.Kind != source.Object {
		c.Expects(root, "a solution", "an object with \"calls\" or \"output\"")
		return
	}
	c.lowerSolution(root, "a solution")
	if root.Get("calls") == nil && root.Get("output") == nil {
		c.Report(diag.Syntax, root.Span(), "the solution has neither \"calls\" nor \"output\"").
			Advise("list the next calls under \"calls\", or give the answer under \"output\"")
	}
}
