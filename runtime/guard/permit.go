package guard

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
)

// Permit holds a run to what was approved: it asks about calls that equal no entry with uses left, and stops a run that
// has used up its budget. It counts over ticks and resumed runs.
type Permit struct {
	*permit.Permit
	look    func(*Call) *Details
	used    map[string][]int             // by instance, and entry
	entries map[[2]int]map[string]string // by tick and frame: what their calls equal, see [permit.Entries]
	ended   map[string][]ending          // by instance: the calls of the run itself
	charged map[Try]int                  // the entries that attempts at work use
	next    Try                          // the call that starts next
	closest int                          // the entry that it equals, or is the closest to; or -1
	calls   int
	cost    float64 // of calls
	asked   float64 // of models
}

// An ending is a call that has ended: the entry that it equals, and when.
type ending struct {
	entry  string
	isDone bool
	tick   int
}

// PermitOf is the guard that a run begins with. It looks a call up to compare it.
func PermitOf(p *permit.Permit, look func(*Call) *Details) *Permit {
	return &Permit{
		Permit: p, look: look, used: map[string][]int{}, entries: map[[2]int]map[string]string{},
		ended: map[string][]ending{}, charged: map[Try]int{},
	}
}

// Details are what the permit compares of a call.
type Details struct {
	permit.Subject
	*Call
	Find     func(call string) *facts.Call // another call of its plan
	IsOwn    bool                          // it is one of the run itself, and counts for calls of later ticks
	IsAgain  bool                          // a reviewer has it run again that was cut short, however often that is then
	Cost     float64                       // the declared cost of an attempt
	Approved []permit.Difference           // what a reviewer has approved of it
}

func outside(differences []permit.Difference) Verdict {
	if len(differences) == 0 {
		return Verdict{}
	}
	return Verdict{Kind: Ask, Outside: differences}
}

// Arrives compares a call by its text: while a reviewer is asked about one, nothing starts.
func (g *Permit) Arrives(of *Call) Verdict {
	c := g.subject(of)
	c.Arrives, c.Wrote = true, map[string][]permit.Writer{}
	_, left := g.Match(&c.Subject, nil)
	return outside(left)
}

// Starts compares a call with its values, who wrote what it reads, and what is left of the budget.
func (g *Permit) Starts(of *Call) Verdict {
	if of.Of.Each != nil { // its items start, one by one
		return Verdict{}
	}
	c := g.subject(of)
	entry, left := g.Match(&c.Subject, g.uses(c.Instance))
	known := g.entries[[2]int{c.Tick, c.Frame}]
	differs := func(d permit.Difference) bool { return !c.IsAgain || d.What != permit.Times }
	known[c.Subject.Call.Name] = "other " + c.Subject.Call.Name
	if entry >= 0 && !slices.ContainsFunc(left, differs) && g.Calls[entry].Allow == nil {
		known[c.Subject.Call.Name] = "call " + g.Calls[entry].Call
	}
	g.next, g.closest = c.Try, entry
	exceeds := func(budget string, is float64) {
		if most, bounded := g.Budget[budget]; bounded && is > most {
			row := permit.Row{What: permit.Spent, Of: budget, Is: permit.Number(is)}
			left = append(left, permit.Difference{Row: row, Approved: permit.Number(most)})
		}
	}
	if !c.IsFurther {
		exceeds("calls", float64(g.calls+1))
	}
	if c.Cost > 0 {
		exceeds("cost", g.asked+g.cost+c.Cost)
	}
	return outside(slices.DeleteFunc(permit.Without(left, c.Approved), func(d permit.Difference) bool {
		return !differs(d)
	}))
}

// subject is a call to compare.
func (g *Permit) subject(of *Call) *Details {
	c := g.look(of)
	at := [2]int{c.Tick, c.Frame}
	if g.entries[at] == nil {
		g.entries[at] = map[string]string{}
	}
	c.Earlier = g.earlier(c)
	like := permit.Subject{In: c.In, Wrote: map[string][]permit.Writer{}, Earlier: c.Earlier}
	c.EntryOf = permit.Entries(like, g.entries[at], c.Find, g.Permit.EntryOf)
	return c
}

// EntryOf names the entry that a call equals, see [permit.Entries].
func (g *Permit) EntryOf(of *Call) string {
	c := g.subject(of)
	return c.EntryOf(c.Subject.Call.Name)
}

// earlier are the calls that ended in earlier ticks, the second that equals an entry as its second.
func (g *Permit) earlier(c *Details) (all []permit.Row) {
	times := map[string]int{}
	for _, one := range g.ended[c.Instance] {
		if one.tick == c.Tick {
			break
		}
		times[one.entry]++
		entry := permit.Nth(one.entry, times[one.entry])
		all = append(all, permit.Row{What: permit.After, Of: entry, Is: permit.Ended})
		if one.isDone {
			all = append(all, permit.Row{What: permit.After, Of: entry, Is: permit.Done})
		}
	}
	return all
}

func (g *Permit) uses(instance string) []int {
	if g.used[instance] == nil {
		g.used[instance] = make([]int, len(g.Calls))
	}
	return g.used[instance]
}

// Settled takes what has started off what is left, and notes what has ended for the calls that come after it in later
// ticks. An attempt that a reviewer has approved uses the entry that it is the closest to, if that has uses left.
func (g *Permit) Settled(of *Call, stage Stage) {
	if stage == Started && of.Try == g.next { // of items each starts
		delete(g.charged, of.Try)
		if uses, at := g.uses(of.Instance), g.closest; at >= 0 && uses[at] < g.Calls[at].Times {
			uses[at]++
			g.charged[of.Try] = at
		}
		if !of.IsFurther {
			g.calls++
		}
		g.cost += g.look(of).Cost
	}
	if entry, charged := g.charged[of.Try]; charged && stage == Interrupted { // what may be repeated gives back its use
		g.uses(of.Instance)[entry]--
	}
	if stage > Continued {
		delete(g.charged, of.Try)
	}
	if stage < Ended {
		return
	}
	if c := g.subject(of); c.IsOwn {
		one := ending{c.EntryOf(c.Subject.Call.Name), stage >= Done, c.Tick}
		g.ended[c.Instance] = append(g.ended[c.Instance], one)
	}
}

// Overspent says by how much a run has used up more than its budget; "" where it is within.
func (g *Permit) Overspent(ticks int, cost, seconds float64) string {
	g.asked = cost
	for i, name := range []string{"ticks", "cost", "time"} {
		is := []float64{float64(ticks), cost + g.cost, seconds}[i]
		if most, bounded := g.Budget[name]; bounded && is > most {
			return fmt.Sprintf("the approval is used up: %s: %s; approved: %s", name, permit.Number(is),
				permit.Number(most))
		}
	}
	return ""
}
