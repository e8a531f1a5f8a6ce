// Package suppress finds what somebody wrote beside a plan's text to say that a
// finding is known and why it stays, and which findings it speaks of.
package suppress

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
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
// Suppressions of imported files count too. Whether they are useless isn't checked: other plans may use
// the file.
type Suppression struct {
	At     source.Span // where it stands
	Reason string

	rules      []*diag.Rule
	start, end int // the bytes that it speaks of
	imported   bool
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
	named func(word string) (rule *diag.Rule, near string)
}

// Of reads the suppressions of a plan. Named gives the rule of a code or name, or
// else the nearest code or name, if any is near.
func Of(plan *plan.Plan, named func(word string) (rule *diag.Rule, near string)) *Set {
	s := &Set{named: named}
	if plan.Root == nil {
		return s
	}
	s.ofFile(plan.File, []*source.Node{plan.Root}, nil, false)
	if text := plan.File.Text; bytes.Contains(text, []byte(suppressionKey)) || bytes.IndexByte(text, '\\') >= 0 { // an escape may spell it
		s.keysOfDocument(plan.Root)
	}
	for _, file := range importedFiles(plan) {
		s.ofFile(file.file, file.nodes, file.keys, true)
		for _, n := range file.nodes {
			s.keysOfSchema(n, true, 0)
		}
	}
	return s
}

// An imported file as the plan knows it: the definitions that it brought.
type imported struct {
	file        *source.File
	keys, nodes []*source.Node
}

func importedFiles(plan *plan.Plan) []*imported {
	var all []*imported
	add := func(key, n *source.Node) {
		if n == nil || n.File == plan.File {
			return
		}
		at := slices.IndexFunc(all, func(f *imported) bool { return f.file == n.File })
		if at < 0 {
			at = len(all)
			all = append(all, &imported{file: n.File})
		}
		all[at].keys, all[at].nodes = append(all[at].keys, key), append(all[at].nodes, n)
	}
	for _, t := range slices.Concat(plan.Tools, plan.Shadowed) {
		add(t.NameNode, t.Node)
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Activities)) {
		add(plan.Activities[name].NameNode, plan.Activities[name].Node)
	}
	slices.SortStableFunc(all, func(a, b *imported) int { return cmp.Compare(a.file.Name, b.file.Name) })
	return all
}

func (s *Set) malformed(at source.Span, help, format string, args ...any) {
	d := diag.New(diag.UselessSuppression, at, fmt.Sprintf(format, args...))
	d.Help = help
	s.Found = append(s.Found, d)
}

const howToSuppress = "write the codes, separated by commas, and then the reason: OB407 handled by hand"

// read takes a suppression's text apart. It is nil when there is nothing that it
// could suppress.
func (s *Set) read(at source.Span, text string) *Suppression {
	one := &Suppression{At: at}
	rest := strings.TrimSpace(text)
	for more := true; more && rest != ""; {
		word, after := rest, ""
		if i := strings.IndexAny(rest, ", \t"); i >= 0 {
			word, after = rest[:i], strings.TrimSpace(rest[i:])
		}
		after, more = strings.CutPrefix(after, ",")
		rest = strings.TrimSpace(after)
		rule, near := s.named(word)
		switch {
		case rule != nil:
			one.rules = append(one.rules, rule)
		case near != "":
			s.malformed(at, fmt.Sprintf("did you mean %q?", near), "there is no finding %q to suppress", word)
		default:
			s.malformed(at, howToSuppress, "there is no finding %q to suppress", word)
			more = more && len(one.rules) > 0
			if !more && len(one.rules) == 0 {
				return nil
			}
		}
	}
	one.Reason = rest
	if len(one.rules) == 0 {
		if text = strings.TrimSpace(text); text == "" {
			s.malformed(at, howToSuppress, "this suppresses nothing: it names no finding")
		}
		return nil
	}
	if one.Reason == "" {
		s.malformed(at, howToSuppress, "this suppresses nothing: it gives no reason")
		return nil
	}
	one.used = make([]bool, len(one.rules))
	return one
}

// ofFile reads the comments of one file.
func (s *Set) ofFile(file *source.File, roots, keys []*source.Node, fromImport bool) {
	comments := file.Comments()
	if !slices.ContainsFunc(comments, func(c source.Comment) bool { return strings.HasPrefix(c.Text, commentMark) }) {
		return
	}
	places := newPlaces(file, roots, keys)
	alone := map[int]bool{} // lines that hold a comment and nothing else
	for _, c := range comments {
		if places.beginsLine(c.Span.Start) {
			alone[c.Span.From().Line] = true
		}
	}
	for _, c := range comments {
		rest, ok := strings.CutPrefix(c.Text, commentVerb)
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			if strings.HasPrefix(c.Text, commentMark) {
				verb, _, _ := strings.Cut(c.Text, " ")
				s.malformed(c.Span, "write # obelus:ignore CODE reason", "%q isn't something that a comment can say", verb)
			}
			continue
		}
		one := s.read(c.Span, rest)
		if one == nil {
			continue
		}
		one.imported = fromImport
		line := c.Span.From().Line
		if alone[line] {
			for alone[line] {
				line++
			}
			if one.start, one.end, ok = places.node(line); !ok {
				if !fromImport {
					s.malformed(c.Span, "put it directly above what it speaks of, or at the end of that line", "this suppresses nothing: nothing begins on the line below it")
				}
				continue
			}
		} else {
			one.start, one.end = places.line(line, c.Span.Start)
		}
		s.all = append(s.all, one)
	}
}

// Places say what begins on which line.
type places struct {
	file  *source.File
	outer map[int][2]int // by line, the bytes of the outermost node that begins on it
	long  map[int]int    // by line, where the last scalar that begins on it ends
}

func newPlaces(file *source.File, roots, keys []*source.Node) *places {
	p := &places{file: file, outer: map[int][2]int{}, long: map[int]int{}}
	for i, n := range roots {
		if i < len(keys) && keys[i] != nil {
			p.field(source.Field{Key: keys[i], Value: n})
		} else {
			p.walk(n)
		}
	}
	return p
}

func (p *places) add(start, end int) {
	line := p.file.Position(start).Line
	if _, known := p.outer[line]; !known {
		p.outer[line] = [2]int{start, end}
	}
}

func (p *places) field(f source.Field) {
	p.add(f.Key.Start, max(f.Key.End, f.Value.End))
	p.walk(f.Value)
}

func (p *places) walk(n *source.Node) {
	if n.File != p.file || n.Alias {
		return
	}
	if n.Kind < source.Array {
		line := p.file.Position(n.Start).Line
		p.long[line] = max(p.long[line], n.End)
		return
	}
	for _, item := range n.Items {
		p.add(item.Start, item.End)
		p.walk(item)
	}
	for _, f := range n.Fields {
		p.field(f)
	}
}

// node is the outermost node that begins on a line.
func (p *places) node(line int) (start, end int, ok bool) {
	at, ok := p.outer[line]
	return at[0], at[1], ok
}

// line is what begins on a line before a comment at its end.
func (p *places) line(line, comment int) (start, end int) {
	start = comment
	for start > 0 && p.file.Text[start-1] != '\n' && p.file.Text[start-1] != '\r' {
		start--
	}
	return start, max(comment, p.long[line])
}

func (p *places) beginsLine(offset int) bool {
	for offset > 0 && (p.file.Text[offset-1] == ' ' || p.file.Text[offset-1] == '\t') {
		offset--
	}
	return offset == 0 || p.file.Text[offset-1] == '\n' || p.file.Text[offset-1] == '\r'
}

// keysOfDocument looks for x-obelus-ignore where the format leaves room for it.
func (s *Set) keysOfDocument(root *source.Node) {
	s.key(root, false)
	for _, item := range root.Items {
		if item.Get("_tool") != nil {
			s.keysOfCall(item)
		} else {
			s.keysOfDocument(item) // a message
		}
	}
	if root.Get("_tool") != nil {
		s.keysOfCall(root)
		return
	}
	for _, f := range root.Fields {
		switch f.Key.Text {
		case "calls", "plan", "context":
			s.keysOfDocument(f.Value)
		case "solution":
			s.keysOfDocument(f.Value)
		case "tools", "tool", "activities", "schemas", "servers", "advisors", "instances":
			for _, item := range f.Value.Items {
				s.keysOfSchema(item, false, 0)
			}
			for _, sub := range f.Value.Fields {
				s.keysOfSchema(sub.Value, false, 0)
			}
		case "inputSchema", "stateSchema", "outputSchema", "schema", "limits":
			s.keysOfSchema(f.Value, false, 0)
		}
	}
}

func (s *Set) keysOfCall(call *source.Node) {
	s.key(call, false)
	if retry := call.Get("_retry"); retry != nil {
		s.key(retry, false)
	}
}

// maxSchemaDepth is deeper than the reader lets anything nest by default.
const maxSchemaDepth = 1000

// keysOfSchema goes through a definition, down to where it holds values.
func (s *Set) keysOfSchema(n *source.Node, fromImport bool, depth int) {
	if n == nil || n.Alias || depth > maxSchemaDepth {
		return
	}
	s.key(n, fromImport)
	for _, item := range n.Items {
		s.keysOfSchema(item, fromImport, depth+1)
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "const", "enum", "default", "examples", "_mock", "input", "state", "headers", "body", "env", suppressionKey:
		default:
			s.keysOfSchema(f.Value, fromImport, depth+1)
		}
	}
}

// key reads the x-obelus-ignore of one mapping.
func (s *Set) key(n *source.Node, fromImport bool) {
	value := n.Get(suppressionKey)
	if value == nil || n.Alias {
		return
	}
	if value.Kind != source.String && value.Kind != source.Array {
		s.malformed(value.Span(), "write \"OB407 reason\", or a list of such texts", "%q is %s; expected a text", suppressionKey, value.Kind)
		return
	}
	for _, text := range value.Several() {
		if text.Kind != source.String {
			s.malformed(text.Span(), "write \"OB407 reason\"", "an item of %q is %s; expected a text", suppressionKey, text.Kind)
			continue
		}
		if one := s.read(text.Span(), text.Text); one != nil {
			one.start, one.end, one.imported = n.Start, n.End, fromImport
			s.all = append(s.all, one)
		}
	}
}

// Assign finds the suppression of each finding, or nil: of several the one that
// begins last, which is the innermost, and of those the one that is written
// first. The findings are in the order in which they are always shown, so that
// one pass over each file's suppressions is enough.
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
	waiting, active := map[topic][]speaking{}, map[topic][]speaking{}
	for _, one := range s.all {
		for i, rule := range one.rules {
			about := topic{one.At.File, rule}
			waiting[about] = append(waiting[about], speaking{one, i})
		}
	}
	for about, list := range waiting {
		slices.SortStableFunc(list, func(a, b speaking) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
		// What speaks of the very same again adds nothing, and is useless.
		waiting[about] = slices.CompactFunc(list, func(a, b speaking) bool { return a.start == b.start && a.end == b.end })
	}
	for i := range found {
		at, about := found[i].Span.Start, topic{found[i].Span.File, found[i].Rule}
		next := waiting[about]
		for len(next) > 0 && next[0].start <= at {
			active[about] = append(active[about], next[0])
			next = next[1:]
		}
		waiting[about] = next
		active[about] = slices.DeleteFunc(active[about], func(one speaking) bool { return at >= max(one.end, one.start+1) })
		if all := active[about]; len(all) > 0 {
			best := all[len(all)-1]
			best.used[best.rule] = true
			by[i] = best.Suppression
		}
	}
	return by
}

// Useless reports suppressions of rules that were asked for that suppressed
// nothing. Where a part of the plan
// couldn't be judged nothing is concluded from that.
func (s *Set) Useless(asked func(*diag.Rule) bool) {
	for _, one := range s.all {
		for i, rule := range one.rules {
			if !one.used[i] && !one.imported && asked(rule) {
				s.malformed(one.At, "take it out, or move it to the line of the finding", "this suppresses nothing: there is no %s %s here", rule.Code, rule.Name)
			}
		}
	}
}
