package simulate

import "github.com/obelus-dev/obelus/analyzer"

// Alternatives rehearses what comes when one thing goes otherwise than usual. Each is told
// first of the usual course, in which nothing fails, without a path, and then of one for
// every other option of every choice that one of these courses meets, with the path to it:
// the last of it is the option, what comes before is what brings the choice about. Failures
// that no route takes come last. At most so many are rehearsed. Options.Steps bounds each,
// and half as many steps all; left is how many options had no room.
func Alternatives(r *analyzer.Rehearsal, o Options, made []string, most int, each func(path []analyzer.BranchChoice, s *Scenario)) (left int) {
	x := newExplorer(r, o, made)
	x.allow(most)
	x.play(nil, nil)
	each(nil, x.last.scenario)
	met := make([][]pick, len(x.choices)) // by choice: what brings it about
	tried := map[pick]bool{}
	for _, anything := range []bool{false, true} { // first what the plan does something about
		for i := 0; i < len(x.choices); i++ {
			for option := 1; option < len(x.choices[i].options); option++ {
				now := pick{i, option}
				if tried[now] || !anything && x.plainly(now) {
					continue
				}
				if tried[now] = true; !x.affords() {
					left++
					continue
				}
				told := append(met[i][:len(met[i]):len(met[i])], now)
				x.play(told, nil)
				for len(met) < len(x.choices) {
					met = append(met, told)
				}
				if !x.last.void && within(told, x.last.picks) {
					each(x.named(told), x.last.scenario)
				}
			}
		}
	}
	return left
}

// plainly reports whether an option is a failure that no route takes.
func (x *explorer) plainly(p pick) bool {
	c := x.choices[p.choice]
	return c.options[p.option].Fails && c.call >= 0 && x.plan.Calls[c.call].FailureRoute() < 0
}

// named are options as they are told.
func (x *explorer) named(picks []pick) []analyzer.BranchChoice {
	path := make([]analyzer.BranchChoice, len(picks))
	for i, p := range picks {
		path[i] = x.choices[p.choice].options[p.option]
	}
	return path
}
