package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Judgement is what there is to say of the values that come into one place.
type Judgement struct {
	flow.Fit
	To Target
}

// A Target is a place that wants values of some schema.
type Target struct {
	Call   *plan.Call  // nil for the plan's output
	Taker  *Parameters // of the call's
	Schema *schema.Schema
	Node   *source.Node // the value in the text
	Key    string       // the parameter; "" for the plan's output
	Part   string       // of it: .x[0]
}

// Name is what to call a target: "box".x.
func (t *Target) Name() string { return Quote(t.Key) + t.Part }

// Where is the target in words: a parameter of what takes it, or a part of the plan's output.
func (t *Target) Where() string {
	switch {
	case t.Call != nil:
		return t.Name() + " of " + t.Taker.Taker
	case t.Part == "":
		return "\"outputSchema\""
	}
	return Quote(strings.TrimPrefix(t.Part, ".")) + " of \"outputSchema\""
}

// Because says why a judgement is what it is.
func (j *Judgement) Because() string {
	if to := j.To.Schema.Kinds(); j.Relation == schema.Never && j.Kinds != 0 && to != 0 && j.Kinds&to == 0 {
		return fmt.Sprintf("it is %s; expected %s", j.Kinds, to)
	}
	why := "it isn't accepted"
	if v := j.To.Schema.Validate(j.Witness); v != nil {
		why = v.Error()
	}
	return fmt.Sprintf("for instance %s: %s", Brief(j.Witness), why)
}

// Compare judges all values of one schema by another.
func Compare(p *Pass, call *plan.Call, from, to *schema.Schema) *Judgement {
	v := p.Flow.Fits(from, to, false)
	fit := flow.Fit{Relation: v.Relation, Kinds: from.Kinds(), Witness: v.Witness, CutShort: v.CutShort()}
	return &Judgement{fit, Target{Call: call, Schema: to}}
}

// Mismatch reports that something never fits a place, or as a warning that it may not.
func Mismatch(p *Pass, rule *diag.Rule, at source.Span, what string, j *Judgement, to string) *diag.Diagnostic {
	words := "%s may not fit %s: %s"
	if j.Relation == schema.Never {
		words = "%s never fits %s: %s"
	}
	f := p.Found.Report(rule, at, words, what, to, j.Because()).About(j.To.Call.Label())
	if f.Witness = j.Witness; j.Relation != schema.Never {
		f.As(diag.Warning)
	}
	return f
}

// Misfit is Mismatch for what comes, with where the plan says what that is.
func Misfit(p *Pass, rule *diag.Rule, j *Judgement, to string) *diag.Diagnostic {
	f := Mismatch(p, rule, j.Place(), j.Called(), j, to)
	NoteSources(p, f, j)
	return f
}

// NoteSources adds where the plan says what comes and what is wanted.
func NoteSources(p *Pass, f *diag.Diagnostic, j *Judgement) {
	NoteOrigin(f, &j.Variant)
	if t := &j.To; t.Call != nil {
		f.Note(t.Taker.Node(t.Key).Span(), "%q of %s is %s here", t.Key, t.Taker.Taker, t.Taker.Verb())
	} else if p.Plan.Root.Kind == source.Object {
		f.Note(p.Plan.Root.Get("outputSchema").Span().Head(), "the output's schema is here")
	}
}

// Place is where a judgement is shown: the reference or operand at fault, or the whole value when it is several.
func (j *Judgement) Place() source.Span {
	if at := j.Variant.At(); !j.Several && at.Known() && at.File == j.To.Node.File && Within(j.To.Node, at.Start) {
		return at.Head()
	}
	return j.To.Node.Span().Head()
}

// Called is what to call what comes.
func (j *Judgement) Called() string {
	name := j.Variant.Name()
	if j.Several && j.To.Node.Kind == source.String {
		name = j.To.Node.Text
	}
	if name == "" {
		return "the value"
	}
	return Quote(name)
}

// Judgements are those of all values of parameters, in the order of the text.
func Judgements(p *Pass) []Judgement {
	return Once(p.Store, "judgements", func() (all []Judgement) {
		refused := map[string]bool{} // calls whose literals aren't accepted
		for i := range p.Found {
			if p.Found[i].Rule.Code == "OB504" {
				refused[p.Found[i].Call] = true
			}
		}
		for _, call := range p.Plan.Calls {
			all = append(all, judgeCall(p, call, !refused[call.Name])...)
		}
		return all
	})
}

func judgeCall(p *Pass, call *plan.Call, sound bool) (all []Judgement) {
	if call.Each != nil && call.Each.List.Expr != nil {
		to := Target{Call: call, Taker: &Parameters{Taker: Quote(call.Name)}, Schema: flow.AList, Key: "_each"}
		all = JudgeTemplate(p, call.Each.List, to, true)
	}
	takers := Takers(p, call)
	for _, f := range call.Params.Fields {
		if !f.Value.Live {
			continue
		}
		for _, known := range takers {
			at := known.Place(f.Key)
			if !at.Possible || at.Schema == nil {
				continue
			}
			to := Target{Call: call, Taker: known, Schema: at.Schema, Key: f.Key}
			if found := JudgeTemplate(p, f.Value, to, sound); len(found) > 0 {
				all = append(all, found...)
				break
			}
		}
	}
	return all
}

// JudgeTemplate judges a value with expressions in it: each of these, and where nothing is wrong with any and the rest
// is sound, the whole.
func JudgeTemplate(p *Pass, t *plan.Template, to Target, sound bool) (found []Judgement) {
	judge := func(of []flow.Variant, to Target) {
		if fit := p.Flow.Accepts(to.Call, of, to.Schema); fit.Relation != schema.Fits {
			found = append(found, Judgement{fit, to})
		}
	}
	eachPart(t, nil, to.Schema, "", func(t *plan.Template, _ *source.Node, s *schema.Schema, part string) {
		if t.Expr != nil {
			judge(p.Flow.Expression(t), Target{to.Call, to.Taker, s, t.Node, to.Key, part})
		}
	})
	if t.Expr == nil && len(found) == 0 && sound {
		container := p.Flow.Eval(to.Call, t)
		container[0].Operand.Node, to.Node = t.Node, t.Node
		judge(container, to)
	}
	return found
}

// eachPart visits a template and its parts for which a schema says something: with the key of its mapping, nil in a
// list, and its path (.x[0]).
func eachPart(t *plan.Template, key *source.Node, s *schema.Schema, part string,
	visit func(t *plan.Template, key *source.Node, s *schema.Schema, part string)) {
	if s == nil {
		return
	}
	visit(t, key, s, part)
	for i, item := range t.Items {
		if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
			eachPart(item, nil, at.Schema, fmt.Sprintf("%s[%d]", part, i), visit)
		}
	}
	for _, f := range t.Fields {
		if at := s.Part(f.Key); at.Possible {
			eachPart(f.Value, f.Node, at.Schema, part+"."+f.Key, visit)
		}
	}
}

var NotAnalysed = &diag.Rule{Code: "OB902", Name: "not-fully-analysed", Default: diag.Info}

// CutShort says that a judgement was cut short.
func CutShort(p *Pass, at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.Found.Report(NotAnalysed, at, format, args...).Advise("use simpler schemas, or fewer alternatives in them")
}

// Undecided says that whether values fit isn't fully analysed.
func Undecided(p *Pass, j *Judgement) {
	CutShort(p, j.Place(), "whether %s fits %s isn't fully analysed: %s", j.Called(), j.To.Where(), j.CutShort).
		About(j.To.Call.Label())
}

// An openQuestion is a question about branches without an answer.
type openQuestion struct {
	At   source.Span
	Call *plan.Call
	What string
}

// Unanswered notes something that the budget didn't last for, if it is the first.
func Unanswered(p *Pass, at source.Span, call *plan.Call, what string) {
	if p.OpenQuestion == nil {
		p.OpenQuestion = &openQuestion{at, call, what}
	}
}

// JudgeLiterals compares a template with a schema: the values in it, or the parts of them, that hold no expression.
// Refused receives what isn't accepted: its place and path (.x[0]), why, and for a value its node and schema. Key is
// the key of the template's mapping, nil in a list.
func JudgeLiterals(t *plan.Template, key *source.Node, s *schema.Schema,
	refused func(at source.Span, part, why string, n *source.Node, s *schema.Schema)) {
	eachPart(t, key, s, "", func(t *plan.Template, key *source.Node, s *schema.Schema, part string) {
		refuse := func(why string) { refused(PlaceAt(key, t.Node, nil), part, why, nil, nil) }
		switch {
		case t.Opaque():
		case !t.Live:
			if bad := s.Validate(t.Value); bad != nil {
				refused(PlaceAt(key, t.Node, bad.Path), part+bad.Where(), bad.Message, t.Node.Along(bad.Path),
					s.At(bad.Path).Schema)
			}
		case t.Items != nil:
			if s.Kinds()&schema.Array == 0 {
				refuse("expected " + s.Kinds().String() + ", got a list")
			}
		case s.Kinds()&schema.Object == 0:
			refuse("expected " + s.Kinds().String() + ", got a mapping")
		default:
			for _, required := range s.Required() {
				if !slices.ContainsFunc(t.Fields, func(f plan.TemplateField) bool { return f.Key == required }) {
					refuse("the property " + Quote(required) + " is missing")
				}
			}
			for _, f := range t.Fields {
				if !s.Part(f.Key).Possible {
					refused(f.Node.Span(), part, "the property "+Quote(f.Key)+" isn't allowed", nil, nil)
				}
			}
		}
	})
}

// PlaceAt follows a path from a node, whose key is given where it has one, into the text. The place of a mapping or
// list that isn't in one line with its key is that key, or else its first line.
func PlaceAt(key, n *source.Node, path []schema.Step) source.Span {
	for _, step := range path {
		next := n.Step(step)
		if next == nil {
			break
		}
		if key = nil; !step.IsIndex {
			key = n.Field(step.Key).Key
		}
		n = next
	}
	span := n.Span()
	if key != nil && (n.Kind == source.Object || n.Kind == source.Array) && key.Span().From().Line != span.To().Line {
		return key.Span()
	}
	return span.Head()
}

// Parameters are what a tool's schema says of its parameters, or a delegate's of
// its input, worked out once for all calls.
type Parameters struct {
	Taker    string // what to call it
	Tool     *plan.Tool
	Schema   *schema.Schema
	Required []string
	Names    *Names // that the schema has
	Places   map[string]schema.Place
	Bounds   map[string]*source.Node // of what a policy says of a tool: where it does, by parameter
}

// ParametersOf is nil for a tool whose parameters aren't known.
func ParametersOf(p *Pass, tool *plan.Tool) *Parameters {
	if tool == nil || tool.Parameters == nil || tool.Parameters.Compile() != nil {
		return nil
	}
	return Once(p.Shared, tool, func() *Parameters {
		return &Parameters{
			Taker: Quote(tool.Name), Tool: tool, Schema: tool.Parameters, Places: map[string]schema.Place{},
			Names: newNames(tool.Parameters.Properties()),
			Required: slices.DeleteFunc(tool.Parameters.Required(),
				func(name string) bool { return tool.Given[name] != nil }),
		}
	})
}

// Takers are what takes the parameters of a call: its tool, and the plan that is run as the call. Where that plan is
// all that is known of the tool, it speaks for both.
func Takers(p *Pass, call *plan.Call) []*Parameters {
	known := ParametersOf(p, call.Tool)
	var takers []*Parameters
	face := compiler.Interface(p.Plan.Delegates[call.Delegate])
	if known != nil && (face == nil || call.Tool.Parameters != face.Parameters) {
		takers = append(takers, known)
	}
	if known := ParametersOf(p, face); known != nil {
		known.Taker = "the delegate " + Quote(face.Name)
		takers = append(takers, known)
	}
	return takers
}

func (t *Parameters) Place(name string) schema.Place {
	return flow.Once(t.Places, name, func() schema.Place { return t.Schema.Part(name) })
}

// combining are the keywords by which a schema judges parameters beside each other.
var combining = []string{
	"if", "allOf", "anyOf", "oneOf", "not", "$ref", "const", "enum", "dependencies", "dependentRequired",
	"dependentSchemas", "minProperties", "maxProperties", "propertyNames", "unevaluatedProperties",
}

// Combines reports whether the schema judges parameters beside each other.
func (t *Parameters) Combines() bool {
	raw, _ := t.Schema.Raw().(map[string]any)
	return slices.ContainsFunc(combining, func(keyword string) bool { return raw[keyword] != nil })
}

// Unknown reports whether the schema neither names a parameter nor says itself that there may be others.
func (t *Parameters) Unknown(name string) bool {
	at := t.Place(name)
	return !at.Named && !(at.Possible && (t.Tool.Open || at.Open))
}

// Declares reports whether the schema names a parameter.
func (t *Parameters) Declares(name string) bool { return slices.Contains(t.Names.All, name) }

func Passes(call *plan.Call, name string) bool {
	return slices.ContainsFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == name })
}

// Node is where a parameter is declared, or a policy says what it may be.
func (t *Parameters) Node(name string) *source.Node {
	if n := t.Bounds[name]; n != nil || t.Tool == nil {
		return n
	}
	return ParameterNode(t.Tool, name)
}

// Verb says what is done with a parameter there.
func (t *Parameters) Verb() string {
	if t.Bounds != nil {
		return "bounded"
	}
	return "declared"
}

// ParameterNode is where a tool's own text declares a parameter.
func ParameterNode(tool *plan.Tool, name string) *source.Node {
	if tool.Builtin {
		return nil
	}
	n := tool.Node
	if in := n.Get("inputSchema"); in != nil {
		n = in
	}
	if f := n.Get("properties").Field(name); f != nil {
		return f.Key
	}
	return nil
}

// Completed is what a call passes, laid over what is there anyway.
func (t *Parameters) Completed(passed any) any {
	own, ok := passed.(map[string]any)
	if !ok || len(t.Tool.Given) == 0 {
		return passed
	}
	all := maps.Clone(t.Tool.Given)
	maps.Copy(all, own)
	return all
}
