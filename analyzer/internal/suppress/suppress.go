// Package suppress finds what somebody wrote beside a plan's text to say that a
// finding is known and why it stays, and which findings it speaks of.
package suppress

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Suppression covers findings of a rule in a range of the text. There are two forms:
//
//   - the comment # obelus:ignore OB407 reason. At the end of a line it covers what begins on that line;
//     on lines of its own it covers the node that begins on the next line: a call, or a key with its value.
//   - the key x-obelus-ignore with the text "OB407 reason", or a list of such texts, covers its mapping. It isn't
//     read among values, which belong to tools and users.
//
// Suppressions of imported files count too. Whether they are useless isn't checked: other plans may use the file.
type Suppression struct {
	At     source.Span // where it stands
	Reason string

	rule       *diag.Rule
	start, end int // the bytes that it speaks of
	used       bool
}

const (
	commentMark    = "obelus:"
	commentVerb    = "obelus:ignore"
	suppressionKey = "x-obelus-ignore"
)

// A Set holds the suppressions of a plan and its imports, the innermost first.
type Set struct {
	Found []diag.Diagnostic // about malformed ones, and useless ones

	all   []*Suppression
	plan  *source.File
	named func(word string) (rule *diag.Rule, near string)
	outer map[line][2]int // the bytes of the outermost node that begins on it
}

// A line is one of a file.
type line struct {
	file   *source.File
	number int
}

// Of reads the suppressions of a plan. Named gives the rule of a code or name, or
// else the nearest code or name, if any is near.
func Of(plan *plan.Plan, named func(word string) (rule *diag.Rule, near string)) *Set {
	s := &Set{plan: plan.File, named: named, outer: map[line][2]int{}}
	files := map[*source.File]bool{}
	read := func(key, n *source.Node) {
		if n == nil || n.File == nil || key != nil && n.File == plan.File ||
			!bytes.Contains(n.File.Text, []byte("obelus")) {
			return
		}
		if files[n.File] = true; key != nil {
			s.begins(n.File, key.Start, max(key.End, n.End))
		}
		s.walk(n, false)
	}
	read(nil, plan.Root)
	for _, t := range slices.Concat(plan.Tools, plan.Shadowed) {
		read(t.NameNode, t.Node)
	}
	for _, a := range plan.Activities {
		read(a.NameNode, a.Node)
	}
	for file := range files {
		s.comments(file)
	}
	slices.SortStableFunc(s.all, func(a, b *Suppression) int {
		return cmp.Or(b.start-a.start, a.end-b.end)
	})
	return s
}

func (s *Set) malformed(at source.Span, help, format string, args ...any) {
	d := diag.New(diag.UselessSuppression, at, fmt.Sprintf(format, args...))
	d.Help = help
	s.Found = append(s.Found, d)
}

const howToSuppress = "write the code and then the reason: OB407 handled by hand"

// read adds a suppression of some bytes, unless there is nothing that its text could suppress.
func (s *Set) read(at source.Span, text string, start, end int) {
	code, reason, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), "\t", " "), " ")
	rule, near := s.named(code)
	switch reason = strings.TrimSpace(reason); {
	case code == "":
		s.malformed(at, howToSuppress, "this suppresses nothing: it names no finding")
	case rule == nil && near != "":
		s.malformed(at, fmt.Sprintf("did you mean %q?", near), "there is no finding %q to suppress", code)
	case rule == nil:
		s.malformed(at, howToSuppress, "there is no finding %q to suppress", code)
	case reason == "":
		s.malformed(at, howToSuppress, "this suppresses nothing: it gives no reason")
	default:
		s.all = append(s.all, &Suppression{At: at, Reason: reason, rule: rule, start: start, end: end})
	}
}

// comments reads those of one file.
func (s *Set) comments(file *source.File) {
	alone := map[int]bool{} // lines that hold a comment and nothing else
	for _, c := range file.Comments() {
		start := lineStart(file, c.Span.Start)
		alone[c.Span.From().Line] = len(bytes.Trim(file.Text[start:c.Span.Start], " \t")) == 0
	}
	for _, c := range file.Comments() {
		verb, rest, _ := strings.Cut(strings.ReplaceAll(c.Text, "\t", " "), " ")
		at := line{file, c.Span.From().Line}
		if verb == commentVerb && !alone[at.number] {
			s.read(c.Span, rest, lineStart(file, c.Span.Start), c.Span.Start)
			continue
		}
		for alone[at.number] {
			at.number++
		}
		covered, ok := s.outer[at]
		switch {
		case verb != commentVerb && strings.HasPrefix(verb, commentMark):
			s.malformed(c.Span, "write # obelus:ignore CODE reason", "%q isn't something that a comment can say", verb)
		case verb != commentVerb:
		case ok:
			s.read(c.Span, rest, covered[0], covered[1])
		case file == s.plan:
			s.malformed(c.Span, "put it directly above what it speaks of, or at the end of that line",
				"this suppresses nothing: nothing begins on the line below it")
		}
	}
}

// lineStart is where the line of an offset begins.
func lineStart(file *source.File, offset int) int {
	return bytes.LastIndexAny(file.Text[:offset], "\r\n") + 1
}

// begins notes what begins on a line.
func (s *Set) begins(file *source.File, start, end int) {
	at := line{file, file.Position(start).Line}
	if known, ok := s.outer[at]; !ok || start < known[0] {
		s.outer[at] = [2]int{start, end}
	}
}

// values are the keys under which no key speaks to obelus.
var values = []string{"const", "enum", "default", "examples", "_mock", "input", "state", "data", "output", "headers",
	"body", "env", suppressionKey}

// walk notes what begins on which line, and reads the keys of mappings that aren't values.
func (s *Set) walk(n *source.Node, isValue bool) {
	if n.Alias {
		return
	}
	if key := n.Get(suppressionKey); key != nil && !isValue {
		for _, text := range key.Several() {
			if text.Kind == source.String {
				s.read(text.Span(), text.Text, n.Start, n.End)
			} else {
				s.malformed(text.Span(), "write \"OB407 reason\", or a list of such texts",
					"%q is %s; expected a text", suppressionKey, text.Kind)
			}
		}
	}
	for _, item := range n.Items {
		s.begins(n.File, item.Start, item.End)
		s.walk(item, isValue)
	}
	isValue = isValue || n.Get("_tool") != nil // its parameters
	for _, f := range n.Fields {
		s.begins(n.File, f.Key.Start, max(f.Key.End, f.Value.End))
		s.walk(f.Value, isValue || slices.Contains(values, f.Key.Text))
	}
}

// Assign finds the suppression of each finding, or nil: of several the one that begins last, which is the innermost,
// and of those the one that is written first.
func (s *Set) Assign(found []diag.Diagnostic) []*Suppression {
	by := make([]*Suppression, len(found))
	for i := range found {
		at := found[i].Span
		for _, one := range s.all {
			if one.rule == found[i].Rule && one.At.File == at.File && one.start <= at.Start &&
				at.Start < max(one.end, one.start+1) {
				one.used, by[i] = true, one
				break
			}
		}
	}
	return by
}

// Useless reports suppressions of rules that were asked for that suppressed nothing. Where a part of the plan couldn't
// be judged nothing is concluded from that.
func (s *Set) Useless(asked func(*diag.Rule) bool) {
	for _, one := range slices.Backward(s.all) {
		if !one.used && one.At.File == s.plan && asked(one.rule) {
			s.malformed(one.At, "take it out, or move it to the line of the finding",
				"this suppresses nothing: there is no %s %s here", one.rule.Code, one.rule.Name)
		}
	}
}
