package envelope

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer/facts"
)

// A Gate is a call of the approved plan that another comes after.
type Gate struct {
	Call    string `json:"call"`              // see [Allowance.Names]
	Settled bool   `json:"settled,omitempty"` // however it ended; else it must be done
	// Needed is set where the call that has the gate doesn't start without what the other
	// writes. It is held to that only where something else comes after it: which mustn't see
	// it skipped for want of what nobody wrote.
	Needed bool `json:"needed,omitempty"`
}

func (g Gate) String() string {
	if g.Settled {
		return fmt.Sprintf("%q has ended", g.Call)
	}
	return fmt.Sprintf("%q is done", g.Call)
}

// behind adds the gates of a call: what it comes after, and who writes what it reads, where
// the plan has them: what may be read without being there, or is there from the start, isn't
// the same before they have ended.
func (a *Allowance) behind(c *facts.Call) {
	at := map[string]int{}
	gate := func(g Gate) {
		i, there := at[g.Call]
		if !there {
			at[g.Call] = len(a.After)
			a.After = append(a.After, g)
			return
		}
		a.After[i].Settled = a.After[i].Settled && g.Settled
		a.After[i].Needed = a.After[i].Needed && g.Needed
	}
	for _, after := range c.After {
		if !after.Listed {
			gate(Gate{Call: after.Call, Settled: after.Settled})
		}
	}
	for v := range reads(c) {
		for _, s := range v.Sources {
			for _, writer := range s.Calls {
				gate(Gate{Call: writer, Settled: true, Needed: !s.Start && needs(v, s.Path)})
			}
		}
	}
}

// needs reports whether what is put together can't be without what stands at a path.
func needs(v *facts.Value, path string) bool {
	return v.Expression == path || v.Expression != "" && !mayDoWithout.MatchString(v.Expression)
}

// mayDoWithout is in expressions that may have a value without what they read.
var mayDoWithout = regexp.MustCompile(`[|?&]|\b(and|or|if)\b`)

// reads are the values that decide whether and how a call is carried out.
func reads(c *facts.Call) iter.Seq[*facts.Value] {
	return func(yield func(*facts.Value) bool) {
		if c.When != nil && !yield(c.When) || c.Each != nil && !yield(&c.Each.List) {
			return
		}
		for i := range c.Values {
			if !yield(&c.Values[i]) {
				return
			}
		}
		if c.Runs.Plan != "" { // whose context may lack what it reads
			yield(&facts.Value{Sources: c.Context})
		}
	}
}

// name has allowances known by the calls that others come after.
func (e *Envelope) name(f *facts.Facts, of []int) {
	gates := map[string]bool{}
	for _, at := range of {
		for _, g := range e.Calls[at].After {
			gates[g.Call] = true
		}
	}
	for i, at := range of {
		if a := &e.Calls[at]; gates[f.Calls[i].Name] && !slices.Contains(a.Names, f.Calls[i].Name) {
			a.Names = append(a.Names, f.Calls[i].Name)
		}
	}
}

// An ended call is one that has ended in some tick.
type ended struct {
	*standing
	done bool
	tick int
}

// A standing is which allowances a call counts for where others come after it.
type standing struct {
	done     []int // if it is done: those that cover it
	ended    []int // however it ended: those of them that nothing less keeps from running
	complete bool  // ended is known
}

// knowledge is what has been found out of calls and conditions, which is asked again.
type knowledge struct {
	stands map[*facts.Call]*standing // of calls as they are written
	ended  []ended
	gates  map[[2]string]int // the allowances that gates name, by delegate and name; nil before they are asked for
}

// condition holds when the call runs: only where what was approved of that is so, by
// values that those have written who were to.
func (j *judge) condition() {
	approved := j.allowance.When
	if approved == nil || j.only(approved) {
		return
	}
	j.differs(Condition, "", func() (string, string) {
		if j.call.When == nil {
			return "none", approved.String()
		}
		is := leafOf("", j.call.When)
		is.Sources = j.actual(is.Sources)
		return is.String(), approved.String()
	})
}

func (j *judge) only(approved *Leaf) bool {
	var is Leaf
	if j.call.When != nil {
		is = leafOf("", j.call.When)
	}
	if j.call.When != nil && j.sameLeaf(is, *approved) {
		return true
	}
	if stands := j.given.Stands; stands != nil && approved.Expression != "" {
		if writers, holds := stands(approved.Expression); holds && approved.writtenBy(writers) {
			return true
		}
	}
	return is.Literal != nil && string(is.Literal.Is) == "false" // it never runs
}

// writtenBy reports whether nobody but those approved has written what a leaf reads.
func (l *Leaf) writtenBy(writers map[string][]string) bool {
	for _, s := range l.Sources {
		for _, tool := range writers[s.Path] {
			if !slices.Contains(s.Tools, tool) {
				return false
			}
		}
	}
	return true
}

// gates hold what the call comes after: calls that do what those did that were approved,
// in the plan, or done in an earlier tick.
func (j *judge) gates() {
	for _, gate := range j.lacking(false) {
		j.differs(After, gate.Call, func() (string, string) {
			var names []string
			for _, a := range j.call.After {
				if !a.Listed {
					names = append(names, strconv.Quote(a.Call))
				}
			}
			return listed(names), gate.String()
		})
	}
}

// lacking are the gates that nothing meets: with all, also those of what the call doesn't start without. What comes
// right before the call is enough in nearly every case.
func (j *judge) lacking(all bool) []Gate {
	if len(j.allowance.After) == 0 {
		return nil
	}
	if j.passed == nil {
		j.pass(false)
	}
	gates := j.unmet(all)
	if len(gates) > 0 && !j.passedAll {
		j.pass(true)
		gates = j.unmet(all)
	}
	return gates
}

// unmet are the gates that no ended call meets. One call meets one of them.
func (j *judge) unmet(all bool) (gates []Gate) {
	left := map[int][2]int{}
	for _, gate := range j.allowance.After {
		if gate.Needed && !all {
			continue
		}
		at, named := j.known.gate(j.envelope, j.in, gate.Call)
		if _, seen := left[at]; !seen {
			left[at] = j.passed[at]
		}
		count := left[at]
		if count[0]--; !gate.Settled {
			count[1]--
		}
		if left[at] = count; !named || min(count[0], count[1]) < 0 {
			gates = append(gates, gate)
		}
	}
	return gates
}

// gate finds the allowance that a gate's call is.
func (k *knowledge) gate(e *Envelope, in, call string) (at int, named bool) {
	if k.gates == nil {
		k.gates = map[[2]string]int{}
		for at := range e.Calls {
			for _, name := range e.Calls[at].Names {
				k.gates[[2]string{e.Calls[at].In, name}] = at
			}
		}
	}
	at, named = k.gates[[2]string{in, call}]
	return at, named
}

// mostBefore bounds how many calls are followed that come before one. Past it a call
// counts as coming after nothing more.
const mostBefore = 100

// pass counts, by allowance, the calls that have ended once the call starts, and those of
// them that are done: those right before it, or all.
func (j *judge) pass(all bool) {
	j.passed, j.passedAll = map[int][2]int{}, all
	note := func(one *standing, done bool) {
		of, n := one.ended, 0
		if done {
			of, n = one.done, 1
		}
		for _, at := range of {
			j.passed[at] = [2]int{j.passed[at][0] + 1, j.passed[at][1] + n}
		}
	}
	for _, one := range j.known.ended {
		if one.tick < j.given.Tick {
			note(one.standing, one.done)
		}
	}
	if j.given.Beside == nil {
		return
	}
	type earlier struct {
		call           *facts.Call
		approved, done bool
	}
	var before []earlier
	at := map[string]int{} // places, from 1
	come := func(name string, done bool) {
		i := at[name]
		if i == 0 {
			call, approved := j.given.Beside(name)
			before = append(before, earlier{call: call, approved: approved})
			i = len(before)
			at[name] = i
		}
		before[i-1].done = before[i-1].done || done
	}
	follow := []*facts.Call{j.call}
	for followed := 0; followed < len(follow); followed++ {
		for _, a := range follow[followed].After { // it starts, so that these have come so far
			i := at[a.Call]
			if a.Listed || i > 0 && (a.Settled || before[i-1].done) || len(before) >= mostBefore {
				continue
			}
			if come(a.Call, !a.Settled); all && !a.Settled {
				if one := before[at[a.Call]-1]; one.call != nil && !one.approved {
					follow = append(follow, one.call)
				}
			}
		}
	}
	for v := range reads(j.call) {
		for _, s := range v.Sources {
			for _, writer := range s.Calls {
				come(writer, false)
			}
		}
	}
	for _, one := range before {
		if one.call != nil {
			note(j.standing(one.call, one.approved), one.done)
		}
	}
}

// standing is what another call counts for as it is written; of one that a person has approved of as it is, what it
// comes nearest to, and only as it has ended.
func (j *judge) standing(c *facts.Call, approved bool) *standing {
	g, k := *j.given, j.known
	g.Values, g.Writers, g.Later = nil, nil, g.Live
	if approved {
		nearest, _ := j.envelope.judge(j.in, c, g, k)
		return &standing{ended: nearest}
	}
	one := k.stands[c]
	if one == nil {
		one = k.keep(c, nil) // a call that comes after itself
		if fits, problems := j.envelope.judge(j.in, c, g, k); len(problems) == 0 {
			one.done = fits
		}
	}
	if !one.complete {
		one.complete = true
		other := judge{envelope: j.envelope, known: k, call: c, given: &g, in: j.in}
		one.done = slices.DeleteFunc(slices.Clone(one.done), func(at int) bool {
			other.allowance = &j.envelope.Calls[at]
			return !other.does()
		})
		for _, at := range one.done {
			other.allowance = &j.envelope.Calls[at]
			if other.free() {
				one.ended = append(one.ended, at)
			}
		}
	}
	return one
}

// does reports whether, if the call is done, all is done that was approved: a list is done
// without the items that a condition skips, or whose failures are collected.
func (j *judge) does() bool {
	return j.call.Each == nil || j.sameCondition() && j.call.Each.Collect == j.allowance.Collect
}

func (j *judge) sameCondition() bool {
	a, c := j.allowance, j.call
	if c.When == nil || string(c.When.Literal.Text) == "true" {
		return a.When == nil
	}
	return a.When != nil && j.sameLeaf(leafOf("", c.When), *a.When)
}

// free reports whether nothing more has the call be skipped or fail than has the one
// approved: no other condition, none to come after that must be done, no writer left out of
// what it reads, no fewer tries and no less time.
func (j *judge) free() bool {
	a, c := j.allowance, j.call
	must := 0
	for _, gate := range a.After {
		if !gate.Settled {
			must++
		}
	}
	for _, after := range c.After {
		if !after.Settled && !after.Listed {
			must--
		}
	}
	return must >= 0 && j.sameCondition() && c.Tries >= a.Tries && (c.Timeout == "" || c.Timeout == a.Timeout) && len(j.lacking(true)) == 0
}

func (k *knowledge) keep(c *facts.Call, fits []int) *standing {
	if k.stands == nil {
		k.stands = map[*facts.Call]*standing{}
	}
	one := &standing{done: fits}
	k.stands[c] = one
	return one
}
