package planner

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

var (
	//go:embed instructions.md
	instructions string
	//go:embed instructions_lazy.md
	instructionsLazy string
	//go:embed instructions_latent.md
	instructionsLatent string
)

// A Prompt is a request in the words in which a model is asked.
type Prompt struct {
	System string // how to answer
	User   string // what is known: headings and JSON
}

// Render puts a request into words. Messages of one kind and instance are one
// value, the later laid over the earlier; who wrote it, when and how isn't
// shown. Whatever comes from outside stands as JSON on one line in a fence, or
// as quoted lines, so that none of it can pass for a heading.
func Render(r *runtime.Request) (Prompt, error) {
	context, err := tree("context", r.Context)
	if err != nil {
		return Prompt{}, err
	}
	if context.Kind != source.Array {
		return Prompt{}, fmt.Errorf("the context of a request is %s, not a list", context.Kind)
	}
	p := &page{}
	if r.Call != nil {
		params, err := tree("parameters", r.Call.Params)
		if err != nil {
			return Prompt{}, err
		}
		p.heading("Call", r.Call.Name)
		p.say("Tool: %s. Parameters:", quoted(diag.Escape(r.Call.Tool)))
		p.fence(compact(params))
	}
	for _, m := range merged(context.Items) {
		p.message(m)
	}
	system := instructions
	switch {
	case r.Call != nil:
		system = instructionsLatent
		p.heading("Your answer", "")
		p.say("Write the result of the call %s.", quoted(diag.Escape(r.Call.Name)))
	case r.Lazy:
		system += instructionsLazy
		fallthrough
	default:
		p.heading("Your answer", "")
		p.say("Write the solution of tick %d.", r.Tick)
	}
	return Prompt{System: system, User: p.text.String()}, nil
}

// told adds the schema to a prompt, for endpoints that can't be given one.
func (p Prompt) told(schema string) Prompt {
	tail := &page{}
	tail.say("It has to be valid against this JSON Schema, its properties in the order of the schema:")
	tail.fence(schema)
	return Prompt{System: p.System, User: p.User + "\n" + tail.text.String()}
}

// A message is what a model sees of one or more messages of a context.
type message struct {
	kind     string // the message's type
	name     string // of data: the kind
	instance string
	node     *source.Node // the first
	value    *source.Node // of input, state and data: all payloads, merged
	schema   *source.Node // the latest
	about    string       // the latest description
	errors   []*source.Node
}

// merged collects messages of one kind and instance where the first of them
// stands.
func merged(items []*source.Node) (all []*message) {
	type what struct{ kind, name, instance string }
	first := map[what]*message{}
	for _, m := range items {
		next := read(m)
		about := what{next.kind, next.name, next.instance}
		single := slices.Contains([]string{"input", "state", "data", "error"}, next.kind)
		into := first[about]
		if into == nil || !single {
			all, first[about] = append(all, next), next
			continue
		}
		into.value = patched(into.value, next.value)
		into.errors = append(into.errors, next.errors...)
		if next.schema != nil {
			into.schema = next.schema
		}
		if next.about != "" {
			into.about = next.about
		}
	}
	return all
}

// How messages are told apart, and what of them isn't payload (S1.3).
var (
	reserved = []string{"type", "kind", "schema", "description", "_instance"}
	unseen   = []string{"_call", "_date", "_outputMethod"}
)

func read(m *source.Node) *message {
	word := func(key string) string {
		if n := m.Get(key); n != nil && n.Kind == source.String {
			return n.Text
		}
		return ""
	}
	one := &message{kind: word("type"), instance: word("_instance"), node: m, schema: m.Get("schema"), about: word("description")}
	if one.kind == "" {
		one.kind = "data"
	}
	switch one.kind {
	case "data":
		one.name = word("kind")
		one.value = payload(m, "data", one.name)
	case "input", "state":
		one.value = payload(m, one.kind)
	case "error":
		one.errors = []*source.Node{m.Get("data")}
	}
	return one
}

// payload is what a message carries, under one of the keys or inline.
func payload(m *source.Node, under ...string) *source.Node {
	for _, key := range under {
		if n := m.Get(key); n != nil && key != "" {
			return n
		}
	}
	inline := object()
	for _, f := range m.Fields {
		if !slices.Contains(reserved, f.Key.Text) && !slices.Contains(unseen, f.Key.Text) {
			inline.Fields = append(inline.Fields, f)
		}
	}
	if len(inline.Fields) == 0 {
		return nil
	}
	return inline
}

// patched lays one value over another: objects key by key, anything else whole.
func patched(under, over *source.Node) *source.Node {
	switch {
	case over == nil || over.Kind == source.Null:
		return under
	case under == nil || under.Kind != source.Object || over.Kind != source.Object:
		return over
	}
	both := object(under.Fields...)
	both.Fields = slices.Clone(both.Fields)
	place := make(map[string]int, len(both.Fields))
	for i, f := range both.Fields {
		place[f.Key.Text] = i
	}
	for _, f := range over.Fields {
		if i, there := place[f.Key.Text]; there {
			both.Fields[i].Value = patched(both.Fields[i].Value, f.Value)
			continue
		}
		both.Fields = append(both.Fields, f)
	}
	return both
}

// A page is a prompt as it is written.
type page struct{ text strings.Builder }

func (p *page) message(m *message) {
	switch m.kind {
	case "text":
		p.heading("Task", "")
		p.quote(m.node.Get("text"))
	case "tool":
		p.tools(m.node.Get("tool"))
	case "input", "state", "data":
		p.values(m)
	case "plan":
		p.plan(m.node)
	case "error":
		p.errors(m.errors)
	case "advisor":
		p.advisor(m.node)
	case "meta":
		p.heading("Meta", "")
		p.fence(compact(m.node.Get("meta")))
	default:
		p.heading("Context", m.kind)
		p.fence(compact(without(m.node, "type")))
	}
}

func (p *page) tools(tools *source.Node) {
	if tools == nil || tools.Kind != source.Object {
		p.heading("Tools", "")
		p.fence(compact(tools))
		return
	}
	for _, f := range tools.Fields {
		p.heading("Tool", f.Key.Text)
		p.fence(compact(f.Value))
	}
}

func (p *page) values(m *message) {
	switch {
	case m.name != "":
		p.heading("Data", m.name)
	default:
		p.heading(strings.ToUpper(m.kind[:1])+m.kind[1:], "")
	}
	if m.instance != "" {
		p.say("Of the instance %s.", quoted(diag.Escape(m.instance)))
	}
	if m.about != "" {
		p.quote(text(m.about))
	}
	if name := m.name; name != "" && expression.IsBareKey(name) {
		p.say("Read it as `†%s`.", name)
	}
	p.lookedAt(m.node.Get("x-advisors"))
	if m.schema != nil {
		p.say("Schema:")
		p.fence(compact(m.schema))
	}
	switch {
	case m.value != nil:
		p.say("Value:")
		p.fence(compact(m.value))
	default:
		p.say("It has no value yet.")
	}
}

// lookedAt says which advisors look at a value first, and at what of it (S13.5).
func (p *page) lookedAt(advisors *source.Node) {
	if advisors == nil {
		return
	}
	for _, f := range advisors.Fields {
		var scopes []string
		for _, scope := range f.Value.Items {
			scopes = append(scopes, quoted(diag.Escape(scope.Text)))
		}
		p.say("The advisor %s looks first at %s.", quoted(diag.Escape(f.Key.Text)), strings.Join(scopes, ", "))
	}
}

func (p *page) plan(m *source.Node) {
	p.heading("Plan", "")
	calls, standing := m.Get("plan"), m.Get("x-standing")
	if calls == nil || len(calls.Items) == 0 {
		p.say("It has no calls yet.")
		return
	}
	p.say("Its calls:")
	p.fence(lines(calls))
	if standing == nil {
		p.say("None of them has run.")
		return
	}
	p.say("What has become of them. A call without `_id` is named by its tool and its place in the list, from 1; those that aren't named here haven't run.")
	p.fence(lines(standing))
}

// lines is a list with one item a line.
func lines(n *source.Node) string {
	if n.Kind != source.Array {
		return compact(n)
	}
	var b strings.Builder
	for i, item := range n.Items {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(compact(item))
	}
	return b.String()
}

func (p *page) errors(errors []*source.Node) {
	p.heading("Errors", "")
	for _, e := range errors {
		call, reason := e.Get("call"), e.Get("error")
		switch {
		case reason == nil:
			p.fence(compact(e))
			continue
		case call == nil || call.Kind == source.Null:
			p.say("Of the solution as a whole:")
		default:
			p.say("Of the call")
			p.fence(compact(call))
			p.say("the reason:")
		}
		p.fence(compact(reason))
	}
}

func (p *page) advisor(m *source.Node) {
	name := m.Get("id")
	if name == nil {
		name = text("")
	}
	p.heading("Advisor", name.Text)
	p.quote(m.Get("role"))
	if rest := without(m, "type", "id", "role"); len(rest.Fields) > 0 {
		p.fence(compact(rest))
	}
}

// without is an object less some keys, those that nobody sees, and extensions.
func without(n *source.Node, keys ...string) *source.Node {
	rest := object()
	for _, f := range n.Fields {
		key := f.Key.Text
		if !slices.Contains(keys, key) && !slices.Contains(unseen, key) && !strings.HasPrefix(key, "x-") {
			rest.Fields = append(rest.Fields, f)
		}
	}
	return rest
}

// heading begins a section. A name in it is quoted and stays on its line.
func (p *page) heading(title, name string) {
	if s := p.text.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.text.WriteByte('\n')
	}
	p.text.WriteString("# " + title)
	if name != "" {
		p.text.WriteString(" " + quoted(diag.Escape(name)))
	}
	p.text.WriteString("\n\n")
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// fence writes lines of JSON. None of them begins with a back-tick, so none can
// end the fence.
func (p *page) fence(json string) { p.text.WriteString("```json\n" + json + "\n```\n") }

// lineEnds is what somebody may take for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// quote writes text from outside, each of its lines behind a mark.
func (p *page) quote(n *source.Node) {
	switch {
	case n == nil:
	case n.Kind != source.String:
		p.fence(compact(n))
	default:
		for line := range strings.SplitSeq(strings.TrimRight(lineEnds.Replace(n.Text), "\n"), "\n") {
			p.text.WriteString(strings.TrimRight("> "+line, " ") + "\n")
		}
		p.text.WriteByte('\n') // or what follows would belong to it
	}
}
