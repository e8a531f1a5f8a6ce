package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// neverThere reports whether an expression can have no value once the reads that
// are never there are absent, whatever the others give.
func neverThere(t *plan.Template, never func(read int) bool) bool {
	_, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
		if never(t.Reads[i]) {
			return nil, expression.Absent
		}
		return nil, expression.Pending
	})
	return err == nil && presence == expression.Absent
}

// mayBeThere reports whether something may put a value where a read looks. It
// says yes where it can't know.
func (p *Pass) mayBeThere(r *plan.Read) bool {
	if len(r.Writers) > 0 || r.Start || r.Path == pathtree.Root {
		return true
	}
	compiled := p.Plan
	path := compiled.Paths.Segments(r.Path)
	if len(path) == 1 {
		return true // all of a kind is always something
	}
	if compiled.Form == plan.Replan { // a run knows what it has
		switch path[0].Key {
		case "input":
			return p.begins("input", path[1:])
		case "state":
			return p.Unknown(diag.Writes) || p.begins("state", path[1:])
		case "data":
			return p.Unknown(diag.Writes) || holds(anyMap(compiled.Data), path[1:])
		case "advice":
			return len(path) == 2 && !path[1].IsIndex && p.mayBeCalled(path[1].Key)
		}
		return true
	}
	switch path[0].Key {
	case "input":
		if p.Unknown(diag.Input) || compiled.Input == nil && compiled.InputSchema == nil {
			return p.Unknown(diag.Input) || !p.lacksInput(r.Path, path[1:])
		}
		if compiled.InputSchema != nil {
			at := compiled.InputSchema.At(compiler.SchemaPath(path[1:]))
			if at.Named || at.Possible && (at.Silent || at.Open) {
				return true
			}
		}
		return p.begins("input", path[1:])
	case "state":
		if p.Unknown(diag.State | diag.Writes) {
			return true
		}
		if compiled.StateSchema != nil {
			at := compiled.StateSchema.At(compiler.SchemaPath(path[1:]))
			if at.Named || !at.Possible || at.Open || at.Silent && at.Depth > 0 { // what isn't possible is OB204's
				return true
			}
		}
		return p.begins("state", path[1:])
	case "data":
		return p.Unknown(diag.Writes) || compiled.Data[path[1].Key] == nil && p.isKind(path[1].Key) ||
			holds(anyMap(compiled.Data), path[1:]) || p.describesKind(path[1].Key)
	case "advice":
		return len(path) == 2 && !path[1].IsIndex && p.mayBeCalled(path[1].Key)
	}
	return true // errors come with a run
}

// mayBeCalled reports whether a tool of some name may exist.
func (p *Pass) mayBeCalled(tool string) bool {
	return !p.Plan.ToolsDeclared || p.Unknown(diag.Tools) || p.Plan.Tool(tool) != nil || p.Plan.Activities[tool] != nil || p.defines(tool)
}

// holds reports whether a value has something at a path. A null on the way is a blank to be filled in.
func holds(value any, path []expression.Segment) bool {
	for _, s := range path {
		if value == nil {
			return false
		}
		next, ok := pathtree.Step(value, s)
		if !ok {
			return false
		}
		if next == nil {
			return true
		}
		value = next
	}
	return value != nil
}

func anyMap(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// begins reports whether the input or the state begins with something at a path, be
// it in one instance only.
func (p *Pass) begins(kind string, path []expression.Segment) bool {
	compiled := p.Plan
	if kind == "input" {
		return holds(compiled.Input, path) || slices.ContainsFunc(compiled.Instances, func(i plan.Instance) bool { return holds(i.Input, path) })
	}
	return holds(compiled.State, path) || slices.ContainsFunc(compiled.Instances, func(i plan.Instance) bool { return holds(i.State, path) })
}

func (p *Pass) isKind(name string) bool {
	return slices.Contains(p.Plan.Kinds, name)
}

// describesKind reports whether a message of the context gives a schema for a
// kind: its value isn't all that may be there.
func (p *Pass) describesKind(kind string) bool {
	messages := p.Plan.Root
	if messages.Kind == source.Object {
		messages = messages.Get("context")
	}
	if messages == nil {
		return false
	}
	for _, m := range messages.Items {
		if k := m.Get("kind"); k != nil && k.Text == kind && m.Get("schema") != nil {
			return true
		}
	}
	return false
}

// outputOver is the first of a call's output paths that overlaps a path.
func (p *Pass) outputOver(call *plan.Call, id pathtree.ID) (plan.Path, bool) {
	for _, path := range call.Paths() {
		if p.Plan.Paths.Overlap(path.ID, id) {
			return path, true
		}
	}
	return plan.Path{}, false
}

// explainNever adds to a finding about a reference that is never there what was
// most likely meant by it.
func (p *Pass) explainNever(f *diag.Diagnostic, r *plan.Read, call *plan.Call) {
	if call != nil {
		if own, yes := p.outputOver(call, r.Path); yes {
			f.Note(own.Span(), "only the call itself writes it, and a call doesn't see its own result")
			return
		}
	}
	if last := len(r.Ref.Path) - 1; last > 0 {
		of := expression.Reference{Kind: r.Ref.Kind, Path: r.Ref.Path[:last]}
		if name, ok := expression.FunctionFor(r.Ref.Path[last].Key); ok && p.somethingAt(of) {
			f.Advise("a function stands before what it is of: †(%s(%s))", name, of.String())
			return
		}
	}
	if path, ok := p.writtenBelowState(r); ok {
		f.Advise("leave out \"state.\" there: what \"_outputPath\" names begins in the state")
		f.Note(path.Span(), "%q is written here", p.path(path.ID))
		return
	}
	near, ok := p.nearReference(r)
	if !ok {
		return
	}
	f.Advise("did you mean %q?", near.String())
	if near.respelt {
		f.Advise("did you mean %q? the two are one text in two spellings: composed characters in one, combining ones in the other", near.String())
	}
	f.Rename(r.Node, r.Ref.Start, r.Ref.End, near.text, near.sure)
	p.noteSuggestion(f, near.Reference)
}

// writtenBelowState is a path that a call writes as "state.key" without a †, where a read looks
// for the key itself.
func (p *Pass) writtenBelowState(r *plan.Read) (plan.Path, bool) {
	read := p.Plan.Paths.Segments(r.Path)
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			if s := p.Plan.Paths.Segments(path.ID); len(s) > 2 && len(read) > 1 && read[0].Key == "state" && s[0].Key == "state" && s[1].Key == "state" && s[2] == read[1] {
				return path, true
			}
		}
	}
	return plan.Path{}, false
}

// noteSuggestion notes where the suggested reference is written. Nothing else is reported about it.
func (p *Pass) noteSuggestion(f *diag.Diagnostic, suggested expression.Reference) {
	if suggested.Kind == "input" && len(suggested.Path) > 0 {
		p.suggestedInputs[suggested.Path[0].Key] = true
	}
	if at, ok := p.writtenAt(suggested); ok {
		p.suggestedPaths[at.ID] = true
		f.Note(at.Span(), "%q is written here", p.path(at.ID))
	}
}

// misreads notes that a call can't have been meant to read what it reads, so that
// nobody knows what it should wait for; below 0 it is the plan's output.
func (p *Pass) misreads(call int) {
	if call >= 0 {
		p.misread[call] = true
	}
}

// strays notes that misread references keep a conflict from being judged.
func (p *Pass) strays() {
	p.strayed = true
	if p.view != nil {
		p.view.shared.first.strayed = true
	}
}

// astray are the calls whose order isn't known, by index: those that were meant to
// read what they don't, and what waits for these. It is nil where there are none, and
// where the other calls run all the same.
func (p *Pass) astray() []bool {
	if len(p.misread) == 0 || p.barred != nil {
		return nil
	}
	astray := make([]bool, len(p.Plan.Calls))
	var queue []int32
	for call := range p.misread {
		astray[call] = true
		queue = append(queue, int32(call))
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, user := range p.Plan.Graph.Users(int(at)) {
			if !astray[user] {
				astray[user] = true
				queue = append(queue, user)
			}
		}
	}
	return astray
}

var (
	whyNever = map[string]string{
		"input": "the input doesn't contain it",
		"state": "no call writes it, and the initial state doesn't contain it",
		"data":  "no call writes it, and no message contains it",

		"advice": "advisors vote on tools, and there is no such tool",
	}
	whereFrom = map[string]string{
		"input": "declare it under \"input\" or \"inputSchema\"",
		"state": "let a call write it with \"_outputPath\", or give it under \"state\"",
		"data":  "let a call write it with \"_outputPath\", or give it in a message of its kind",

		"advice": "name a tool: †advice.tool is a number, the result of the votes on it",
	}
)

// initial is what the document gives and declares at a path.
func (p *Pass) initial(path []expression.Segment) (any, *schema.Schema) {
	if len(path) == 0 {
		return nil, nil
	}
	var value any
	var s *schema.Schema
	switch path[0].Key {
	case "input":
		value, s = p.Plan.Input, p.Plan.InputSchema
	case "state":
		value, s = p.Plan.State, p.Plan.StateSchema
	case "data":
		value = anyMap(p.Plan.Data)
	}
	value, _ = pathtree.Walk(value, path[1:])
	if s != nil {
		s = s.At(compiler.SchemaPath(path[1:])).Schema
	}
	return value, s
}

// somethingAt reports whether a call writes exactly a path, or the document holds
// or declares it.
func (p *Pass) somethingAt(r expression.Reference) bool {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if id, ok := p.lookup(path); ok && p.Plan.Written(id) {
		return true
	}
	value, s := p.initial(path[:len(path)-1])
	last := path[len(path)-1]
	if _, ok := pathtree.Step(value, last); ok {
		return true
	}
	return s != nil && s.At(compiler.SchemaPath([]expression.Segment{last})).Named
}

func (p *Pass) lookup(path []expression.Segment) (pathtree.ID, bool) {
	id, ok := pathtree.Root, true
	for _, s := range path {
		if id, ok = p.Plan.Paths.Lookup(id, s); !ok {
			return 0, false
		}
	}
	return id, true
}

// writtenAt is where a call first writes a path, or something above or below it.
func (p *Pass) writtenAt(r expression.Reference) (plan.Path, bool) {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if p.isKind(r.Kind) {
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
		if at, ok := p.outputOver(p.Plan.Calls[w.Call], id); ok {
			return at, true
		}
	}
	return plan.Path{}, false
}
