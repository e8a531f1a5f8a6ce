package analyzer

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// An expressionOf is one expression of the plan; the call is nil for those of the
// plan's output.
type expressionOf struct {
	call     *compiler.Call
	template *compiler.Template
}

// expressions goes over every expression of the plan, in the order of the text.
func (p *Pass) expressions(f func(call *compiler.Call, t *compiler.Template)) {
	p.findExpressions()
	for _, x := range p.everyExpression {
		f(x.call, x.template)
	}
}

// calculations goes over those expressions that do more than pass on what one
// reference gives: conditions, fallbacks and the like. In most plans they are few.
func (p *Pass) calculations(f func(call *compiler.Call, t *compiler.Template)) {
	p.findExpressions()
	for _, x := range p.calculated {
		f(x.call, x.template)
	}
}

// findExpressions lists the plan's expressions, once for all rules.
func (p *Pass) findExpressions() {
	if p.everyExpression != nil {
		return
	}
	p.everyExpression = make([]expressionOf, 0, len(p.Plan.Reads))
	var walk func(call *compiler.Call, t *compiler.Template)
	walk = func(call *compiler.Call, t *compiler.Template) {
		if t == nil || !t.Live() {
			return
		}
		if t.Expr != nil {
			p.everyExpression = append(p.everyExpression, expressionOf{call, t})
			if !t.Expr.Plain() || call != nil && t == call.When {
				p.calculated = append(p.calculated, expressionOf{call, t})
			}
			return
		}
		for i := range t.Fields {
			walk(call, t.Fields[i].Value)
		}
		for _, item := range t.Items {
			walk(call, item)
		}
	}
	for _, call := range p.Plan.Calls {
		if len(call.Reads) > 0 {
			walk(call, call.Params)
			walk(call, call.When)
		}
	}
	walk(nil, p.Plan.Output)
}

// danglingReferences finds expressions that can have no value because what they
// read is never there.
//
// Whether an expression can do without a reference is asked of the expression
// itself: it is evaluated with that reference absent and every other one still
// to come. Absent then means that no run can give it a value.
func danglingReferences(p *Pass) {
	reads := p.Plan.Reads
	never := make([]bool, len(reads))
	some := false
	for i := range reads {
		never[i] = !p.mayBeThere(&reads[i])
		some = some || never[i]
	}
	if !some {
		return
	}
	own := make(map[int]bool)
	for _, c := range p.Plan.Graph.SelfCycles() {
		own[int(c)] = true
	}
	p.expressions(func(call *compiler.Call, t *compiler.Template) {
		var required, others []int
		for _, r := range t.Reads {
			switch {
			case !never[r]:
			case reads[r].Ref.Required:
				required = append(required, r)
			default:
				others = append(others, r)
			}
		}
		for _, r := range required {
			if call == nil || !own[call.Index] || !p.writesItself(call, reads[r].Path) { // else it is a cycle of one
				p.dangling(&reads[r])
			}
		}
		if len(required) > 0 || len(others) == 0 {
			return
		}
		if !neverThere(t, func(r int) bool { return never[r] }) {
			return
		}
		f := p.dangling(&reads[others[0]])
		if len(others) > 1 {
			f.Message += "; nor are the other operands"
			for _, r := range others[1:] {
				f.note(reads[r].Span(), "%q is never there either", reads[r].Ref.String())
			}
		}
	})
}

// neverThere tells whether an expression can have no value once the reads that
// are never there are absent, whatever the others give.
func neverThere(t *compiler.Template, never func(read int) bool) bool {
	_, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
		if never(t.Reads[i]) {
			return nil, expression.Absent
		}
		return nil, expression.Pending
	})
	return err == nil && presence == expression.Absent
}

// mayBeThere tells whether something may put a value where a read looks. It
// says yes where it can't know.
func (p *Pass) mayBeThere(r *compiler.Read) bool {
	if len(r.Writers) > 0 || r.Start || r.Path == compiler.RootPath {
		return true
	}
	plan := p.Plan
	path := plan.Paths.Segments(r.Path)
	if len(path) == 1 {
		return true // all of a kind is always something
	}
	if plan.Form == compiler.Replan { // a run knows what it has
		switch path[0].Key {
		case "input":
			return p.begins("input", path[1:])
		case "state":
			return p.gaps.writes || p.begins("state", path[1:])
		case "data":
			return p.gaps.writes || holds(anyMap(plan.Data), path[1:])
		case "advice":
			return len(path) == 2 && !path[1].IsIndex && p.mayBeCalled(path[1].Key)
		}
		return true
	}
	switch path[0].Key {
	case "input":
		if p.gaps.input || plan.Input == nil && plan.InputSchema == nil {
			return p.gaps.input || !p.lacksInput(r.Path, path[1:])
		}
		if plan.InputSchema != nil {
			at := plan.InputSchema.At(compiler.SchemaPath(path[1:]))
			if at.Named || at.Possible && (at.Silent || at.Open) {
				return true
			}
		}
		return p.begins("input", path[1:])
	case "state":
		if p.gaps.state || p.gaps.writes {
			return true
		}
		if plan.StateSchema != nil {
			at := plan.StateSchema.At(compiler.SchemaPath(path[1:]))
			if at.Named || !at.Possible || at.Open || at.Silent && at.Depth > 0 { // what isn't possible is OB204's
				return true
			}
		}
		return p.begins("state", path[1:])
	case "data":
		return p.gaps.writes || plan.Data[path[1].Key] == nil && p.isKind(path[1].Key) ||
			holds(anyMap(plan.Data), path[1:]) || p.describesKind(path[1].Key)
	case "advice":
		return len(path) == 2 && !path[1].IsIndex && p.mayBeCalled(path[1].Key)
	}
	return true // errors come with a run
}

// mayBeCalled tells whether there is a tool of some name, as far as is known.
func (p *Pass) mayBeCalled(tool string) bool {
	return !p.Plan.ToolsDeclared || p.gaps.tools || p.Plan.Tool(tool) != nil || p.Plan.Activities[tool] != nil || p.defines(tool)
}

// holds tells whether there is something at a path of a value. A null on the
// way stands for a value that is filled in later.
func holds(value any, path []expression.Segment) bool {
	for _, s := range path {
		if value == nil {
			return false
		}
		next, ok := compiler.Step(value, s)
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

// begins tells whether the input or the state begins with something at a path, be
// it in one instance only.
func (p *Pass) begins(kind string, path []expression.Segment) bool {
	plan := p.Plan
	if kind == "input" {
		return holds(plan.Input, path) || slices.ContainsFunc(plan.Instances, func(i compiler.Instance) bool { return holds(i.Input, path) })
	}
	return holds(plan.State, path) || slices.ContainsFunc(plan.Instances, func(i compiler.Instance) bool { return holds(i.State, path) })
}

func (p *Pass) isKind(name string) bool {
	for _, kind := range p.Plan.Kinds {
		if kind == name {
			return true
		}
	}
	return false
}

// describesKind tells whether a message of the context gives a schema for a
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

// writesItself tells whether a call may write a path that it reads.
func (p *Pass) writesItself(call *compiler.Call, id compiler.PathID) bool {
	_, yes := p.outputOver(call, id)
	return yes
}

// outputOver is the first of a call's output paths that overlaps a path.
func (p *Pass) outputOver(call *compiler.Call, id compiler.PathID) (compiler.Path, bool) {
	for _, route := range call.Output {
		for _, path := range route {
			if p.Plan.Paths.Overlap(path.ID, id) {
				return path, true
			}
		}
	}
	return compiler.Path{}, false
}

func (p *Pass) dangling(r *compiler.Read) finding {
	call := p.caller(r)
	name := r.Ref.String()
	kind := p.Plan.Paths.Kind(r.Path)
	f := p.report(r.Span(), "%q is never there: %s", name, whyNever[kind]).of(call)
	if p.Plan.Form == compiler.Solution && kind != "input" {
		f.Message = "no call of the solution writes \"" + name + "\""
		f.as(diag.Info).help("the state that the solution is given must hold it")
	} else {
		f.help("%s", whereFrom[kind])
	}
	p.explainNever(f, r, call)
	p.noteLack(r, nil)
	return f
}

// explainNever adds to a finding about a reference that is never there what was
// most likely meant by it.
func (p *Pass) explainNever(f finding, r *compiler.Read, call *compiler.Call) {
	if call != nil {
		if own, yes := p.outputOver(call, r.Path); yes {
			f.note(own.Span(), "only the call itself writes it, and a call doesn't see its own result")
			return
		}
	}
	near, ok := p.nearReference(r)
	if !ok {
		return
	}
	f.help("did you mean %q?", near.String())
	if near.respelt {
		f.help("did you mean %q? the two are one text in two spellings: composed characters in one, combining ones in the other", near.String())
	}
	f.rename(r.Node, r.Ref.Start, r.Ref.End, near.String(), near.sure)
	if near.Kind == "input" && len(near.Path) > 0 {
		p.meantInputs[near.Path[0].Key] = true
	}
	if at, ok := p.writtenAt(near.Reference); ok {
		p.meantPaths[at.ID] = true
		f.note(at.Span(), "%q is written here", p.path(at.ID))
	}
}

var (
	whyNever = map[string]string{
		"input": "the input doesn't hold it",
		"state": "no call writes it, and the initial state doesn't hold it",
		"data":  "no call writes it, and no message holds it",

		"advice": "advisors vote on tools, and there is no such tool",
	}
	whereFrom = map[string]string{
		"input": "declare it under \"input\" or \"inputSchema\"",
		"state": "let a call write it with \"_outputPath\", or give it under \"state\"",
		"data":  "let a call write it with \"_outputPath\", or give it in a message of its kind",

		"advice": "name a tool: †advice.tool is a number, what the votes on it come to",
	}
)

// A meant is a reference that was most likely meant by another.
type meant struct {
	expression.Reference
	respelt bool // both are one text, composed and decomposed
	sure    bool // nothing else can have been meant
}

// nearReference is the same path with one key spelt as something that is there,
// or the same path of another kind.
func (p *Pass) nearReference(r *compiler.Read) (near meant, ok bool) {
	ref := r.Ref
	id, at := compiler.RootPath, -1
	full := p.Plan.Paths.Segments(r.Path)
	offset := len(full) - len(ref.Path) // data kinds stand one level deeper in the table
	for i, s := range full {
		if i >= offset && !p.children(id).has(s) {
			at = i - offset
			break
		}
		id, _ = p.Plan.Paths.Lookup(id, s)
	}
	if at < 0 {
		return near, false
	}
	near.Reference = expression.Reference{Kind: ref.Kind, Path: append([]expression.Segment(nil), ref.Path...)}
	names, key := p.children(id), ref.Path[at].Key
	if ref.Kind == "advice" && at == 0 {
		if other, found := p.tools().Nearest(key); found {
			near.Path[at].Key, near.sure = other, p.tools().Sure(key)
			return near, true
		}
	}
	if !ref.Path[at].IsIndex {
		if other, same := names.spelt[norm.NFC.String(key)]; same && other != key {
			near.Path[at].Key, near.respelt, near.sure = other, true, true
			return near, true
		}
		if other, found := names.suggester.Nearest(key); found {
			near.Path[at].Key, near.sure = other, names.suggester.Sure(key)
			return near, true
		}
	}
	for _, kind := range []string{"state", "input"} {
		if near.Kind = kind; kind != ref.Kind && p.somethingAt(near.Reference) {
			return near, true
		}
	}
	return near, false
}

// Names are the keys below a path at which something may stand.
type names struct {
	suggester *compiler.Suggester
	known     map[string]bool
	spelt     map[string]string // by composed form
}

func (n *names) has(s expression.Segment) bool { return n.known[s.Key] }

// children are the keys below a path that some call writes, or that the
// document's values or schemas hold.
func (p *Pass) children(id compiler.PathID) *names {
	if n, ok := p.near[id]; ok {
		return n
	}
	paths := p.Plan.Paths
	n := &names{known: map[string]bool{}, spelt: map[string]string{}}
	var list []string
	add := func(key string) {
		if !n.known[key] {
			n.known[key] = true
			list = append(list, key)
			if form := norm.NFC.String(key); n.spelt[form] == "" {
				n.spelt[form] = key
			}
		}
	}
	for _, child := range p.writtenBelow()[id] {
		add(paths.Segment(child).Key)
	}
	value, s := p.initial(paths.Segments(id))
	for _, key := range sortedKeys(value) {
		add(key)
	}
	for _, key := range s.Properties() {
		add(key)
	}
	n.suggester = compiler.NewSuggester(list)
	p.near[id] = n
	return n
}

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
	value, _ = compiler.Walk(value, path[1:])
	if s != nil {
		s = s.At(compiler.SchemaPath(path[1:])).Schema
	}
	return value, s
}

// somethingAt tells whether a call writes exactly a path, or the document holds
// or declares it.
func (p *Pass) somethingAt(r expression.Reference) bool {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if id, ok := p.lookup(path); ok && p.Plan.Written(id) {
		return true
	}
	value, s := p.initial(path[:len(path)-1])
	last := path[len(path)-1]
	if _, ok := compiler.Step(value, last); ok {
		return true
	}
	return s != nil && s.At(compiler.SchemaPath([]expression.Segment{last})).Named
}

func (p *Pass) lookup(path []expression.Segment) (compiler.PathID, bool) {
	id, ok := compiler.RootPath, true
	for _, s := range path {
		if id, ok = p.Plan.Paths.Lookup(id, s); !ok {
			return 0, false
		}
	}
	return id, true
}

// writtenAt is where a call first writes a path, or something above or below it.
func (p *Pass) writtenAt(r expression.Reference) (compiler.Path, bool) {
	path := append([]expression.Segment{{Key: r.Kind}}, r.Path...)
	if p.isKind(r.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	id := compiler.RootPath
	for _, s := range path {
		next, ok := p.Plan.Paths.Lookup(id, s)
		if !ok {
			break // what is written above it counts as well
		}
		id = next
	}
	if p.Plan.Paths.Depth(id) < 2 {
		return compiler.Path{}, false
	}
	for _, w := range p.Plan.Writers(id) {
		if at, ok := p.outputOver(p.Plan.Calls[w.Call], id); ok {
			return at, true
		}
	}
	return compiler.Path{}, false
}

// undeclaredPaths finds reads and writes of what a closed state schema leaves no
// room for (S5.7).
func undeclaredPaths(p *Pass) {
	s := p.Plan.StateSchema
	if s == nil {
		return
	}
	verdicts := make([]int8, p.Plan.Paths.Len()) // 0 not asked, 1 fine, -1 not possible
	undeclared := func(id compiler.PathID) bool {
		if verdicts[id] == 0 {
			verdicts[id] = 1
			if path := p.Plan.Paths.Segments(id); len(path) > 1 && path[0].Key == "state" && !s.At(compiler.SchemaPath(path[1:])).Possible {
				verdicts[id] = -1
			}
		}
		return verdicts[id] < 0
	}
	for _, call := range p.Plan.Calls {
		for _, route := range call.Output {
			for _, path := range route {
				if undeclared(path.ID) {
					f := p.undeclared(path.ID, path.Span(), "written").of(call)
					if meant, sure, ok := p.nearDeclared(path.ID); ok {
						f.help("did you mean %q?", meant)
						if path.Node != call.ToolNode { // else the tool itself fixes the path
							f.rename(path.Node, path.Start, path.End, meant, sure)
						}
					}
				}
			}
		}
	}
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; undeclared(r.Path) {
			f := p.undeclared(r.Path, r.Span(), "read").of(p.caller(r))
			if meant, sure, ok := p.nearDeclared(r.Path); ok {
				f.help("did you mean %q?", meant).rename(r.Node, r.Ref.Start, r.Ref.End, meant, sure)
			}
		}
	}
}

func (p *Pass) undeclared(id compiler.PathID, at source.Span, done string) finding {
	path := p.Plan.Paths.Segments(id)
	place := p.Plan.StateSchema.At(compiler.SchemaPath(path[1:]))
	step := path[1+place.Depth]
	above := expression.Reference{Kind: "state", Path: path[1 : 1+place.Depth]}
	f := p.report(at, "%q can't be %s: the state schema allows no %q in %q", p.path(id), done, step.Key, above.String())
	known := p.declared(id, place)
	if place.Depth > 0 && known.list == "" {
		f.Message = "\"" + p.path(id) + "\" can't be " + done + ": the state schema says that \"" + above.String() + "\" has no parts"
	}
	return f.help("declare it in \"stateSchema\"")
}

// nearDeclared is the path that the state schema names and that comes nearest to
// one that it doesn't, and whether it is beyond doubt.
func (p *Pass) nearDeclared(id compiler.PathID) (meant string, sure, ok bool) {
	path := p.Plan.Paths.Segments(id)
	place := p.Plan.StateSchema.At(compiler.SchemaPath(path[1:]))
	step := &path[1+place.Depth]
	known := p.declared(id, place)
	near, ok := known.Nearest(step.Key)
	if !ok || step.IsIndex {
		return "", false, false
	}
	sure = known.Sure(step.Key)
	step.Key = near
	return expression.Reference{Kind: "state", Path: path[1:]}.String(), sure, true
}

// A declaration is what a schema names at one place.
type declaration struct {
	*compiler.Suggester
	list string // the names, for a message; "" when there is none
}

func declarationOf(place schema.Place) *declaration {
	names := place.Known()
	return &declaration{compiler.NewSuggester(names), listed(names)}
}

// declared is what the state schema names where a path leaves it.
func (p *Pass) declared(id compiler.PathID, place schema.Place) *declaration {
	for range p.Plan.Paths.Depth(id) - 1 - place.Depth {
		id = p.Plan.Paths.Parent(id)
	}
	d, ok := p.inState[id]
	if !ok {
		d = declarationOf(place)
		p.inState[id] = d
	}
	return d
}
