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
	// Needed is set where the call that has the gate doesn't start without what the other writes. That counts only for
	// calls after it.
	Needed bool `json:"needed,omitempty"`
}

func (g Gate) String() string {
	if g.Settled {
		return fmt.Sprintf("%q has ended", g.Call)
	}
	return fmt.Sprintf("%q is done", g.Call)
}

// behind adds the gates of a call: what it comes after, and the calls that write what it reads.
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
	slices.SortStableFunc(a.After, func(a, b Gate) int { // those that must be done first
		if a.Settled == b.Settled {
			return 0
		} else if b.Settled {
			return -1
		}
		return 1
	})
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

// A standing is which allowances a call counts for where others come after it.
type standing struct {
	done  []int // if it is done: those that cover it
	ended []int // however it ended: those of them that nothing less keeps from running
}

// An earlier call is one that has ended once another starts.
type earlier struct {
	*standing
	done bool
	tick int
}

func (e *earlier) counts(at int, settled bool) bool {
	return settled && slices.Contains(e.ended, at) || e.done && slices.Contains(e.standing.done, at)
}

// knowledge is what has been found out of calls, which is asked again.
type knowledge struct {
	stands map[*facts.Call]*standing // of calls as they are written
	ended  []earlier
	gates  map[[2]string]int // the allowances that gates name, by delegate and name; nil before they are asked for
}

// condition holds when the call runs: only under the condition that was approved.
func (j *judge) condition() {
	approved := j.allowance.When
	if approved == nil {
		return
	}
	when := j.call.When
	if when == nil {
		j.differs(Condition, "", "none", approved)
		return
	}
	if is := leafOf("", when); string(when.Literal.Text) != "false" && !j.sameLeaf(is, *approved) {
		is.Sources = j.actual(is.Sources)
		j.differs(Condition, "", is, approved)
	}
}

// order holds what the call comes right after.
func (j *judge) order() {
	for _, gate := range j.unmet(false) {
		var names []string
		for _, a := range j.call.After {
			if !a.Listed {
				names = append(names, strconv.Quote(a.Call))
			}
		}
		j.differs(After, gate.Call, names, gate)
	}
}

// unmet are the gates that no earlier call meets, with all also those that are needed. One call meets one gate.
func (j *judge) unmet(all bool) (gates []Gate) {
	if len(j.allowance.After) == 0 {
		return nil
	}
	if j.before == nil {
		j.before = j.earlier()
	}
	used := make([]bool, len(j.before))
	for _, gate := range j.allowance.After {
		if gate.Needed && !all {
			continue
		}
		at, named := j.known.gate(j.envelope, j.in, gate.Call)
		i := 0
		for i < len(j.before) && (used[i] || !j.before[i].counts(at, gate.Settled)) {
			i++
		}
		if !named || i == len(j.before) {
			gates = append(gates, gate)
		} else {
			used[i] = true
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

// earlier are the calls that have ended once the call starts: those of earlier ticks, and those that it comes right after.
func (j *judge) earlier() (all []earlier) {
	for _, one := range j.known.ended {
		if one.tick < j.given.Tick {
			all = append(all, one)
		}
	}
	if j.given.Beside == nil {
		return all
	}
	seen := map[string]bool{}
	come := func(name string, done bool) {
		if call, approved := j.given.Beside(name); call != nil && !seen[name] {
			seen[name] = true
			all = append(all, earlier{j.standing(call, approved), done, 0})
		}
	}
	for _, done := range []bool{true, false} {
		for _, a := range j.call.After { // it starts, so that these have come so far
			if !a.Listed && a.Settled != done {
				come(a.Call, done)
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
	return all
}

// standing is what another call counts for; one that a person has approved of only as ended.
func (j *judge) standing(c *facts.Call, approved bool) *standing {
	g, k := *j.given, j.known
	g.Values, g.Writers, g.Later = nil, nil, g.Live
	if approved {
		nearest, _ := j.envelope.judge(j.in, c, g, k)
		return &standing{ended: nearest}
	}
	if one := k.stands[c]; one != nil {
		return one
	}
	one := &standing{}
	if k.stands == nil {
		k.stands = map[*facts.Call]*standing{}
	}
	k.stands[c] = one // a call that comes after itself
	fits, problems := j.envelope.judge(j.in, c, g, k)
	if len(problems) > 0 {
		return one
	}
	other := judge{envelope: j.envelope, known: k, call: c, given: &g, in: j.in}
	for _, at := range fits {
		a := &j.envelope.Calls[at]
		other.allowance = a
		same := other.sameCondition()
		if c.Each != nil && (!same || c.Each.Collect != a.Collect) {
			continue // a list is done without the items that a condition skips, or whose failures are collected
		}
		one.done = append(one.done, at)
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
		if must >= 0 && same && len(other.unmet(true)) == 0 && c.Tries >= a.Tries && (c.Timeout == "" || c.Timeout == a.Timeout) {
			one.ended = append(one.ended, at)
		}
	}
	return one
}

func (j *judge) sameCondition() bool {
	a, c := j.allowance, j.call
	if c.When == nil || string(c.When.Literal.Text) == "true" {
		return a.When == nil
	}
	return a.When != nil && j.sameLeaf(leafOf("", c.When), *a.When)
}
