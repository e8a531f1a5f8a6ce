package facts

import (
	"maps"
	"slices"
)

// mostFollowed is how many calls a plan has at most whose failures are followed.
const mostFollowed = 1_000

// unfinished adds what each failure, rejection or stop leaves half done: the calls that have changed something by then,
// or do so all the same, since a failure stops only the calls that require its result; and those that never run.
func (d *dealer) unfinished() {
	calls := d.facts.Calls
	if len(calls) > mostFollowed {
		d.rows = append(d.rows, Row{Text: "what failures leave half done isn't listed for so many calls"})
		return
	}
	impacts, needs := indexOf(d.facts).impacts(), needsOf(calls)
	var causes []*Call
	endings := map[*Call]string{}
	for i := range calls {
		if needs[i] == nil || slices.Contains([]string{"expr", Produced}, calls[i].Runs.Kind) {
			continue
		}
		var done, never []*Call
		for j := range calls {
			switch {
			case i == j || needs[j] == nil || impacts[j]&acted == 0:
			case needs[j][int32(i)]:
				never = append(never, &calls[j])
			default:
				done = append(done, &calls[j])
			}
		}
		if done == nil || never == nil && impacts[i]&acted == 0 {
			continue
		}
		ending := " → done anyway: " + d.brief(namesOf(done, d.uses))
		if never != nil {
			ending += "; never: " + d.brief(namesOf(never, d.uses))
		}
		causes, endings[&calls[i]] = append(causes, &calls[i]), ending
	}
	keys, by := grouped(causes, func(c *Call) string { return endings[c] })
	row := Row{Sign: "!", Text: "LEFT HALF DONE, also by a stop between these calls"}
	for _, ending := range keys {
		fails := " fails"
		if slices.ContainsFunc(by[ending], func(c *Call) bool { return c.Confirm }) {
			fails += " or is rejected"
		}
		row.Rows = append(row.Rows, Row{Text: d.brief(namesOf(by[ending], d.uses)) + fails + ending})
	}
	if row.Rows != nil {
		d.rows = append(d.rows, row)
	}
}

// needsOf are the calls that each of some calls can't run without; nil for one that runs only after a failure.
func needsOf(calls []Call) []map[int32]bool {
	all, met := make([]map[int32]bool, len(calls)), make([]bool, len(calls))
	var visit func(i int32)
	visit = func(i int32) {
		if met[i] {
			return
		}
		met[i] = true
		needs := map[int32]bool{}
		for _, r := range calls[i].requires {
			visit(r.call)
			if r.failed || all[r.call] == nil {
				return
			}
			needs[r.call] = true
			maps.Copy(needs, all[r.call])
		}
		all[i] = needs
	}
	for i := range calls {
		visit(int32(i))
	}
	return all
}
