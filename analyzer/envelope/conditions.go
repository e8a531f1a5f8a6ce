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
	done bool
	tick int
}

// knowledge is what has been found out of calls and conditions, which is asked again.
type knowledge struct {
	fits   map[*facts.Call][]int // of calls as they are written
	proven map[[2]string]bool    // whether a condition implies another
	ended  []ended
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
// in the plan, or done in an earlier tick.
func (j *judge) gates() {
	var before []ended
	for at, gate := range j.allowance.After {
		if at == 0 {
			before = j.before()
		}
		k := slices.IndexFunc(before, func(b ended) bool { return (b.done || gate.Settled) && j.stands(gate, b.fits) })
		if k >= 0 {
			before = slices.Delete(before, k, k+1) // one call stands for one gate
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

// stands reports whether a call that some allowances cover does what the call of a gate did.
func (j *judge) stands(gate Gate, fits []int) bool {
	return slices.ContainsFunc(fits, func(at int) bool {
		a := &j.envelope.Calls[at]
		return a.In == j.in && slices.Contains(a.Names, gate.Call)
	})
}

// before are the calls that have ended once the call starts.
func (j *judge) before() (all []ended) {
	for _, one := range j.known.ended {
		if one.tick < j.given.Tick {
			all = append(all, one)
		}
	}
	if j.given.Beside == nil {
		return all
	}
	at := map[string]int{}
	var follow func(c *facts.Call)
	follow = func(c *facts.Call) { // which starts, so that what it comes after has come so far
		for _, a := range c.After {
			other := j.given.Beside(a.Call)
			if other == nil || a.Listed {
				continue
			}
			i, seen := at[a.Call]
			if !seen {
				i = len(all)
				at[a.Call], all = i, append(all, ended{fits: j.fitsOf(other)})
			}
			if !a.Settled && !all[i].done {
				all[i].done = true
				follow(other)
			}
		}
	}
	follow(j.call)
	return all
}

// fitsOf are the allowances that cover another call as it is written.
func (j *judge) fitsOf(c *facts.Call) []int {
	k := j.known
	fits, known := k.fits[c]
	if known {
		return fits
	}
	if k.fits == nil {
		k.fits = map[*facts.Call][]int{}
	}
	k.fits[c] = nil // a call that comes after itself
	g := *j.given
	g.Values, g.Writers, g.Later = nil, nil, g.Live
	fits, amiss := j.envelope.judge(j.in, c, g, k)
	if len(amiss) > 0 {
		fits = nil
	}
	k.fits[c] = fits
	return fits
}
