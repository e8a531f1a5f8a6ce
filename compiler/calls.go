package compiler

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
)

// maxCalls bounds a plan.
const maxCalls = 1_000_000

// lowerCalls reads the list of calls in two passes: first names, which "_after"
// may use in any order, then everything else.
func (c *compilation) lowerCalls() {
	list := c.plan.CallsNode
	if list == nil {
		return
	}
	if list.Kind != source.Array {
		c.Expects(list, "\"calls\"", "a list of calls").Advise("begin each call with \"- _tool: NAME\"")
		return
	}
	if len(list.Items) > maxCalls {
		c.Report(diag.Limit, list.Items[maxCalls].Span(), "the plan has %d calls; the limit is %d",
			len(list.Items), maxCalls)
		return
	}
	c.plan.Calls = make([]*plan.Call, 0, len(list.Items))
	marks := bytes.Count(c.plan.File.Text, []byte("†")) - bytes.Count(c.plan.File.Text, []byte("_outputPath"))
	c.plan.Reads = make([]plan.Read, 0, max(0, min(marks, 4*len(list.Items))))
	c.ids = make(map[string]*plan.Call, len(list.Items))
	reader := callReader{compilation: c}
	for place, n := range list.Items {
		reader.listCall(n, place+1)
	}
	for _, call := range c.plan.Calls {
		if call.ID == "" {
			reader.sharesName(c.ids[call.Name], call)
		}
	}
	c.plan.Size = len(c.plan.Calls)
	for _, call := range c.plan.Calls {
		reader.Call = call
		reader.lowerCall()
		if call.Tool != nil {
			c.secretsOf(call.Node, call.Tool.Parameters)
		}
		c.addSize(call)
	}
}

// addSize reports the call with which a plan, with its delegates written out, has more
// calls than a plan may have. How many they are can double with each delegate.
func (c *compilation) addSize(call *plan.Call) {
	p := c.plan
	d := p.Delegates[call.Delegate]
	if d == nil || d.Size > maxCalls || p.Size > maxCalls { // which has been reported
		return
	}
	if p.Size += d.Size; p.Size > maxCalls {
		c.Report(diag.Limit, call.Node.Span(),
			"with the calls of its delegates, each as often as it is run, the plan has more than %d calls", maxCalls).
			About(call.Label()).
			Advise("call delegates less often, or let one of them do the work of several")
	}
}

// sharesName reports that a call's "_id" is the name of one without, if there are two: nothing that names the one would
// tell it from the other. It is the later one's fault, so that it doesn't matter whether they arrive together.
func (c *callReader) sharesName(named, call *plan.Call) {
	if named == nil {
		return
	}
	id, tool, later := named.Node.Get("_id").Span(), call.ToolNode.Span(), call
	if named.Node.Start > call.Node.Start {
		id, tool, later = tool, id, named
	}
	c.Report(diag.DuplicateID, tool, "the id %q is also the name of a call without one, from its tool and position",
		named.ID).About(later.Label()).Note(id, "this call has it").Advise("choose another \"_id\", or give both one")
}

// listCall makes a call of what stands at a place, from 1, of the list, with its tool and name; nil if it is none.
func (c *callReader) listCall(n *source.Node, place int) *plan.Call {
	if n.Kind != source.Object {
		c.Expects(n, "call "+strconv.Itoa(place), "a mapping with \"_tool\"")
		return nil
	}
	tool, partial := n.Get("_tool"), c.partial(n)
	if tool == nil && partial {
		return nil
	}
	if tool == nil || tool.Kind != source.String || tool.Text == "" {
		c.noTool(n, tool, place)
		return nil
	}
	call := new(plan.Call)
	call.Node, call.ToolNode, call.ToolName, call.Tool, call.Partial = n, tool, tool.Text, c.tools[tool.Text], partial
	call.Name = tool.Text + "#" + strconv.Itoa(place)
	call.Index, call.Place = len(c.plan.Calls), len(c.plan.Calls)
	c.plan.Calls = append(c.plan.Calls, call)
	id := n.Get("_id")
	if id == nil {
		return call
	}
	if id.Kind != source.String || id.Text == "" {
		c.Expects(id, "\"_id\"", "a name").About(call.Label())
		return call
	}
	call.ID, call.Name = id.Text, id.Text
	if first := c.ids[call.ID]; first != nil {
		c.Report(diag.DuplicateID, id.Span(), "two calls have the id %q", call.ID).About(call.Label()).
			Note(first.Node.Get("_id").Span(), "the first is here").Advise("give one of them another \"_id\"")
	} else {
		c.ids[call.ID] = call
		c.plan.Secrets.Publish(call.ID)
	}
	return call
}

func (c *callReader) noTool(n, tool *source.Node, place int) {
	if tool != nil {
		c.Expects(tool, "\"_tool\"", "the name of a tool")
		return
	}
	f := c.Report(diag.WrongType, n.Span().Head(), "call %d has no \"_tool\"", place)
	for _, field := range n.Fields {
		near, safe := decode.Meant(field.Key.Text, []string{"_tool"})
		if near != "" && field.Value.Kind == source.String {
			f.Span = field.Key.Span()
			decode.Intended(f, field.Key, near, safe)
			return
		}
	}
	f.Advise("every call names its tool: _tool: name")
}

// A callReader reads a call with all that it runs and reads, or, of no call, what stands elsewhere in a plan and reads.
type callReader struct {
	*compilation
	*plan.Call
	items bool // what is read belongs to one item
}

func (c *callReader) lowerCall() {
	p, firstRead := c.plan, len(c.plan.Reads)
	c.Reader.Call = c.Name
	c.keys()
	c.lowerScopes()
	c.items = c.Node.Get("_each") != nil
	c.Params = c.objectTemplate(c.Node, true)
	c.items = false
	c.Reads = consecutive(firstRead, len(p.Reads))
	c.consulted()
	c.carriedOut()
	c.produced()
	if c.Each != nil {
		c.eachGives()
	}
	if c.Output == nil && c.Tool != nil && c.Tool.OutputPath != nil {
		c.inheritOutputPath()
	}
	c.chosen()
	c.Reader.Call = ""
}

// produced reports a result of a call that runs: a reader would take it for the result of the run.
func (c *callReader) produced() {
	switch {
	case c.Produced == nil:
	case c.Each != nil:
		c.Report(diag.WrongType, c.Produced.Span(),
			"\"_output\" is the result of one call, and this one runs for each item of a list").
			Advise("take \"_output\" out, or \"_each\"")
	case !c.Latent():
		c.Report(diag.WrongType, c.Produced.Span(),
			"\"_output\" is the result of a call that nothing carries out, and "+
				"%q carries this one out", cmp.Or(c.Activity, c.Delegate)).Advise("take \"_output\" out")
		c.Produced = nil
	}
}

// chosen takes a result apart that is in a solution and names the alternative which it takes.
func (c *callReader) chosen() {
	path, result := c.Produced.Get("_outputPath"), c.Produced.Get("_output")
	if path == nil || result == nil || len(c.Produced.Fields) != 2 {
		return
	}
	c.Produced = result
	named := &plan.Call{Node: c.Node, Name: c.Name}
	if (&callReader{compilation: c.compilation, Call: named}).outputPath(path); len(named.Output) == 0 {
		return
	}
	for i, offered := range c.Output {
		if len(named.Output) == 1 &&
			slices.EqualFunc(offered, named.Output[0], func(a, b plan.Path) bool { return a.ID == b.ID }) {
			c.Takes = i + 1
			return
		}
	}
	c.Report(diag.WrongType, path.Span(), "the result names the path %q, which the call doesn't offer", path.Text).
		Advise("name one of the alternatives of the call's \"_outputPath\"")
}

// callKeys are the keys of a call that aren't parameters.
type callKeys struct {
	*plan.Call
	IDNode    *source.Node `key:"_id"` // see listCall
	List      *source.Node `key:"_each"`
	Condition *source.Node `key:"_when"`
	Others    *source.Node `key:"_after"`
	For       *source.Node `key:"_instance"`
	Runs      *source.Node `key:"_delegate"`
	Asks      *source.Node `key:"_confirm"`
	OfItems   string       `key:"_onItemFailure" words:"collect,fail"`
}

// keys reads the keys that begin with "_".
func (c *callReader) keys() {
	keys := callKeys{Call: c.Call}
	for _, f := range c.Node.Fields {
		if strings.HasPrefix(f.Key.Text, "_") {
			c.Field(c.Node, f, "a call", &keys, nil)
		}
	}
	given := func(n *source.Node, read func(*source.Node)) {
		if n != nil {
			read(n)
		}
	}
	c.Confirm = keys.Asks.IsTrue()
	given(keys.List, c.each)
	given(keys.OutputNode, c.outputPath)
	given(keys.For, func(n *source.Node) { c.Instance = c.instanceID(n) })
	given(keys.Runs, c.callDelegate)
	given(keys.Condition, c.when)
	given(keys.Others, c.after)
	if n := c.Node.Get("_activity"); c.Activity != "" && c.plan.Activities[c.Activity] == nil {
		c.noActivity(n, c.Activity)
	}
	if n := keys.Asks; n != nil && !n.IsTrue() {
		c.Report(diag.WrongType, n.Span(), "\"_confirm\" can only be true").
			Advise("write _confirm: true, or remove it")
	}
	if keys.OfItems != "" && keys.List == nil {
		c.Report(diag.WrongType, c.Node.Get("_onItemFailure").Span(),
			"\"_onItemFailure\" is about the items of a call with \"_each\", and this one has none")
	} else if c.Each != nil {
		c.Each.Collect = keys.OfItems == "collect"
	}
}

// when reads the condition of a call.
func (c *callReader) when(n *source.Node) {
	if n.Kind == source.Bool || n.Kind == source.String && reference.IsExpression(n.Text) {
		c.items = c.Node.Get("_each") != nil
		c.When = c.template(n)
		c.items = false
		return
	}
	found := c.Report(diag.WrongType, n.Span(), "\"_when\" must be a boolean expression")
	unmarked(found, n)
}

// unmarked says how a text that has to be an expression is one.
func unmarked(found *diag.Diagnostic, n *source.Node) {
	with, ok := expression.Marked(n.AsText())
	if ok {
		found.Offer("make it an expression", n, 0, len(n.Text), with, true)
	} else {
		with = "†state.key"
	}
	found.Advise("an expression begins with †: write %q", with)
}

// outputPath reads where a call's result goes.
func (c *callReader) outputPath(n *source.Node) {
	if n.Kind != source.String {
		c.Expects(n, "\"_outputPath\"", "a path such as †state.result")
		return
	}
	alternatives, err := reference.ParseOutput(n.Text)
	if err != nil {
		c.BadExpression(n, err)
		return
	}
	c.routes(alternatives, n)
	for _, route := range c.Output {
		for i, path := range route {
			c.overItself(route[:i], path)
		}
	}
}

// inheritOutputPath gives a call the path that its tool fixes. What is wrong with that is the tool's fault, and
// reported with its schema.
func (c *callReader) inheritOutputPath() {
	raw, _ := c.Tool.OutputPath.Raw().(map[string]any)
	if text, ok := raw["const"].(string); ok {
		c.OutputNode = c.ToolNode
		alternatives, _ := reference.ParseOutput(text)
		for i := range alternatives {
			alternatives[i] = slices.DeleteFunc(alternatives[i],
				func(ref expression.Reference) bool { return readOnly[ref.Kind] != "" })
			for k := range alternatives[i] {
				alternatives[i][k].Start, alternatives[i][k].End = 0, len(c.ToolNode.Text)
			}
		}
		c.routes(alternatives, c.ToolNode)
	}
}

// routes gives a call the alternatives of a path that is in a string.
func (c *callReader) routes(alternatives [][]expression.Reference, n *source.Node) {
	for _, alternative := range alternatives {
		route := make(plan.Route, 0, len(alternative))
		for _, ref := range alternative {
			if why, only := readOnly[ref.Kind]; only {
				c.Report(diag.ReadOnlyPath, n.Within(ref.Start, ref.End), "%q can't be written: %s", "†"+ref.Kind, why).
					Advise("write to a path of †state")
			} else if id, ok := c.kindPath(ref, n); ok {
				route = append(route, plan.Path{ID: id, Node: n, Start: ref.Start, End: ref.End})
			}
		}
		if len(route) > 0 {
			c.Output = append(c.Output, route)
		}
	}
}

// overItself reports a path that overlaps another which the same result is written to.
func (c *callReader) overItself(route plan.Route, path plan.Path) {
	for _, other := range route {
		if c.plan.Paths.Overlap(other.ID, path.ID) {
			c.Report(diag.BadExpression, path.Span(), "the result would be written over itself: %q and %q overlap",
				c.plan.Paths.String(other.ID), c.plan.Paths.String(path.ID)).
				About(c.Label()).Note(other.Span(), "it goes here as well").
				Advise("write it to one of the two, or to paths side by side")
			return
		}
	}
}

var readOnly = map[string]string{
	"input":  "input is what the run is given",
	"error":  "errors are collected from calls that fail",
	"advice": "advice comes from advisors",
}

// kindPath interns a reference's path, and reports a kind that there isn't.
func (c *callReader) kindPath(ref expression.Reference, n *source.Node) (pathtree.ID, bool) {
	id, ok := c.pathOf(ref)
	if !ok {
		c.unknownKind(diag.UnknownKind, ref, n)
	}
	return id, ok
}

// pathOf interns a reference's path. A kind that a message declares stands below
// †data, under whichever of its two names it is used.
func (c *callReader) pathOf(ref expression.Reference) (pathtree.ID, bool) {
	if !c.isKind(ref.Kind) {
		return 0, false
	}
	paths := c.plan.Paths
	id := pathtree.Root
	if !slices.Contains(builtinKinds, ref.Kind) && !(c.items && IsItemKind(ref.Kind)) {
		id = paths.Intern(id, expression.Segment{Key: "data"})
	}
	id = paths.Intern(id, expression.Segment{Key: ref.Kind})
	for _, s := range ref.Path {
		id = paths.Intern(id, s)
	}
	return id, true
}

// lowerOutput reads the plan's own output, whose reads come after all others.
func (c *compilation) lowerOutput() {
	if c.outputNode != nil && c.outputNode.Kind != source.Null {
		c.plan.Output = (&callReader{compilation: c}).template(c.outputNode)
	}
}

// template reads a value that may hold expressions at its leaves. The call is nil for the plan's output.
func (c *callReader) template(n *source.Node) *plan.Template {
	switch n.Kind {
	case source.Object:
		return c.objectTemplate(n, false)
	case source.Array:
		t := &plan.Template{Node: n}
		values := make([]any, 0, len(n.Items))
		for _, item := range n.Items {
			sub := c.below(t, item)
			t.Items, values = append(t.Items, sub), append(values, sub.Value)
		}
		if !t.Live {
			t.Items, t.Value = nil, values
		}
		return t
	case source.String:
		return c.textTemplate(n)
	}
	return &plan.Template{Node: n, Value: n.Value()}
}

// below reads a part of a template.
func (c *callReader) below(t *plan.Template, n *source.Node) *plan.Template {
	sub := c.template(n)
	t.Live, t.ItemDependent = t.Live || sub.Live, t.ItemDependent || sub.ItemDependent
	return sub
}

// isParameter reports whether a key of a call is one of its parameters.
func isParameter(key string) bool {
	return !strings.HasPrefix(key, "_") && !strings.HasPrefix(key, "x-")
}

// objectTemplate reads a mapping; that of a call holds the call's parameters among other things.
func (c *callReader) objectTemplate(n *source.Node, params bool) *plan.Template {
	t := &plan.Template{Node: n, Fields: make([]plan.TemplateField, 0, len(n.Fields))}
	value := make(map[string]any, len(n.Fields))
	for _, f := range n.Fields {
		if params && !isParameter(f.Key.Text) {
			continue
		}
		sub := c.below(t, f.Value)
		t.Fields = append(t.Fields, plan.TemplateField{Key: f.Key.Text, Node: f.Key, Value: sub})
		value[f.Key.Text] = sub.Value
	}
	if !t.Live {
		t.Value = value
		if !params { // a call's parameters keep their places one by one
			t.Fields = nil
		}
	}
	return t
}

// textTemplate reads a string: one expression, or a text with expressions in it or without.
func (c *callReader) textTemplate(n *source.Node) *plan.Template {
	e, err := expression.ParseString(n.Text, c.isKind)
	if e == nil && err == nil {
		return &plan.Template{Node: n, Value: reference.Literal(n.Text)}
	}
	if err != nil {
		c.BadExpression(n, err)
		return &plan.Template{Node: n, Live: true}
	}
	t := &plan.Template{Node: n, Expr: e, Live: true}
	firstRead := len(c.plan.Reads)
	for _, ref := range e.References() {
		id, ok := c.kindPath(ref, n)
		if !ok {
			id = pathtree.Root // the finding is made; nobody writes the root, so nothing binds to it
		}
		read := plan.Read{Call: -1, Ref: ref, Path: id, Node: n}
		if c.Call != nil {
			read.Call = c.Index
		}
		c.plan.Reads = append(c.plan.Reads, read)
		t.ItemDependent = t.ItemDependent || c.items && IsItemKind(ref.Kind)
	}
	t.Reads = consecutive(firstRead, len(c.plan.Reads))
	return t
}

// consecutive are the numbers from first up to and without end; nil where there is none.
func consecutive(first, end int) []int {
	if first == end {
		return nil
	}
	list := make([]int, end-first)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// bind finds for every read the calls that it sees, and from these the graph.
func (c *compilation) bind() {
	p := c.plan
	c.start(p.Reads)
	if call := bind.Plan(p); call >= 0 { // with which there are too many
		c.Report(diag.Limit, p.Calls[call].Node.Span(), "the plan has more than %d dependencies between calls",
			bind.MaxEdges).
			Advise("let fewer calls read and write one path, or read a narrower path")
	}
}
