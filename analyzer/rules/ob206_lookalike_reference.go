package rules

import (
	"regexp"
	"slices"
	"strings"

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
		for _, one := range []struct {
			kind, key string
			places    bool // parameters stand there
		}{
			{"exec", "argv", true}, {"exec", "env", false}, {"exec", "cwd", false},
			{"http", "url", true}, {"http", "query", true}, {"http", "headers", true}, {"http", "body", true},
		} {
			if n := a.Node.Get(one.kind).Get(one.key); n != nil {
				eachText(n, []schema.Step{}, func(n *source.Node, steps []schema.Step) {
					if steps != nil {
						unboundPlaces(p, known, a, n, one.places)
					}
				})
			}
		}
	})
}

// placeLike is what looks like a place for a parameter: {name}, { name }, {{name}}, ${name}, †{name} or †name.
var placeLike = regexp.MustCompile(`([$†{]?)\{(\s*)([^{}$\s][^{}$]*?)\s*\}|†([\pL_][^\s{}"',;&]*)`)

// variableLike is what looks like a variable of the environment: ${NAME} {{NAME}} or $NAME_OF_IT.
var variableLike = regexp.MustCompile(`(?:\$\{|\{\{)([A-Z][A-Z0-9_]+)\}+|\$([A-Z][A-Z0-9]*_[A-Z0-9_]+)`)

// unboundPlaces reports parameters and references in a text of a program's arguments or a request that
// nothing replaces. Only some texts may contain parameters, in braces.
func unboundPlaces(p *Pass, known *parameters, a *plan.Activity, n *source.Node, places bool) {
	if a.HTTP != nil && reference.IsExpression(n.Text) {
		return // the parameter itself
	}
	if a.HTTP != nil {
		for _, at := range variableLike.FindAllStringSubmatchIndex(n.Text, -1) {
			from := max(at[2], at[4])
			if name := n.Text[from:max(at[3], at[5])]; !known.Declares(name) &&
				!strings.HasSuffix(n.Text[:at[0]], "{") {
				// What stands behind "Bearer" isn't shown by its name.
				f := p.Report(n.Within(at[0], at[1]),
					"this is sent as text, but it looks like an environment variable").
					Advise("write {$NAME} for an environment variable")
				f.Offer("make it the variable", n, at[0], at[1], "{$"+name+"}", false)
			}
		}
	}
	for _, at := range placeLike.FindAllStringSubmatchIndex(n.Text, -1) {
		start, end := at[0], at[1]
		prefix, name, sure := "†", "", true
		if at[8] >= 0 {
			name = n.Text[at[8]:at[9]]
		} else {
			prefix, name = n.Text[at[2]:at[3]], n.Text[at[6]:at[7]]
			name = strings.Trim(name, "*?&#/+.;") // the operators of RFC 6570's other levels
			sure = prefix != "$" && prefix != "{" && at[4] == at[5]
		}
		ref, err := reference.Parse(string(expression.Mark) + name)
		isReference := err == nil && isKnownKind(ref) && (sure || a.HTTP != nil)
		isPart := err == nil && len(ref.Path) > 0 && known.Declares(ref.Kind)
		switch {
		case isReference || isPart && sure:
		case !known.Declares(name), !sure && !(places && kinds.Ignores(a, name)):
			continue // it means something else
		case places && kinds.IsParameter(n.Text[start:end]):
			continue
		}
		if prefix == "{" && strings.HasPrefix(n.Text[end:], "}") {
			end++
		}
		if isPart {
			name = ref.Kind
		}
		p.Suggested[analysis.SuggestedParameter{Activity: a, Name: name}] = true
		f := p.Report(n.Within(start, end), "this is passed as text, but %q looks like a value", n.Text[start:end])
		switch place := "{" + name + "}"; {
		case isReference:
			f.Advise("%s", parametersAlone)
		case !places:
			f.Advise(
				"use parameters in \"argv\" or \"stdin\"; here only environment variables are inserted, as {$NAME}")
		case isPart:
			f.Advise("a text can't insert a part of a parameter: give the tool a parameter for it")
		case !kinds.IsParameter(place):
			f.Advise("use only letters, digits, - and _ in the name of a parameter that a text inserts")
		default:
			f.Advise("write a parameter in braces: %s", place)
			f.Offer("make it the parameter", n, start, end, place, false)
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
	if start, end, ok := reference.Unfilled(n.Text); ok {
		p.ReportCall(call, n.Within(start, end), "this text is inside an expression, so its †{ … } isn't evaluated").
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
