package dot

import (
	"slices"
	"strconv"
)

// MarkKind is a finding's severity, a call's status, or what became of something.
type MarkKind string

// The kinds of mark.
const (
	Error     MarkKind = "error"
	Warning   MarkKind = "warning"
	Running   MarkKind = "running"
	Done      MarkKind = "done"
	Failed    MarkKind = "failed"
	Skipped   MarkKind = "skipped"
	Rejected  MarkKind = "rejected"
	Cancelled MarkKind = "cancelled"

	// What became of something in a new plan; see [FromDiff].
	Added   MarkKind = "added"
	Removed MarkKind = "removed"
	Changed MarkKind = "changed"

	// The effects of carrying a call out. No trusted source declares
	// what one of UnknownEffect does.
	Destructive   MarkKind = "destroys"
	Leaves        MarkKind = "leaves"
	Writes        MarkKind = "writes"
	UnknownEffect MarkKind = "unknown"

	// Asks marks a call before which a person is asked, and Answers one that a model answers.
	Asks    MarkKind = "asks"
	Answers MarkKind = "answers"
)

// A tone is a colour that says how grave something is. Red is for danger alone.
type tone struct{ name, colour string }

var (
	danger  = tone{"danger", "#b42318"}
	caution = tone{"caution", "#9a6700"}
	fine    = tone{"fine", "#1a7f37"}
	working = tone{"working", "#0969da"}
	differs = tone{"differs", "#8250df"}
	quiet   = tone{"quiet", muted}
)

// A sign is how a kind of mark is shown.
type sign struct {
	kind    MarkKind
	sign    string // before the name of a call
	words   string // so that colour isn't all there is
	tone    tone
	outline bool   // the outline of a box has the tone: what became of it comes first, then that it destroys, or may
	meaning string // in the legend; what says of itself what it is needs none
}

// signs are those of all marks. What a reader should see first comes first. Findings are words, so that they never
// take the outline of what destroys, nor give its colour to what only reads.
var signs = []sign{
	{kind: Error, words: "error", tone: caution},
	{kind: Failed, words: "failed", tone: caution, outline: true},
	{kind: Rejected, words: "rejected", tone: caution, outline: true},
	{kind: Cancelled, words: "cancelled", tone: caution, outline: true},
	{Removed, "−", "removed", differs, true, "only in the old plan"},
	{Added, "+", "added", differs, true, "only in the new plan"},
	{Changed, "±", "changed", differs, true, "other values, conditions or effects than in the old plan"},
	{kind: Warning, words: "warning", tone: caution},
	{kind: Running, words: "running", tone: working, outline: true},
	{kind: Done, words: "done", tone: fine, outline: true},
	{kind: Skipped, words: "skipped", tone: quiet, outline: true},
	{Destructive, "▲", "destroys", danger, true,
		"destroys: what the call does can't be undone, or replaces something"},
	{UnknownEffect, "△", "effect unknown", caution, true,
		"effect unknown: no trusted source declares what the call does, so it may destroy"},
	{Leaves, "↗", "may leave the machine", caution, false, "may leave the machine: the values of the call"},
	{Asks, "?", "a person is asked", caution, false, "a person is asked before the call"},
	{Answers, "✦", "a model answers", quiet, false, "a model answers: what the call reads goes to the model"},
	{kind: Writes, words: "writes", tone: caution},
}

// effectKinds are the marks that say what carrying a call out may do.
var effectKinds = []MarkKind{Destructive, UnknownEffect, Leaves, Asks, Answers, Writes}

func (k MarkKind) rank() int {
	return slices.IndexFunc(signs, func(s sign) bool { return s.kind == k })
}

func (k MarkKind) sign() sign {
	if at := k.rank(); at >= 0 {
		return signs[at]
	}
	return sign{words: string(k), tone: quiet, outline: true}
}

// words says a mark in words.
func (m Mark) words() string {
	text := m.Kind.sign().words
	if m.Code != "" && m.Code[0] != ';' {
		text += " "
	}
	if text += m.Code; m.Count > 1 {
		text += " ×" + strconv.Itoa(m.Count)
	}
	return text
}

// shapes are what else there is to explain.
var shapes = []struct {
	of    any
	words string
}{
	{Effect, "teal box: a call whose result nothing reads"},
	{Folded, "double box: several calls, drawn as one"},
	{repeats, repeats + ": a call that runs once for each of several items or instances"},
	{Missing, "dashed box: a path that is read and nothing writes"},
	{Failure, "dashed amber line: only if the call fails, is rejected, or chooses that path"},
	{After, "dashed line: no value; runs only if the call is done"},
	{Order, "dotted line: only the order; runs however the call ends"},
	{Once, "dotted line: runs only if the call wrote nothing there"},
}

// legend explains the signs that the view uses, and no others, and its boxes and lines.
func (v *View) legend() (ofMarks, ofShapes []string) {
	used := map[any]bool{}
	for _, n := range v.Nodes {
		used[n.Kind], used[repeats] = true, used[repeats] || n.Repeats
		for _, m := range n.Marks {
			used[m.Kind] = true
		}
	}
	for _, e := range v.Edges {
		used[e.Kind] = true
	}
	for _, s := range signs {
		if used[s.kind] && s.meaning != "" {
			ofMarks = append(ofMarks, s.sign+": "+s.meaning)
		}
	}
	for _, s := range shapes {
		if used[s.of] {
			ofShapes = append(ofShapes, s.words)
		}
	}
	return ofMarks, ofShapes
}
