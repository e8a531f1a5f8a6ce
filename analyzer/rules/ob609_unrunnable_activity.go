package rules

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: document, Run: unrunnableActivities}.As("OB609", "unrunnable-activity", diag.Error))

// unrunnableActivities reports activities that calls use and that can't be carried out
// where the plan is to be run, each once.
func unrunnableActivities(p *Pass) {
	unfitActivities(p)
	if p.Machine == nil {
		return
	}
	reported := map[string]bool{}
	for _, call := range p.Plan.Calls {
		a := p.Plan.Activities[call.Activity]
		if a == nil || a.Node == nil || reported[call.Activity] {
			continue
		}
		reported[call.Activity] = true
		p.Machine.Unrunnable(a, func(what, help string, at source.Span) {
			f := p.ReportCall(call, at, "the activity %q can't be run: %s", compiler.Shown(a.Name), what).
				Advise("%s", help).
				Note(call.ToolNode.Span(), "%q needs it", call.Name)
			if p.Machine.Other {
				f.As(diag.Warning)
			}
		})
	}
}

// unfitActivities reports programs that can't do what the tools say that they carry out, each once for a tool.
func unfitActivities(p *Pass) {
	carriedOut(p, func(known *parameters, a *plan.Activity, calls []*plan.Call) {
		for _, taken := range a.Parameters {
			strayParameter(p, known, a, taken)
		}
		dropped(p, known, a, calls)
		otherResult(p, known.Tool, a)
	})
	for _, call := range p.Plan.Calls {
		a := p.Plan.Activities[call.Activity]
		if a == nil || a.Stdout != plan.StreamNone {
			continue
		}
		if n := call.Node.Get("_outputPath"); n != nil {
			p.ReportCall(call, n.Span(), "the activity %q returns nothing (\"stdout: none\"), so null would be written",
				compiler.Shown(a.Name)).As(diag.Warning).
				Advise(
					"remove \"_outputPath\", or declare what the program writes: \"stdout: text\", \"lines\" or " +
						"\"json\"")
		}
	}
}

// carriedOut visits each activity of a tool with known parameters once, with its calls.
func carriedOut(p *Pass, judge func(known *parameters, a *plan.Activity, calls []*plan.Call)) {
	if len(p.Plan.Activities) == 0 {
		return
	}
	type pair struct {
		tool     *plan.Tool
		activity string
	}
	var pairs []pair
	calls := map[pair][]*plan.Call{}
	look := func(tool *plan.Tool, activity string, by ...*plan.Call) {
		one := pair{tool, activity}
		if _, seen := calls[one]; !seen {
			pairs = append(pairs, one)
		}
		calls[one] = append(calls[one], by...)
	}
	for _, tool := range p.Plan.Tools {
		for _, activity := range append([]string{tool.Activity}, tool.Activities...) {
			look(tool, activity)
		}
	}
	for _, call := range p.Plan.Calls {
		look(call.Single(), call.Activity, call)
	}
	for _, one := range pairs {
		if a, known := p.Plan.Activities[one.activity], analysis.ParametersOf(p, one.tool); a != nil && known != nil {
			judge(known, a, calls[one])
		}
	}
}

// upperCase is a name as those of the environment are written.
var upperCase = regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`)

// strayParameter reports what a program is to be given of a call's parameters that its
// tool doesn't have: it would always be left out.
func strayParameter(p *Pass, known *parameters, a *plan.Activity, taken plan.Variable) {
	if !known.Unknown(taken.Name) {
		return
	}
	braces := "{" + taken.Name + "}"
	at := max(0, strings.Index(taken.Node.Text, braces))
	f := p.Report(taken.Node.Within(at, min(at+len(braces), len(taken.Node.Text))),
		"the activity %q uses the parameter %q, which the tool %q doesn't have", compiler.Shown(a.Name),
		taken.Name, known.Tool.Name)
	if near, ok := known.Names.Nearest(taken.Name); ok {
		f.Advise("did you mean %q?", near)
	} else if upperCase.MatchString(taken.Name) {
		f.Advise("write an environment variable as {$%s}", taken.Name)
	} else {
		f.Advise("the tool's parameters are %s; write literal braces as {%s}",
			cmp.Or(known.Names.List(), "not declared"), braces)
	}
	f.Note(known.Tool.NameNode.Span(), "%q is declared here", known.Tool.Name)
}

// dropped reports parameters that calls pass, or where there are no calls yet might, and that change nothing.
func dropped(p *Pass, known *parameters, a *plan.Activity, calls []*plan.Call) {
	passed := map[string]*plan.Call{}
	for _, call := range slices.Backward(calls) {
		for _, f := range call.Params.Fields {
			passed[f.Key] = call
		}
	}
	names := slices.Sorted(maps.Keys(passed))
	if len(p.Plan.Calls) == 0 {
		names = known.Names.All
	}
	for _, name := range names {
		if !kinds.Ignores(a, name) && !neverRead(p.Plan.Delegates[a.Plan], name) || a.NameNode == nil ||
			known.Unknown(name) || IsReported(p, a.Node) {
			continue
		}
		f := p.ReportCall(passed[name], a.NameNode.Span(), "the activity %q doesn't use the parameter %q of the tool "+
			"%q", compiler.Shown(a.Name), name, known.Tool.Name).As(diag.Warning).
			Note(known.Node(name).Span(), "%q is declared here", name).
			Advise("write {%s} in \"argv\", or let the program read it (\"stdin: json\"); or remove it from the tool",
				name)
		switch {
		case a.Plan != "":
			f.Advise("read it as †input.%s in %s, or remove it from the tool", name, a.Plan)
		case a.HTTP != nil:
			f.Advise("send it, as †%s in \"query\" or \"body\", or as {%[1]s} in the url; or remove it from the tool",
				name)
		}
		if by := passed[name]; by != nil {
			f.Note(by.ToolNode.Span(), "this call passes it")
		}
	}
}

// neverRead reports whether a delegate neither declares an input nor reads it.
func neverRead(d *plan.Plan, name string) bool {
	if d == nil || d.InputSchema != nil && (d.InputSchema.Part(name).Named || d.InputSchema.Part(name).Open) {
		return false
	}
	return !slices.ContainsFunc(d.Reads, func(r plan.Read) bool {
		path := d.Paths.Segments(r.Path)
		return len(path) == 0 || path[0].Key == "input" && (len(path) < 2 || path[1].Key == name)
	})
}

// otherResult reports a program or a request whose results never have the kind of its tool's result.
func otherResult(p *Pass, tool *plan.Tool, a *plan.Activity) {
	form, key := a.Stdout, "stdout"
	if a.HTTP != nil {
		form, key = a.HTTP.Response, "response"
	}
	gives := map[string]schema.Kinds{plan.StreamText: schema.String, plan.StreamLines: schema.Array,
		plan.StreamNone: schema.Null, plan.ResponseFull: schema.Object}[form]
	if gives == 0 || tool.Output == nil || tool.Output.Compile() != nil || tool.Output.Kinds()&gives != 0 {
		return
	}
	p.Report(a.Node.Get(a.Kind).Get(key).Span(), "the activity %q returns %s, but the tool %q declares %s",
		compiler.Shown(a.Name), gives, tool.Name, tool.Output.Kinds()).
		Advise("correct %q or the tool's \"_output\"", key).
		Note(tool.OutputNode.Span().Head(), "the result of %q is described here", tool.Name)
}
