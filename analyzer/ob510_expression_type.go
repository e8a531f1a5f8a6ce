package analyzer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var expressionType = rules.Register(Rule{
	Rule: &diag.Rule{Code: "OB510", Name: "expression-type", Default: diag.Error},
	Run:  expressionTypes,
})

// expressionTypes holds every expression against what is known of the types of
// its references, and every _when against being a boolean.
func expressionTypes(p *Pass) {
	if p.From == 0 {
		activityCode(p)
	}
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		when := call != nil && t == call.When
		if !when && rules.NeverFails(t.Expr) {
			return
		}
		result, err := p.Flow.Check(t)
		if err != nil {
			f := p.Report(t.Node.Within(err.Start, err.End), "%s", err.Message).About(call.Label())
			if f.Help = err.Help; f.Help == "" {
				f.Advise("the types come from the values and schemas of the input and the state, and from the tools' \"_output\"")
			}
			return
		}
		if when && result != nil && result.Kinds != 0 && result.Kinds&expression.Bool == 0 {
			f := p.Report(t.Node.Span(), "\"_when\" must be true or false; this is %s", result.Kinds).About(call.Label()).
				Advise("compare it with something: †state.total > 100")
			passed := func(r int) bool {
				return r != t.Reads[0] && p.Plan.Paths.Overlap(p.Plan.Reads[r].Path, p.Plan.Reads[t.Reads[0]].Path)
			}
			if t.Expr.Plain() && result.Kinds&expression.Number == 0 && slices.ContainsFunc(call.Reads, passed) {
				f.Advise("remove it: a call that reads %q in its parameters runs only if that has a value", t.Node.Text)
			}
		}
	})
}

// activityCode holds the expressions of activities against the parameters of the tools that they carry out.
func activityCode(p *Pass) {
	reported := map[string]bool{}
	for _, tool := range p.Plan.Tools {
		activity := p.Plan.Activities[tool.Activity]
		known := analysis.ParametersOf(p, tool)
		if activity == nil || activity.Expression == nil || known == nil || reported[tool.Activity] {
			continue
		}
		used, strange := map[string]bool{}, []string(nil)
		variable := func(name string) *expression.Type {
			used[name] = true
			if known.Unknown(name) { // nobody passes it, and it is null
				strange = append(strange, name)
				return &expression.Type{Kinds: expression.Null}
			}
			if at := known.Place(name); at.Possible {
				return p.Flow.TypeOf(at.Schema, false)
			}
			return nil
		}
		result, err := activity.Expression.CheckCode(variable)
		if f := strayName(p, tool.Activity, known, activity); f != nil {
			if reported[tool.Activity] = true; err != nil { // it always goes wrong
				f.As(diag.Error)
			}
			continue
		}
		if err == nil {
			codeTried(p, tool, activity, variable, used, result, reported)
			continue
		}
		reported[tool.Activity] = true
		f := codeFault(p, tool, activity.Node.Get("expr").Within(err.Start, err.End), err.Message)
		if f.Help = err.Help; f.Help == "" {
			f.Advise("the types come from the parameters of %q, which the activity carries out", tool.Name)
		}
		if len(strange) > 0 {
			f.Advise("the tool %q has no parameter %q, which is null therefore; it has %s", tool.Name, strange[0], cmp.Or(known.Names().List, "none"))
		}
	}
}

// strayName reports the first name in an activity's code that is none of a parameter, of
// whatever tool that it carries out: it is always null.
func strayName(p *Pass, name string, known *analysis.Parameters, activity *plan.Activity) *diag.Diagnostic {
	code := activity.Node.Get("expr")
	stray := func(n *expression.Node) bool {
		return n.Op == expression.OpVar && known.Unknown(n.Name) && !slices.ContainsFunc(p.Plan.Tools, func(t *plan.Tool) bool {
			k := analysis.ParametersOf(p, t)
			return compiler.MayRun(t, name) && (k == nil || !k.Unknown(n.Name))
		})
	}
	var node *expression.Node
	for n := range activity.Expression.Root().All() {
		if stray(n) {
			node = n
			break
		}
	}
	if node == nil {
		return nil
	}
	first := node.Name
	message := fmt.Sprintf("%q isn't a parameter of the tool %q, so it is always null", first, known.Tool.Name)
	f := codeFault(p, known.Tool, code.Within(node.Start, node.End), message).As(diag.Warning)
	if near, ok := known.Names().Nearest(first); ok {
		p.Suggested.Parameters[analysis.SuggestedParameter{Activity: activity, Name: near}] = true
		f.Advise("did you mean %q?", near)
	} else if list := known.Names().List; list != "" {
		f.Advise("the parameters are %s; write a text in quotes", list)
	} else {
		f.Advise("declare the parameter in the tool; write a text in quotes")
	}
	return f
}

func codeFault(p *Pass, tool *plan.Tool, at source.Span, message string) *diag.Diagnostic {
	return p.Report(at, "%s", message).Show(tool.NameNode.Span(), "%q is declared here", tool.Name)
}

// codeTrials is how many parameters the code of an activity is tried with.
const codeTrials = 64

// codeTried works the code of an activity out with parameters that its tool takes: what
// goes wrong, and what isn't a result of the tool, is reported with them.
func codeTried(p *Pass, tool *plan.Tool, activity *plan.Activity, variable func(string) *expression.Type, used map[string]bool, result *expression.Type, reported map[string]bool) {
	risky, blind := activity.Expression.CodeMayFail(variable)
	known := analysis.ParametersOf(p, tool)
	samplesOf(p).openCode[tool], _ = activity.Expression.CodeMayFail(func(name string) *expression.Type {
		at := known.Place(name)
		if !at.Possible || !at.Required { // a call may leave it out
			return nil
		}
		return p.Flow.TypeOf(at.Schema, true)
	})
	gives := p.Flow.Likeness(result)
	if blind || alwaysRouted(p, tool) || !risky && (tool.Output == nil || gives != nil && p.Flow.Contains(gives, tool.Output).Relation == schema.Fits) {
		return
	}
	var open []schema.Step // parameters that some variant of a union doesn't describe
	for _, name := range slices.Sorted(maps.Keys(used)) {
		switch at := known.Place(name); {
		case !at.Named && known.Open, at.Named && (at.Schema == nil || at.Schema.Kinds() == schema.Anything):
			samplesOf(p).openCode[tool] = true
			return
		case at.Named && !isDescribed(at.Schema, false, 4):
			open = append(open, schema.Key(name))
		}
	}
	steps := trialWork / 4
	g := generator{pass: p, left: &steps}
	g.boundaries.atBounds(tool.Output)
	g.boundaries.atConstants(activity.Expression)
	for n := 0; n < codeTrials && steps > 0; n++ {
		steps -= callWork
		g = g.vary(n, rand.New(rand.NewPCG(uint64(n), 72)))
		drawn, ok := g.sample(known.Schema, false)
		params, isObject := drawn.(map[string]any)
		if !ok || !isObject {
			return
		}
		if slices.ContainsFunc(open, func(step schema.Step) bool { return !isDescribedIn(known.Schema, params, []schema.Step{step}, false) }) {
			continue
		}
		value, err := codeGives(p, tool, activity, params, &steps)
		if samplesOf(p).worked.Passed() {
			return
		}
		if refused := new(schema.Violation); errors.As(err, &refused) && !isTyped(result, refused.Path) {
			continue
		}
		never := err != nil && gives != nil && tool.Output != nil && p.Flow.Contains(gives, tool.Output).Relation == schema.Never
		if codeFails(p, tool, nil, activity, params, value, err, never) != nil {
			reported[tool.Activity] = true
			return
		}
	}
}

var errTooLarge = errors.New("there is no time to hold it against a schema")

// codeGives evaluates the code of an activity. The error says why it fails, or that the tool's
// "_output" refuses the result.
func codeGives(p *Pass, tool *plan.Tool, activity *plan.Activity, params map[string]any, steps *int) (value any, err error) {
	if value, err = activity.Expression.EvalCode(params, &samplesOf(p).worked); err != nil {
		return nil, err
	}
	if o, ok := value.(map[string]any); ok && len(o) == 2 && o["_outputPath"] != nil {
		if of, ok := o["_output"]; ok { // it names the alternative that it takes
			value = of
		}
	}
	if tool == nil || tool.Output == nil {
		return value, nil
	}
	decided := false
	_, accepted := affordable(steps, func(steps *int) (_ any, accepted bool) {
		accepted, decided = tool.Output.AcceptsWithin(value, steps)
		return nil, accepted
	})
	if !decided {
		return nil, errTooLarge
	}
	if !accepted {
		if refused := tool.Output.Validate(value); refused != nil {
			return value, refused
		}
	}
	return value, nil
}

// codeFails reports why the code of an activity fails with some parameters: those that a call passes, or that its
// tool accepts. Of the latter only the kinds count.
func codeFails(p *Pass, tool *plan.Tool, call *plan.Call, activity *plan.Activity, params map[string]any, value any, err error, never bool) (f *diag.Diagnostic) {
	node, wrong, refused := activity.Node.Get("expr"), new(expression.Error), new(schema.Violation)
	switch {
	case errors.As(err, &wrong):
		if wrong.Cause == expression.OfText || call == nil && wrong.Cause == expression.OfValue {
			return nil
		}
		f = codeFault(p, tool, node.Within(wrong.Start, wrong.End), "this fails when the parameters are "+analysis.Brief(params)+": "+wrong.Message).As(diag.Warning).
			Advise("narrow the tool's parameters, or handle that case in the expression")
	case errors.As(err, &refused):
		words, severity := "this may not match the \"_output\" of %q: for %s it returns %s: %s", diag.Warning
		if never {
			words, severity = "this never matches the \"_output\" of %q: for %s it returns %s: %s", diag.Error
		}
		f = codeFault(p, tool, node.Span(), fmt.Sprintf(words, tool.Name, analysis.Brief(params), analysis.Brief(value), strings.TrimPrefix(refused.Error(), "."))).As(severity).
			Advise("correct the expression or the tool's \"_output\"")
	default:
		return nil
	}
	f.Witness = params
	return f
}

// tryCode evaluates the code of an activity with a call's parameters. Faults are reported if only calls show them.
func (w *trial) tryCode(call *plan.Call, activity *plan.Activity, params map[string]any) (value any, well bool) {
	p, tool := w.pass, call.Single()
	value, err := codeGives(p, tool, activity, params, w.left)
	if err == nil {
		return value, true
	}
	if samplesOf(p).openCode[tool] && call.FailureRoute() < 0 && !w.worked.Passed() && w.first(call, tool, activity.Node.Get("expr")) {
		rule := p.Rule
		p.Rule = expressionType.Rule
		if f := codeFails(p, tool, call, activity, params, value, err, false); f != nil {
			f.About(call.Label()).Note(call.ToolNode.Span(), "this call passes them")
		}
		p.Rule = rule
	}
	return nil, false
}

// alwaysRouted reports whether the plan has a way for the failures of every call of a tool.
func alwaysRouted(p *Pass, tool *plan.Tool) bool {
	return !slices.ContainsFunc(p.Plan.Calls, func(call *plan.Call) bool { return call.Single() == tool && call.FailureRoute() < 0 })
}

// isTyped reports whether anything is known of the type of a part of a value.
func isTyped(t *expression.Type, path []any) bool {
	for i := 0; i < len(path) && t != nil; i++ {
		if key, isKey := path[i].(string); isKey {
			t = t.Fields[key]
		} else {
			t = t.Elem
		}
	}
	return t != nil && t.Kinds != 0
}
