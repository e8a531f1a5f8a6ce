package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/expression"
)

// A Respect is one in which a value can be worse than a literal of a plan.
type Respect uint8

// The respects.
const (
	Integrity       Respect = iota // whether somebody else may have decided what a value says
	Confidentiality                // who may know it
	respects
)

// A Level is how bad a value is in a respect. The best, that of a literal, is 0.
type Level uint8

// The other levels.
const (
	Untrusted Level = 1 // of [Integrity]
	Private   Level = 1 // of [Confidentiality]
	Secret    Level = 2
)

// levels are the words for them.
var levels = [respects][]string{{"trusted", "untrusted"}, {"public", "private", "secret"}}

// Word is what a level is called.
func (r Respect) Word(l Level) string { return levels[r][l] }

// A Label is what is known of a value. The zero Label is that of a literal of a
// plan: trusted and public.
type Label [respects]Level

// Worst is the worst label.
var Worst = Label{Untrusted, Secret}

func (l Label) String() string {
	return Integrity.Word(l[Integrity]) + ", " + Confidentiality.Word(l[Confidentiality])
}

// Join is the label of what is made of values of both labels: the maximum of each.
func (l Label) Join(other Label) Label {
	for r := range l {
		l[r] = max(l[r], other[r])
	}
	return l
}

// Within reports whether a label is no worse than another in either respect.
func (l Label) Within(most Label) bool { return l.Join(most) == most }

// Said is a label that a policy declares in full or in part; nil is a respect that it leaves open.
type Said [respects]*Level

// Over returns the label with the declared components replaced.
func (s Said) Over(l Label) Label {
	for r, level := range s {
		if level != nil {
			l[r] = *level
		}
	}
	return l
}

// Most is the worst label that the declaration allows.
func (s Said) Most() Label { return s.Over(Worst) }

// Effects are what a tool does to the world.
type Effects uint8

// The effects of LANGUAGE.md#policies-and-labels.
const (
	Read Effects = 1 << iota
	Write
	Destructive
	External
)

var effects = []string{"read", "write", "destructive", "external"}

func (e Effects) String() string {
	var words []string
	for i, word := range effects {
		if e&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

func effectOf(word string) Effects {
	if i := slices.Index(effects, word); i >= 0 {
		return 1 << i
	}
	return 0
}

// Live is what ticks of a run have left behind for the next.
type Live struct {
	Values  map[string]LiveValue // what was ever written to each path, by path
	Seen    LiveValue            // what the model that writes the next calls is shown
	Started []int                // by check of order rules, how many calls count; of several instances the most
}

// A LiveValue is the join of several values.
type LiveValue struct {
	Path  []expression.Segment // where they were written, its kind first
	Label Label
	From  string // the call that made it so bad, in words
}

// Clone returns a copy that can be extended.
func (l *Live) Clone() *Live { return &Live{maps.Clone(l.Values), l.Seen, slices.Clone(l.Started)} }

// Write notes what a call writes to a path.
func (l *Live) Write(path []expression.Segment, of Label, from string) {
	key := expression.Reference{Kind: path[0].Key, Path: path[1:]}.String()
	v := l.Values[key]
	if v.Path = path; v.join(of, from) {
		l.Values[key] = v
	}
}

// See notes what the model that writes the next calls is shown.
func (l *Live) See(of Label, from string) { l.Seen.join(of, from) }

// join reports whether another value makes it worse.
func (v *LiveValue) join(of Label, from string) bool {
	if of.Within(v.Label) {
		return false
	}
	v.Label, v.From = v.Label.Join(of), from
	return true
}
