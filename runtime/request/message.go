package request

// A Message is one of [Text], [Meta], [Tools], [Values], [Plan], [Advisor] and
// [Failure]. There is one of each kind and instance; nothing is left to merge.
type Message interface {
	object() Object // as PROTOCOL.md writes it
}

// Text is what the document says in words.
type Text struct {
	Text string
	More Object // what else the message says
}

// Meta says something of the document, or of what became of a call.
type Meta struct {
	About string
	Meta  any    // nil: it is in More
	More  Object // what else the message says
}

// Tools are the tools that calls may name.
type Tools []Tool

// A Tool is a tool as a model sees it.
type Tool struct {
	Name       string
	Definition Object
}

// Values are the input, the state or data of one kind, as they stand now.
type Values struct {
	Of       string // "input", "state" or "data"
	Kind     string // of data; "" for all that belong to no kind
	Instance string // whose they are; "" for nobody's
	About    string
	Schema   any // an Object or a bool; nil is none
	Value    any // nil: there is none yet
	Looked   []Looked
}

// Looked says at what of a value an advisor looks first.
type Looked struct {
	Advisor string
	Scopes  []string
}

// Plan is the plan that is carried from tick to tick.
type Plan struct {
	Mode      string
	Calls     []any
	Standings []Object // what became of those that have run
}

// Advisor introduces one of those who advise.
type Advisor struct {
	ID   string
	Role string
	More Object // what else the message says
}

// Failure is an error, with the call that it is of.
type Failure struct {
	Data     any // {call, error}, or what a document says instead
	Instance string
	Looked   []Looked
}

func (m Text) object() Object { return append(Object{{"type", "text"}, {"text", m.Text}}, m.More...) }

func (m Meta) object() Object {
	out := Object{{"type", "meta"}}
	if m.About != "" {
		out = out.With("description", m.About)
	}
	if m.Meta != nil {
		out = out.With("meta", m.Meta)
	}
	return append(out, m.More...)
}

func (m Tools) object() Object {
	all := make(Object, len(m))
	for i, tool := range m {
		all[i] = Member{tool.Name, tool.Definition}
	}
	return Object{{"type", "tool"}, {"tool", all}}
}

func (m Values) object() Object {
	out := Object{{"type", m.Of}}
	if m.Kind != "" {
		out = out.With("kind", m.Kind)
	}
	if m.Value != nil {
		out = out.With(m.Of, m.Value)
	}
	if m.Schema != nil {
		out = out.With("schema", m.Schema)
	}
	if m.About != "" {
		out = out.With("description", m.About)
	}
	return withLooked(withInstance(out, m.Instance), m.Looked)
}

func (m Plan) object() Object {
	out := Object{{"type", "plan"}, {"plan", m.Calls}, {"mode", m.Mode}}
	if len(m.Standings) > 0 {
		standings := make([]any, len(m.Standings))
		for i, one := range m.Standings {
			standings[i] = one
		}
		out = out.With("x-standing", standings)
	}
	return out
}

func (m Advisor) object() Object {
	out := Object{{"type", "advisor"}, {"id", m.ID}}
	if m.Role != "" {
		out = out.With("role", m.Role)
	}
	return append(out, m.More...)
}

func (m Failure) object() Object {
	return withLooked(withInstance(Object{{"type", "error"}, {"data", m.Data}}, m.Instance), m.Looked)
}

func withInstance(o Object, id string) Object {
	if id == "" {
		return o
	}
	return o.With("_instance", id)
}

func withLooked(o Object, all []Looked) Object {
	if len(all) == 0 {
		return o
	}
	looked := make(Object, len(all))
	for i, one := range all {
		scopes := make([]any, len(one.Scopes))
		for j, scope := range one.Scopes {
			scopes[j] = scope
		}
		looked[i] = Member{one.Advisor, scopes}
	}
	return o.With("x-advisors", looked)
}
