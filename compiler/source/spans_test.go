package source

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSpans shows for random YAML that every node covers exactly its text, has the meaning that the generator gave it, and that places inside of
// scalars are those of the characters there.
func FuzzSpans(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		text, want := generate(seed, false)
		file := &File{Name: "random.yaml", Text: []byte(text)}
		root, problems := Parse(file, DefaultLimits())
		if root == nil || len(problems) > 0 {
			t.Fatalf("problems %v in\n%q", problems, text)
		}
		nodes := inOrder(root, nil)
		if len(nodes) != len(want) {
			t.Fatalf("%d nodes, expected %d, in\n%q", len(nodes), len(want), text)
		}
		for i, n := range nodes {
			got := wanted{n.Start, n.End, n.Kind, n.Style, n.Alias, n.Text}
			if got != want[i] {
				t.Fatalf("node %d is %+v %q, expected %+v %q, in\n%q", i, got, text[n.Start:n.End], want[i], text[want[i].start:want[i].end], text)
			}
			checkPosition(t, text, n)
			checkWithin(t, n)
			checkReparsed(t, text, n)
		}
	})
}

// inOrder lists nodes as the text has them; what an alias shares isn't there.
func inOrder(n *Node, list []*Node) []*Node {
	list = append(list, n)
	if n.Alias {
		return list
	}
	for _, item := range n.Items {
		list = inOrder(item, list)
	}
	for _, f := range n.Fields {
		list = append(list, f.Key)
		list = inOrder(f.Value, list)
	}
	return list
}

var anyBreak = regexp.MustCompile("\r\n|\r|\n")

// checkPosition counts lines and columns in the plainest way.
func checkPosition(t *testing.T, text string, n *Node) {
	before := strings.TrimPrefix(text[:n.Start], byteOrderMark)
	lines := anyBreak.Split(before, -1)
	want := Position{len(lines), utf8.RuneCountInString(lines[len(lines)-1]) + 1, n.Start}
	if got := n.Span().From(); got != want {
		t.Fatalf("%q stands at %v, expected %v", n.Span().Text(), got, want)
	}
}

// checkWithin asks for the place of each character of a scalar.
func checkWithin(t *testing.T, n *Node) {
	if n.Kind != String || n.Alias {
		return
	}
	last := n.Start
	for i, r := range n.Text {
		size := utf8.RuneLen(r)
		at := n.Within(i, i+size)
		if at.Start < last || at.End < at.Start || at.End > n.End {
			t.Fatalf("character %d of %q is at %d-%d, after one at %d, in %d-%d", i, n.Text, at.Start, at.End, last, n.Start, n.End)
		}
		last = at.Start
		shown := at.Text()
		switch {
		case shown == string(r):
		case n.Style == DoubleQuoted && strings.HasPrefix(shown, `\`):
		case n.Style == SingleQuoted && r == '\'' && shown == "''":
		case (r == '\n' || r == ' ') && strings.Trim(shown, " \t\r\n\\") == "":
		default:
			t.Fatalf("character %q of %q (%v) is shown as %q", r, n.Text, n.Style, shown)
		}
	}
	if all := n.Within(0, len(n.Text)); n.Text != "" && (all.Start < n.Start || all.End > n.End) {
		t.Fatalf("the whole of %q is at %v, outside of the node", n.Text, all)
	}
}

// What follows from where it stands: an indentation that counts from the
// parent, and line breaks behind the last line.
var hangsOnPlace = regexp.MustCompile(`[|>][-+]?[0-9+]`)

// checkReparsed reads a node's text alone, at the same column.
func checkReparsed(t *testing.T, text string, n *Node) {
	alone := text[n.Start:n.End]
	if n.Kind == Null || strings.Contains(alone, "*n") || hangsOnPlace.MatchString(alone) || n.Start == 0 {
		return
	}
	line := strings.LastIndexAny(text[:n.Start], "\r\n") + 1
	padded := strings.Repeat(" ", len(strings.TrimPrefix(text[line:n.Start], byteOrderMark))) + alone + "\n"
	again, problems := Parse(&File{Text: []byte(padded)}, DefaultLimits())
	if again == nil || len(problems) > 0 {
		t.Fatalf("alone, %q has %v", padded, problems)
	}
	if !reflect.DeepEqual(again.Value(), n.Value()) {
		t.Fatalf("alone, %q is %#v, in its place %#v", padded, again.Value(), n.Value())
	}
}
