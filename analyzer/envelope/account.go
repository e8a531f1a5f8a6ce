package envelope

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/facts"
)

// An Account is what a run has used up of its envelope, over all ticks and resumes.
type Account struct {
	*Envelope
	Asked float64          // what models have cost
	uses  map[string]*uses // by instance
	calls int
	cost  float64 // of calls
}

// uses are what is known of one instance.
type uses struct {
	of    []int                    // how often each entry is used
	ended []earlier                // calls of the plan itself
	fits  map[*facts.Call][]string // see counts
}

// Open begins the account of a run.
func (e *Envelope) Open() *Account {
	return &Account{Envelope: e, uses: map[string]*uses{}}
}

func (a *Account) of(instance string) *uses {
	if a.uses[instance] == nil {
		a.uses[instance] = &uses{of: make([]int, len(a.Calls)), fits: map[*facts.Call][]string{}}
	}
	return a.uses[instance]
}

// A Start is a call that a run is about to carry out.
type Start struct {
	In      string
	Call    *facts.Call
	Given   Given
	Further bool    // it isn't the first try
	Cost    float64 // the declared cost of a try

	entry int // the one that is used, or the nearest, from 1; 0 if that has no uses left
}

// Ended notes that a call of the plan itself has ended: it counts for calls that come after it in a later tick. See
// [Given.Beside] for approved.
func (a *Account) Ended(c *facts.Call, g Given, done, approved bool) {
	u := a.of(g.Instance)
	u.ended = append(u.ended, earlier{fits: a.counts("", c, &g, approved), done: done && !approved, tick: g.Tick})
}

// Admit says what of carrying out a call leaves the envelope, or what is left of it; and
// notes which entry [Account.Charge] uses.
func (a *Account) Admit(s *Start) []Difference {
	fits, left := a.Judge(s.In, s.Call, &s.Given)
	if s.entry = a.free(fits, s.Given.Instance) + 1; s.entry == 0 && fits != nil {
		left = append(left, tooOften(s.In, s.Call, 1, 0))
	}
	if most := a.Budget.Calls; most != nil && !s.Further && float64(a.calls+1) > *most {
		left = append(left, spent("calls", number(float64(a.calls+1)), *most))
	}
	if most := a.Budget.Cost; most != nil && s.Cost > 0 && a.Asked+a.cost+s.Cost > *most {
		left = append(left, spent("cost", number(a.Asked+a.cost+s.Cost), *most))
	}
	return left
}

// free is the first of some entries that has uses left, or -1.
func (a *Account) free(entries []int, instance string) int {
	for _, at := range entries {
		if a.of(instance).of[at] < a.Calls[at].Times {
			return at
		}
	}
	return -1
}

// Charge takes the start of a call off what is left. One that leaves the envelope, which
// somebody has approved, uses the entry that it is nearest to, if that has uses left.
func (a *Account) Charge(s *Start) {
	a.use(s, 1)
	if !s.Further {
		a.calls++
	}
	a.cost += s.Cost
}

// Refund gives back the try of a call that may be carried out again without doing more.
func (a *Account) Refund(s *Start) { a.use(s, -1) }

func (a *Account) use(s *Start, n int) {
	if s.entry > 0 {
		a.of(s.Given.Instance).of[s.entry-1] += n
	}
}

// Overspent says by how much more than the envelope allows a run has cost or asked a model to plan, or how many seconds
// it lasted; "" where it is within.
func (a *Account) Overspent(ticks int, seconds float64) string {
	for i, one := range a.Budget.bounds()[1:] {
		if is := []float64{float64(ticks), a.Asked + a.cost, seconds}[i]; one.most != nil && is > *one.most {
			return fmt.Sprintf("the approval is used up: %s: %s; approved: %s", one.what, number(is), number(*one.most))
		}
	}
	return ""
}
