package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Pass is one analysis of one plan: what a rule looks at, and where its
// findings go.
type Pass struct {
	Plan *compiler.Plan

	config Config
	rule   *diag.Rule // the rule that is running
	found  []diag.Diagnostic
	gaps   gaps
	barred func(call int) bool // the call is known never to run; nil for none
	// evidence counts the calls that were replayed to confirm schedules.
	evidence int

	// What several rules, or many findings of one, ask for; made when first asked.
	everyExpression, calculated []expressionOf // see expressions and calculations

	readers    *readers
	written    [][]compiler.PathID
	branches   *presence
	unsure     []unsure // questions about branches for which the budget didn't last
	near       map[compiler.PathID]*names
	inState    map[compiler.PathID]*declaration // what the state schema names below a path
	inResult   map[resultPlace]*declaration
	fields     map[field]schema.Place
	parameters map[*compiler.Tool]*parameters
	toolNames  *compiler.Suggester
	flows      *flowTable

	// What dangling references were most likely meant to read: that it isn't read
	// is no finding of its own.
	meantInputs map[string]bool
	meantPaths  map[compiler.PathID]bool

	among *among // the views of which this is one; nil where there is but one
}

func newPass(p *compiler.Plan, found []diag.Diagnostic) *Pass {
	return &Pass{
		Plan:        asOne(p),
		gaps:        gapsOf(p, found),
		near:        map[compiler.PathID]*names{},
		inState:     map[compiler.PathID]*declaration{},
		inResult:    map[resultPlace]*declaration{},
		fields:      map[field]schema.Place{},
		parameters:  map[*compiler.Tool]*parameters{},
		meantInputs: map[string]bool{},
		meantPaths:  map[compiler.PathID]bool{},
	}
}

// apply runs those of the rules that are asked for.
func (p *Pass) apply(counts func(*Rule) bool) {
	for _, r := range rules {
		if counts(r) && p.config.asksFor(r) {
			p.run(r)
		}
	}
}

// run runs one rule.
func (p *Pass) run(r *Rule) {
	p.rule = r.Rule
	switch {
	case r.Call != nil:
		for _, call := range p.Plan.Calls {
			r.Call(p, call)
		}
	case r.Run != nil:
		r.Run(p)
	}
}

// finding lets a report be completed where it is made.
type finding struct{ *diag.Diagnostic }

// report makes a finding of the running rule.
func (p *Pass) report(at source.Span, format string, args ...any) finding {
	p.found = append(p.found, diag.New(p.rule, at, fmt.Sprintf(format, args...)))
	return finding{&p.found[len(p.found)-1]}
}

func (f finding) of(call *compiler.Call) finding {
	if call != nil {
		f.Call = call.Name
	}
	return f
}

func (f finding) as(s diag.Severity) finding {
	f.Severity = s
	return f
}

func (f finding) help(format string, args ...any) finding {
	f.Help = fmt.Sprintf(format, args...)
	return f
}

func (f finding) note(at source.Span, format string, args ...any) finding {
	f.Related = append(f.Related, diag.Note{Span: at, Message: fmt.Sprintf(format, args...)})
	return f
}

// rename offers to replace the bytes [from, to) of a scalar's value by a text,
// in the scalar's own style. Sure says that nothing else can have been meant: a
// safe fix (S7).
func (f finding) rename(n *source.Node, from, to int, text string, sure bool) finding {
	return f.offer(fmt.Sprintf("change it to %q", text), n, from, to, text, sure)
}

// offer is rename with words of its own.
func (f finding) offer(words string, n *source.Node, from, to int, text string, sure bool) finding {
	if edit, ok := diag.EditScalar(n, from, to, text); ok {
		f.Fixes = append(f.Fixes, diag.Fix{Message: words, Safe: sure, Edits: []diag.Edit{edit}})
	}
	return f
}

// caller is the call that a read belongs to; nil for the plan's output.
func (p *Pass) caller(r *compiler.Read) *compiler.Call {
	if r.Call < 0 {
		return nil
	}
	return p.Plan.Calls[r.Call]
}

// path writes a path as people do: †state.a.
func (p *Pass) path(id compiler.PathID) string { return p.Plan.Paths.String(id) }
