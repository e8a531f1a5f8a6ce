package request

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Context is where a run stands when a model is asked: all that a request tells.
type Context struct {
	Plan         *plan.Plan // gives tools, schemas and settings
	Tick         int
	Input, State any
	Data         map[string]any // by kind
	Errors       []any          // what failed, oldest first: {call, error}
	Instances    []Instance     // in their order; input and state are then the shared ones, and errors nobody's
	PlanOnly     bool           // a lazy plan is wanted, whatever the mode of the plan
	Carries      bool           // the strategy is carried, so that there is a plan message
	Carried      []Standing     // its calls
	// what an earlier record says of what became of them, in the place of what Carried says
	Recorded []Object
	Past     Past             // what neither the state nor a carried plan shows about calls
	Advisors []*plan.Advisor  // those who are to speak in this tick
	Only     map[string]any   // of a latent call: what its scopes hand on, by kind; nil when it sees all
	Offered  []string         // of a latent call: the paths that its result can take
	Said     map[string][]any // what advisors have said so far, by their ids; for records
	Started  Started          // what the run began with, shared by all instances
	History  []Written        // what calls of earlier ticks did since, in the order in which it counts
}

// Started is what stood in a state before the calls of a run wrote into it.
type Started struct{ Input, State, Data map[string]any }

// An Instance is where one instance of a run stands.
type Instance struct {
	ID                 string
	Input, State, Data map[string]any // whole
	Errors             []any
	Started            Started // its own, over what all share
	History            []Written
}

// A Standing is what has become of a call of a carried plan.
type Standing struct {
	Call           *source.Node // as it was written
	Name, Instance string
	Status, Reason string     // "" for one that hasn't run
	Decision       Object     // of a person, or nil
	Each           []Standing // where it isn't the same in all instances: in each of them
}

// Fold is one standing in the place of those of all instances, where they are alike.
func (one *Standing) Fold() {
	differs := func(other Standing) bool {
		first := one.Each[0]
		return other.Status != first.Status || other.Reason != first.Reason ||
			JSON(other.Decision) != JSON(first.Decision)
	}
	if len(one.Each) > 0 && !slices.ContainsFunc(one.Each, differs) {
		first := one.Each[0]
		one.Status, one.Reason, one.Decision, one.Each = first.Status, first.Reason, first.Decision, nil
	}
}

// Compose makes what a planner is asked at the beginning of a tick.
//
// The context is a document again. Its messages are in one order: what the document says in words, the tools with the
// named schemas, input, state and data, the carried plan, advisors, earlier calls, and errors. The document's own
// extension keys (x-) aren't among them, nor what serves simulations alone, nor which activity carries a tool out.
func Compose(s Context) *Request {
	messages := s.declared()
	if len(s.Plan.Tools) > 0 {
		messages = append(messages, s.toolMessage(s.Plan.Tools...))
	}
	messages = append(messages, s.values()...)
	if s.Carries {
		messages = append(messages, s.planMessage())
	}
	for _, advisor := range s.Plan.Advisors { // those who only speak when they are asked included
		messages = append(messages, s.advisorMessage(advisor))
	}
	messages = append(messages, s.pastMessages()...)
	return &Request{Tick: s.Tick, Messages: messages, Schema: s.solutionSchema(), Lazy: s.lazy(),
		UntilNoCalls: s.Plan.Terminate == plan.TerminateCalls, of: &s}
}

// ComposeLatent makes what a model is asked about one latent call: its tool and the values that it may see. Neither
// plan nor errors are among them, unless its scopes name these. Who is consulted is given its role.
func ComposeLatent(s Context, call *plan.Call, params map[string]any) *Request {
	messages := s.declared()
	answer := any(Object{})
	if tool := call.Tool; tool != nil {
		messages = append(messages, s.toolMessage(tool))
		if tool.OutputNode != nil {
			answer = s.alone(tool.OutputNode, parametersOf(tool))
		}
		if id, _ := params["advisor"].(string); tool.Builtin && s.Plan.Advisor(id) != nil {
			advisor := s.Plan.Advisor(id)
			messages = append(messages, s.advisorMessage(advisor))
			answer = Object{}
			if n := advisor.Node.Get("schema"); n != nil {
				answer = s.alone(n, nil)
			}
		}
	}
	if len(s.Offered) > 1 {
		answer = offering(answer, s.Offered)
	} else {
		s.Offered = nil
	}
	values := s.values
	if s.Only != nil {
		values = s.scoped
	}
	return &Request{
		Tick: s.Tick, Messages: append(messages, values()...), Schema: answer,
		Call: &Call{Name: call.Name, Tool: call.ToolName, Params: params, Paths: s.Offered},
	}
}

// offering is the schema of a result that may come with the path that it takes.
func offering(result any, paths []string) Object {
	shared, result := Below(result, "/anyOf/0")
	of := make([]any, len(paths))
	for i, path := range paths {
		of[i] = path
	}
	named := Object{{"type", "object"}, {"properties", Object{{"_outputPath", Object{{"enum", of}}},
		{"_output", result}}}, {"required", []any{"_outputPath", "_output"}}, {"additionalProperties", false}}
	return append(Object{{"anyOf", []any{result, named}}}, shared...)
}

func (s Context) lazy() bool { return s.mode() == plan.Lazy }

func (s Context) mode() plan.Mode {
	if s.PlanOnly {
		return plan.Lazy
	}
	return s.Plan.Mode
}

// messages are those of the document itself, if it is made of messages.
func (s Context) messages() []*source.Node {
	root := s.Plan.Root
	if s.Plan.Form == plan.ProcessRecord {
		root = root.Get("context")
	}
	if root == nil || s.Plan.Form != plan.Context && s.Plan.Form != plan.ProcessRecord {
		return nil
	}
	return root.Items
}

// A saying is a key of a message of some type (and, of data, a kind), for all or for one instance.
type saying struct{ kind, dataKind, key, instance string }

// said is what the last message of a type says of its values.
func (s Context) said() map[saying]*source.Node {
	last := map[saying]*source.Node{}
	for _, m := range s.messages() {
		if m.Get("_call") != nil {
			continue
		}
		one := saying{kind: compiler.MessageType(m), instance: m.Get("_instance").AsText()}
		if one.kind == "data" {
			one.dataKind = m.Get("kind").AsText()
		}
		for _, key := range []string{"schema", "description"} {
			if n := m.Get(key); n != nil {
				one.key = key
				last[one] = n
			}
		}
	}
	return last
}

// declared is what the document says of itself, and in words.
func (s Context) declared() []Object {
	var meta, texts []Object
	for _, m := range s.messages() {
		switch kind := compiler.MessageType(m); kind {
		case "meta":
			meta = append(meta, append(Object{{"type", kind}}, rest(m)...))
		case "text":
			texts = append(texts, append(Object{{"type", kind}}, rest(m)...))
		}
	}
	if s.Plan.Description != "" {
		texts = append(texts, Object{{"type", "text"}, {"text", s.Plan.Description}})
	}
	return append(meta, texts...)
}

// values are messages of what stands there now: of all, and of what each instance has besides.
func (s Context) values() []Object {
	said := s.said()
	input, _ := s.Input.(map[string]any)
	state, _ := s.State.(map[string]any)
	all := Instance{Input: input, State: state, Data: s.Data}
	list := s.valuesOf(all, Instance{}, said, false)
	for _, one := range s.Instances {
		list = append(list, s.valuesOf(one, all, said, false)...)
	}
	return list
}

// valuesOf are messages of values: of input, state, each kind of data that the document declares, and the rest of it,
// less what others have in common with them.
func (s Context) valuesOf(one, less Instance, said map[saying]*source.Node, record bool) (list []Object) {
	its := &plan.Instance{Values: s.Plan.Values}
	if one.ID != "" {
		its = s.Plan.Instance(one.ID)
	}
	add := func(of, kind string, own map[string]any, shared any, n *source.Node, always bool) {
		out := Object{{"type", of}}.WithText("kind", kind)
		own = besides(own, shared)
		if own != nil || always && one.ID != "" {
			out = out.With(of, own)
		}
		if n != nil {
			out = out.With("schema", plain(n))
		}
		about := said[saying{of, kind, "description", one.ID}].AsText()
		if of == "state" && one.ID == "" && s.Plan.Writes == plan.Once && !record {
			about = "each path is written once: of several calls that offer it a value, the first listed that has " +
				"one gives it"
		}
		out = out.WithText("description", about)
		if always || len(own) > 0 || n != nil || about != "" || record && own != nil {
			list = append(list, out.WithText("_instance", one.ID))
		}
	}
	add("input", "", one.Input, less.Input, its.InputSchemaNode, false)
	add("state", "", one.State, less.State, its.StateSchemaNode, one.ID != "") // so that it is known
	rest := maps.Clone(one.Data)
	for _, kind := range s.Plan.Kinds {
		fields, isObject := one.Data[kind].(map[string]any)
		if isObject {
			delete(rest, kind)
		}
		add("data", kind, fields, less.Data[kind], said[saying{"data", kind, "schema", one.ID}], one.ID == "")
	}
	if len(rest) > 0 {
		add("data", "", rest, less.Data, nil, false)
	}
	return list
}

// besides is what an object has that another hasn't, key by key at the top.
func besides(own map[string]any, shared any) map[string]any {
	common, _ := shared.(map[string]any)
	rest := maps.Clone(own)
	maps.DeleteFunc(rest, func(key string, value any) bool {
		there, ok := common[key]
		return ok && reflect.DeepEqual(value, there)
	})
	return rest
}

func (s Context) planMessage() Object {
	calls, standings := make([]any, len(s.Carried)), []any{}
	for i, one := range s.Carried {
		calls[i] = shown(one.Call)
		if one.Status != "" {
			standings = append(standings, one.noted())
		}
		for _, apart := range one.Each {
			standings = append(standings, apart.noted().With("_instance", apart.Instance))
		}
	}
	for _, one := range s.Recorded {
		standings = append(standings, one)
	}
	out := Object{{"type", "plan"}, {"plan", calls}, {"mode", string(s.mode())}}
	if len(standings) > 0 {
		out = out.With("x-standing", standings)
	}
	return out
}

func (one Standing) noted() Object {
	out := Object{{"call", one.Name}, {"status", one.Status}}.WithText("reason", one.Reason)
	if one.Decision != nil {
		out = out.With("decision", one.Decision)
	}
	return out
}

func (s Context) advisorMessage(advisor *plan.Advisor) Object {
	out := Object{{"type", "advisor"}, {"id", advisor.ID}}.WithText("role", advisor.Node.Get("role").AsText())
	for _, m := range rest(advisor.Node, "id", "role", "said") {
		if m.Key == "schema" {
			m.Value = plain(advisor.Node.Get("schema"))
		}
		out = append(out, m)
	}
	return out
}

// shown is a call or a message as a model sees it: without extensions, and what a run notes
// about a message that a call wrote.
func shown(n *source.Node) Object {
	call := n.Get("_tool") != nil
	out := make(Object, 0, len(n.Fields))
	for _, f := range n.Fields {
		key := f.Key.Text
		if !strings.HasPrefix(key, "x-") && key != "_call" && key != "_date" && (call || key != "_outputMethod") {
			out = append(out, Member{key, Of(f.Value)})
		}
	}
	return out
}

func rest(m *source.Node, but ...string) Object {
	return slices.DeleteFunc(shown(m), func(m Member) bool { return m.Key == "type" || slices.Contains(but, m.Key) })
}

func (s Context) scoped() []Object {
	s.Input, s.State, s.Instances = s.Only["input"], s.Only["state"], nil
	data, _ := s.Only["data"].(map[string]any)
	s.Data = maps.Clone(data)
	for _, kind := range s.Plan.Kinds {
		if value, ok := s.Only[kind]; ok {
			if s.Data == nil {
				s.Data = map[string]any{}
			}
			s.Data[kind] = value
		}
	}
	list := slices.DeleteFunc(s.values(), func(m Object) bool { return !m.Has(m[0].Value.(string)) })
	if advice, ok := s.Only["advice"]; ok {
		list = append(list, Object{{"type", "meta"}, {"description", "what the advisors' votes come to"},
			{"meta", Object{{"advice", advice}}}})
	}
	errors, _ := s.Only["error"].([]any)
	for _, e := range errors {
		list = append(list, Object{{"type", "error"}, {"data", e}})
	}
	return list
}

// Past is what became of calls of earlier ticks where nothing else shows it:
// calls that did something and wrote nothing, and decisions of people. It stays small:
// the newest are given in full, and of those before them how many there were.
type Past struct {
	Settled []Settled // oldest first
	Earlier Object    // by tool, how many more there were before
}

// A Settled call is one that has ended.
type Settled struct {
	Standing
	Tool   string
	Tick   int
	Params map[string]any // as they were resolved; nil where the call is given as it was written
	Result any
}

const (
	maxSettled = 32    // calls that are given in full
	maxNoted   = 1_000 // bytes of JSON of what they were given, and of what they gave
)

// Add adds one more call.
func (p *Past) Add(one Settled) {
	if p.Settled = append(p.Settled, one); len(p.Settled) <= maxSettled {
		return
	}
	oldest := p.Settled[0]
	p.Settled = p.Settled[1:] // requests hold the list as it was, and none of it is written over
	before, _ := p.Earlier.Get(oldest.Tool).(float64)
	p.Earlier = slices.DeleteFunc(slices.Clone(p.Earlier), func(m Member) bool { return m.Key == oldest.Tool }).
		With(oldest.Tool, before+1)
}

// pastMessages are what became of earlier calls, and what failed.
func (s Context) pastMessages() (messages []Object) {
	if len(s.Past.Settled) > 0 {
		messages = append(messages, s.Past.object())
	}
	add := func(errors []any, instance string) {
		for _, e := range errors {
			messages = append(messages, Object{{"type", "error"}, {"data", e}}.WithText("_instance", instance))
		}
	}
	add(s.Errors, "")
	for _, one := range s.Instances {
		add(one.Errors, one.ID)
	}
	return messages
}

// object is a meta message: a text would be taken for the task, and a plan for one to be carried on.
func (p Past) object() Object {
	calls := make([]any, len(p.Settled))
	for i, one := range p.Settled {
		calls[i] = one.object()
	}
	meta := Object{{"settled", calls}}
	if len(p.Earlier) > 0 {
		meta = meta.With("earlier", p.Earlier)
	}
	return Object{{"type", "meta"},
		{"description", "calls of earlier ticks that neither the state nor the plan tells of"}, {"meta", meta}}
}

func (one Settled) object() Object {
	call := any(shown(one.Call))
	if one.Params != nil {
		call = brief(Object{{"_tool", one.Tool}}.WithAll(one.Params))
	}
	out := Object{{"tick", float64(one.Tick)}, {"call", call}}
	out = append(out, one.noted()[1:]...).WithText("_instance", one.Instance) // without its name
	if one.Result != nil {
		out = out.With("result", brief(one.Result))
	}
	return out
}

// brief is a value, or the beginning of its JSON where that is long.
func brief(value any) any {
	text := JSON(value)
	if len(text) <= maxNoted {
		return value
	}
	return fmt.Sprintf("%s … (%d bytes of JSON in all)", strings.ToValidUTF8(text[:maxNoted], ""), len(text))
}
