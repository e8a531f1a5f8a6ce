package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.LookalikeRef, Scope: document, Run: Lookalikes})

// Lookalikes finds strings that were meant as references and don't begin with †:
// where the tool takes no string, and where a reference stands as others write it.
func Lookalikes(p *Pass) {
	for _, call := range p.Plan.Calls {
		for _, f := range call.Params.Fields {
			eachText(f.Value.Node, []schema.Step{schema.Key(f.Key)},
				func(n *source.Node, steps []schema.Step) { lookalike(p, call, n, steps) })
		}
		for _, path := range call.Paths() {
			written := path.Node.Text[path.Start:path.End]
			if !strings.HasPrefix(written, "state.") || p.Flow.Begins("state", []expression.Segment{{Key: "state"}}) {
				continue
			}
			p.ReportCall(call, path.Span(), "a path without † begins below the state: this writes %q",
				p.Plan.Paths.String(path.ID)).Advise("write %q", "†"+written)
		}
	}
	if p.Plan.Output != nil {
		n := p.Plan.Output.Node
		if ref := (expression.Reference{Kind: "state",
			Path: []expression.Segment{{Key: n.Text}}}); n.Kind == source.String && isNamed(p, ref) {
			p.Report(n.Span(), "the output is this text, and not what a call writes there").
				Advise("a reference begins with †: write %q", ref.String()).
				Offer("make it a reference", n, 0, len(n.Text), ref.String(), false)
		}
		eachText(p.Plan.Output.Node, []schema.Step{},
			func(n *source.Node, steps []schema.Step) { lookalike(p, nil, n, steps) })
	}
	carriedOut(p, func(known *parameters, a *plan.Activity, _ []*plan.Call) {
		texts := func(n *source.Node, places bool) {
			if n != nil {
				eachText(n, []schema.Step{}, func(n *source.Node, steps []schema.Step) {
					if steps != nil && !(a.HTTP != nil && reference.IsExpression(n.Text)) { // the parameter itself
						unboundPlaces(p, known, a, n, places)
					}
				})
			}
		}
		program, request := a.Node.Get("exec"), a.Node.Get("http")
		texts(program.Get("argv"), true)
		texts(program.Get("env"), false)
		texts(program.Get("cwd"), false)
		for _, key := range []string{"url", "query", "headers", "body"} {
			texts(request.Get(key), true)
		}
	})
}

// placeLike is what looks like a place for a parameter or a variable of the environment: {name}, { name }, {{name}},
// ${name}, †{name}, †name or $NAME_OF_IT; {$NAME} is the variable.
var placeLike = regexp.MustCompile(
	`\{\$[^{}]*\}|([$†{]?)\{\s*([^{}$\s][^{}$]*?)\s*\}\}?|(†)([\pL_][^\s{}"',;&]*)|(\$)([A-Z][A-Z0-9]*_[A-Z0-9_]+)`)

// unboundPlaces reports parameters and references in a text of a program's arguments or a request that
// nothing replaces. Only some texts may contain parameters, in braces.
func unboundPlaces(p *Pass, known *parameters, a *plan.Activity, n *source.Node, places bool) {
	for _, m := range placeLike.FindAllStringSubmatchIndex(n.Text, -1) {
		group := 2 // the alternative that matches
		for group < len(m) && m[group] < 0 {
			group += 4
		}
		if group >= len(m) {
			continue // {$NAME} is right
		}
		start, end := m[0], m[1]
		mark, name := n.Text[m[group]:m[group+1]], n.Text[m[group+2]:m[group+3]]
		if mark != "{" && strings.HasSuffix(n.Text[start:end], "}}") {
			end--
		}
		name = strings.Trim(name, "*?&#/+.;") // the operators of RFC 6570's other levels
		text := n.Text[start:end]
		foreign := mark == "$" || mark == "{" || strings.Contains(text, "{ ") // somebody else's templates
		ref, err := reference.Parse(string(expression.Mark) + name)
		isPart := err == nil && len(ref.Path) > 0 && known.Declares(ref.Kind)
		isReference := err == nil && isKnownKind(ref) && (!foreign || a.HTTP != nil)
		help, instead := "", ""
		switch {
		case a.HTTP != nil && (mark == "$" || mark == "{") && upperCase.MatchString(name) && !known.Declares(name):
			// What stands behind "Bearer" isn't shown by its name.
			help, instead = "write {$NAME} for an environment variable", "{$"+name+"}"
		case isReference:
			help = parametersAlone
		case isPart && !foreign:
			help, name = "a text can't insert a part of a parameter: give the tool a parameter for it", ref.Kind
		case !known.Declares(name), foreign && !(places && kinds.Ignores(a, name)), places && kinds.IsParameter(text):
			continue // it means something else
		case !places:
			help = "use parameters in \"argv\" or \"stdin\"; here only environment variables are inserted, as {$NAME}"
		case !kinds.IsParameter("{" + name + "}"):
			help = "use only letters, digits, - and _ in the name of a parameter that a text inserts"
		default:
			instead = "{" + name + "}"
			help = "write a parameter in braces: " + instead
		}
		p.Suggested[analysis.SuggestedParameter{Activity: a, Name: name}] = true
		f := p.Report(n.Within(start, end), "this is passed as text, but %q looks like a value", text).
			Advise("%s", help)
		if instead != "" {
			f.Offer("change it to "+instead, n, start, end, instead, false)
		}
	}
}

// isKnownKind reports whether a reference in an activity was meant as a call's.
func isKnownKind(ref expression.Reference) bool {
	return len(ref.Path) > 0 && slices.Contains([]string{"input", "state", "data", "item"}, ref.Kind)
}

// parametersAlone is what to do about a reference in an activity.
const parametersAlone = "an activity receives only parameters: pass the value in the call, " +
	"and write the parameter's name in braces"

// eachText visits the texts of a value, and the keys of its objects: these without steps.
func eachText(n *source.Node, steps []schema.Step, visit func(n *source.Node, steps []schema.Step)) {
	if n.Kind == source.String {
		visit(n, steps)
	}
	for i, item := range n.Items {
		eachText(item, append(slices.Clip(steps), schema.Index(i)), visit)
	}
	for _, f := range n.Fields {
		visit(f.Key, nil)
		eachText(f.Value, append(slices.Clip(steps), schema.Key(f.Key.Text)), visit)
	}
}

// lookalike checks a text, or a key, of what a call passes.
func lookalike(p *Pass, call *plan.Call, n *source.Node, steps []schema.Step) {
	if steps == nil {
		if reference.IsExpression(n.Text) || reference.IsText(n.Text) {
			p.ReportCall(call, n.Span(), "this key is used as text: a key can't be an expression").
				Advise("write an object with a computed key as an expression: †({(†input.key): †input.value})")
		}
		return
	}
	if call != nil && bareReference(p, call, n, steps) {
		return
	}
	if reference.IsExpression(n.Text) && strings.Contains(strings.ReplaceAll(n.Text, "††{", ""), reference.Opening) {
		p.ReportCall(call, n.Span(), "a text inside an expression isn't evaluated: its †{ … } stays as it is").
			Advise("join the text and the value: \"… \" + string(†state.x)")
	}
	m, ok := expression.Lookalike(n.Text,
		func(ref expression.Reference) bool { return isNamed(p, ref) || inItem(p, call, ref) })
	if !ok {
		return
	}
	f := p.ReportCall(call, n.Within(m.Start, m.End), "this is text, but %q looks like a reference",
		n.Text[m.Start:m.End])
	from, to, tail := 0, len(n.Text), len(m.Intended)
	if reference.IsExpression(m.Intended) {
		f.Advise("an expression begins with †: write %q", m.Intended)
	} else {
		f.Advise("inside a text write %q", m.Intended)
		// What comes before and after stays, be it on many lines.
		for from = m.Start; to > m.End && n.Text[to-1] == m.Intended[tail-1]; tail-- {
			to--
		}
	}
	f.Offer("make it a reference", n, from, to, m.Intended[from:tail], m.Sure)
}

// inItem reports whether a reference names a field that the items of a call's list have.
func inItem(p *Pass, call *plan.Call, ref expression.Reference) bool {
	if call == nil || call.Each == nil || ref.Kind != "item" && (ref.Kind != "index" || len(ref.Path) > 0) {
		return false
	}
	return len(ref.Path) == 0 || slices.ContainsFunc(p.Flow.Elements(call.Each.List), func(v flow.Variant) bool {
		return v.Schema != nil && v.Schema.At(ref.Path[:1]).Named
	})
}

// isNamed reports whether the first key of a reference is one that a call writes, that the
// document holds or declares, or, of the input, that another reference reads.
func isNamed(p *Pass, ref expression.Reference) bool {
	if len(ref.Path) == 0 || ref.Kind != "input" && ref.Kind != "state" && !p.Flow.IsKind(ref.Kind) {
		return false
	}
	path := []expression.Segment{{Key: ref.Kind}}
	if p.Flow.IsKind(ref.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	if id, ok := analysis.Lookup(p, path); ok && analysis.Children(p, id).Has(ref.Path[0]) ||
		!p.Flow.IsKind(ref.Kind) && p.Flow.Begins(ref.Kind, ref.Path[:1]) {
		return true
	}
	if ref.Kind != "input" {
		return false
	}
	_, read := analysis.Lookup(p, append(path, ref.Path[0])) // input isn't written
	return read || p.Plan.InputSchema != nil && p.Plan.InputSchema.At(ref.Path[:1]).Named
}

// bareReference reports a text that reads like a reference without its † where the tool takes no text.
func bareReference(p *Pass, call *plan.Call, n *source.Node, steps []schema.Step) bool {
	takers := analysis.Takers(p, call)
	if len(takers) == 0 || !reference.BareReference(n.Text) {
		return false
	}
	at := takers[0].Schema.At(steps)
	kinds := at.Schema.Kinds()
	if !at.Possible || kinds == 0 || kinds&schema.String != 0 {
		return false
	}
	p.ReportCall(call, n.Span(), "this is the text %q, but %q expects %s", n.Text, call.ToolName, kinds).
		Advise("a reference begins with †: write %q", "†"+n.Text).
		Offer("make it a reference", n, 0, 0, string(expression.Mark), true)
	return true
}
