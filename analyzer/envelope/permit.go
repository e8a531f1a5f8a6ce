package envelope

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
)

// Given is what is known of a call besides its facts, when a run is about to make it. The
// zero value is of a call that nothing more is known of.
type Given struct {
	// Live is set if the start is the state of a run.
	Live bool
	// Writers are the tools that have written at the paths that the call reads. Values are its parameters. Both are nil
	// as long as the values aren't known: of a live run what only they decide is left for later then.
	Writers map[string][]string
	Values  map[string]any
	// Instance is the one that it is for; "" as the call says.
	Instance string
	// Tick is that of a run: calls that were done in earlier ones are done.
	Tick int
	// Beside finds a call of the same plan by name, nil where there is none, and says whether
	// a person has approved that it does something else than was approved before.
	Beside func(name string) (call *facts.Call, approved bool)
}

// An earlier call is one that has ended once another starts, and the approved calls that it counts as.
type earlier struct {
	call string
	fits []string
	done bool
	tick int
}

// Judge says which entries a call of a plan equals (in is its delegate), whatever uses they have left; or if none, the
// one that it differs from the least, and in what.
func (a *Account) Judge(in string, c *facts.Call, g *Given) (fits []int, left []Difference) {
	j := judge{account: a, in: in, call: c, given: g, rows: rows(c), reads: reads(c)}
	nearest, least := -1, 0
	for _, all := range []bool{false, true} {
		for at := range a.Calls {
			e := &a.Calls[at]
			if e.In != in || e.Tool != c.Tool || !all && e.Allow == nil && c.Runs.Kind != facts.Produced && !slices.Equal(e.Rows, j.rows) {
				continue
			}
			j.left = j.left[:0]
			j.entry(e)
			n := len(j.left)
			if n == 0 {
				if j.order(e); len(j.left) == 0 {
					fits = append(fits, at)
				}
			}
			if all && (nearest < 0 || n < least) {
				nearest, least = at, n
			}
		}
		if len(fits) > 0 {
			return fits, nil
		}
	}
	if nearest < 0 {
		is := c.Effect.Kind
		for _, r := range j.rows {
			is += ", " + r.String()
		}
		j.differs(Row{Tool, c.Tool, is}, "nothing")
		return nil, j.left
	}
	j.left = nil
	j.entry(&a.Calls[nearest])
	j.order(&a.Calls[nearest])
	return []int{nearest}, j.left
}

// A judge compares one call with entries.
type judge struct {
	account *Account
	in      string
	call    *facts.Call
	given   *Given
	rows    []Row
	reads   []facts.Source
	before  []earlier // once it is asked for
	left    []Difference
}

func (j *judge) differs(is Row, approved string) {
	j.left = append(j.left, differing(j.in, j.call, is, approved))
}

// entry compares the call with an entry, but for what it comes after.
func (j *judge) entry(e *Entry) {
	c := j.call
	if compiler.Risk(c.Effect.Kind) > compiler.Risk(e.Effect) || c.Effect.OpenWorld && !e.OpenWorld {
		j.differs(Row{Effect, "", effect(c.Effect.Kind, c.Effect.OpenWorld)}, effect(e.Effect, e.OpenWorld))
	}
	if e.Allow != nil {
		j.allowed(e)
	} else {
		j.same(e)
	}
	for _, s := range j.reads { // nobody else has written there
		if tools, known := j.given.Writers[s.Path]; known {
			s.Tools = tools
		}
		is := writers(&s)
		approved, isRead := e.Reads[s.Path]
		if isRead && j.given.Live {
			approved = append([]string{start}, approved...)
		}
		other := slices.ContainsFunc(is, func(tool string) bool { return !slices.Contains(approved, tool) })
		if isRead && other || !isRead && e.Allow == nil {
			j.differs(Row{Writers, s.Path, listed(is)}, listed(approved))
		}
	}
}

// same compares the rows of the call with those of an entry. The result of a latent call may be in the plan if the
// approved call was to see all that the planner sees.
func (j *judge) same(e *Entry) {
	approved, r := e.Rows, &j.call.Runs
	sees := r.Kind == facts.Produced && !r.Alone && len(j.call.Context) == 0
	for _, row := range []Row{{CarriedOut, "", facts.Model}, {Context, "†input", given}, {Context, "†state", given}} {
		sees = sees && slices.Contains(approved, row)
	}
	differs := func(is Row, approved string) {
		if !sees || is.What != CarriedOut && is.What != Context && is.What != Result {
			j.differs(is, approved)
		}
	}
	for _, row := range j.rows {
		for len(approved) > 0 && compare(approved[0], row) < 0 {
			differs(Row{approved[0].What, approved[0].Of, "nothing"}, approved[0].Is)
			approved = approved[1:]
		}
		if len(approved) == 0 || compare(approved[0], row) > 0 {
			differs(row, "nothing")
			continue
		}
		if approved[0].Is != row.Is {
			differs(row, approved[0].Is)
		}
		approved = approved[1:]
	}
	for _, row := range approved {
		differs(Row{row.What, row.Of, "nothing"}, row.Is)
	}
}

// order compares what the call comes after: calls that equal those that the approved call comes after, one for each, and
// no others. Those of an earlier tick have been waited for.
func (j *judge) order(e *Entry) {
	if e.Allow != nil {
		return
	}
	if j.before == nil {
		j.before = j.account.before(j.in, j.call, j.given)
	}
	used := make([]bool, len(j.before))
	for _, gate := range e.After {
		i := 0
		for i < len(used) && (used[i] || gate.Is == done && !j.before[i].done || !slices.Contains(j.before[i].fits, gate.Of)) {
			i++
		}
		if i == len(used) {
			j.differs(Row{After, gate.Of, "no call that equals it"}, gate.Is)
		} else {
			used[i] = true
		}
	}
	for i, one := range j.before {
		if one.call != "" && !used[i] && len(j.left) == 0 {
			j.differs(Row{After, one.call, "waited for"}, "nothing")
		}
	}
}

// before are the calls that have ended once a call starts: those that it comes after, and those of earlier ticks.
func (a *Account) before(in string, c *facts.Call, g *Given) (all []earlier) {
	for _, gate := range after(c) {
		one := earlier{call: gate.Of, done: gate.Is == done}
		if call, approved := g.Beside(gate.Of); call != nil {
			one.fits, one.done = a.counts(in, call, g, approved), one.done && !approved
		}
		all = append(all, one)
	}
	for _, one := range a.of(g.Instance).ended {
		if one.tick < g.Tick {
			all = append(all, one)
		}
	}
	return all
}

// counts are the approved calls that a call counts as for those that come after it. One that a person has approved counts
// as the one that it is nearest to.
func (a *Account) counts(in string, c *facts.Call, g *Given, approved bool) []string {
	u := a.of(g.Instance)
	names, known := u.fits[c]
	if known {
		return names
	}
	u.fits[c] = nil // a call that comes after itself
	asWritten := *g
	asWritten.Writers, asWritten.Values = nil, nil
	if fits, left := a.Judge(in, c, &asWritten); len(left) == 0 || approved {
		for _, at := range fits {
			names = append(names, a.Calls[at].Call)
		}
	}
	u.fits[c] = names
	return names
}

// InPlace are the facts of a call that a person has put in the place of another: it keeps the condition of that, whether
// people are asked, and what has been waited for.
func InPlace(by, of *facts.Call) *facts.Call {
	one := *by
	one.When, one.Confirm, one.After = of.When, of.Confirm, nil
	for _, gate := range after(of) {
		one.After = append(one.After, facts.After{Call: gate.Of, Settled: gate.Is != done})
	}
	return &one
}

// Changed are the facts of a call some of whose parameters somebody has given other
// values.
func Changed(c *facts.Call, params map[string]any, names []string) *facts.Call {
	out := *c
	for _, name := range names {
		at := facts.Step("", name)
		out.Values = slices.DeleteFunc(slices.Clone(out.Values), func(v facts.Value) bool { return atOrBelow(v.Path, at) })
		if v, there := params[name]; there {
			out.Values = append(out.Values, facts.Value{Path: at, Literal: facts.Literal{Text: facts.Compact(v)}})
		}
	}
	return &out
}
