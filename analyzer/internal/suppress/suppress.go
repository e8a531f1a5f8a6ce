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

// A Suppression covers findings of some rules in a range of the text. There are two forms:
//
//   - the comment # obelus:ignore OB407,OB502 reason. At the end of a line it covers what begins on that line;
//     on lines of its own it covers the node that begins on the next line: a call, or a key with its value.
//   - the key x-obelus-ignore with the text "OB407 reason", or a list of such texts, covers its mapping. It is
//     read where x- keys are ignored otherwise, and never among values, which belong to tools and users.
//
// Suppressions of imported files count too. Whether they are useless isn't checked: other plans may use the file.
type Suppression struct {
	At     source.Span // where it stands
	Reason string

	rules      []*diag.Rule
	start, end int    // the bytes that it speaks of
	used       []bool // by rule: it suppressed something
}

const (
	commentMark    = "obelus:"
	commentVerb    = "obelus:ignore"
	suppressionKey = "x-obelus-ignore"
)

// A Set holds the suppressions of a plan and its imports, in the order of the text.
type Set struct {
	Found []diag.Diagnostic // about malformed ones, and useless ones

	all   []*Suppression
	plan  *source.File
	named func(word string) (rule *diag.Rule, near string)
	outer map[line][2]int // the bytes of the outermost node that begins on it
	long  map[line]int    // where the last scalar that begins on it ends
}

// A line is one of a file.
type line struct {
	file   *source.File
	number int
}

// Of reads the suppressions of a plan. Named gives the rule of a code or name, or
// else the nearest code or name, if any is near.
func Of(plan *plan.Plan, named func(word string) (rule *diag.Rule, near string)) *Set {
	s := &Set{plan: plan.File, named: named, outer: map[line][2]int{}, long: map[line]int{}}
	files := map[*source.File]bool{} // whether a suppression may be in them
	read := func(n *source.Node, where part) bool {
		if n == nil || n.File == nil {
			return false
		}
		may, known := files[n.File]
		if text := n.File.Text; !known { // an escape may spell the key
			may = slices.ContainsFunc([]string{commentMark, suppressionKey, `\`},
				func(sign string) bool { return bytes.Contains(text, []byte(sign)) })
			files[n.File] = may
		}
		if may {
			s.walk(n, where)
		}
		return may
	}
	read(plan.Root, document)
	imported := func(key, n *source.Node) {
		if n != nil && n.File != plan.File && read(n, definition) && key != nil {
			s.begins(n.File, key.Start, max(key.End, n.End))
		}
	}
	for _, t := range slices.Concat(plan.Tools, plan.Shadowed) {
		imported(t.NameNode, t.Node)
	}
	for _, a := range plan.Activities {
		imported(a.NameNode, a.Node)
	}
	for file, may := range files {
		if may {
			s.comments(file)
		}
	}
	return s
}

func (s *Set) malformed(at source.Span, help, format string, args ...any) {
	d := diag.New(diag.UselessSuppression, at, fmt.Sprintf(format, args...))
	d.Help = help
	s.Found = append(s.Found, d)
}

const howToSuppress = "write the codes, separated by commas, and then the reason: OB407 handled by hand"

// read adds a suppression of some bytes, unless there is nothing that its text could suppress.
func (s *Set) read(at source.Span, text string, start, end int) {
	one := &Suppression{At: at, start: start, end: end}
	rest := strings.TrimSpace(text)
	for more := rest != ""; more; {
		word, after := rest, ""
		if i := strings.IndexAny(rest, ", \t"); i >= 0 {
			word, after = rest[:i], strings.TrimSpace(rest[i:])
		}
		after, more = strings.CutPrefix(after, ",")
		rest = strings.TrimSpace(after)
		rule, near := s.named(word)
		if rule == nil {
			help := howToSuppress
			if near != "" {
				help = fmt.Sprintf("did you mean %q?", near)
			}
			s.malformed(at, help, "there is no finding %q to suppress", word)
			return
		}
		one.rules = append(one.rules, rule)
	}
	one.Reason, one.used = rest, make([]bool, len(one.rules))
	switch {
	case len(one.rules) == 0:
		s.malformed(at, howToSuppress, "this suppresses nothing: it names no finding")
	case rest == "":
		s.malformed(at, howToSuppress, "this suppresses nothing: it gives no reason")
	default:
		s.all = append(s.all, one)
	}
}

// comments reads those of one file.
func (s *Set) comments(file *source.File) {
	alone := map[int]bool{} // lines that hold a comment and nothing else
	for _, c := range file.Comments() {
		if start := lineStart(file, c.Span.Start); len(bytes.Trim(file.Text[start:c.Span.Start], " \t")) == 0 {
			alone[c.Span.From().Line] = true
		}
	}
	for _, c := range file.Comments() {
		verb, rest, _ := strings.Cut(strings.ReplaceAll(c.Text, "\t", " "), " ")
		if verb != commentVerb {
			if strings.HasPrefix(verb, commentMark) {
				s.malformed(c.Span, "write # obelus:ignore CODE reason",
					"%q isn't something that a comment can say", verb)
			}
			continue
		}
		at := line{file, c.Span.From().Line}
		if !alone[at.number] {
			s.read(c.Span, rest, lineStart(file, c.Span.Start), max(c.Span.Start, s.long[at]))
			continue
		}
		for alone[at.number] {
			at.number++
		}
		if covered, ok := s.outer[at]; ok {
			s.read(c.Span, rest, covered[0], covered[1])
		} else if file == s.plan {
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

// A part of a text is a document, a definition in it, or values, among which no key speaks to obelus.
type part int

const (
	document part = iota
	definition
	values
)

// in is what lies under a key.
func (p part) in(key string) part {
	switch key {
	case "calls", "plan", "context", "solution":
		if p == document {
			return document
		}
	case "tools", "tool", "activities", "schemas", "servers", "advisors", "instances", "inputSchema", "stateSchema",
		"outputSchema", "schema", "limits":
		if p == document {
			return definition
		}
	case "const", "enum", "default", "examples", "_mock", "input", "state", "headers", "body", "env", suppressionKey:
		return values
	}
	if p == definition {
		return definition
	}
	return values
}

// walk notes what begins on which line, and reads the keys of mappings.
func (s *Set) walk(n *source.Node, where part) {
	if n.Alias {
		return
	}
	if value := n.Get(suppressionKey); value != nil && where != values {
		s.key(n, value)
	}
	if n.Get("_tool") != nil && where == document {
		where = values // its parameters
	}
	if n.Kind < source.Array {
		at := line{n.File, n.File.Position(n.Start).Line}
		s.long[at] = max(s.long[at], n.End)
	}
	for _, item := range n.Items {
		s.begins(n.File, item.Start, item.End)
		s.walk(item, where)
	}
	for _, f := range n.Fields {
		s.begins(n.File, f.Key.Start, max(f.Key.End, f.Value.End))
		s.walk(f.Value, where.in(f.Key.Text))
	}
}

// key reads the x-obelus-ignore of one mapping.
func (s *Set) key(n, value *source.Node) {
	for _, text := range value.Several() {
		if text.Kind == source.String {
			s.read(text.Span(), text.Text, n.Start, n.End)
		} else {
			s.malformed(text.Span(), "write \"OB407 reason\", or a list of such texts", "%q is %s; expected a text",
				suppressionKey, text.Kind)
		}
	}
}

// Assign finds the suppression of each finding, or nil: of several the one that begins last, which is the innermost,
// and of those the one that is written first.
func (s *Set) Assign(found []diag.Diagnostic) []*Suppression {
	by := make([]*Suppression, len(found))
	if len(s.all) == 0 {
		return by
	}
	type topic struct {
		file *source.File
		rule *diag.Rule
	}
	type speaking struct {
		*Suppression
		rule int // of its rules
	}
	all := map[topic][]speaking{}
	for _, one := range s.all {
		for i, rule := range one.rules {
			about := topic{one.At.File, rule}
			all[about] = append(all[about], speaking{one, i})
		}
	}
	for about, list := range all {
		slices.SortStableFunc(list,
			func(a, b speaking) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
		// What speaks of the very same again adds nothing, and is useless.
		all[about] = slices.CompactFunc(list,
			func(a, b speaking) bool { return a.start == b.start && a.end == b.end })
	}
	for i := range found {
		at := found[i].Span.Start
		for _, one := range slices.Backward(all[topic{found[i].Span.File, found[i].Rule}]) {
			if one.start <= at && at < max(one.end, one.start+1) {
				one.used[one.rule], by[i] = true, one.Suppression
				break
			}
		}
	}
	return by
}

// Useless reports suppressions of rules that were asked for that suppressed nothing. Where a part of the plan couldn't
// be judged nothing is concluded from that.
func (s *Set) Useless(asked func(*diag.Rule) bool) {
	for _, one := range s.all {
		for i, rule := range one.rules {
			if !one.used[i] && one.At.File == s.plan && asked(rule) {
				s.malformed(one.At, "take it out, or move it to the line of the finding",
					"this suppresses nothing: there is no %s %s here", rule.Code, rule.Name)
			}
		}
	}
}
