package simulate

import "github.com/obelus-dev/obelus/analyzer"

// An Alternative is a rehearsal in which something goes otherwise than usual.
type Alternative struct {
	Path     []analyzer.BranchChoice // what does; empty of the usual course
	Picks    [][2]int                // every choice that it met, and the option
	Together bool                    // several things go otherwise that needn't all do
	Scenario *Scenario
}

// Alternatives rehearses what comes when things go otherwise than usual. Each is reported first
// of the usual course, in which nothing fails, and then of one for every other option of
// every choice that one of these courses meets: the last of its path is the option, what
// comes before is what brings the choice about. Failures that no route takes come last. At
// most so many are rehearsed; left is how many options had no room. Then come those in which
// several things go otherwise, the fewest first, as long as each asks for more.
// Options.Steps bounds each rehearsal, and half as many steps all.
func (e *Exploration) Alternatives(most int, each func(*Alternative) (more bool)) (left int) {
	x := e.by
	x.allow(most)
	x.play(nil, nil)
	more := each(x.alternative(nil, false))
	met := make([][]pick, len(x.choices)) // by choice: what brings it about
	queue, queued := []meeting{{nil, x.last.picks}}, map[string]bool{}
	take := func(forced []pick, together bool) {
		queued[keyOf(forced)] = true
		x.play(forced, nil)
		for len(met) < len(x.choices) {
			met = append(met, forced)
		}
		if !x.last.void && within(forced, x.last.picks) {
			more = each(x.alternative(forced, together))
			queue = append(queue, meeting{forced, x.last.picks})
		}
	}
	for _, anything := range []bool{false, true} { // first what the plan does something about
		for i := 0; i < len(x.choices); i++ {
			for option := 1; option < len(x.choices[i].options); option++ {
				forced := append(met[i][:len(met[i]):len(met[i])], pick{i, option})
				if queued[keyOf(forced)] || !anything && x.plainly(pick{i, option}) {
					continue
				}
				if !x.affords() {
					queued[keyOf(forced)] = true
					left++
					continue
				}
				take(forced, false)
			}
		}
	}
	for _, anything := range []bool{false, true} {
		for at := 0; at < len(queue); at++ {
			for _, p := range queue[at].picks {
				for option := 1; option < len(x.choices[p.choice].options) && p.option == 0; option++ {
					now := pick{p.choice, option}
					if !x.affords() || !more {
						return left
					}
					forced := append(queue[at].forced[:len(queue[at].forced):len(queue[at].forced)], now)
					if !queued[keyOf(forced)] && (anything || !x.plainly(now)) {
						take(forced, true)
					}
				}
			}
		}
	}
	return left
}

// A meeting is what a course was told, and what it came by.
type meeting struct{ forced, picks []pick }

// plainly reports whether an option is a failure that no route takes.
func (x *explorer) plainly(p pick) bool {
	c := x.choices[p.choice]
	return c.options[p.option].Fails && c.call >= 0 && x.plan.Calls[c.call].FailureRoute() < 0
}

func (x *explorer) alternative(forced []pick, together bool) *Alternative {
	a := &Alternative{Picks: pairsOf(x.last.picks), Together: together, Scenario: x.last.scenario}
	for _, p := range forced {
		a.Path = append(a.Path, x.choices[p.choice].options[p.option])
	}
	return a
}

func pairsOf(picks []pick) [][2]int {
	pairs := make([][2]int, len(picks))
	for i, p := range picks {
		pairs[i] = [2]int{p.choice, p.option}
	}
	return pairs
}
