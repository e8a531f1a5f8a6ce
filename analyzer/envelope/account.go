package envelope

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
)

// An Account is what a run has used up of its envelope, over all ticks and resumes.
type Account struct {
	*Envelope
	used  map[string][]int      // how often each allowance is charged, by instance
	known map[string]*knowledge // by instance
	gated bool                  // calls come after others
	calls int
	cost  float64
}

// Open begins the account of a run.
func (e *Envelope) Open() *Account {
	gated := slices.ContainsFunc(e.Calls, func(a Allowance) bool { return len(a.After) > 0 })
	return &Account{Envelope: e, used: map[string][]int{}, known: map[string]*knowledge{}, gated: gated}
}

// A Start is a call that a run is about to carry out.
type Start struct {
	In      string
	Call    *facts.Call
	Given   Given
	Further bool    // it isn't the first try
	Cost    float64 // the declared cost of a try

	fits    []int // the allowances that cover it, or the nearest
	charged []int // one of them, once it has started; none if that has no room
}

// Judge says what of a call leaves the envelope, whatever is left of that.
func (a *Account) Judge(in string, c *facts.Call, g Given) []Difference {
	_, problems := a.judge(in, c, g, a.knows(g.Instance))
	return problems
}

// Ended notes that a call of the plan itself has ended: it counts for calls that come after it in a later tick. See
// [Given.Beside] for approved.
func (a *Account) Ended(c *facts.Call, g Given, done, approved bool) {
	if a.gated {
		j := judge{envelope: a.Envelope, known: a.knows(g.Instance), given: &g}
		j.known.ended = append(j.known.ended, earlier{j.standing(c, approved), done && !approved, g.Tick})
	}
}

func (a *Account) knows(instance string) *knowledge {
	if a.known[instance] == nil {
		a.known[instance] = &knowledge{}
	}
	return a.known[instance]
}

// Admit says what of carrying out a call leaves the envelope, or what is left of it; and
// if nothing does, notes what covers the call for [Account.Charge].
func (a *Account) Admit(s *Start) []Difference {
	fits, problems := a.judge(s.In, s.Call, s.Given, a.knows(s.Given.Instance))
	if s.fits = fits; fits != nil && a.room(s) == nil {
		problems = append(problems, tooOften(s.In, s.Call, 1, 0))
	}
	if most := a.Budget.Calls; most != nil && !s.Further && float64(a.calls+1) > *most {
		problems = append(problems, Difference{What: Spent, Of: "calls", Is: number(float64(a.calls + 1)), Approved: number(*most)})
	}
	if most := a.Budget.Cost; most != nil && s.Cost > 0 && a.cost+s.Cost > *most {
		problems = append(problems, Difference{What: Spent, Of: "cost", Is: number(a.cost + s.Cost), Approved: number(*most)})
	}
	return problems
}

// Charge takes the start of a call off what is left. One that leaves the envelope, which
// somebody has approved, is charged to what it comes nearest to, if that has room.
func (a *Account) Charge(s *Start) {
	if s.charged = a.room(s); s.charged != nil {
		a.used[s.Given.Instance][s.charged[0]]++
	}
	if !s.Further {
		a.calls++
	}
	a.cost += s.Cost
}

// Refund gives back the try of a call that may be carried out again without doing more.
func (a *Account) Refund(s *Start) {
	if s.charged != nil {
		a.used[s.Given.Instance][s.charged[0]]--
	}
}

// Spend takes what a model's answer cost off what is left.
func (a *Account) Spend(cost float64) { a.cost += cost }

// Overspent says by how much more than the envelope allows a run has cost or asked a model to plan, or how many seconds
// it lasted; "" where it is within.
func (a *Account) Overspent(ticks int, seconds float64) string {
	for i, one := range a.Budget.bounds()[1:] {
		if is := []float64{float64(ticks), a.cost, seconds}[i]; one.most != nil && is > *one.most {
			return fmt.Sprintf("the approval is used up: %s: %s; approved: %s", one.what, number(is), number(*one.most))
		}
	}
	return ""
}

// room is the first allowance that has room for a call.
func (a *Account) room(s *Start) []int {
	if a.used[s.Given.Instance] == nil {
		a.used[s.Given.Instance] = make([]int, len(a.Calls))
	}
	for i, at := range s.fits {
		if a.used[s.Given.Instance][at] < a.Calls[at].Times {
			return s.fits[i : i+1]
		}
	}
	return nil
}

// Changed are the facts of a call some of whose parameters somebody has given other
// values.
func Changed(c *facts.Call, params map[string]any, names []string) *facts.Call {
	out := *c
	out.Values = nil
	changed := map[string]bool{}
	for _, name := range names {
		changed[name] = true
	}
	for _, v := range c.Values {
		if name, _ := first(v.Path); !changed[name] {
			out.Values = append(out.Values, v)
		}
	}
	for _, name := range names {
		if v, there := params[name]; there {
			out.Values = append(out.Values, facts.Value{Path: fmt.Sprintf("[%q]", name), Literal: literal(v)})
		}
	}
	return &out
}
