package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/source"
)

// judgesBranches tells whether what the plan says of its branches is all known.
func (p *Pass) judgesBranches() bool {
	return !p.gaps.writes && !p.gaps.reads && !p.gaps.order && !p.gaps.state
}

// hasBranches tells whether anything in the plan decides what runs.
func (p *Pass) hasBranches() bool {
	return p.Plan.Writes == compiler.Once || slices.ContainsFunc(p.Plan.Calls, func(c *compiler.Call) bool { return len(c.Output) > 1 || c.When != nil })
}

// unanswered notes something that the budget didn't last for (S18).
func (p *Pass) unanswered(at source.Span, call *compiler.Call, what string) {
	p.unsure = append(p.unsure, unsure{at, call, what})
}

// An unsure is a question that has no answer.
type unsure struct {
	at   source.Span
	call *compiler.Call
	what string
}

// notFullyAnalysed reports the questions about branches that have no answer
// because the budget ran out. It comes after the rules that ask them.
func notFullyAnalysed(p *Pass) {
	switch {
	case p.branches != nil && p.branches.full && p.Plan.CallsNode != nil:
		p.report(headOf(p.Plan.CallsNode.Span()), "the plan's branches are not fully analysed: what hangs on what is more than is looked at").
			help("findings about branches may be missing; let fewer calls write and read one path, or split the plan")
	case p.branches == nil || p.branches.full:
	default:
		last := map[*compiler.Call]int{} // one for each call is enough
		for i, u := range p.unsure {
			last[u.call] = i
		}
		shown := 0
		for i, u := range p.unsure {
			if u.call != nil && last[u.call] != i {
				continue
			}
			if shown++; shown > maxShown {
				p.report(u.at, "%d more questions about branches are not fully analysed", len(p.unsure)-i).of(u.call).
					help("let less hang on the same decisions, or split the plan")
				break
			}
			p.report(u.at, "%s is not fully analysed: too many decisions meet", u.what).of(u.call).
				help("let less hang on the same decisions, or split the plan")
		}
	}
}

// deadCalls finds calls that can run on no branch, whatever the input is.
func deadCalls(p *Pass) {
	if !p.judgesBranches() || !p.hasBranches() {
		return
	}
	e := p.presence()
	order := p.Plan.Graph.Order()
	goals := make([]lit, len(order))
	for i, call := range order {
		goals[i] = e.runs[call]
	}
	for i, a := range e.worlds(goals, false) {
		call := p.Plan.Calls[order[i]]
		switch {
		case a.never:
			p.deadCall(e, call)
		case !a.found && !e.full:
			p.unanswered(call.ToolNode.Span(), call, "whether "+quote(call.Name)+" can ever run")
		}
	}
}

// A part is one of the things that must come together for a call to run.
type part struct {
	holds lit
	at    *compiler.Template
	words string
}

func (e *presence) parts(call *compiler.Call) []part {
	var list []part
	if call.When != nil {
		list = append(list, part{e.condition(call), call.When, "its condition " + quote(short(call.When.Node.Text))})
	}
	var walk func(t *compiler.Template)
	walk = func(t *compiler.Template) {
		switch {
		case !t.Live():
		case t.Expr != nil:
			list = append(list, part{e.there(t), t, quote(short(t.Node.Text))})
		default:
			for i := range t.Fields {
				walk(t.Fields[i].Value)
			}
			for _, item := range t.Items {
				walk(item)
			}
		}
	}
	walk(call.Params)
	return list
}

// maxPaired bounds how many parts of a call are held against each other.
const maxPaired = 24

// deadCall reports a call with the smallest evidence: one thing that never
// holds, or two that exclude each other.
func (p *Pass) deadCall(e *presence, call *compiler.Call) {
	parts := e.parts(call)
	goals := make([]lit, len(parts))
	for i := range parts {
		goals[i] = parts[i].holds
	}
	alone := e.worlds(goals, false)
	for i, a := range alone {
		if !a.never {
			continue
		}
		if parts[i].at == call.When && p.constantAlone(e, call) {
			return // that is OB212's
		}
		what := parts[i].words + " is never there"
		if parts[i].at == call.When {
			what = parts[i].words + " is never there and true"
		}
		f := p.report(call.ToolNode.Span(), "%q can never run: %s", call.Name, what).of(call).
			note(parts[i].at.Node.Span(), "it needs this").
			help("read something that is there on the same branch, join branches with \"||\", or take the call out")
		f.Witness = Branch{Branch: []Decision{}}
		p.noteWriters(f, parts[i].at)
		return
	}
	for i := range parts[:min(len(parts), maxPaired)] {
		for j := range i {
			both := e.and(parts[j].holds, parts[i].holds)
			if !e.worlds([]lit{both}, false)[0].never {
				continue
			}
			f := p.report(call.ToolNode.Span(), "%q can never run: %s and %s exclude each other", call.Name, parts[j].words, parts[i].words).of(call).
				help("read something that is there on the same branch, join branches with \"||\", or take the call out")
			one, other := e.decisions(parts[j].holds, alone[j].world), e.decisions(parts[i].holds, alone[i].world)
			f.needs(parts[j].at, one)
			if parts[i].at != parts[j].at {
				f.needs(parts[i].at, other)
			}
			f.Witness = Branch{Branch: one, Instead: other}
			p.noteWriters(f, parts[j].at, parts[i].at)
			return
		}
	}
	what := "what it needs never comes together"
	if e.ready(call) != e.runs[call.Index] && !e.worlds([]lit{e.ready(call)}, false)[0].never {
		what = "whenever it could, a path that it writes is taken already"
		if p.rewritesItself(call) {
			return // that is OB403's
		}
	}
	f := p.report(call.ToolNode.Span(), "%q can never run: %s", call.Name, what).of(call).
		help("read something that is there on the same branch, join branches with \"||\", or take the call out")
	f.Witness = Branch{Branch: []Decision{}}
	for _, part := range parts[:min(len(parts), maxShown)] {
		f.note(part.at.Node.Span(), "it needs this")
	}
}

// rewritesItself tells whether a call needs a value where it writes.
func (p *Pass) rewritesItself(call *compiler.Call) bool {
	return slices.ContainsFunc(call.Reads, func(i int) bool {
		_, yes := p.claims(call, call.FailureRoute(), p.Plan.Reads[i].Path)
		return yes && p.Plan.Reads[i].Ref.Required
	})
}

func (f finding) needs(t *compiler.Template, branch []Decision) {
	if words := told(branch); words != "" {
		f.note(t.Node.Span(), "it needs this, which is so when %s", words)
	} else {
		f.note(t.Node.Span(), "it needs this")
	}
}

// noteWriters shows where alternatives write what some expressions read.
func (p *Pass) noteWriters(f finding, templates ...*compiler.Template) {
	noted := map[source.Span]bool{}
	for _, t := range templates {
		for _, r := range t.Reads {
			read := &p.Plan.Reads[r]
			for _, w := range read.Writers {
				call := p.Plan.Calls[w]
				if path, ok := p.outputOver(call, read.Path); ok && len(noted) < maxShown && !noted[path.Span()] {
					noted[path.Span()] = true
					f.note(path.Span(), "%q may write %q here", call.Name, p.path(path.ID))
				}
			}
		}
	}
}

// short is a text for a message.
func short(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "…"
	}
	return text
}

// constantConditions finds conditions that don't decide anything.
func constantConditions(p *Pass) {
	var calls []*compiler.Call
	var goals []lit
	for _, call := range p.Plan.Calls {
		t := call.When
		switch {
		case t == nil:
		case !t.Live() || t.Expr != nil && len(t.Reads) == 0:
			p.report(t.Node.Span(), "the condition of %q has no reference: it is the same in every run", call.Name).of(call).
				help("let it read something, or take it out")
		case t.Expr != nil:
			h := p.presence().alone(call)
			calls, goals = append(calls, call), append(goals, h.yes, h.no)
		}
	}
	if len(calls) == 0 {
		return
	}
	answers := p.presence().worlds(goals, false)
	for i, call := range calls {
		never, always := answers[2*i].never, answers[2*i+1].never
		if never == always {
			continue
		}
		what := "is never true, so the call is always skipped"
		if always {
			what = "is always true"
		}
		p.report(call.When.Node.Span(), "the condition of %q %s", call.Name, what).of(call).
			help("compare with what the value can be, or take the condition out")
	}
}

// alone is the truth of a condition whatever its references are.
func (e *presence) alone(call *compiler.Call) truth {
	f := e.formula(call.When)
	f.alone = map[int]valued{}
	return f.holds(e.whens[call.Index])
}

// constantAlone tells whether OB212 speaks of a call's condition.
func (p *Pass) constantAlone(e *presence, call *compiler.Call) bool {
	if !call.When.Live() || call.When.Expr != nil && len(call.When.Reads) == 0 {
		return true
	}
	if call.When.Expr == nil {
		return false
	}
	h := e.alone(call)
	answers := e.worlds([]lit{h.yes, h.no}, false)
	return answers[0].never != answers[1].never
}

// fallbacks are the fallbacks in an expression, the outermost first.
func fallbacks(t *compiler.Template) []*expression.Term {
	var list []*expression.Term
	seen := map[*expression.Term]bool{}
	var walk func(t *expression.Term)
	walk = func(t *expression.Term) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.Op == expression.TermFallback {
			list = append(list, t)
		}
		for _, a := range t.Args {
			walk(a)
		}
		for _, n := range t.Needs {
			walk(n)
		}
	}
	walk(t.Expr.Logic())
	return list
}

// uselessFallbacks finds operands of || that never decide: they are never there
// when it is their turn, or one before them always is.
func uselessFallbacks(p *Pass) {
	p.unwrittenOperands()
	if !p.judgesBranches() {
		return
	}
	type operand struct {
		call     *compiler.Call
		template *compiler.Template
		fallback *expression.Term
		index    int
		left     lit // the call runs, and no operand before it is there
		there    lit // it is there while the call runs
	}
	var operands []operand
	var goals []lit
	branches := p.hasBranches()
	dangles := make([]bool, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; r.Call >= 0 && r.Ref.Required && !p.mayBeThere(r) {
			dangles[r.Call] = true // that is OB203's
		}
	}
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		if t.Expr.Plain() || call != nil && dangles[call.Index] {
			return
		}
		if simple, _ := t.Expr.Alternatives(); simple && !branches && !slices.ContainsFunc(t.Reads, func(i int) bool { return p.sure(call, i) }) {
			return // hasSureOperand would say so as well, once the terms are made
		}
		for at, fallback := range fallbacks(t) {
			if at == 0 && call != nil && t == call.When {
				continue // a condition: that is OB210's
			}
			if !branches && !p.hasSureOperand(call, t, fallback) {
				continue // any tool may fail, and nothing else decides
			}
			e := p.presence()
			f := e.formula(t)
			left := yes // the call runs, and no operand so far is there
			if call != nil && t != call.When {
				left = e.runs[call.Index]
			}
			runs := left
			for i, a := range fallback.Args {
				solid := f.value(a).solid
				if a.Op == expression.TermLiteral {
					solid = yes
				}
				operands = append(operands, operand{call, t, fallback, i, left, e.and(runs, solid)})
				goals = append(goals, e.and(left, solid))
				left = e.and(left, solid.not())
			}
		}
	})
	if len(goals) == 0 {
		return
	}
	e := p.presence()
	answers := e.worlds(goals, false)
	for i := 0; i < len(operands); {
		o := operands[i]
		chain := answers[i : i+len(o.fallback.Args)]
		p.uselessOperands(e, o.call, o.template, o.fallback, chain, func(n int) (left, there lit) { return operands[i+n].left, operands[i+n].there })
		i += len(chain)
	}
}

// unwrittenOperands reports operands at whose path nothing ever stands: nobody
// writes it, and the document doesn't say that a run begins with it (S1.10). That
// a state given at run time may bring it is for the document to declare.
func (p *Pass) unwrittenOperands() {
	if p.Plan.Form == compiler.Solution {
		return // the state that it is given isn't known
	}
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		var never map[int]bool
		for _, i := range t.Reads {
			if r := &p.Plan.Reads[i]; !r.Ref.Required && !p.mayBeThere(r) {
				if never == nil {
					never = map[int]bool{}
				}
				never[i] = true
			}
		}
		if len(never) == 0 || neverThere(t, func(r int) bool { return never[r] }) { // that is OB203's
			return
		}
		chains := fallbacks(t)
		for _, i := range t.Reads {
			r := &p.Plan.Reads[i]
			if !never[i] || !slices.ContainsFunc(chains, func(f *expression.Term) bool { return f.Start <= r.Ref.Start && r.Ref.End <= f.End }) {
				continue
			}
			kind := p.Plan.Paths.Kind(r.Path)
			f := p.report(r.Span(), "%q is never there: %s; the operand of \"||\" never counts", r.Ref.String(), whyNever[kind]).of(call).
				help("%s, or take the operand out", operandFrom[kind])
			p.explainNever(f.Diagnostic, r, call)
		}
	})
}

var operandFrom = map[string]string{
	"input": "declare it under \"input\" or \"inputSchema\"",
	"state": "let a call write it with \"_outputPath\", declare it in \"stateSchema\" if a run may begin with it",
	"data":  "let a call write it with \"_outputPath\", give it in a message of its kind",
}

// hasSureOperand tells whether an operand before the last is seen at once to be
// there always, or whenever the call runs, or never.
func (p *Pass) hasSureOperand(call *compiler.Call, t *compiler.Template, fallback *expression.Term) bool {
	for _, a := range fallback.Args[:len(fallback.Args)-1] {
		if a.Op != expression.TermReference {
			return true
		}
		if p.sure(call, t.Reads[a.Ref]) {
			return true
		}
	}
	return false
}

// sure tells whether a read is seen at once to be there always, or whenever the
// call runs, or never.
func (p *Pass) sure(call *compiler.Call, read int) bool {
	r := &p.Plan.Reads[read]
	return r.Start || !p.mayBeThere(r) || call != nil && slices.ContainsFunc(call.Reads, func(i int) bool {
		other := &p.Plan.Reads[i]
		return other.Ref.Required && p.Plan.Paths.IsAbove(r.Path, other.Path)
	})
}

func (p *Pass) uselessOperands(e *presence, call *compiler.Call, t *compiler.Template, fallback *expression.Term, decides []answer, standing func(operand int) (left, there lit)) {
	last := -1 // the last operand that ever decides
	for i, a := range decides {
		if !a.never {
			last = i
		}
		if !a.found && !a.never && !e.full {
			p.unanswered(t.Node.Within(fallback.Start, fallback.End), call, "whether every operand of "+quote(short(t.Node.Text))+" is needed")
			return
		}
	}
	if last < 0 || call != nil && t != call.When && e.runs[call.Index] == no {
		return // dangling, or in a call that never runs
	}
	text := func(i int) string { return short(t.Node.Text[fallback.Args[i].Start:fallback.Args[i].End]) }
	span := func(i int) source.Span { return t.Node.Within(fallback.Args[i].Start, fallback.Args[i].End) }
	useless := func(i int) {
		what := "is never there when it is its turn"
		if _, there := standing(i); e.worlds([]lit{there}, false)[0].never {
			what = "is never there"
		}
		p.report(span(i), "%q %s: this operand of \"||\" decides nothing", text(i), what).of(call).
			help("take the operand out, or let something write it on a branch on which this is read")
	}
	for i := range last {
		if decides[i].never {
			useless(i)
		}
	}
	if last == len(decides)-1 {
		return
	}
	if left, _ := standing(last + 1); !e.worlds([]lit{left}, false)[0].never {
		for i := last + 1; i < len(decides); i++ {
			useless(i)
		}
		return
	}
	what := quote(text(last)) + " is"
	if last > 0 {
		what = "one of the operands up to " + quote(text(last)) + " is"
	}
	if first, _ := standing(0); first == yes {
		what += " always there"
	} else {
		what += " always there when the call runs"
	}
	p.report(span(last), "%s: what follows it in the fallback is never used", what).of(call).
		note(span(last+1), "this is never used").
		help("take the operands after it out, or put it last")
}

// unhandledBranches finds alternatives that nothing reads. Where a plan has no
// output its state is the result, and a first alternative may be it.
func unhandledBranches(p *Pass) {
	if p.gaps.reads || p.gaps.writes {
		return
	}
	read := p.alternativesRead()
	if read == nil {
		return
	}
	for _, call := range p.Plan.Calls {
		if len(call.Output) < 2 {
			continue
		}
		for i, route := range call.Output {
			if read[call.Index][i] || i == 0 && p.Plan.Output == nil {
				continue
			}
			what := "when the call takes this alternative, nothing comes of it"
			if i == call.FailureRoute() {
				what = "when the call fails, nothing comes of it"
			}
			f := p.report(route[0].Span(), "nothing reads %q: %s", p.route(call, i), what).of(call).
				help("let a call handle it, let a fallback or the plan's \"output\" read it, or take the alternative out")
			if p.Plan.Form == compiler.Solution || p.Plan.Form == compiler.ProcessRecord {
				f.as(diag.Info).help("the next solution may handle it; else let a call or the \"output\" read it")
			}
			f.Witness = Branch{Branch: []Decision{{Call: call.Name, Takes: p.route(call, i)}}}
		}
	}
}

// alternativesRead tells by call and alternative whether some read that sees the
// call looks where the alternative writes; nil when no call has alternatives, or
// when that is too much to look at.
func (p *Pass) alternativesRead() [][]bool {
	var read [][]bool
	for _, call := range p.Plan.Calls {
		if len(call.Output) > 1 {
			if read == nil {
				read = make([][]bool, len(p.Plan.Calls))
			}
			read[call.Index] = make([]bool, len(call.Output))
		}
	}
	if read == nil {
		return nil
	}
	work := 0
	for i := range p.Plan.Reads {
		r := &p.Plan.Reads[i]
		for _, w := range r.Writers {
			for alternative := range read[w] {
				if work++; work > maxWork {
					return nil
				}
				read[w][alternative] = read[w][alternative] || slices.ContainsFunc(p.Plan.Calls[w].Output[alternative], func(path compiler.Path) bool { return p.Plan.Paths.Overlap(path.ID, r.Path) })
			}
		}
	}
	return read
}
