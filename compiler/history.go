package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
)

// PlanIdentity is what a call has in common with one that repeats it, its resolved parameters aside.
func PlanIdentity(p *plan.Plan, call *plan.Call) string {
	return identity(call.ToolName, call.Activity, call.Delegate, call.Instance, call.Method.String(),
		strings.Join(Offered(p, call), " || "))
}

func identity(parts ...string) string { return strings.Join(parts, "\x00") }

// Nest puts a value where a path leads, below its kind: each index is a list of one.
func Nest(path []reference.Segment, value any) any {
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
func (c contextReader) written(m, payload *source.Node) {
	p := c.plan
	call := m.Get("_call")
	as := func(key string) string { return call.Get(key).AsText() }
	w := plan.Written{Path: pathtree.Root, Message: m, Call: call, Tool: as("_tool"), Activity: as("_activity"),
		Failed: as("_status") == "failed"}
	w.Identity = identity(w.Tool, w.Activity, as("_delegate"), as("_instance"),
		cmp.Or(as("_outputMethod"), plan.Set.String()), as("_outputPath"))
	if !w.Failed {
		w.Number = int(call.Get("_number").Float())
	}
	if method := m.Get("_outputMethod"); method != nil {
		c.Value(method, "\"_outputMethod\"", &w.Method, `words:"set,merge,assign,push,concat"`)
	}
	if n := m.Get("_outputPath"); n != nil {
		alternatives, err := reference.ParseOutput(n.Text)
		if n.Kind != source.String || err != nil || len(alternatives) != 1 || len(alternatives[0]) != 1 ||
			readOnly[alternatives[0][0].Kind] != "" {
			c.Expects(n, "the \"_outputPath\" of a message", "the one path that it is written to")
			return
		}
		id, ok := (&callReader{compilation: c.compilation}).kindPath(alternatives[0][0], n)
		if !ok {
			return
		}
		w.Path, w.Value = id, payload.Value()
		routes := strings.Split(as("_outputPath"), " || ")
		w.Failure = len(routes) > 1 &&
			slices.Contains(strings.Split(routes[len(routes)-1], " && "), p.Paths.String(id))
		below := p.Paths.Segments(id)[1:]
		if p.Paths.Kind(id) == "data" && len(below) > 0 {
			below = below[1:] // the message is of that kind
		}
		for _, s := range below {
			if s.IsIndex {
				s = reference.Segment{IsIndex: true}
			}
			if w.Value, ok = pathtree.Step(w.Value, s); !ok {
				c.Report(diag.WrongType, n.Span(), "the message holds no value at %q", n.Text)
				return
			}
		}
	}
	id := ""
	if own := c.instanceOf(m); own != nil {
		id = own.ID
	}
	if p.History == nil {
		p.History = map[string][]plan.Written{}
	}
	p.History[id] = append(p.History[id], w)
}

// MayBeDone reports whether a call may turn out to be done already, by what a record says
// was done before: all but its parameters is known to be the same.
func MayBeDone(p *plan.Plan, call *plan.Call) bool {
	for _, id := range slices.Sorted(maps.Keys(p.History)) {
		if slices.ContainsFunc(DoneCalls(p.History[id]),
			func(w *plan.Written) bool { return w.Identity == PlanIdentity(p, call) }) {
			return true
		}
	}
	return false
}

// ConfirmedTools are the tools about whose calls the plan has a person asked, by name: what
// a planner writes is held to it.
func ConfirmedTools(p *plan.Plan) []string {
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

// CarriesStrategy reports whether the strategy of a run goes from tick to tick.
func CarriesStrategy(p *plan.Plan) bool {
	switch p.Form {
	case plan.Context, plan.ProcessRecord, plan.Solution:
		return p.PlanMessage.Get("plan") != nil || p.Solution == nil && p.CallsNode != nil
	}
	return true
}

// afterHistory puts what calls of earlier ticks wrote into the values of the document, as these stand now: less what
// was done by those that are listed again, whose work it is then.
func (c contextReader) takeUpHistory() {
	p := c.plan
	for _, id := range slices.Sorted(maps.Keys(p.History)) {
		of, state, data := &p.Values, p.State, p.Data
		if id != "" {
			of = &p.Instances[p.InstanceAt[id]].Values
			state = bind.Overlay(p.State, of.State)
			data, _ = bind.Overlay(p.Data, of.Data).(map[string]any)
		}
		of.Before = &plan.Before{State: of.State, Data: of.Data}
		of.State, of.Data = c.afterHistory(c.unlisted(id), state, data)
	}
}

// unlisted is the history of an instance less what was done by calls for which calls of
// the plan stand: the nth of an identity for the nth.
func (c contextReader) unlisted(instance string) []plan.Written {
	p := c.plan
	history := p.History[instance]
	if !CarriesStrategy(p) {
		return history
	}
	listed := map[string]int{}
	for _, call := range p.Calls {
		if (call.Instance == "" || call.Instance == instance) && (call.Tool == nil || !call.Tool.Volatile) {
			listed[PlanIdentity(p, call)]++
		}
	}
	stands := map[int]bool{}
	for _, w := range DoneCalls(history) {
		if listed[w.Identity] > 0 {
			listed[w.Identity]--
			stands[w.Number] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(history), func(w plan.Written) bool { return stands[w.Number] })
}

// DoneCalls are the calls of a history that are done, by number, each with the first that it wrote.
func DoneCalls(history []plan.Written) []*plan.Written {
	first := map[int]*plan.Written{}
	for i := range history {
		w := &history[i]
		if w.Number > 0 && first[w.Number] == nil {
			first[w.Number] = w
		}
	}
	done := make([]*plan.Written, 0, len(first))
	for _, number := range slices.Sorted(maps.Keys(first)) {
		done = append(done, first[number])
	}
	return done
}

func (c contextReader) afterHistory(history []plan.Written, state any, data map[string]any) (any, map[string]any) {
	all := any(map[string]any{"state": state, "data": data})
	for i := range history {
		w := &history[i]
		if w.Path == pathtree.Root {
			continue
		}
		path := c.plan.Paths.Segments(w.Path)
		under, _ := pathtree.Walk(all, path)
		after, err := Combine(w.Method, under, w.Value)
		if err = cmp.Or(roomFor(all, path), err); err != nil {
			c.Report(diag.WrongType, w.Message.Span().Head(), "what was written to %q can't be there: %v",
				c.plan.Paths.String(w.Path), err)
			continue
		}
		all = pathtree.With(all, path, after)
	}
	values := all.(map[string]any)
	data, _ = values["data"].(map[string]any)
	return values["state"], data
}

// roomFor reports that a value has no place for a path: what a step leads into is of another kind, or a list too short.
func roomFor(value any, path []reference.Segment) error {
	for _, s := range path {
		list, isList := value.([]any)
		_, isObject := value.(map[string]any)
		fits := value == nil || isObject && !s.IsIndex || isList && s.IsIndex
		if !fits || s.IsIndex && s.Index > len(list) {
			return fmt.Errorf("%s has no place for it", expression.KindOf(value))
		}
		value, _ = pathtree.Step(value, s)
	}
	return nil
}

// toolMessage reads the tools of a context, and in a record what they need besides: schemas, activities, and the files
// that they name, with the folder from which these are named.
func (c contextReader) toolMessage(m *source.Node) {
	c.Keys(m, "a message of type tool", messageKeys(m, "tool", "schemas", "activities", "folder", "files"))
	if folder := m.Get("folder"); folder != nil {
		c.plan.Folder = path.Clean(c.Text(folder, "\"folder\""))
	}
	c.filesWithin(m.Get("files"))
	defs := c.definitions()
	defs.judgeSchemas(m)
	if activities := m.Get("activities"); activities != nil {
		defs.collectActivities(activities, c.plan.Folder)
	}
	if tools := m.Get("tool"); tools != nil {
		c.plan.ToolsDeclared = true
		defs.collectTools(tools, c.plan.Folder)
	} else if len(m.Fields) == 1 {
		c.Report(diag.WrongType, m.Span(), "a message of type tool needs its tools under \"tool\"")
	}
}

// filesWithin takes files of the workspace from the document itself.
func (c contextReader) filesWithin(n *source.Node) {
	files := c.delegation.reads.files
	for _, f := range c.Fields(n, "\"files\"", "a mapping from paths in the workspace to texts") {
		name := path.Clean(f.Key.Text)
		if _, known := files[name]; !known {
			files[name] = opened{file: source.NewFile(c.shown(name), []byte(c.Text(f.Value, "a file")))}
		}
	}
}

// An Origin is one output path of a call that a read is bound to.
type Origin struct {
	Call    *plan.Call
	Path    *plan.Path
	Failure bool                 // it is the call's failure route
	Below   bool                 // the path is below what is read
	Rest    []expression.Segment // what is read of it, when the path is above
}

// Origins are the output paths that a read is bound to.
func Origins(p *plan.Plan, r *plan.Read) (all []Origin) {
	above := p.Paths.Depth(r.Path) - len(r.Ref.Path) // the kind, and for kinds of data "data" above it
	for _, w := range r.Writers {
		call := p.Calls[w]
		for i, route := range call.Output {
			for k := range route {
				path := &route[k]
				if !p.Paths.Overlap(path.ID, r.Path) {
					continue
				}
				o := Origin{Call: call, Path: path, Failure: i == call.FailureRoute()}
				if depth := p.Paths.Depth(path.ID) - above; depth <= len(r.Ref.Path) {
					o.Rest = r.Ref.Path[max(0, depth):]
				} else {
					o.Below = true
				}
				all = append(all, o)
			}
		}
	}
	return all
}
