package envelope

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
)

// A Gate is a call of the approved plan that another comes after.
type Gate struct {
	Call    string `json:"call"`              // see [Allowance.Names]
	Settled bool   `json:"settled,omitempty"` // however it ended; else it must be done
}

func (g Gate) String() string {
	if g.Settled {
		return fmt.Sprintf("%q has ended", g.Call)
	}
	return fmt.Sprintf("%q is done", g.Call)
}

// name has allowances known by the calls that others come after.
func (e *Envelope) name(f *facts.Facts, of []int) {
	gates := map[string]bool{}
	for i := range f.Calls {
		for _, a := range f.Calls[i].After {
			gates[a.Call] = gates[a.Call] || !a.Listed
		}
	}
	for i, at := range of {
		if a := &e.Calls[at]; gates[f.Calls[i].Name] && !slices.Contains(a.Names, f.Calls[i].Name) {
			a.Names = append(a.Names, f.Calls[i].Name)
		}
	}
}

// An ended call is one that a run has come to the end of, in some tick.
type ended struct {
	fits []int // the allowances that covered it
	done int   // 1 if it is
	tick int
}

// knowledge is what has been found out of calls and conditions, which is asked again.
type knowledge struct {
	fits   map[*facts.Call][]int // of calls as they are written
	proven map[[2]string]bool    // whether a condition implies another
	ended  []ended
	gates  map[[2]string]int // the allowances that gates name, by delegate and name; nil before they are asked for
}

// mostProofs bounds how many conditions are compared by meaning, each with another. Past
// it those imply each other that are written alike.
const mostProofs = 500

// implies reports whether a condition surely holds only where another does.
func (k *knowledge) implies(condition, other string) bool {
	if condition == other {
		return true
	}
	pair := [2]string{condition, other}
	yes, known := k.proven[pair]
	if !known && len(k.proven) < mostProofs {
		if k.proven == nil {
			k.proven = map[[2]string]bool{}
		}
		yes = branch.Implies(condition, other)
		k.proven[pair] = yes
	}
	return yes
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
	if is.Expression == "" || approved.Expression == "" {
		return is.Literal != nil && string(is.Literal.Is) == "false" // it never runs
	}
	for _, o := range approved.Sources { // the same values, by the same writers
		if !slices.ContainsFunc(is.Sources, func(s Source) bool { return s.Path == o.Path && j.writtenBy(s, o) }) {
			return false
		}
	}
	return j.known.implies(is.Expression, approved.Expression)
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
// in the plan, or done in an earlier tick. One call stands for one of them.
func (j *judge) gates() {
	left := map[int][2]int{}
	for n, gate := range j.allowance.After {
		if n == 0 && j.passed == nil {
			j.pass()
		}
		at, named := j.known.gate(j.envelope, j.in, gate.Call)
		if _, seen := left[at]; !seen {
			left[at] = j.passed[at]
		}
		count := left[at]
		if count[0]--; !gate.Settled {
			count[1]--
		}
		if left[at] = count; named && min(count[0], count[1]) >= 0 {
			continue
		}
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
// them that are done.
func (j *judge) pass() {
	j.passed = map[int][2]int{}
	note := func(fits []int, ended, done int) {
		for _, at := range fits {
			j.passed[at] = [2]int{j.passed[at][0] + ended, j.passed[at][1] + done}
		}
	}
	for _, one := range j.known.ended {
		if one.tick < j.given.Tick {
			note(one.fits, 1, one.done)
		}
	}
	if j.given.Beside == nil {
		return
	}
	done := map[string]bool{} // by call that it comes after
	for follow := []*facts.Call{j.call}; len(follow) > 0; follow = follow[1:] {
		for _, a := range follow[0].After { // it starts, so that these have come so far
			before, seen := done[a.Call]
			other := j.given.Beside(a.Call)
			if other == nil || a.Listed || seen && (before || a.Settled) || len(done) == mostBefore {
				continue
			}
			done[a.Call] = !a.Settled
			switch fits := j.fitsOf(other); {
			case a.Settled:
				note(fits, 1, 0)
			case seen:
				note(fits, 0, 1)
			default:
				note(fits, 1, 1)
			}
			if !a.Settled {
				follow = append(follow, other)
			}
		}
	}
}

// fitsOf are the allowances that cover another call as it is written.
func (j *judge) fitsOf(c *facts.Call) []int {
	k := j.known
	if fits, known := k.fits[c]; known {
		return fits
	}
	k.keep(c, nil) // a call that comes after itself
	g := *j.given
	g.Values, g.Writers, g.Later = nil, nil, g.Live
	fits, amiss := j.envelope.judge(j.in, c, g, k)
	if len(amiss) == 0 {
		k.keep(c, fits)
	}
	return k.fits[c]
}

func (k *knowledge) keep(c *facts.Call, fits []int) {
	if k.fits == nil {
		k.fits = map[*facts.Call][]int{}
	}
	k.fits[c] = fits
}
