package policy

import (
	"slices"
	"strings"
)

// Integrity is whether somebody else may have decided what a value says.
type Integrity uint8

// The integrities, from best to worst.
const (
	Trusted Integrity = iota
	Untrusted
)

func (i Integrity) String() string { return integrities[i] }

// Confidentiality is who may know a value.
type Confidentiality uint8

// The confidentialities, from least to most.
const (
	Public Confidentiality = iota
	Private
	Secret
)

func (c Confidentiality) String() string { return confidentialities[c] }

var (
	integrities       = []string{"trusted", "untrusted"}
	confidentialities = []string{"public", "private", "secret"}
)

// A Label is what is known of a value. The zero Label is that of a literal of a
// plan: trusted and public.
type Label struct {
	Integrity       Integrity
	Confidentiality Confidentiality
}

func (l Label) String() string { return l.Integrity.String() + ", " + l.Confidentiality.String() }

// Join is the label of what is made of values of both labels: the maximum of each.
func (l Label) Join(other Label) Label {
	return Label{max(l.Integrity, other.Integrity), max(l.Confidentiality, other.Confidentiality)}
}

// Within reports whether a label is no worse than another in either respect.
func (l Label) Within(most Label) bool { return l.Join(most) == most }

// Said is a label that a policy declares in full or in part.
type Said struct {
	Integrity       *Integrity
	Confidentiality *Confidentiality
}

// Over returns the label with the declared components replaced.
func (s Said) Over(l Label) Label {
	if s.Integrity != nil {
		l.Integrity = *s.Integrity
	}
	if s.Confidentiality != nil {
		l.Confidentiality = *s.Confidentiality
	}
	return l
}

// Most is the worst label that the declaration allows.
func (s Said) Most() Label { return s.Over(Label{Untrusted, Secret}) }

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
