package simulate

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// A lineage gathers the choices on which it hangs that something has come out of a
// rehearsal as it has: in any other with the same options of these it is the same. It is told
// too large rather than too small.
type lineage struct {
	*course
	whole, kept []bool        // by call: all that its end hangs on is in it, or all that its value hangs on
	owned       map[int][]int // choices that were met, by call
	choices     map[int]bool
}

func (c *course) lineage() *lineage {
	n := len(c.plan.Calls)
	l := &lineage{c, make([]bool, n), make([]bool, n), map[int][]int{}, map[int]bool{}}
	for _, p := range c.picks {
		of := c.explorer.choices[p.choice].call
		l.owned[of] = append(l.owned[of], p.choice)
	}
	l.own(-1)
	return l
}

// outputHangs are the choices on which it hangs that the plan has an output.
func (c *course) outputHangs() []int {
	l := c.lineage()
	if len(c.plan.Instances) > 0 || c.plan.AwaitsInstances || !l.witness(c.plan.Output) {
		return l.all()
	}
	return l.list()
}

// callHangs are the choices on which it hangs how a call ended.
func (c *course) callHangs(call int) []int {
	l := c.lineage()
	if l.call(int32(call)); len(c.plan.Instances) > 0 || c.plan.AwaitsInstances {
		return l.all()
	}
	return l.list()
}

// all are the choices that were met.
func (l *lineage) all() []int {
	for _, p := range l.picks {
		l.choices[p.choice] = true
	}
	return l.list()
}

// list gives the choices in the order in which they were met.
func (l *lineage) list() (list []int) {
	for _, p := range l.picks {
		if l.choices[p.choice] {
			list = append(list, p.choice)
		}
	}
	return list
}

// own takes in the choices of a call, or with -1 those of the input.
func (l *lineage) own(call int) {
	for _, choice := range l.owned[call] {
		l.choices[choice] = true
	}
}

// call takes in all that it hangs on how a call ended.
func (l *lineage) call(i int32) {
	if l.whole[i] {
		return
	}
	l.whole[i] = true
	call := l.plan.Calls[i]
	l.own(int(i))
	for _, r := range call.Reads {
		l.writers(r)
	}
	l.before(call)
}

// before takes in what lets a call start besides what it reads.
func (l *lineage) before(call *compiler.Call) {
	for _, a := range call.After {
		l.call(int32(a.Call))
	}
	for _, other := range call.Choices {
		l.call(other)
	}
}

func (l *lineage) writers(read int) {
	for _, w := range l.plan.Reads[read].Writers {
		l.call(w)
	}
}

// value takes in what the value hangs on that a call has written.
func (l *lineage) value(i int32) {
	call := l.plan.Calls[i]
	if l.whole[i] || l.kept[i] {
		return
	}
	l.kept[i] = true
	l.own(int(i))
	within := map[int]bool{} // reads of parameters
	l.template(call.Params, within)
	for _, r := range call.Reads {
		if !within[r] {
			l.writers(r)
		}
	}
	l.before(call)
}

// template takes in what the value of a template hangs on: of a fallback no more than
// up to the operand that it came to.
func (l *lineage) template(t *compiler.Template, within map[int]bool) {
	for _, f := range t.Fields {
		l.template(f.Value, within)
	}
	for _, item := range t.Items {
		l.template(item, within)
	}
	if t.Expr == nil {
		return
	}
	for _, r := range t.Reads {
		within[r] = true
	}
	term := t.Expr.Logic()
	if term.Op != expression.TermFallback {
		for _, r := range t.Reads {
			l.read(r)
		}
		return
	}
	for _, operand := range term.Args {
		switch {
		case operand.Op != expression.TermReference:
			referring(operand, func(ref int) { l.read(t.Reads[ref]) })
		case l.there(&l.plan.Reads[t.Reads[operand.Ref]]):
			l.read(t.Reads[operand.Ref])
			return
		default:
			l.writers(t.Reads[operand.Ref])
		}
	}
}

// read takes in what the value of a read hangs on.
func (l *lineage) read(r int) {
	read := &l.plan.Reads[r]
	for _, w := range read.Writers {
		if l.provides(w, read) {
			l.value(w)
		} else {
			l.call(w)
		}
	}
}

// witness takes in what one part of the output hangs on that is there; false when none is
// found.
func (l *lineage) witness(t *compiler.Template) bool {
	if slices.ContainsFunc(t.Fields, func(f compiler.TemplateField) bool { return l.witness(f.Value) }) || slices.ContainsFunc(t.Items, l.witness) {
		return true
	}
	if t.Expr == nil {
		return false
	}
	if term := t.Expr.Logic(); term.Op == expression.TermFallback {
		for _, operand := range term.Args {
			if operand.Op == expression.TermReference && l.there(&l.plan.Reads[t.Reads[operand.Ref]]) {
				l.read(t.Reads[operand.Ref])
				return true
			}
		}
		return false
	}
	if slices.ContainsFunc(t.Reads, func(r int) bool { return !l.there(&l.plan.Reads[r]) }) {
		return false
	}
	for _, r := range t.Reads {
		l.read(r)
	}
	return true
}

// referring calls f with every reference below a term.
func referring(t *expression.Term, f func(ref int)) {
	if t.Op == expression.TermReference {
		f(t.Ref)
	}
	for _, one := range t.Args {
		referring(one, f)
	}
}
