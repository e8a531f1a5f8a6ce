package compiler

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
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
		c.Expects(list, "\"calls\"", "a list of calls")
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
	for place, n := range list.Items {
		c.listCall(n, place+1)
	}
	for _, call := range c.plan.Calls {
		if call.ID == "" {
			c.sharesName(c.ids[call.Name], call)
		}
	}
	for _, call := range c.plan.Calls {
		c.lowerCall(call)
		if call.Tool != nil {
			c.secretsOf(call.Node, call.Tool.Parameters)
		}
	}
	c.plan.Size = len(c.plan.Calls)
	for _, call := range c.plan.Calls {
		c.addSize(call)
	}
}

// addSize reports the call with which a plan, with its delegates written out, has more
// calls than a plan may have. How many they are can double with each delegate.
func (c *compilation) addSize(call *plan.Call) {
	p := c.plan
	d := p.Delegates[call.Plan()]
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
func (c *compilation) sharesName(named, call *plan.Call) {
	if named == nil || call == nil {
		return
	}
	id, tool := named.Node.Get("_id").Span(), call.ToolNode.Span()
	if named.Node.Start > call.Node.Start {
		c.Report(diag.DuplicateID, id, "the id %q is also the name of a call without one", named.ID).
			About(named.Label()).
			Note(tool, "this call has it, from its tool and position").Advise("choose another \"_id\"")
		return
	}
	c.Report(diag.DuplicateID, tool,
		"the name of this call, from its tool and position, is %q, which is also the id of another", named.ID).
		About(call.Label()).
		Note(id, "this call has it").Advise("give it an \"_id\", or choose another for the other")
}

// listCall makes a call of what stands at a place, from 1, of the list, with its tool and name; nil if it is none.
func (c *compilation) listCall(n *source.Node, place int) *plan.Call {
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

func (c *compilation) noTool(n, tool *source.Node, place int) {
	if tool != nil {
		c.Expects(tool, "\"_tool\"", "the name of a tool")
		return
	}
	f := c.Report(diag.WrongType, n.Span(), "call %d has no \"_tool\"", place)
	f.Span = n.Span().Head()
	names := naming.NewSuggester([]string{"_tool"})
	for _, field := range n.Fields {
		_, near := names.Nearest(field.Key.Text)
		if _, foreign := decode.Foreign(field.Key.Text, []string{"_tool"}); field.Value.Kind == source.String &&
			(near || foreign) {
			f.Span = field.Key.Span()
			decode.Intended(f, field.Key, "_tool", names)
			return
		}
	}
	f.Advise("every call names its tool: _tool: name")
}

func (c *compilation) lowerCall(call *plan.Call) {
	p, firstRead := c.plan, len(c.plan.Reads)
	c.Call = call.Name
	c.each(call)
	for _, f := range call.Node.Fields {
		if strings.HasPrefix(f.Key.Text, "_") {
			c.lowerMeta(call, f)
		}
	}
	c.items = call.Node.Get("_each") != nil
	c.lowerScopes(call)
	call.Params = c.objectTemplate(call, call.Node, true)
	c.items = false
	call.Reads = consecutive(firstRead, len(p.Reads))
	c.consulted(call)
	c.carriedOut(call)
	if call.Each != nil {
		c.eachGives(call)
	}
	if call.Output == nil && call.Tool != nil && call.Tool.OutputPath != nil {
		c.inheritOutputPath(call)
	}
	c.chosen(call)
	c.Call = ""
}

// chosen takes a result apart that is in a solution and names the alternative which it takes.
func (c *compilation) chosen(call *plan.Call) {
	path, result := call.Produced.Get("_outputPath"), call.Produced.Get("_output")
	if path == nil || result == nil || len(call.Produced.Fields) != 2 {
		return
	}
	call.Produced = result
	named := &plan.Call{Node: call.Node, Name: call.Name}
	if c.outputPath(named, path); len(named.Output) == 0 {
		return
	}
	for i, offered := range call.Output {
		if len(named.Output) == 1 &&
			slices.EqualFunc(offered, named.Output[0], func(a, b plan.Path) bool { return a.ID == b.ID }) {
			call.Takes = i + 1
			return
		}
	}
	c.Report(diag.WrongType, path.Span(), "the result names the path %q, which the call doesn't offer", path.Text).
		Advise("name one of the alternatives of the call's \"_outputPath\"")
}

// lowerMeta reads one of a call's keys that begin with "_".
func (c *compilation) lowerMeta(call *plan.Call, f source.Field) {
	n, key := f.Value, f.Key.Text
	if slices.Contains(extensionKeys, key) {
		call.Extensions = append(call.Extensions, f)
	}
	switch key {
	case "_tool", "_id", "_each": // see nameCall, each
	case "_outputPath":
		call.OutputNode = n
		c.outputPath(call, n)
	case "_outputMethod":
		c.Value(n, "\"_outputMethod\"", &call.Method, methodTags)
	case "_instance":
		call.Instance = c.instanceID(n)
	case "_activity":
		if call.Activity = c.Text(n, "\"_activity\""); call.Activity != "" && c.plan.Activities[call.Activity] == nil {
			c.noActivity(n, call.Activity)
		}
	case "_delegate":
		c.callDelegate(call, n)
	case "_scopes":
		call.ScopesNode = n
	case "_output":
		call.Produced = n
	case "_reasoningForCall":
		call.Reason = c.Text(n, "\"_reasoningForCall\"")
	case "_when":
		c.when(call, n)
	case "_after":
		c.after(call, n)
	case "_retry":
		if n.Kind == source.Number || n.Kind == source.String {
			c.Value(n, "\"_retry\"", &call.Retry.Attempts, `from:"1" to:"1000"`)
		} else {
			c.Mapping(n, "\"_retry\"", &call.Retry, nil)
		}
	case "_onItemFailure":
		c.onItemFailure(call, f)
	case "_timeout":
		call.Timeout = c.Duration(n, "\"_timeout\"")
	case "_confirm":
		if call.Confirm = n.IsTrue(); !call.Confirm {
			c.Report(diag.WrongType, n.Span(), "\"_confirm\" can only be true").
				Advise("write _confirm: true, or remove it")
		}
	default:
		c.UnknownKey(call.Node, f.Key, "a call", metaKeys)
	}
}

// extensionKeys are the keys of a call that the base protocol doesn't have.
var extensionKeys = []string{"_id", "_when", "_after", "_retry", "_timeout", "_confirm", "_each", "_onItemFailure"}

// methodTags are the words for methods, in the order of their values.
const methodTags = `words:"set,merge,assign,push,concat"`

// when reads the condition of a call.
func (c *compilation) when(call *plan.Call, n *source.Node) {
	if n.Kind == source.Bool || n.Kind == source.String && reference.IsExpression(n.Text) {
		c.items = call.Node.Get("_each") != nil
		call.When = c.template(call, n)
		c.items = false
		return
	}
	found := c.Report(diag.WrongType, n.Span(), "\"_when\" must be a boolean expression")
	if n.Kind == source.String {
		found.Advise("an expression begins with †: write %q", "†("+n.Text+")")
	}
}

// outputPath reads where a call's result goes.
func (c *compilation) outputPath(call *plan.Call, n *source.Node) {
	if n.Kind != source.String {
		c.Expects(n, "\"_outputPath\"", "a path such as †state.result")
		return
	}
	alternatives, err := reference.ParseOutput(n.Text)
	if err != nil {
		c.BadExpression(n, err)
		return
	}
	c.routes(call, alternatives, n, func(ref expression.Reference) (start, end int, ok bool) {
		why, only := readOnly[ref.Kind]
		if only {
			c.Report(diag.ReadOnlyPath, n.Within(ref.Start, ref.End), "%q can't be written: %s", "†"+ref.Kind, why).
				Advise("write to a path of †state")
		}
		return ref.Start, ref.End, !only
	})
	for _, route := range call.Output {
		for i, path := range route {
			c.overItself(call, route[:i], path)
		}
	}
}

// inheritOutputPath gives a call the path that its tool fixes. What is wrong with that is the tool's fault, and
// reported with its schema.
func (c *compilation) inheritOutputPath(call *plan.Call) {
	raw, _ := call.Tool.OutputPath.Raw().(map[string]any)
	if text, ok := raw["const"].(string); ok {
		call.OutputNode = call.ToolNode
		alternatives, _ := reference.ParseOutput(text)
		c.routes(call, alternatives, call.ToolNode, func(ref expression.Reference) (start, end int, ok bool) {
			return 0, len(call.ToolNode.Text), readOnly[ref.Kind] == ""
		})
	}
}

// routes gives a call the alternatives of a path, each of whose paths is at a place in a string.
func (c *compilation) routes(call *plan.Call, alternatives [][]expression.Reference, n *source.Node,
	at func(expression.Reference) (start, end int, ok bool)) {
	for _, alternative := range alternatives {
		route := make(plan.Route, 0, len(alternative))
		for _, ref := range alternative {
			start, end, ok := at(ref)
			if !ok {
				continue
			}
			id, ok := c.kindPath(ref, n)
			if !ok {
				continue
			}
			route = append(route, plan.Path{ID: id, Node: n, Start: start, End: end})
		}
		if len(route) > 0 {
			call.Output = append(call.Output, route)
		}
	}
}

// overItself reports a path that overlaps another which the same result is written to.
func (c *compilation) overItself(call *plan.Call, route plan.Route, path plan.Path) {
	for _, other := range route {
		if c.plan.Paths.Overlap(other.ID, path.ID) {
			c.Report(diag.BadExpression, path.Span(), "the result would be written over itself: %q and %q overlap",
				c.plan.Paths.String(other.ID), c.plan.Paths.String(path.ID)).
				About(call.Label()).Note(other.Span(), "it goes here as well").
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
func (c *compilation) kindPath(ref expression.Reference, n *source.Node) (pathtree.ID, bool) {
	id, ok := c.pathOf(ref)
	if !ok {
		c.unknownKind(diag.UnknownKind, ref, n)
	}
	return id, ok
}

// pathOf interns a reference's path. A kind that a message declares stands below
// †data, under whichever of its two names it is used.
func (c *compilation) pathOf(ref expression.Reference) (pathtree.ID, bool) {
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
		c.plan.Output = c.template(nil, c.outputNode)
	}
}

// template reads a value that may hold expressions at its leaves. The call is nil for the plan's output.
func (c *compilation) template(call *plan.Call, n *source.Node) *plan.Template {
	switch n.Kind {
	case source.Object:
		return c.objectTemplate(call, n, false)
	case source.Array:
		t := &plan.Template{Node: n}
		values := make([]any, 0, len(n.Items))
		for _, item := range n.Items {
			sub := c.template(call, item)
			t.ItemDependent = t.ItemDependent || sub.ItemDependent
			t.Items = append(t.Items, sub)
			values = append(values, sub.Value)
		}
		if t.Dynamic = slices.ContainsFunc(t.Items, (*plan.Template).Live); !t.Dynamic {
			t.Items, t.Value = nil, values
		}
		return t
	case source.String:
		return c.textTemplate(call, n)
	}
	return &plan.Template{Node: n, Value: n.Value()}
}

// isParameter reports whether a key of a call is one of its parameters.
func isParameter(key string) bool {
	return !strings.HasPrefix(key, "_") && !strings.HasPrefix(key, "x-")
}

// objectTemplate reads a mapping; that of a call holds the call's parameters among other things.
func (c *compilation) objectTemplate(call *plan.Call, n *source.Node, params bool) *plan.Template {
	t := &plan.Template{Node: n}
	counts := func(f source.Field) bool { return !params || isParameter(f.Key.Text) }
	count := 0
	for _, f := range n.Fields {
		if counts(f) {
			count++
		}
	}
	t.Fields = make([]plan.TemplateField, 0, count)
	live := false
	for _, f := range n.Fields {
		if !counts(f) {
			continue
		}
		sub := c.template(call, f.Value)
		live = live || sub.Live()
		t.ItemDependent = t.ItemDependent || sub.ItemDependent
		t.Fields = append(t.Fields, plan.TemplateField{Key: f.Key.Text, Node: f.Key, Value: sub})
	}
	if !live {
		value := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			value[f.Key] = f.Value.Value
		}
		t.Value = value
		if !params { // a call's parameters keep their places one by one
			t.Fields = nil
		}
	}
	t.Dynamic = live
	return t
}

// textTemplate reads a string: one expression, or a text with expressions in it or without.
func (c *compilation) textTemplate(call *plan.Call, n *source.Node) *plan.Template {
	e, err := expression.ParseString(n.Text, c.isKind, expression.DefaultLimits())
	if e == nil && err == nil {
		return &plan.Template{Node: n, Value: reference.Literal(n.Text)}
	}
	if err != nil {
		f := c.BadExpression(n, err)
		if edit, ok := diag.EditScalar(n, 0, 0, "†"); ok && c.isPlainText(n.Text) {
			f.Fixes = append(f.Fixes,
				diag.Fix{Message: "write †† for a text that begins with †", Safe: true, Edits: []diag.Edit{edit}})
		}
		return &plan.Template{Node: n, Dynamic: true}
	}
	t := &plan.Template{Node: n, Expr: e, Dynamic: true}
	firstRead := len(c.plan.Reads)
	for _, ref := range e.References() {
		id, ok := c.kindPath(ref, n)
		if !ok {
			id = pathtree.Root // the finding is made; nobody writes the root, so nothing binds to it
		}
		read := plan.Read{Call: -1, Ref: ref, Path: id, Node: n}
		if call != nil {
			read.Call = call.Index
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

// isPlainText reports whether a string that begins with † and is no expression can only have been meant as text: the †
// stands alone, or before a blank and something that begins with no kind.
func (c *compilation) isPlainText(s string) bool {
	rest := strings.TrimPrefix(s, "†")
	word := strings.TrimLeft(rest, " \t\r\n")
	if word != "" && (word == rest || !unicode.IsLetter([]rune(word)[0])) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(builtinKinds, c.plan.Kinds),
		func(kind string) bool { return strings.HasPrefix(word, kind) })
}

// bind finds for every read the calls that it sees, and from these the graph.
func (c *compilation) bind() {
	p := c.plan
	c.start(p.Reads)
	if call := bind.Plan(p); call >= 0 {
		c.tooDense(p.Calls[call])
	}
}

// tooDense reports the call with which there are too many dependencies.
func (c *compilation) tooDense(call *plan.Call) {
	c.Report(diag.Limit, call.Node.Span(), "the plan has more than %d dependencies between calls", bind.MaxEdges).
		Advise("let fewer calls read and write one path, or read a narrower path")
}
