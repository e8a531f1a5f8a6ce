package compiler

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/canonical"
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
	o.Limits = cmp.Or(o.Limits, source.DefaultLimits())
	base := s.Plan
	p := &plan.Plan{
		Name: base.Name, Kinds: base.Kinds, Settings: base.Settings, Policies: base.Policies, Live: s.Live,
		Secrets: base.Secrets,
		Text:    plan.Text{Form: plan.Replan, File: file, Folder: base.Folder, Workspaces: base.Workspaces},
		Declarations: plan.Declarations{
			Tools: base.Tools, ToolsDeclared: base.ToolsDeclared, Activities: base.Activities, Advisors: base.Advisors,
			Delegates: base.Delegates, Schemas: base.Schemas, OutputSchema: base.OutputSchema,
		},
		Bindings: plan.Bindings{Paths: s.Paths},
		Values: plan.Values{InputSchema: base.InputSchema, StateSchema: base.StateSchema,
			DataSchemas: base.DataSchemas},
	}
	canonical.DecidedBy(p)
	p.Input, p.State, p.Data, p.Errors, p.Instances, p.InstanceAt = s.Input, s.State, s.Data, s.Errors, s.Instances,
		placesOf(s.Instances)
	c := newCompilation(o, newDelegation("", base.Secrets), p, base.Schemas)
	for _, tool := range base.Tools {
		c.tools[tool.Name] = tool
		if tool.NameNode != nil {
			c.toolDefs = append(c.toolDefs, definition{name: tool.Name, key: tool.NameNode, node: tool.Node})
		}
	}
	switch p.Root = c.parse(file); {
	case p.Root == nil:
	case p.Root.Kind != source.Object:
		c.Expects(p.Root, "a solution", "an object with \"calls\" or \"output\"")
	default:
		c.lowerSolution(p.Root, "a solution")
		if p.Root.Get("calls") == nil && p.Root.Get("output") == nil {
			c.Report(diag.Syntax, p.Root.Span(), "the solution has neither \"calls\" nor \"output\"").
				Advise("list the next calls under \"calls\", or give the answer under \"output\"")
		}
	}
	c.lowerAll()
	// What is amiss in the setting was reported when it was checked.
	found := slices.DeleteFunc(c.Found, func(d diag.Diagnostic) bool { return d.Span.File != p.File })
	diag.Sort(found)
	return p, found
}
