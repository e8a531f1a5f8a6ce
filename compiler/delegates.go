package compiler

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// Anonymous is the delegate that is no plan: the call itself, run in a context
// in which there is nothing but what its scopes name.
const Anonymous = "anonymous"

// What delegates may cost: they are read with the plan that names them.
const (
	maxDelegates     = 256
	maxDelegateDepth = 32
)

// A delegation is what a plan and all plans below it share while they compile.
type delegation struct {
	plans     map[string]*Plan // by path, once they are compiled
	chain     []link           // the plans that are being compiled, the outermost first
	workspace string           // of a record, where its plan's lies
	reads     reads
	secrets   *redact.Set

	policies []*policy.Policy // of the user who runs the outermost
	trusted  []*Server        // that these policies trust
}

// A link of a chain of delegates: a plan, and where it is named; nowhere for the
// plan that all begins with.
type link struct {
	path string
	at   *source.Node
}

// circle writes a chain that comes back to its beginning.
func circle(chain []link) string {
	names := make([]string, 0, len(chain)+1)
	for _, l := range chain {
		names = append(names, l.path)
	}
	return strings.Join(append(names, chain[0].path), " → ")
}

// runsPlan reports whether a delegate is a plan of its own.
func runsPlan(delegate string) bool { return delegate != "" && delegate != Anonymous }

// Plan is the path of the plan that is run as the call, or "".
func (c *Call) Plan() string {
	if runsPlan(c.Delegate) {
		return c.Delegate
	}
	return ""
}

// Latent reports whether nothing carries the call out, so that a model must produce
// its result, unless it stands there already.
func (c *Call) Latent() bool { return c.Activity == "" && c.Plan() == "" }

// Findings are what compiling a delegate found. They are its own and not among
// those of the plans that name it.
func (p *Plan) Findings() []diag.Diagnostic { return slices.Clone(p.found) }

// Interface is how a delegate looks to a call: as a tool whose parameters are its
// input and whose result is its output. It is nil for any other plan.
func (p *Plan) Interface() *Tool {
	if p == nil {
		return nil
	}
	return p.face
}

// delegatePath is the plan that a text names, by its path from the workspace root;
// "" when it can be none.
func (c *compilation) delegatePath(n *source.Node, dir string, call *Call) string {
	text := c.text(n, "a delegate")
	if text == "" {
		return ""
	}
	name, trouble, help := workspace.Path("delegate", dir, text)
	if trouble != "" {
		c.report(diag.BadDelegate, n.Span(), "%s", trouble).About(call.Label()).Advise("%s", help)
	}
	return name
}

// folderOf is the folder of a definition's file as a path from the workspace
// root. Catalogues, overlays and policies are named as the user names them.
func (c *compilation) folderOf(d definition) string {
	file := d.node.File
	isPolicy := slices.ContainsFunc(c.options.Policies, func(one PolicyFile) bool { return one.File == file })
	if !slices.Contains(c.options.Catalogues, file) && !slices.Contains(c.options.Activities, file) && !isPolicy {
		return d.dir
	}
	if c.options.Show != nil {
		top, beside := c.options.Show("."), filepath.Dir(file.Name)
		if filepath.IsAbs(top) != filepath.IsAbs(beside) { // a user may name the one so and the other so
			top, _ = filepath.Abs(top)
			beside, _ = filepath.Abs(beside)
		}
		if dir, err := filepath.Rel(top, beside); err == nil {
			return filepath.ToSlash(dir)
		}
	}
	return path.Dir(filepath.ToSlash(file.Name))
}

// callDelegate reads a call's "_delegate". Where the tool offers some to choose
// from, it is one of these as the tool writes them.
func (c *compilation) callDelegate(call *Call, n *source.Node) {
	if n.Kind == source.String && n.Text == Anonymous {
		call.Delegate = Anonymous
		return
	}
	if tool := call.Tool; tool != nil && len(tool.delegates) > 0 && n.Kind == source.String {
		if call.Delegate = tool.delegates[n.Text]; call.Delegate != "" {
			return
		}
		choices := slices.Sorted(maps.Keys(tool.delegates))
		names := naming.NewSuggester(choices)
		f := c.report(diag.BadDelegate, n.Span(), "the tool %q doesn't let a call run %q", tool.Name, n.Text).About(call.Label()).
			Advise("choose one of %s", quotedList(choices, fewListed)).Note(tool.DelegateNode.Span().Head(), "the choice is here")
		if near, ok := names.Nearest(n.Text); ok {
			c.slip(f, n, near, names)
		}
		return
	}
	call.Delegate = c.delegatePath(n, c.plan.dir, call)
}

// toolDelegate reads what a tool says of who carries it out: a plan, or those to
// choose from.
func (c *compilation) toolDelegate(t *Tool, dir string) {
	n := t.DelegateNode
	if text := fixedText(n); text == Anonymous {
		t.Delegate = Anonymous
		return
	}
	if choices := n.Get("enum"); choices != nil {
		t.delegates = map[string]string{}
		for _, item := range choices.Items {
			switch {
			case item.Kind == source.String && item.Text == Anonymous:
				t.delegates[Anonymous] = Anonymous
			default:
				if to := c.delegatePath(item, dir, nil); to != "" {
					t.delegates[item.Text] = to
				}
			}
		}
		return
	}
	if fixed := n.Get("const"); fixed != nil {
		n = fixed
	}
	if n.Kind == source.String {
		t.Delegate = c.delegatePath(n, dir, nil)
	}
}

// carriedOut finds who carries a call out: what it says itself, else what
// its tool says. A plan of its own takes the place of an activity; an activity
// may be a plan.
func (c *compilation) carriedOut(call *Call) {
	p, tool := c.plan, call.Tool
	if !c.maySubstitute(call) {
		return
	}
	own := call.Node.Get("_delegate")
	switch {
	case call.Activity != "" && call.Plan() != "":
		c.report(diag.BadDelegate, own.Span(), "the call names both an activity and a plan to carry it out").About(call.Label()).
			Advise("leave \"_activity\" or \"_delegate\" out")
		return
	case call.Activity != "" || call.Plan() != "":
	case tool != nil:
		call.Activity = tool.Activity
		if own == nil && runsPlan(tool.Delegate) {
			call.Delegate = tool.Delegate
		}
	case p.Activities[call.ToolName] != nil:
		call.Activity = call.ToolName
	}
	if own == nil && call.Delegate == "" && tool != nil && tool.Delegate == Anonymous {
		call.Delegate = Anonymous
	}
	at := own
	if a := p.Activities[call.Activity]; a != nil && a.Plan != "" {
		call.Delegate, at = a.Plan, a.PlanNode
	} else if own == nil && tool != nil {
		at = tool.DelegateNode
	}
	if path := call.Plan(); path != "" {
		if d := c.delegate(link{path, at}, call); d != nil {
			c.throughInterface(call, d)
		}
		c.scopesOfItems(call)
	}
}

// offered compiles the plans that a call may yet name: those of tools and of
// activities that no call uses, but a model may.
func (c *compilation) offered() {
	for _, t := range c.plan.Tools {
		if runsPlan(t.Delegate) && t.DelegateNode != nil {
			c.delegate(link{t.Delegate, t.DelegateNode}, nil)
		}
		for _, text := range slices.Sorted(maps.Keys(t.delegates)) {
			if path := t.delegates[text]; runsPlan(path) {
				c.delegate(link{path, t.DelegateNode}, nil)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		if a := c.plan.Activities[name]; a.Plan != "" {
			c.delegate(link{a.Plan, a.PlanNode}, nil)
		}
	}
}

// delegate is the plan that a link names, compiled once for all that name it; nil
// when there is none, which is reported once a place. One that only is on offer
// may lead back to a plan that is being compiled: a model can't choose it then.
func (c *compilation) delegate(l link, call *Call) *Plan {
	p, all := c.plan, c.delegation
	if d := p.Delegates[l.path]; d != nil {
		return d
	}
	if c.refused[l] {
		return nil
	}
	d := all.plans[l.path]
	if d == nil {
		if d = c.compileDelegate(l, call); d == nil {
			return nil
		}
	}
	if in := slices.IndexFunc(d.circle, func(one link) bool { return one.path == all.chain[len(all.chain)-1].path }); in >= 0 {
		if call == nil {
			return nil
		}
		p.circle = d.circle
		c.leadsBack(l, append(slices.Clone(d.circle[in:]), d.circle[:in]...), call)
		return nil
	}
	if p.Delegates == nil {
		p.Delegates = map[string]*Plan{}
	}
	p.Delegates[l.path] = d
	return d
}

// compileDelegate reads and compiles the plan that a link names.
func (c *compilation) compileDelegate(l link, call *Call) *Plan {
	all := c.delegation
	bad := func(rule *diag.Rule, help, format string, args ...any) *Plan {
		c.refuse(l)
		c.report(rule, l.at.Span(), format, args...).About(call.Label()).Advise("%s", help)
		return nil
	}
	if in := slices.IndexFunc(all.chain, func(one link) bool { return one.path == l.path }); in >= 0 {
		if call != nil {
			c.plan.circle = slices.Clone(all.chain[in:])
			c.leadsBack(l, c.plan.circle, call)
		}
		return nil
	}
	switch {
	case c.plan.Form == Replan:
		return bad(diag.BadDelegate, "a solution runs the plans that its tools and activities name: "+cmp.Or(quotedList(slices.Sorted(maps.Keys(c.plan.Delegates)), fewListed), "there are none"),
			"the plan has no delegate %q", l.path)
	case c.options.Open == nil && all.reads.files[l.path].file == nil:
		return bad(diag.BadDelegate, "compile the plan as a file in a folder", "the delegate %q can't be read here: there is no workspace", l.path)
	case len(all.chain) > maxDelegateDepth:
		return bad(diag.Limit, "let one plan do the work of several", "delegates are nested more than %d deep", maxDelegateDepth)
	case len(all.plans) >= maxDelegates:
		return bad(diag.Limit, "let one plan do the work of several", "the plan reaches more than %d delegates", maxDelegates)
	case all.reads.keywords <= 0:
		return bad(diag.Limit, "let plans that are run as calls import fewer tools, or let one plan do the work of several",
			"the plans that the plan runs as calls take in too many tools, activities and schemas together, each for itself")
	}
	file, err := c.open(l.path)
	if err != nil {
		return bad(ruleOfReading(err, diag.BadDelegate), "a delegate is a plan file, its path relative to the file that names it", "the delegate %q can't be read: %v", l.path, err)
	}
	o := c.options
	o.Name, o.Instances, o.Definitions = l.path, false, false // it is run for one instance of the plan that names it
	all.chain = append(all.chain, l)
	d, found := compile(file, o, all)
	all.chain = all.chain[:len(all.chain)-1]
	if d.Root != nil && d.Form != PlanFile && d.Form != CallList {
		return bad(diag.BadDelegate, "a delegate is a plan file or a list of calls", "the delegate %q is a %s, not a plan", l.path, d.Form)
	}
	if len(d.Instances) > 0 {
		return bad(diag.BadDelegate, "take its instances out, or run it by itself", "the delegate %q has instances of its own: it is run for one call, on one state", l.path)
	}
	d.found = found
	d.face = interfaceOf(d, l.path)
	all.plans[l.path] = d
	return d
}

// refuse keeps a place from being reported again.
func (c *compilation) refuse(l link) {
	if c.refused == nil {
		c.refused = map[link]bool{}
	}
	c.refused[l] = true
}

// leadsBack reports a plan that reaches itself, with the places that make the
// circle.
func (c *compilation) leadsBack(l link, chain []link, call *Call) {
	c.refuse(l)
	f := c.report(diag.BadDelegate, l.at.Span(), "the plan reaches itself through delegates: %s", circle(chain)).About(call.Label()).
		Advise("a plan can't be run within itself: let one of them do without the other")
	for i, one := range chain {
		if from := chain[(i+len(chain)-1)%len(chain)]; one.at != nil && one.at != l.at {
			f.Note(one.at.Span(), "%q runs %q here", from.path, one.path)
		}
	}
}

// interfaceOf makes a plan's interface. Without an input schema what it reads of
// its input are its parameters, and those that it can't do without are
// required.
func interfaceOf(p *Plan, name string) *Tool {
	t := &Tool{Name: name, Node: p.Root, Parameters: p.InputSchema, Open: true, Output: p.OutputSchema, Delegate: name}
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
	t.Parameters = schema.New(map[string]any{"type": "object", "properties": properties, "required": required}, schema.Options{})
	return t
}

// throughInterface gives a call what its delegate says and its tool doesn't: a
// tool that nobody declares is what the delegate is, a result that the tool
// doesn't describe is the delegate's output, and so are parameters where it has no word
// of a schema.
func (c *compilation) throughInterface(call *Call, d *Plan) {
	silent := call.Tool != nil && !slices.ContainsFunc(call.Tool.Node.Fields, func(f source.Field) bool {
		return isParameter(f.Key.Text) && f.Key.Text != "description" && f.Key.Text != "annotations"
	})
	if call.Tool != nil && !silent && (call.Tool.Output != nil || d.face.Output == nil) {
		return
	}
	key := through{call.ToolName, d}
	t := c.interfaces[key]
	if t == nil {
		t = &Tool{}
		if call.Tool != nil {
			*t = *call.Tool
			if t.Output == nil {
				t.Output, t.OutputNode = d.face.Output, d.face.OutputNode
			}
			if silent {
				t.Parameters, t.Open, t.Given = d.face.Parameters, d.face.Open, d.face.Given
			}
		} else {
			*t = *d.face
			t.Name = call.ToolName
		}
		if c.interfaces == nil {
			c.interfaces = map[through]*Tool{}
		}
		c.interfaces[key] = t
	}
	call.Tool = t
}

// through is a tool whose calls a plan carries out.
type through struct {
	tool string
	plan *Plan
}

// AllDelegates are the plans that are run as calls of this one, and as calls of
// those, by path.
func (p *Plan) AllDelegates() map[string]*Plan {
	all := map[string]*Plan{}
	waiting := []*Plan{p}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		for path, plan := range next.Delegates {
			if all[path] == nil {
				all[path] = plan
				waiting = append(waiting, plan)
			}
		}
	}
	return all
}
