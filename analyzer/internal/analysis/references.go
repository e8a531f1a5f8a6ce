package analysis

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// NeverThere reports whether an expression can have no value once the reads that
// are never there are absent, whatever the others give.
func NeverThere(t *plan.Template, never func(read int) bool) bool {
	_, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
		if never(t.Reads[i]) {
			return nil, expression.Absent
		}
		return nil, expression.Pending
	})
	return err == nil && presence == expression.Absent
}

// ExplainNever adds to a finding about a reference that is never there what was most likely meant by it.
func ExplainNever(p *Pass, f *diag.Diagnostic, r *plan.Read, call *plan.Call) {
	if call != nil {
		if own, yes := flow.OutputOver(p.Plan, call, r.Path); yes {
			f.Note(own.Span(), "only the call itself writes it, and a call doesn't see its own result")
			return
		}
	}
	if last := len(r.Ref.Path) - 1; last > 0 {
		of := expression.Reference{Kind: r.Ref.Kind, Path: r.Ref.Path[:last]}
		if name, ok := expression.FunctionFor(r.Ref.Path[last].Key); ok && somethingAt(p, of) {
			f.Advise("a function stands before what it is of: †(%s(%s))", name, of.String())
			return
		}
	}
	near, ok := nearReference(p, r)
	if !ok {
		return
	}
	f.Advise("did you mean %q?", near.String())
	if near.respelt {
		f.Advise(
			"did you mean %q? the two are one text in two spellings: composed characters in one, combining ones "+
				"in the other", near.String())
	}
	f.Rename(r.Node, r.Ref.Start, r.Ref.End, near.text, near.sure)
	NoteSuggestion(p, f, near.Reference)
}

// PastEnd says that a list in a schema ends before a step of a path; it is "" where none does.
func PastEnd(s *schema.Schema, path []expression.Segment) string {
	for i, step := range path {
		_, most := s.At(path[:i]).Schema.Lengths()
		if step.IsIndex && most >= 0 && step.Index >= most {
			return fmt.Sprintf("the list has at most %d items (maxItems)", most)
		}
	}
	return ""
}

// NoteSuggestion notes where the suggested reference is written.
func NoteSuggestion(p *Pass, f *diag.Diagnostic, suggested expression.Reference) {
	if at, ok := writtenAt(p, suggested); ok {
		f.Note(at.Span(), "%q is written here", p.Path(at.ID))
	}
}

// IsAstray reports whether an error is about something that isn't there, most likely a misspelt name: nobody
// knows then what the calls wait for, or what is used. One instance may lack what others have.
func IsAstray(p *Pass) bool {
	return p.Flow.Lacks == nil && slices.ContainsFunc(p.Found, func(f diag.Diagnostic) bool {
		return f.Severity == diag.Error &&
			(f.Rule == diag.DanglingReference || f.Rule == diag.UndeclaredPath || f.Rule.Code == "OB501")
	})
}

var (
	WhyNever = map[string]string{
		"input": "the input doesn't contain it",
		"state": "no call writes it, and the initial state doesn't contain it",
		"data":  "no call writes it, and no message contains it",

		"advice": "advisors vote on tools, and there is no such tool",
		"error":  "without a planner calls see no errors, and only calls make some",
	}
	WhereFrom = map[string]string{
		"input": "declare it under \"input\" or \"inputSchema\"",
		"state": "let a call write it with \"_outputPath\", or give it under \"state\"",
		"data":  "let a call write it with \"_outputPath\", or give it in a message of its kind",

		"advice": "name a tool: †advice.tool is a number, the result of the votes on it",
		"error":  "read it in \"output\", or give the call that may fail a failure route",
	}
)

// Initial is what the document gives and declares at a path.
func Initial(p *Pass, path []expression.Segment) (any, *schema.Schema) {
	if len(path) == 0 {
		return nil, nil
	}
	value, s := p.Plan.Of(path[0].Key)
	value, _ = pathtree.Walk(value, path[1:])
	if s != nil {
		s = s.At(path[1:]).Schema
	}
	return value, s
}

// somethingAt reports whether a call writes exactly a path, or the document holds or declares it.
func somethingAt(p *Pass, r expression.Reference) bool {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if id, ok := Lookup(p, path); ok && p.Plan.Written(id) {
		return true
	}
	value, s := Initial(p, path[:len(path)-1])
	last := path[len(path)-1]
	if _, ok := pathtree.Step(value, last); ok {
		return true
	}
	return s != nil && s.At([]expression.Segment{last}).Named
}

func Lookup(p *Pass, path []expression.Segment) (pathtree.ID, bool) {
	id, ok := pathtree.Root, true
	for _, s := range path {
		if id, ok = p.Plan.Paths.Lookup(id, s); !ok {
			return 0, false
		}
	}
	return id, true
}

// writtenAt is where a call first writes a path, or something above or below it.
func writtenAt(p *Pass, r expression.Reference) (plan.Path, bool) {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if p.Flow.IsKind(r.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	id := pathtree.Root
	for _, s := range path {
		next, ok := p.Plan.Paths.Lookup(id, s)
		if !ok {
			break // what is written above it counts as well
		}
		id = next
	}
	if p.Plan.Paths.Depth(id) < 2 {
		return plan.Path{}, false
	}
	for _, w := range p.Plan.Writers(id) {
		if at, ok := flow.OutputOver(p.Plan, p.Plan.Calls[w.Call], id); ok {
			return at, true
		}
	}
	return plan.Path{}, false
}
