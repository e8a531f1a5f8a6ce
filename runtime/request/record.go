package request

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Written is what a call did, as a record keeps it: a message, which an earlier record has dated.
type Written struct {
	Message Object
	When    time.Duration // since the run began, unless it is dated
}

// Write is the message of a call that wrote a value to a path, from the kind on, with the path as a reference; without
// a path it ran and wrote nothing.
func Write(path []expression.Segment, at string, method plan.Method, value any, call Object) Object {
	if len(path) == 0 {
		return Object{{"type", "state"}, {"_call", call}}
	}
	kind, below := path[0].Key, path[1:]
	out := Object{{"type", kind}}
	if kind == "data" && len(below) > 0 {
		out, below = out.With("kind", below[0].Key), below[1:]
	}
	return out.With(kind, compiler.Nest(below, value)).With("_outputPath", at).With("_outputMethod", method.String()).
		With("_call", call)
}

// Record is the process record of a tick, without its solution: a document that holds all that the tick began with, so
// that it can be resumed. Date gives the time of day of a moment of the run. Of files of activities that were named for
// the run, which may hold what nobody else is to know, nothing is in it.
func (r *Request) Record(date func(time.Duration) string) Object {
	out := Object{{"tick", float64(r.Tick)}, {"schema", r.Schema}}
	if r.of == nil { // nobody composed it
		return out.With("context", r.Messages)
	}
	s := *r.of
	s.PlanOnly = false
	if n := s.Plan.OutputSchemaNode; n != nil {
		out = out.With("outputSchema", Of(n))
	}
	var context []any
	add := func(messages ...Object) {
		for _, m := range messages {
			context = append(context, m)
		}
	}
	add(s.declared()...)
	if own := s.definitions(); len(own) > 1 {
		context = append(context, own)
	}
	said := s.said()
	for _, one := range slices.Concat([]Instance{{Started: s.Started}}, s.Instances) {
		began := Instance{ID: one.ID, Input: one.Started.Input, State: one.Started.State, Data: one.Started.Data}
		add(s.valuesOf(began, Instance{}, said, true)...)
	}
	history := func(instance string, all []Written) {
		for _, w := range all {
			if !w.Message.Has("_date") {
				w.Message = slices.Clip(w.Message).With("_date", date(w.When)).WithText("_instance", instance)
			}
			context = append(context, w.Message)
		}
	}
	history("", s.History)
	for _, one := range s.Instances {
		history(one.ID, one.History)
	}
	switch {
	case s.Carries:
		context = append(context, append(s.planMessage(), s.settings()...))
	case s.Plan.PlanMessage != nil || s.Plan.Writes != plan.Last || s.Plan.Terminate != plan.TerminateOutput:
		context = append(context, append(Object{{"type", "plan"}, {"mode", string(s.Plan.Mode)}}, s.settings()...))
	}
	for _, advisor := range s.Plan.Advisors {
		own := s.advisorMessage(advisor)
		if opinions := s.Said[advisor.ID]; len(opinions) > 0 {
			own = own.With("said", opinions)
		}
		context = append(context, own)
	}
	add(s.pastMessages()...)
	return out.With("context", context)
}

func (s *Context) definitions() Object {
	tools, schemas, activities, files := Object{}, Object{}, Object{}, Object{}
	for _, tool := range s.Plan.Tools {
		if !tool.Builtin {
			tools = tools.With(tool.Name, s.definition(tool.Node, tool, nil))
		}
	}
	named := s.Plan.NamedSchemas
	for _, name := range slices.Sorted(maps.Keys(named)) {
		schemas = schemas.With(name, Of(named[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Plan.Activities)) {
		if a := s.Plan.Activities[name]; a.Node != nil && a.Origin == plan.Document && !holdsSecret(a.Node) {
			activities = activities.With(name, s.definition(a.Node, nil, a))
		}
	}
	if len(s.Plan.Delegates) > 0 && !s.delegatesHoldSecrets() {
		texts := s.Plan.Files
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			files = files.With(name, texts[name])
		}
	}
	out := Object{{"type", "tool"}}
	if s.Plan.ToolsDeclared {
		out = out.With("tool", tools)
	}
	for _, more := range []Member{{"schemas", schemas}, {"activities", activities}, {"files", files}} {
		if len(more.Value.(Object)) > 0 {
			out = append(out, more)
		}
	}
	if len(out) > 1 {
		out = out.With("folder", s.Plan.Folder)
	}
	return out
}

func (s *Context) definition(n *source.Node, tool *plan.Tool, a *plan.Activity) any {
	if moved, is := canonical.DefinitionHere(s.Plan, tool, a); is {
		return moved
	}
	return Of(n)
}

// holdsSecret reports whether a definition has the text of a secret in it, by the name that it stands under: such a one
// is in no recording. One that names a variable of the environment, {$NAME}, holds none.
func holdsSecret(n *source.Node) bool {
	return slices.ContainsFunc(n.Items, holdsSecret) || slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		literal := f.Value.Kind == source.String && f.Value.Text != "" && !strings.Contains(f.Value.Text, "{$")
		return literal && naming.Secret(f.Key.Text) || holdsSecret(f.Value)
	})
}

func (s *Context) delegatesHoldSecrets() bool {
	all := s.Plan.AllDelegates()
	return slices.ContainsFunc(slices.Sorted(maps.Keys(all)), func(path string) bool {
		activities := all[path].Activities
		return slices.ContainsFunc(slices.Sorted(maps.Keys(activities)), func(name string) bool {
			n := activities[name].Node
			return n != nil && holdsSecret(n)
		})
	})
}

// settings are those of the document, as a plan message has them.
func (s *Context) settings() Object {
	p := s.Plan
	out := Object{{"writes", p.Writes.String()}, {"terminate", string(p.Terminate)}}
	if asking := compiler.ConfirmedTools(p); len(asking) > 0 {
		out = out.With("confirm", asking)
	}
	from := p.PlanMessage
	if from == nil {
		from = p.Root
	}
	for _, key := range []string{"limits", "advice"} {
		if n := from.Get(key); n != nil {
			out = out.With(key, Of(n))
		}
	}
	return out
}
