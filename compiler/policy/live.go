package policy

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
)

// Live is what ticks of a run have left behind for the next: what was ever
// written to each path, and what the model that writes the next calls is shown.
type Live struct {
	Values []LiveValue
	Seen   Label
	From   string // what is the worst of it, in words
	// Started is, for each thing that orders ask for, how often what counts for it has
	// happened; in a run over instances, in the one in which it happened most often.
	Started []int

	at map[string]int // of values, by their paths as they are written
}

// A LiveValue is the join of all that was ever written to a path.
type LiveValue struct {
	Path  []expression.Segment // its kind first
	Label Label
	From  string // which call made it so
}

// Clone returns a copy that can be extended.
func (l *Live) Clone() *Live {
	return &Live{slices.Clone(l.Values), l.Seen, l.From, l.Started, maps.Clone(l.at)}
}

// Write notes what a call writes to a path.
func (l *Live) Write(path []expression.Segment, of Label, from string) {
	key := expression.Reference{Kind: path[0].Key, Path: path[1:]}.String()
	at, known := l.at[key]
	switch {
	case of == Label{}:
	case !known:
		if l.at == nil {
			l.at = map[string]int{}
		}
		l.at[key] = len(l.Values)
		l.Values = append(l.Values, LiveValue{path, of, from})
	case !of.Within(l.Values[at].Label):
		l.Values[at].Label, l.Values[at].From = l.Values[at].Label.Join(of), from
	}
}

// See notes what the model that writes the next calls is shown.
func (l *Live) See(of Label, from string) {
	if !of.Within(l.Seen) {
		l.Seen, l.From = l.Seen.Join(of), from
	}
}
