package runtime

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A situation is where a run stands when a model is asked: all that a request
// tells.
type situation struct {
	plan         *compiler.Plan // gives tools, schemas and settings
	tick         int
	input, state any
	data         map[string]any      // by kind
	errors       []any               // what failed, oldest first: {call, error}
	instances    []instanceNow       // in their order (S12); input and state are then the shared ones, and errors nobody's
	carries      bool                // the strategy is carried (S11.3), so that there is a plan message
	carried      []standing          // its calls
	decided      []standing          // where no plan is carried: the calls so far about which a person decided otherwise than to let them run
	advisors     []*compiler.Advisor // those who are to speak in this tick
	only         map[string]any      // of a latent call: what its scopes hand on, by kind (S14.3); nil when it sees all
}

// An instanceNow is where one instance of a run stands.
type instanceNow struct {
	id           string
	input, state map[string]any // whole
	errors       []any
}

// A standing is what has become of a call of a carried plan.
type standing struct {
	call           *source.Node // as it was written
	name, instance string
	status, reason string     // "" for one that hasn't run
	decision       *Decision  // of a person, or nil
	each           []standing // where it isn't the same in all instances: in each of them
}

// compose writes what a planner is asked at the beginning of a tick (S11.1).
//
// The context is a document again (S1.2): with a solution it makes a process
// record. Its messages stand in one order: what the document says in words, the
// tools, input, state, data, the carried plan, advisors, and errors. Schemas in
// them need nothing outside of their message: what they refer to stands under
// their own "$defs". Extension keys (x-) and what serves rehearsals alone aren't
// told, nor which activity carries a tool out.
func compose(s situation) *Request {
	context := s.spoken()
	if len(s.plan.Tools) > 0 {
		context = append(context, s.toolMessage(s.plan.Tools...))
	}
	context = append(context, s.marked(s.values())...)
	if s.carries {
		context = append(context, s.planMessage())
	}
	context = append(context, s.advisorMessages()...)
	for _, one := range s.decided {
		// Not in words, which a model would take for its task.
		decided := object{{"call", shown(one.call)}, {"status", one.status}, {"decision", one.decision}}
		context = append(context, object{{"type", "meta"}, {"description", "what a person decided about a call"}, {"meta", object{{"decided", decided}}}})
	}
	for _, e := range s.errors {
		context = append(context, object{{"type", "error"}, {"data", e}})
	}
	for _, one := range s.instances {
		for _, e := range one.errors {
			context = append(context, object{{"type", "error"}, {"data", e}, {"_instance", one.id}})
		}
	}
	return &Request{Tick: s.tick, Context: encode(context), Schema: encode(s.solutionSchema()), Lazy: s.lazy()}
}

// composeLatent writes what a model is asked about one latent call (S2.4): its
// tool and the values that it may see. Neither plan nor errors are among them,
// unless its scopes name these. An anonymous delegate isn't told what the document
// says in words (S14.1), and who is consulted is told its role (S13.4).
func composeLatent(s situation, call *compiler.Call, params map[string]any) *Request {
	var context []any
	if call.Delegate != compiler.Anonymous {
		context = s.spoken()
	} else if s.only == nil {
		s.only = map[string]any{}
	}
	answer := any(object{})
	if tool := call.Tool; tool != nil {
		context = append(context, s.toolMessage(tool))
		if tool.OutputNode != nil {
			answer = s.alone(outputUnit(tool), tool.OutputNode)
		}
		if id, _ := params["advisor"].(string); tool.Builtin && s.plan.Advisor(id) != nil {
			advisor := s.plan.Advisor(id)
			context = append(context, s.advisorMessage(advisor))
			answer = object{}
			if n := advisor.Node.Get("schema"); n != nil {
				answer = s.alone(unit{root: n}, n)
			}
			s.advisors = []*compiler.Advisor{advisor}
		}
	}
	values := s.values
	if s.only != nil {
		values = s.handed
	}
	return &Request{
		Tick: s.tick, Context: encode(append(context, s.marked(values())...)), Schema: encode(answer),
		Call: &LatentCall{Name: call.Name, Tool: call.ToolName, Params: encode(params)},
	}
}

func (s situation) lazy() bool { return s.plan.Mode == compiler.Lazy }

// messages are those of the document itself, if it is made of messages.
func (s situation) messages() []*source.Node {
	root := s.plan.Root
	if s.plan.Form == compiler.ProcessRecord {
		root = root.Get("context")
	}
	if root == nil || s.plan.Form != compiler.Context && s.plan.Form != compiler.ProcessRecord {
		return nil
	}
	return root.Items
}

// A saying is a key of a message of some type (and, of data, a kind).
type saying struct{ kind, dataKind, key string }

// said is what the last message of a type says of its values.
func (s situation) said() map[saying]*source.Node {
	last := map[saying]*source.Node{}
	for _, m := range s.messages() {
		one := saying{kind: messageType(m)}
		if one.kind == "data" {
			one.dataKind = textOf(m.Get("kind"))
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

func messageType(m *source.Node) string {
	if t := m.Get("type"); t != nil {
		return textOf(t)
	}
	return "data" // a kind may stand for it (S1.3)
}

func textOf(n *source.Node) string {
	if n == nil || n.Kind != source.String {
		return ""
	}
	return n.Text
}

// spoken is what the document says in words, and of itself.
func (s situation) spoken() []any {
	var meta, texts []any
	for _, m := range s.messages() {
		switch messageType(m) {
		case "meta":
			meta = append(meta, shown(m))
		case "text":
			texts = append(texts, shown(m))
		}
	}
	if s.plan.Description != "" {
		texts = append(texts, object{{"type", "text"}, {"text", s.plan.Description}})
	}
	return append(meta, texts...)
}

func (s situation) toolMessage(tools ...*compiler.Tool) object {
	all := make(object, len(tools))
	for i, tool := range tools {
		all[i] = member{tool.Name, s.toolShown(tool)}
	}
	return object{{"type", "tool"}, {"tool", all}}
}

// values are the messages of input, state and data, as these stand now.
func (s situation) values() []any {
	var list []any
	said := s.said()
	for _, one := range []struct {
		kind  string
		value any
		key   string // of the schema in a plan file
	}{{"input", s.input, "inputSchema"}, {"state", s.state, "stateSchema"}} {
		n := said[saying{one.kind, "", "schema"}]
		if s.plan.Form == compiler.PlanFile {
			n = s.plan.Root.Get(one.key)
		}
		message := object{{"type", one.kind}}
		if fields, ok := one.value.(map[string]any); ok && (len(fields) > 0 || n != nil) {
			message = append(message, member{one.kind, fields})
		}
		message = s.withSchema(message, n)
		if one.kind == "state" && s.plan.Writes == compiler.Once {
			message = append(message, member{"description", "each path is written once: of several calls that offer it a value, the first listed that has one gives it"})
		}
		if len(message) > 1 {
			list = append(list, message)
		}
	}
	for _, one := range s.instances {
		list = append(list, s.own(one)...)
	}
	return append(list, s.dataMessages(said)...)
}

// own is what an instance has besides the shared values, or in their place. Its
// state is always told, so that the instance is.
func (s situation) own(one instanceNow) []any {
	var list []any
	if input := besides(one.input, s.input); len(input) > 0 {
		list = append(list, object{{"type", "input"}, {"input", input}, {"_instance", one.id}})
	}
	return append(list, object{{"type", "state"}, {"state", besides(one.state, s.state)}, {"_instance", one.id}})
}

// besides is what an object has that another hasn't, key by key at the top.
func besides(own map[string]any, shared any) map[string]any {
	common, _ := shared.(map[string]any)
	rest := make(map[string]any, len(own))
	maps.Copy(rest, own)
	maps.DeleteFunc(rest, func(key string, value any) bool {
		there, ok := common[key]
		return ok && reflect.DeepEqual(value, there)
	})
	return rest
}

// dataMessages are one message for each kind that the document declares, and one
// for whatever else there is.
func (s situation) dataMessages(said map[saying]*source.Node) []any {
	var list []any
	rest := map[string]any{}
	for _, key := range sortedKeys(s.data) {
		if _, ok := s.data[key].(map[string]any); !ok || !declared(s.plan.Kinds, key) {
			rest[key] = s.data[key]
		}
	}
	for _, kind := range s.plan.Kinds {
		message := object{{"type", "data"}, {"kind", kind}}
		if fields, ok := s.data[kind].(map[string]any); ok {
			message = append(message, member{"data", fields})
		}
		message = s.withSchema(message, said[saying{"data", kind, "schema"}])
		if words := said[saying{"data", kind, "description"}]; words != nil {
			message = append(message, member{"description", written(words)})
		}
		list = append(list, message)
	}
	if len(rest) > 0 {
		list = append(list, object{{"type", "data"}, {"data", rest}})
	}
	return list
}

// declared reports whether a kind is among those of the document, which are sorted.
func declared(kinds []string, kind string) bool {
	_, ok := slices.BinarySearch(kinds, kind)
	return ok
}

func (s situation) withSchema(message object, n *source.Node) object {
	if n == nil {
		return message
	}
	return append(message, member{"schema", s.alone(unit{root: n}, n)})
}

// planMessage is the carried plan, and what has become of its calls.
func (s situation) planMessage() object {
	calls, standings := make([]any, len(s.carried)), []any{}
	for i, one := range s.carried {
		calls[i] = shown(one.call)
		if one.status != "" {
			standings = append(standings, one.told())
		}
		for _, apart := range one.each {
			standings = append(standings, append(apart.told(), member{"_instance", apart.instance}))
		}
	}
	message := object{{"type", "plan"}, {"plan", calls}, {"mode", string(s.plan.Mode)}}
	if len(standings) > 0 {
		message = append(message, member{"x-standing", standings})
	}
	return message
}

// told is what has become of a call.
func (one standing) told() object {
	out := object{{"call", one.name}, {"status", one.status}}
	if one.reason != "" {
		out = append(out, member{"reason", one.reason})
	}
	if one.decision != nil {
		out = append(out, member{"decision", one.decision})
	}
	return out
}

// advisorMessages introduce all advisors, those who only speak when they are
// asked included.
func (s situation) advisorMessages() []any {
	messages := make([]any, len(s.plan.Advisors))
	for i, advisor := range s.plan.Advisors {
		messages[i] = s.advisorMessage(advisor)
	}
	return messages
}

func (s situation) advisorMessage(advisor *compiler.Advisor) object {
	message := object{{"type", "advisor"}}
	for _, f := range advisor.Node.Fields {
		switch key := f.Key.Text; {
		case key == "type" || untold(key):
		case key == "schema":
			message = s.withSchema(message, f.Value)
		default:
			message = append(message, member{key, written(f.Value)})
		}
	}
	return message
}

// untold are the keys of calls and messages that aren't for a model: extensions,
// and what a run notes about a message that a call wrote.
func untold(key string) bool {
	return strings.HasPrefix(key, "x-") || slices.Contains([]string{"_call", "_date", "_outputMethod"}, key)
}

// shown is a call or a message as a model sees it.
func shown(n *source.Node) any {
	call := n.Get("_tool") != nil
	out := make(object, 0, len(n.Fields))
	for _, f := range n.Fields {
		if !untold(f.Key.Text) || call && f.Key.Text == "_outputMethod" {
			out = append(out, member{f.Key.Text, written(f.Value)})
		}
	}
	return out
}

// An object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// written is a value as the text has it, its members in their order.
func written(n *source.Node) any {
	switch {
	case n == nil:
		return nil
	case n.Kind == source.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = written(item)
		}
		return list
	case n.Kind == source.Object:
		out := make(object, len(n.Fields))
		for i, f := range n.Fields {
			out[i] = member{f.Key.Text, written(f.Value)}
		}
		return out
	}
	return n.Value()
}

// encode writes JSON: an object in its own order, a map in that of its keys.
func encode(v any) json.RawMessage { return appendJSON(nil, v) }

func appendJSON(to []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		to = append(to, '{')
		for i, m := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendJSON(to, m.key), ':')
			to = appendJSON(to, m.value)
		}
		return append(to, '}')
	case map[string]any:
		sorted := make(object, 0, len(v))
		for _, key := range sortedKeys(v) {
			sorted = append(sorted, member{key, v[key]})
		}
		return appendJSON(to, sorted)
	case []any:
		to = append(to, '[')
		for i, item := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, item)
		}
		return append(to, ']')
	}
	return appendScalar(to, v)
}

func appendScalar(to []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		if plainText(v) {
			return append(append(append(to, '"'), v...), '"')
		}
	case float64:
		if whole := int64(v); float64(whole) == v && whole > -1<<53 && whole < 1<<53 {
			return strconv.AppendInt(to, whole, 10)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // for a model to read, not for a page
	if err := e.Encode(v); err != nil {
		panic("a value that isn't JSON: " + err.Error())
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// plainText tells whether a string is its own JSON form but for the quotes.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return true
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
