package envelope

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Difference is one thing that leaves an envelope.
type Difference struct {
	Call string       `json:"call,omitempty"` // LANGUAGE.md#calls; "" where it is about no call
	In   string       `json:"in,omitempty"`   // the delegate of the call
	Tool string       `json:"tool,omitempty"`
	At   *facts.Place `json:"at,omitempty"`
	Row
	Approved string `json:"approved,omitempty"`
}

func differing(in string, c *facts.Call, is Row, approved string) Difference {
	return Difference{c.Name, in, c.Tool, c.At, is, approved}
}

// tooOften says that a call runs more often than there are uses left.
func tooOften(in string, c *facts.Call, times, left int) Difference {
	if left == 0 {
		return differing(in, c, Row{Times, "", "once more"}, "no more")
	}
	return differing(in, c, Row{Times, "", often(times)}, often(left))
}

func spent(of, is string, most float64) Difference {
	return Difference{Row: Row{Spent, of, is}, Approved: number(most)}
}

// String says what leaves, and what is approved, in one line that nothing in a plan ends.
func (d Difference) String() string {
	text := d.Row.String()
	if d.Approved != "" {
		text += "; approved: " + d.Approved
	}
	if d.Call == "" {
		return diag.Escape(text)
	}
	call := fmt.Sprintf("%q", d.Call)
	if d.In != "" {
		call += fmt.Sprintf(" of %q", d.In)
	}
	return diag.Escape(call + ": " + text)
}

// Without are the differences that aren't among those that were approved, wherever they
// stand.
func Without(all, approved []Difference) (left []Difference) {
	for _, d := range all {
		if !slices.ContainsFunc(approved, func(o Difference) bool { return d.Row == o.Row && d.Approved == o.Approved }) {
			left = append(left, d)
		}
	}
	return left
}

// Digest identifies differences, so that a person's word about them is about no others.
func Digest(all []Difference) string {
	text, _ := json.Marshal(all) // plain data
	return workspace.SumOf(text)
}

// Within says what of a plan, with its parts, leaves an envelope. What nothing bounds counts as too much, except the
// budget of a run that is planned.
func (e *Envelope) Within(f *facts.Facts, parts []plan.Part) []Difference {
	all := e.definitions(parts)
	e.Open().plan(f, f, "", 1, 0, &all)
	if f.Planned {
		return all
	}
	for i, one := range e.Budget.bounds() {
		is := []facts.Bound{f.Worst.Calls, f.Worst.Ticks, f.Worst.Cost, f.Worst.Time}[i].Most
		switch {
		case one.most == nil:
		case is == nil:
			all = append(all, spent(one.what, "unbounded", *one.most))
		case *is > *one.most:
			all = append(all, spent(one.what, number(*is), *one.most))
		}
	}
	return all
}

// definitions are those that aren't what was approved, and the policies that are gone.
func (e *Envelope) definitions(parts []plan.Part) (all []Difference) {
	same := func(list []plan.Part, p plan.Part) bool {
		return slices.ContainsFunc(list, func(o plan.Part) bool { return o.In == p.In && o.Kind == p.Kind && o.Name == p.Name })
	}
	differs := func(p plan.Part, is string) {
		all = append(all, Difference{Row: Row{Definition, p.String(), is}})
	}
	for _, one := range parts {
		switch {
		case !defines(one) || slices.Contains(e.Parts, one):
		case same(e.Parts, one):
			differs(one, "is another than was approved")
		default:
			differs(one, "is new")
		}
	}
	for _, one := range e.Parts {
		if one.Kind == compiler.PartPolicy && !same(parts, one) {
			differs(one, "is gone")
		}
	}
	return all
}

// plan holds the calls of a plan that is run so many times, and those of the plans that it delegates to.
func (a *Account) plan(f, root *facts.Facts, in string, times, depth int, all *[]Difference) {
	if depth > len(root.Delegates) {
		return // within itself, which is an error of its own
	}
	byName := map[string]*facts.Call{}
	for i := range f.Calls {
		byName[f.Calls[i].Name] = &f.Calls[i]
	}
	given := Given{Beside: func(name string) (*facts.Call, bool) { return byName[name], false }}
	used := a.of("").of
	for i := range f.Calls {
		c := &f.Calls[i]
		n := timesOf(c, times)
		fits, left := a.Judge(in, c, &given)
		if len(left) == 0 {
			missing := n
			for _, at := range fits {
				k := min(a.Calls[at].Times-used[at], missing)
				used[at] += k
				missing -= k
			}
			if missing > 0 {
				left = append(left, tooOften(in, c, n, n-missing))
			}
		}
		*all = append(*all, left...)
		if d := root.Delegates[c.Runs.Plan]; d != nil {
			a.plan(d, root, c.Runs.Plan, n, depth+1, all)
		}
	}
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func often(n int) string {
	switch {
	case n >= mostTimes:
		return "any number of times"
	case n == 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func listed(all []string) string { return cmp.Or(wording.Or(all), "nothing") }

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
