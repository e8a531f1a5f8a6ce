package compiler

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Written is what a call of an earlier tick wrote, as one message of a context holds
// it: a value at a path, with the call under "_call". One that wrote nothing has
// a message without a path.
type Written struct {
	Path   pathtree.ID // [pathtree.Root] where nothing was written
	Method Method
	Value  any
	Call   *source.Node // as it ran: "_tool", "_id", "_tick", its parameters, and as it was listed "_outputPath" and what else tells it from others
	Date   string

	message *source.Node
}

// Failed reports whether what was written is the record of a failure.
func (w *Written) Failed() bool { return w.Call.Get("_status").AsText() == "failed" }

// Tool is the name of the tool that was called.
func (w *Written) Tool() string { return w.Call.Get("_tool").AsText() }

// Activity is what carried the call out; "" for a latent one.
func (w *Written) Activity() string { return w.Call.Get("_activity").AsText() }

// ID tells the calls of a history from each other.
func (w *Written) ID() string {
	return fmt.Sprintf("%v %s", w.Call.Get("_tick").Float(), w.Call.Get("_id").AsText())
}

// IsFailureRoute reports whether a path is one of those that failures of the call go to.
func (w *Written) IsFailureRoute(path string) bool {
	routes := strings.Split(w.Call.Get("_outputPath").AsText(), " || ")
	return len(routes) > 1 && slices.Contains(strings.Split(routes[len(routes)-1], " && "), path)
}

// Number tells calls that are done from each other, from 1 in the order in which they
// were listed; it is 0 for one that a later plan can't repeat.
func (w *Written) Number() int {
	if w.Failed() {
		return 0
	}
	return int(w.Call.Get("_number").Float())
}

// Params are the parameters that the call ran with.
func (w *Written) Params() map[string]any {
	params := map[string]any{}
	for _, f := range w.Call.Fields {
		if key := f.Key.Text; !strings.HasPrefix(key, "_") || key == "_each" { // of each item
			params[f.Key.Text] = f.Value.Value()
		}
	}
	return params
}

// Items gives those items of a call with "_each" that are done, of each what it ran with and
// gave.
func (w *Written) Items(give func(params map[string]any, output any)) {
	params, _ := w.Params()["_each"].([]any)
	outputs, _ := w.Output().([]any)
	places, _ := w.Call.Get("_items").Value().([]any)
	for _, place := range places {
		if at, ok := place.(float64); ok && at >= 0 && int(at) < min(len(params), len(outputs)) {
			if of, ok := params[int(at)].(map[string]any); ok {
				give(of, outputs[int(at)])
			}
		}
	}
}

// Output is the result of the call.
func (w *Written) Output() any {
	if w.Path != pathtree.Root {
		return w.Value
	}
	if n := w.Call.Get("_output"); n != nil {
		return n.Value()
	}
	return nil
}

// Identity is what a call has in common with one that repeats it, its resolved
// parameters aside.
func (p *Plan) Identity(call *Call) string {
	return identity(call.ToolName, call.Activity, call.Delegate, call.Instance, call.Method.String(), strings.Join(p.Offered(call), " || "))
}

// Identity is that of the call.
func (w *Written) Identity() string {
	method := w.Call.Get("_outputMethod").AsText()
	if method == "" {
		method = Set.String()
	}
	return identity(w.Call.Get("_tool").AsText(), w.Call.Get("_activity").AsText(), w.Call.Get("_delegate").AsText(), w.Call.Get("_instance").AsText(), method, w.Call.Get("_outputPath").AsText())
}

func identity(parts ...string) string { return strings.Join(parts, "\x00") }

// Nest puts a value where a path leads, below its kind: each index is a list of one.
func Nest(path []expression.Segment, value any) any {
	for _, s := range slices.Backward(path) {
		if s.IsIndex {
			value = []any{value}
		} else {
			value = map[string]any{s.Key: value}
		}
	}
	return value
}

// written reads a message that a call wrote.
func (c *compilation) written(m, payload *source.Node) {
	p := c.plan
	w := Written{Path: pathtree.Root, Call: m.Get("_call"), Date: m.Get("_date").AsText(), message: m}
	if method := m.Get("_outputMethod"); method != nil {
		if word := c.oneOf(method, "\"_outputMethod\"", methodNames...); word != "" {
			w.Method = Method(slices.Index(methodNames, word))
		}
	}
	if n := m.Get("_outputPath"); n != nil {
		alternatives, err := expression.ParseOutput(n.Text)
		if n.Kind != source.String || err != nil || len(alternatives) != 1 || len(alternatives[0]) != 1 || readOnly[alternatives[0][0].Kind] != "" {
			c.wants(n, "the \"_outputPath\" of a message", "the one path that it is written to")
			return
		}
		id, ok := c.kindPath(alternatives[0][0], n, nil)
		if !ok {
			return
		}
		w.Path, w.Value = id, payload.Value()
		below := p.Paths.Segments(id)[1:]
		if p.Paths.Kind(id) == "data" && len(below) > 0 {
			below = below[1:] // the message is of that kind
		}
		for _, s := range below {
			if s.IsIndex {
				s = expression.Segment{IsIndex: true}
			}
			if w.Value, ok = pathtree.Step(w.Value, s); !ok {
				c.report(diag.WrongType, n.Span(), "the message holds no value at %q", n.Text)
				return
			}
		}
	}
	id := ""
	if own := c.instanceOf(m); own != nil {
		id = own.ID
	}
	if p.History == nil {
		p.History = map[string][]Written{}
	}
	p.History[id] = append(p.History[id], w)
}

// MayStand reports whether a call may turn out to be done already, by what a record says
// was done before: all but its parameters is known to be the same.
func (p *Plan) MayStand(call *Call) bool {
	for _, id := range slices.Sorted(maps.Keys(p.History)) {
		if slices.ContainsFunc(DoneCalls(p.History[id]), func(w *Written) bool { return w.Identity() == p.Identity(call) }) {
			return true
		}
	}
	return false
}

// begun is what stood in a state before its history.
type begun struct {
	there bool
	state any
	data  map[string]any
}

// Begun is the state and the data that the run of a record began with, before its
// History.
func (p *Plan) Begun() (state any, data map[string]any) {
	if p.begun.there {
		return p.begun.state, p.begun.data
	}
	return p.State, p.Data
}

// Begun is what the instance had of its own, before its history.
func (one *Instance) Begun() (state any, data map[string]any) {
	if one.begun.there {
		return one.begun.state, one.begun.data
	}
	return one.State, one.Data
}

// Asking are the tools about whose calls the plan has a person asked, by name: what
// a planner writes is held to it.
func (p *Plan) Asking() []string {
	var tools []string
	if list := p.PlanMessage.Get("confirm"); list != nil {
		for _, n := range list.Items {
			tools = append(tools, n.Text)
		}
	}
	for _, call := range p.Calls {
		if call.Confirm {
			tools = append(tools, call.ToolName)
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}

// Carries reports whether the strategy of a run goes from tick to tick.
func (p *Plan) Carries() bool {
	switch p.Form {
	case Context, ProcessRecord, Solution:
		return p.PlanMessage != nil || p.Solution == nil && p.CallsNode != nil
	}
	return true
}

// takeUpHistory puts what calls of earlier ticks wrote into the values of the document,
// as these stand now: less what was done by those that are listed again, whose work it is
// then.
func (c *compilation) takeUpHistory() {
	p := c.plan
	for _, id := range slices.Sorted(maps.Keys(p.History)) {
		history := c.unlisted(id)
		if id == "" {
			p.begun = begun{true, p.State, p.Data}
			p.State, p.Data = c.afterHistory(history, p.State, p.Data)
			continue
		}
		one := &p.Instances[p.instanceAt[id]]
		one.begun = begun{true, one.State, one.Data}
		data, _ := Overlay(p.Data, one.Data).(map[string]any)
		one.State, one.Data = c.afterHistory(history, Overlay(p.State, one.State), data)
	}
}

// unlisted is the history of an instance less what was done by calls for which calls of
// the plan stand: the nth of an identity for the nth.
func (c *compilation) unlisted(instance string) []Written {
	p := c.plan
	history := p.History[instance]
	if !p.Carries() {
		return history
	}
	listed := map[string]int{}
	for _, call := range p.Calls {
		if (call.Instance == "" || call.Instance == instance) && (call.Tool == nil || !call.Tool.Volatile) {
			listed[p.Identity(call)]++
		}
	}
	stands := map[int]bool{}
	for _, w := range DoneCalls(history) {
		if id := w.Identity(); listed[id] > 0 {
			listed[id]--
			stands[w.Number()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(history), func(w Written) bool { return stands[w.Number()] })
}

// DoneCalls are the calls of a history that are done, by number, each with the first that
// it wrote.
func DoneCalls(history []Written) []*Written {
	first := map[int]*Written{}
	for i := range history {
		w := &history[i]
		if number := w.Number(); number > 0 && first[number] == nil {
			first[number] = w
		}
	}
	done := make([]*Written, 0, len(first))
	for _, number := range slices.Sorted(maps.Keys(first)) {
		done = append(done, first[number])
	}
	return done
}

func (c *compilation) afterHistory(history []Written, state any, data map[string]any) (any, map[string]any) {
	all := any(map[string]any{"state": state, "data": data})
	for i := range history {
		w := &history[i]
		if w.Path == pathtree.Root {
			continue
		}
		after, err := put(all, c.plan.Paths.Segments(w.Path), w)
		if err != nil {
			c.report(diag.WrongType, w.message.Span().Head(), "what was written to %q has no place there: %v", c.plan.Paths.String(w.Path), err)
			continue
		}
		all = after
	}
	values := all.(map[string]any)
	data, _ = values["data"].(map[string]any)
	return values["state"], data
}

// put applies what was written to a value that its path leads into. It changes nothing
// in place.
func put(under any, path []expression.Segment, w *Written) (any, error) {
	if len(path) == 0 {
		return w.Method.Combine(under, w.Value)
	}
	first := path[0]
	if first.IsIndex {
		list, ok := under.([]any)
		if under != nil && !ok || first.Index > len(list) {
			return nil, fmt.Errorf("%s has no place for it", KindOf(under))
		}
		list = slices.Clone(list)
		if first.Index == len(list) {
			list = append(list, nil)
		}
		value, err := put(list[first.Index], path[1:], w)
		list[first.Index] = value
		return list, err
	}
	object, ok := under.(map[string]any)
	if under != nil && !ok {
		return nil, fmt.Errorf("%s has no place for it", KindOf(under))
	}
	value, err := put(object[first.Key], path[1:], w)
	out := map[string]any{first.Key: value}
	for key, other := range object {
		if key != first.Key {
			out[key] = other
		}
	}
	return out, err
}

// toolMessage reads the tools of a context, and in a record what they need besides:
// schemas, activities, and the files that they name, with the folder from which these
// are named.
func (c *compilation) toolMessage(m *source.Node) {
	c.onlyKeys(m, "a message of type tool", messageKeys(m, "tool", "schemas", "activities", "folder", "files"))
	if folder := m.Get("folder"); folder != nil {
		c.plan.dir = path.Clean(c.text(folder, "\"folder\""))
	}
	if files := m.Get("files"); files != nil {
		c.filesWithin(files)
	}
	c.judgeSchemas(m)
	if activities := m.Get("activities"); activities != nil {
		c.collectActivities(activities, c.plan.dir)
	}
	if tools := m.Get("tool"); tools != nil {
		c.plan.ToolsDeclared = true
		c.collectTools(tools, c.plan.dir)
	} else if len(m.Fields) == 1 {
		c.report(diag.WrongType, m.Span(), "a message of type tool needs its tools under \"tool\"")
	}
}

// filesWithin takes files of the workspace from the document itself.
func (c *compilation) filesWithin(n *source.Node) {
	if n.Kind != source.Object {
		c.wants(n, "\"files\"", "a mapping from paths in the workspace to texts")
		return
	}
	r := &c.delegation.reads
	for _, f := range n.Fields {
		name := path.Clean(f.Key.Text)
		if _, known := r.files[name]; known {
			continue
		}
		if r.files == nil {
			r.files = map[string]opened{}
		}
		r.files[name] = opened{file: source.NewFile(c.shown(name), []byte(c.text(f.Value, "a file")))}
	}
}

// Files are the texts of the files that the plan took in, by path from the workspace
// root: imports and delegates, with what these took in.
func (p *Plan) Files() map[string]string { return p.opened }

// Workspace is where the folders of the plan's own activities lie, from the workspace root:
// a record may lie elsewhere than the plan that it tells of.
func (p *Plan) Workspace() string { return p.workspace }

// Folder is the folder from which the plan names files, from the workspace root.
func (p *Plan) Folder() string { return p.dir }
