package policy

import (
	"slices"
	"strings"
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
