package compiler

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// What delegates may cost: they are read with the plan that names them.
const (
	maxDelegates     = 256
	maxDelegateDepth = 32
)

// A delegation is what a plan and all plans below it share while they compile.
type delegation struct {
	plans     map[string]*plan.Plan // by path, once they are compiled
	chain     []plan.Link           // the plans that are being compiled, the outermost first
	workspace string                // of a record, where its plan's lies
	reads     reads
	secrets   *redact.Set

	policies []*policy.Policy // of the user who runs the outermost
}

func newDelegation(path string, secrets *redact.Set) *delegation {
	return &delegation{plans: map[string]*plan.Plan{}, chain: []plan.Link{{Path: path}}, secrets: secrets,
		reads: reads{files: map[string]opened{}, parsed: map[*source.File]tree{}, keywords: keywordsAtFirst}}
}

// Interface is how a delegate looks to a call: as a tool whose parameters are its
// input and whose result is its output. It is nil for any other plan.
func Interface(p *plan.Plan) *plan.Tool {
	if p == nil {
		return nil
	}
	return p.Face
}

// delegatePath is the plan that a text names, by its path from the workspace root; "" when it can be none.
func (c *compilation) delegatePath(n *source.Node, dir string) string {
	text := c.Text(n, "a delegate")
	if text == "" {
		return ""
	}
	name, problem, help := workspace.Path("delegate", dir, text)
	if problem != "" {
		c.Report(diag.BadDelegate, n.Span(), "%s", problem).Advise("%s", help)
	}
	return name
}

// folderOf is the folder of a definition's file as a path from the workspace
// root. Catalogues and overlays are named as the user names them.
func (c *compilation) folderOf(d definition) string {
	file := d.node.File
	if !slices.Contains(c.options.Catalogues, file) && !slices.Contains(c.options.Activities, file) {
		return d.dir
	}
	if c.options.Show != nil {
		top, _ := filepath.Abs(c.options.Show("."))
		beside, _ := filepath.Abs(filepath.Dir(file.Name))
		if dir, err := filepath.Rel(top, beside); err == nil {
			return filepath.ToSlash(dir)
		}
	}
	return path.Dir(filepath.ToSlash(file.Name))
}

// callDelegate reads a call's "_delegate". Where the tool offers some to choose
// from, it is one of these as the tool writes them.
func (c *callReader) callDelegate(n *source.Node) {
	if tool := c.Tool; tool != nil && len(tool.Delegates) > 0 && n.Kind == source.String {
		if c.Delegate = tool.Delegates[n.Text]; c.Delegate != "" {
			return
		}
		f := c.Report(diag.BadDelegate, n.Span(), "the tool %q doesn't let a call run %q", tool.Name, n.Text).
			Note(tool.DelegateNode.Span().Head(), "the choice is here")
		c.closest(f, n, namesIn(tool.Delegates),
			"choose one of "+quotedList(slices.Sorted(maps.Keys(tool.Delegates)), fewListed))
		return
	}
	c.Delegate = c.delegatePath(n, c.plan.Folder)
}

// carriedOut finds who carries a call out: what it says itself, else what its tool says. A plan of its own takes the
// place of an activity; an activity may be a plan.
func (c *callReader) carriedOut() {
	p, tool := c.plan, c.Tool
	if !c.maySubstitute() {
		return
	}
	own := c.Node.Get("_delegate")
	switch {
	case c.Activity != "" && c.Delegate != "":
		c.Report(diag.BadDelegate, own.Span(), "the call names both an activity and a plan to carry it out").
			Advise("leave \"_activity\" or \"_delegate\" out")
		return
	case c.Activity != "" || c.Delegate != "":
	case tool != nil:
		c.Activity = tool.Activity
		if own == nil {
			c.Delegate = tool.Delegate
		}
	case p.Activities[c.ToolName] != nil:
		c.Activity = c.ToolName
	}
	at := own
	if a := p.Activities[c.Activity]; a != nil && a.Plan != "" {
		c.Delegate, at = a.Plan, a.PlanNode
	} else if own == nil && tool != nil {
		at = tool.DelegateNode
	}
	if path := c.Delegate; path != "" {
		if d := c.delegate(plan.Link{Path: path, At: at}); d != nil {
			c.throughInterface(d)
		}
	}
}

// offered compiles the plans that a call may yet name: those of tools and of
// activities that no call uses, but a model may.
func (c *callReader) offered() {
	for _, t := range c.plan.Tools {
		if t.Delegate != "" && t.DelegateNode != nil {
			c.delegate(plan.Link{Path: t.Delegate, At: t.DelegateNode})
		}
		for _, text := range slices.Sorted(maps.Keys(t.Delegates)) {
			c.delegate(plan.Link{Path: t.Delegates[text], At: t.DelegateNode})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		if a := c.plan.Activities[name]; a.Plan != "" {
			c.delegate(plan.Link{Path: a.Plan, At: a.PlanNode})
		}
	}
}

// delegate is the plan that a link names, compiled once for all that name it; nil when there is none, which is reported
// once a place. One that only is on offer may lead back to a plan that is being compiled: a model can't choose it then.
func (c *callReader) delegate(l plan.Link) *plan.Plan {
	p := c.plan
	if d := p.Delegates[l.Path]; d != nil {
		return d // a solution shares them with the plan that it goes on with, which others read meanwhile
	}
	d := c.delegation.plans[l.Path]
	if d == nil && !c.refused[l] {
		d = c.compileDelegate(l)
	}
	if d == nil {
		return nil
	}
	if p.Delegates == nil {
		p.Delegates = map[string]*plan.Plan{}
	}
	p.Delegates[l.Path] = d
	return d
}

// compileDelegate reads and compiles the plan that a link names.
func (c *callReader) compileDelegate(l plan.Link) *plan.Plan {
	all := c.delegation
	bad := func(rule *diag.Rule, help, format string, args ...any) *plan.Plan {
		c.refused[l] = true
		c.Report(rule, l.At.Span(), format, args...).Advise("%s", help)
		return nil
	}
	if in := slices.IndexFunc(all.chain, func(one plan.Link) bool { return one.Path == l.Path }); in >= 0 {
		if c.Call != nil {
			var names []string
			for _, one := range append(slices.Clip(all.chain[in:]), l) {
				names = append(names, one.Path)
			}
			return bad(diag.BadDelegate, "a plan can't be run within itself: let one of them do without the other",
				"the plan reaches itself through delegates: %s", strings.Join(names, " → "))
		}
		return nil
	}
	switch {
	case c.plan.Form == plan.Replan:
		return bad(diag.BadDelegate, "a solution runs the plans that its tools and activities name: "+
			cmp.Or(quotedList(slices.Sorted(maps.Keys(c.plan.Delegates)), fewListed), "there are none"),
			"the plan has no delegate %q", l.Path)
	case c.options.Open == nil && all.reads.files[l.Path].file == nil:
		return bad(diag.BadDelegate, "compile the plan as a file in a folder",
			"the delegate %q can't be read here: there is no workspace", l.Path)
	case len(all.chain) > maxDelegateDepth, len(all.plans) >= maxDelegates, all.reads.keywords <= 0:
		return bad(diag.Limit, "let one plan do the work of several, or let them import fewer tools",
			"delegates are nested more than %d deep, are more than %d, or import too many tools, activities and "+
				"schemas together", maxDelegateDepth, maxDelegates)
	}
	file, err := c.open(l.Path)
	if err != nil {
		return bad(ruleOfReading(err, diag.BadDelegate),
			"a delegate is a plan file, its path relative to the file that names it",
			"the delegate %q can't be read: %v", l.Path, err)
	}
	o := c.options
	o.Name, o.Instances, o.Definitions = l.Path, false, false // it is run for one instance of the plan that names it
	all.chain = append(all.chain, l)
	d, found := compile(file, o, all)
	all.chain = all.chain[:len(all.chain)-1]
	if d.Root != nil && d.Form != plan.PlanFile && d.Form != plan.CallList {
		return bad(diag.BadDelegate, "a delegate is a plan file or a list of calls",
			"the delegate %q is a %s, not a plan", l.Path, d.Form)
	}
	if len(d.Instances) > 0 {
		return bad(diag.BadDelegate, "take its instances out, or run it by itself",
			"the delegate %q has instances of its own: it is run for one call, on one state", l.Path)
	}
	d.Found = found
	d.Face = interfaceOf(d, l.Path)
	all.plans[l.Path] = d
	return d
}

// interfaceOf makes a plan's interface. Without an input schema what it reads of its input are its parameters, and
// those that it can't do without are required.
func interfaceOf(p *plan.Plan, name string) *plan.Tool {
	t := &plan.Tool{Name: name, Node: p.Root, Parameters: p.InputSchema, Open: true,
		Output: p.OutputSchema, Delegate: name}
	if in := p.Root.Get("inputSchema"); in != nil {
		t.Node = in
	}
	if t.Output != nil {
		t.OutputNode = p.Root.Get("outputSchema")
	}
	t.Given, _ = p.Input.(map[string]any)
	if t.Parameters != nil {
		return t
	}
	properties, required := map[string]any{}, []any{}
	for i := range p.Reads {
		r := &p.Reads[i]
		if r.Ref.Kind != "input" || len(r.Ref.Path) == 0 {
			continue
		}
		key := r.Ref.Path[0].Key
		properties[key] = true
		if r.Ref.Required && !slices.Contains(required, any(key)) {
			required = append(required, key)
		}
	}
	t.Parameters = schema.New(map[string]any{"type": "object", "properties": properties, "required": required},
		schema.Options{})
	return t
}

// throughInterface gives a call what its delegate says and its tool doesn't: a tool that nobody declares is what the
// delegate is, a result that the tool doesn't describe is the delegate's output, and so are parameters where it has no
// word of a schema.
func (c *callReader) throughInterface(d *plan.Plan) {
	silent := c.Tool != nil && !slices.ContainsFunc(c.Tool.Node.Fields, func(f source.Field) bool {
		return isParameter(f.Key.Text) && f.Key.Text != "description" && f.Key.Text != "annotations"
	})
	if c.Tool != nil && !silent && (c.Tool.Output != nil || d.Face.Output == nil) {
		return
	}
	key := [2]any{c.ToolName, d}
	if c.made[key] == nil {
		t := *cmp.Or(c.Tool, d.Face)
		t.Name = c.ToolName
		if t.Output == nil {
			t.Output, t.OutputNode = d.Face.Output, d.Face.OutputNode
		}
		if silent {
			t.Parameters, t.Open, t.Given = d.Face.Parameters, d.Face.Open, d.Face.Given
		}
		c.made[key] = &t
	}
	c.Tool = c.made[key]
}

// maySubstitute reports who carries a call of a solution out although its tool doesn't allow it: a solution is
// untrusted text, and a tool says both what its calls take and what becomes of them. The call then runs nothing. A plan
// is warned of an activity that isn't among those that the tool lists.
func (c *callReader) maySubstitute() bool {
	tool, untrusted := cmp.Or(c.Tool, &plan.Tool{Activity: c.ToolName}), c.plan.Form == plan.Replan
	refuse := func(rule *diag.Rule, key, name string) *diag.Diagnostic {
		return c.Report(rule, c.Node.Get(key).Span(), "the tool %q doesn't let a call be carried out by %q", c.ToolName,
			name).
			Advise("leave %q out: a tool lists the activities that it allows in %[1]q, as {const: …} or {enum: […]}",
				key)
	}
	if c.Node.Get("_activity") != nil && c.plan.Activities[c.Activity] != nil &&
		(untrusted || len(tool.Activities) > 0) && !effects.MayRun(tool, c.Activity) {
		f := refuse(diag.NoActivity, "_activity", c.Activity)
		if untrusted {
			return false
		}
		f.As(diag.Warning)
	}
	n := c.Node.Get("_delegate")
	if !untrusted || n == nil || c.Delegate == "" || c.Delegate == tool.Delegate ||
		slices.Contains(slices.Collect(maps.Values(tool.Delegates)), c.Delegate) {
		return true
	}
	refuse(diag.BadDelegate, "_delegate", n.Text)
	return false
}
