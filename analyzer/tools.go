package analyzer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Parameters are what a tool's schema says of its parameters, or a delegate's of
// its input, worked out once for all calls.
type parameters struct {
	taker    string // what to call it
	which    string // "tool" or "delegate"
	tool     *compiler.Tool
	given    map[string]any // what a delegate has for those that a call leaves out
	schema   *schema.Schema
	required []string
	open     bool // it allows parameters that it doesn't name, and says so
	places   map[string]schema.Place
	list     []*parameters // see alone
	declared *declaration  // see names
}

// parametersOf is nil for a tool whose parameters aren't known.
func (p *Pass) parametersOf(tool *compiler.Tool) *parameters {
	if tool == nil || tool.Parameters == nil || tool.Parameters.Compile() != nil {
		return nil
	}
	known, ok := p.parameters[tool]
	if !ok {
		known = &parameters{
			taker: quote(tool.Name), which: "tool", tool: tool,
			schema: tool.Parameters, required: tool.Parameters.Required(), open: tool.Open, places: map[string]schema.Place{},
		}
		p.parameters[tool] = known
	}
	return known
}

// takers are what takes the parameters of a call: its tool, and the plan that is
// run as the call (S14.2). Where that plan is all that is known of the tool, it
// speaks for both.
func (p *Pass) takers(call *compiler.Call) []*parameters {
	known := p.parametersOf(call.Tool)
	if call.Plan() == "" {
		return known.alone()
	}
	var takers []*parameters
	face := p.Plan.Delegates[call.Plan()].Interface()
	if known != nil && (face == nil || call.Tool.Parameters != face.Parameters) {
		takers = append(takers, known)
	}
	if known := p.parametersOf(face); known != nil {
		if known.given == nil {
			known.taker, known.which = "the delegate "+quote(face.Name), "delegate"
			known.given, _ = p.Plan.Delegates[call.Plan()].Input.(map[string]any)
			known.required = slices.DeleteFunc(known.required, func(name string) bool { return known.given[name] != nil })
		}
		takers = append(takers, known)
	}
	return takers
}

// alone is a list of nothing else; it is made once.
func (t *parameters) alone() []*parameters {
	if t == nil {
		return nil
	}
	if t.list == nil {
		t.list = []*parameters{t}
	}
	return t.list
}

func (t *parameters) place(name string) schema.Place {
	at, ok := t.places[name]
	if !ok {
		at = t.schema.At([]schema.Step{schema.Key(name)})
		t.places[name] = at
	}
	return at
}

// names suggests among the tool's parameters.
func (t *parameters) names() *declaration {
	if t.declared == nil {
		names := t.schema.Properties()
		t.declared = &declaration{compiler.NewSuggester(names), listed(names)}
	}
	return t.declared
}

// unknownTool reports calls of tools that nobody declares. A tool without a
// schema whose activity is registered is known by that; ConsultAdvisor exists
// wherever advisors do (S13.4).
func unknownTool(p *Pass, call *compiler.Call) {
	if !p.Plan.ToolsDeclared || p.gaps.tools || !p.unknownTool(call) {
		return
	}
	near, ok := p.tools().Nearest(call.ToolName)
	if call.ToolName == compiler.Consult && !ok {
		p.report(call.ToolNode.Span(), "there is nobody to ask: no advisor speaks on demand").of(call).
			help("list an advisor without \"on\" under \"advisors\": \"ConsultAdvisor\" is then the tool that asks it")
		return
	}
	f := p.report(call.ToolNode.Span(), "there is no tool %q", compiler.Shown(call.ToolName, near)).of(call)
	if ok {
		f.help("did you mean %q?", compiler.Shown(near, call.ToolName))
		f.rename(call.ToolNode, 0, len(call.ToolName), near, p.tools().Sure(call.ToolName))
		if tool := p.Plan.Tool(near); tool != nil && tool.NameNode != nil {
			f.note(tool.NameNode.Span(), "%q is declared here", near)
		}
	} else {
		f.help("declare it under \"tools\", or use one of the tools that are declared there")
	}
}

func (p *Pass) unknownTool(call *compiler.Call) bool {
	return call.Tool == nil && p.Plan.Activities[call.ToolName] == nil && !p.defines(call.ToolName)
}

// tools suggests among the names that a call can use.
func (p *Pass) tools() *compiler.Suggester {
	if p.toolNames == nil {
		var all []string
		for _, t := range p.Plan.Tools {
			all = append(all, t.Name)
		}
		for name := range p.Plan.Activities {
			all = append(all, name)
		}
		slices.Sort(all)
		p.toolNames = compiler.NewSuggester(slices.Compact(all))
	}
	return p.toolNames
}

// missingParameters reports calls that leave out what their tool requires.
func missingParameters(p *Pass, call *compiler.Call) {
	missing := map[string]bool{}
	for _, known := range p.takers(call) {
		for _, name := range known.required {
			if !missing[name] && !passes(call, name) {
				missing[name] = true
				p.missing(call, known, name)
			}
		}
	}
}

func (p *Pass) missing(call *compiler.Call, known *parameters, name string) {
	f := p.report(call.ToolNode.Span(), "%s needs the parameter %q, which %q doesn't pass", known.taker, name, call.Name).of(call).
		help("pass %q: a value, or a reference such as †state.%s", name, name)
	if at := parameterNode(known.tool, name); at != nil {
		f.note(at.Span(), "%q is declared here", name)
	}
	if key, ok := p.misspelt(call, known, name); ok {
		f.help("%q may be meant for it", key.Text).note(key.Span(), "the %s has no parameter %q", known.which, key.Text)
	}
}

func passes(call *compiler.Call, name string) bool {
	return slices.ContainsFunc(call.Params.Fields, func(f compiler.TemplateField) bool { return f.Key == name })
}

// misspelt is a parameter that the tool doesn't have and whose name is nearest
// to one that is missing.
func (p *Pass) misspelt(call *compiler.Call, known *parameters, missing string) (*source.Node, bool) {
	for _, f := range call.Params.Fields {
		if !known.unknown(f.Key) {
			continue
		}
		if near, ok := known.names().Nearest(f.Key); ok && near == missing {
			return f.Node, true
		}
	}
	return nil, false
}

// parameterNode is where a tool's own text declares a parameter.
func parameterNode(tool *compiler.Tool, name string) *source.Node {
	if tool.Builtin {
		return nil
	}
	n := tool.Node
	if in := n.Get("inputSchema"); in != nil {
		n = in
	}
	properties := n.Get("properties")
	if properties == nil {
		return nil
	}
	for _, f := range properties.Fields {
		if f.Key.Text == name {
			return f.Key
		}
	}
	return nil
}

// unknown tells whether the schema neither names a parameter nor says itself
// that there may be others.
func (t *parameters) unknown(name string) bool {
	at := t.place(name)
	return !at.Named && !(at.Possible && (t.open || at.Open))
}

// unknownParameters reports parameters that the tool doesn't name, unless it
// says itself that it takes others (additionalProperties).
func unknownParameters(p *Pass, call *compiler.Call) {
	unknown := map[*source.Node]bool{}
	for _, known := range p.takers(call) {
		for _, f := range call.Params.Fields {
			if !unknown[f.Node] && known.unknown(f.Key) {
				unknown[f.Node] = true
				p.unknownParameter(call, known, f)
			}
		}
	}
}

func (p *Pass) unknownParameter(call *compiler.Call, known *parameters, f compiler.TemplateField) {
	found := p.report(f.Node.Span(), "%s has no parameter %q", known.taker, f.Key).of(call)
	if near, ok := known.names().Nearest(f.Key); ok && !passes(call, near) {
		found.help("did you mean %q?", near)
		found.rename(f.Node, 0, len(f.Key), near, known.names().Sure(f.Key))
	} else if list := known.names().list; list != "" {
		found.help("its parameters are %s", list)
	} else {
		found.help("it takes no parameters; a tool that takes any says additionalProperties: true")
	}
	if at := known.tool.NameNode; at != nil {
		found.note(at.Span(), "%q is declared here", call.ToolName)
	}
}

// listed names a few things for a message.
func listed(names []string) string {
	const most = 12
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, quote(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// badParameters reports literals that the tool's schema rejects, at the value
// that is wrong, and the results that a solution already holds where the tool's
// _output rejects them. What an expression will give isn't judged here.
func badParameters(p *Pass, call *compiler.Call) {
	p.produced(call)
	for _, known := range p.takers(call) {
		if p.badParametersOf(call, known) {
			break // what takes them next would say the same of most
		}
	}
}

// badParametersOf judges the literals of a call, and tells whether it found a
// fault.
func (p *Pass) badParametersOf(call *compiler.Call, known *parameters) bool {
	before := len(p.found)
	complete := true
	for _, f := range call.Params.Fields {
		complete = complete && !f.Value.Live() && !known.unknown(f.Key)
		if at := known.place(f.Key); at.Possible {
			p.literal(value{call, known, f.Key, f.Node, ""}, f.Value, at.Schema)
		}
	}
	// What holds between parameters can be judged only when all are known.
	if !complete || len(p.found) > before || slices.ContainsFunc(known.required, func(name string) bool { return !passes(call, name) }) {
		return len(p.found) > before
	}
	if v := known.schema.Validate(known.completed(call.Params.Value)); v != nil {
		p.report(call.ToolNode.Span(), "%s doesn't accept these parameters together: %s", known.taker, v.Error()).of(call).
			help("see what the %s's schema asks of its parameters", known.which)
	}
	return len(p.found) > before
}

// completed is what a call passes, laid over what is there anyway.
func (t *parameters) completed(passed any) any {
	own, ok := passed.(map[string]any)
	if !ok || len(t.given) == 0 {
		return passed
	}
	all := maps.Clone(t.given)
	maps.Copy(all, own)
	return all
}

func (p *Pass) produced(call *compiler.Call) {
	if call.Produced == nil || call.Tool == nil || call.Tool.Output == nil {
		return
	}
	if v := call.Tool.Output.Validate(call.Produced.Value()); v != nil {
		f := p.report(placeAt(nil, call.Produced, v.Path), "the result of %q isn't what the tool gives: %s", call.Name, v.Error()).of(call).
			help("give a result that the tool's \"_output\" accepts")
		if n := call.Tool.OutputNode; n != nil {
			f.note(headOf(n.Span()), "the schema of the result is here")
		}
	}
}

// A value is a part of what a call passes, and how to speak of it.
type value struct {
	call      *compiler.Call
	taker     *parameters
	parameter string
	key       *source.Node // of the mapping that the value stands in; nil in a list
	below     string       // where in the parameter it stands: .x[0]
}

// literal judges a value, or the parts of it that hold no expression.
func (p *Pass) literal(v value, t *compiler.Template, s *schema.Schema) {
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			v.below += bad.Where()
			f := p.rejected(v, placeAt(v.key, t.Node, bad.Path), bad.Message)
			f.requoted(nodeAt(t.Node, bad.Path), s.At(stepsOf(bad.Path)).Schema)
		}
	case t.Items != nil:
		p.literalList(v, t, s)
	default:
		p.literalObject(v, t, s)
	}
}

func (p *Pass) literalList(v value, t *compiler.Template, s *schema.Schema) {
	if s.Kinds()&schema.Array == 0 {
		p.rejected(v, placeAt(v.key, t.Node, nil), "expected "+s.Kinds().String()+", got a list")
		return
	}
	for i, item := range t.Items {
		if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
			p.literal(value{v.call, v.taker, v.parameter, nil, fmt.Sprintf("%s[%d]", v.below, i)}, item, at.Schema)
		}
	}
}

func (p *Pass) literalObject(v value, t *compiler.Template, s *schema.Schema) {
	if s.Kinds()&schema.Object == 0 {
		p.rejected(v, placeAt(v.key, t.Node, nil), "expected "+s.Kinds().String()+", got a mapping")
		return
	}
	for _, required := range s.Required() {
		if !slices.ContainsFunc(t.Fields, func(f compiler.TemplateField) bool { return f.Key == required }) {
			p.rejected(v, placeAt(v.key, t.Node, nil), "the property "+quote(required)+" is missing")
		}
	}
	for _, f := range t.Fields {
		if at := s.At([]schema.Step{schema.Key(f.Key)}); at.Possible {
			p.literal(value{v.call, v.taker, v.parameter, f.Node, v.below + "." + f.Key}, f.Value, at.Schema)
		} else {
			p.rejected(v, f.Node.Span(), "the property "+quote(f.Key)+" isn't allowed")
		}
	}
}

func (p *Pass) rejected(v value, at source.Span, why string) finding {
	f := p.report(at, "%s doesn't accept this for %s%s: %s", v.taker.taker, quote(v.parameter), v.below, why).of(v.call).
		help("pass a value that the %s's schema accepts", v.taker.which)
	if n := parameterNode(v.taker.tool, v.parameter); n != nil {
		f.note(n.Span(), "%q is declared here", v.parameter)
	}
	return f
}

// requoted offers to take the quotes off a number or boolean that was written as
// text, or to put them round a text that wasn't.
func (f finding) requoted(n *source.Node, s *schema.Schema) {
	text := n.Span().Text()
	switch {
	case n.Kind == source.String && n.Style != source.Plain && s.Accepts(unquoted(n.Text)):
		f.help("write it without quotes: %s", n.Text)
		f.Fixes = append(f.Fixes, diag.Fix{Message: "take the quotes off", Edits: []diag.Edit{{Span: n.Span(), Text: n.Text}}})
	case (n.Kind == source.Number || n.Kind == source.Bool) && s.Accepts(text):
		f.help("write it in quotes: %q", text)
		f.Fixes = append(f.Fixes, diag.Fix{Message: "put it in quotes", Edits: []diag.Edit{{Span: n.Span(), Text: quote(text)}}})
	}
}

// unquoted is what a text would be as a number or boolean, or the text itself.
func unquoted(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case float64, bool:
			return v
		}
	}
	return text
}

func stepsOf(path []any) []schema.Step {
	steps := make([]schema.Step, len(path))
	for i, step := range path {
		switch step := step.(type) {
		case int:
			steps[i] = schema.Index(step)
		case string:
			steps[i] = schema.Key(step)
		}
	}
	return steps
}

// nodeAt is the node at a path, as far as the text goes along.
func nodeAt(n *source.Node, path []any) *source.Node {
	for _, step := range path {
		var next *source.Node
		switch step := step.(type) {
		case int:
			if step < len(n.Items) {
				next = n.Items[step]
			}
		case string:
			next = n.Get(step)
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// placeAt follows a path from a node, whose key is given where it has one, into
// the text. The place of a mapping or list that isn't in one line with its key is
// that key, or else its first line.
func placeAt(key, n *source.Node, path []any) source.Span {
	for _, step := range path {
		var next *source.Node
		switch step := step.(type) {
		case string:
			for i := range n.Fields {
				if n.Fields[i].Key.Text == step {
					key, next = n.Fields[i].Key, n.Fields[i].Value
				}
			}
		case int:
			if step < len(n.Items) {
				key, next = nil, n.Items[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	whole := n.Span()
	if key != nil && (n.Kind == source.Object || n.Kind == source.Array) && key.Span().From().Line != whole.To().Line {
		return key.Span()
	}
	return headOf(whole)
}

// bareReferences finds strings that read like a reference without its † where
// the tool takes no string (S4.7).
func bareReferences(p *Pass, call *compiler.Call) {
	takers := p.takers(call)
	if len(takers) == 0 {
		return
	}
	for _, f := range call.Params.Fields {
		if n := f.Value.Node; n.Kind >= source.Array || isBareReference(n) {
			p.bareReference(call, takers[0].schema, n, []schema.Step{schema.Key(f.Key)})
		}
	}
}

func isBareReference(n *source.Node) bool {
	return n.Kind == source.String && expression.BareReference(n.Text)
}

// bareReference looks through a value; the steps lead to it in the schema.
func (p *Pass) bareReference(call *compiler.Call, s *schema.Schema, n *source.Node, steps []schema.Step) {
	for i, item := range n.Items {
		p.bareReference(call, s, item, append(steps, schema.Index(i)))
	}
	for _, f := range n.Fields {
		p.bareReference(call, s, f.Value, append(steps, schema.Key(f.Key.Text)))
	}
	if !isBareReference(n) {
		return
	}
	at := s.At(steps)
	kinds := at.Schema.Kinds()
	if !at.Possible || kinds == 0 || kinds&schema.String != 0 {
		return
	}
	meant := "†" + n.Text
	f := p.report(n.Span(), "this is the text %q, where %q wants %s", n.Text, call.ToolName, kinds).of(call).
		help("a reference begins with †: write %q", meant)
	f.offer("make it a reference", n, 0, 0, string(expression.Mark), true)
}
