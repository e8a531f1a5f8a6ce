package expression

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/cputime"
)

func routes(alternatives [][]Reference) string {
	var out []string
	for _, a := range alternatives {
		var paths []string
		for _, r := range a {
			paths = append(paths, r.String())
		}
		out = append(out, strings.Join(paths, " && "))
	}
	return strings.Join(out, " || ")
}

// LANGUAGE.md#output-paths-and-state
func TestOutputPaths(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sentiment", "†state.sentiment"},
		{"†state.sentiment", "†state.sentiment"},
		{"  a.b[0] ", "†state.a.b[0]"},
		{"a['x y']", `†state.a["x y"]`},
		{"†data.user.summary", "†data.user.summary"},
		{"†state", "†state"},
		{"†state.a && †state.b", "†state.a && †state.b"},
		{"a&&b", "†state.a && †state.b"},
		{"†state.receipt || †state.error", "†state.receipt || †state.error"},
		{"a || b && c", "†state.a || †state.b && †state.c"},
		{"a && b || c", "†state.a && †state.b || †state.c"},
		{"(a || b) && c", "†state.a && †state.c || †state.b && †state.c"},
		{"a && (b || c)", "†state.a && †state.b || †state.a && †state.c"},
		{"(a || b) && (c || d)", "†state.a && †state.c || †state.a && †state.d || †state.b && †state.c || †state.b && †state.d"},
		{"((a))", "†state.a"},
		{"a && a && b", "†state.a && †state.a && †state.b"},
		{"a\n || b", "†state.a || †state.b"},
	} {
		got, err := ParseOutput(c.text)
		if err != nil {
			t.Errorf("%s: %s", c.text, err.Message)
			continue
		}
		if routes(got) != c.want {
			t.Errorf("%s = %s, want %s", c.text, routes(got), c.want)
		}
		for _, a := range got {
			for _, r := range a {
				if piece := c.text[r.Start:r.End]; strings.TrimPrefix(r.String(), "†state.") != strings.TrimPrefix(strings.ReplaceAll(piece, "'", "\""), "†state.") || !r.Required {
					t.Errorf("%s: %s is said to stand at %q", c.text, r, piece)
				}
			}
		}
	}
}

// LANGUAGE.md#output-paths-and-state: faults in a path that is written, at their places.
func TestOutputFaults(t *testing.T) {
	for _, c := range []faultCase{
		{"⟦⟧", "empty", ""},
		{"⟦  ⟧", "empty", ""},
		{"†state⟦.⟧", "end with a dot", ""},
		{"a ||⟦⟧", "missing at the end", ""},
		{"a && ⟦||⟧ b", "isn't a path", ""},
		{"⟦||⟧ b", "isn't a path", ""},
		{"a ⟦or⟧ b", "unexpected", "\"||\""},
		{"a ⟦,⟧ b", "unexpected", "\"&&\""},
		{"a ⟦|⟧ b", "unexpected", "\"||\""},
		{"⟦(⟧a || b", "never closed", ""},
		{"a⟦)⟧", "closes nothing", ""},
		{"a⟦(⟧)", "can't be called", ""},
		{"a⟦[⟧†state.i]", "computed index", ""},
		{"⟦a?.b⟧", "no meaning", ""},
		{"⟦①😀⟧ ", "isn't a path", ""},
		{"†state.a ⟦??⟧ b", "unexpected", ""},
		{"a.b ⟦+⟧ 1", "unexpected", ""},
		{"⟦\"a\"⟧", "isn't a path", ""},
		{"a || ⟦†①⟧", "no kind can begin", ""},
	} {
		text, _ := faulty(c.marked)
		_, err := ParseOutput(text)
		checkFault(t, c.marked, err, c.message, c.help)
	}
}

// LANGUAGE.md#output-paths-and-state: multiplying out is bounded.
func TestOutputIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(a || b) && ", 40) + "c",
		strings.Repeat("(a || b || c) && ", 1000) + "c",
		strings.Repeat("(", 1_000_000) + "a",
		strings.Repeat("a || ", 200_000) + "a",
		strings.Repeat("a && ", 1500) + "b" + strings.Repeat(" && x1", 2),
	} {
		got, err := ParseOutput(text)
		paths := 0
		for _, a := range got {
			paths += len(a)
		}
		if paths > maxOutputPaths || err != nil && (err.End > len(text) || err.Start > err.End) {
			t.Errorf("%.40s: %d paths, %v", text, paths, err)
		}
	}
}

// LANGUAGE.md#output-paths-and-state: random combinations against lists of lists.
func TestOutputPathsAgainstTheContract(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	var build func(depth int) (string, [][]string)
	build = func(depth int) (string, [][]string) {
		if depth == 0 || r.Intn(3) == 0 {
			name := string(rune('a' + r.Intn(4)))
			return name, [][]string{{"†state." + name}}
		}
		left, a := build(depth - 1)
		right, b := build(depth - 1)
		if r.Intn(2) == 0 {
			return "(" + left + " || " + right + ")", append(slices.Clone(a), b...)
		}
		var out [][]string
		for _, x := range a {
			for _, y := range b {
				out = append(out, slices.Concat(x, y))
			}
		}
		return "(" + left + " && " + right + ")", out
	}
	for range 2000 {
		text, want := build(3)
		got, err := ParseOutput(text)
		if err != nil {
			t.Fatalf("%s: %s", text, err.Message)
		}
		var lines []string
		for _, w := range want {
			lines = append(lines, strings.Join(w, " && "))
		}
		if routes(got) != strings.Join(lines, " || ") {
			t.Fatalf("%s = %s, want %s", text, routes(got), lines)
		}
	}
}

// LANGUAGE.md#references-and-expressions: what was an expression but for its † is never taken apart, and what may be
// spoken of, or belong to another template, is offered.
func TestLookalikesKeepTheirMeaning(t *testing.T) {
	for _, c := range []struct {
		text, meant string
		sure        bool
	}{
		{"upper(†input.s)", "†(upper(†input.s))", false},
		{`"Hi " + †input.s`, `†("Hi " + †input.s)`, false},
		{"len(†input.s) > 3", "†(len(†input.s) > 3)", false},
		{"not †input.s", "†(not †input.s)", false},
		{" †input.n + 1", "†input.n + 1", false},
		{"Hi †(upper(†input.s))!", "Hi †{upper(†input.s)}!", true},
		{"Hi †(\")\" + †input.s) and †input.t", "Hi †{\")\" + †input.s} and †{input.t}", true},
		{"{{{input.s}}}", "†input.s", true},
		{" †(†input.n + 1)", "†(†input.n + 1)", true},
		{"Hi {{{ input.s }}}", "Hi †{input.s}", true},
		{"Hi {†input.s}", "Hi †{input.s}", true},
		{"{\"a\": {{input.s}}}", "{\"a\": †{input.s}}", true},
		{"Price: $†input.n", "Price: $†{input.n}", true},
		{"Write \"{{input.s}}\" here", "Write \"†{input.s}\" here", false},
		{"Use {{input.s}} or {{name}}", "Use †{input.s} or {{name}}", false},
	} {
		m, ok := Lookalike(c.text, func(Reference) bool { return false })
		if !ok || m.Intended != c.meant || m.Sure != c.sure {
			t.Errorf("Lookalike(%q) = %+v, %v", c.text, m, ok)
			continue
		}
		parseOK(t, m.Intended)
	}
}

// LANGUAGE.md#references-and-expressions
func TestLookalikes(t *testing.T) {
	there := func(r Reference) bool { return r.Kind == "state" && len(r.Path) > 0 && r.Path[0].Key == "order" }
	for _, c := range []struct{ text, at, instead string }{
		{"Hello †input.name", "†input.name", `Hello †{input.name}`},
		{"Hello †input.name, how is †state.dog?", "†input.name", `Hello †{input.name}, how is †{state.dog}?`},
		{"See †user.name.", "†user.name", `See †{†user.name}.`},
		{" †state.a", "†state.a", "†state.a"},
		{"$state.x", "$state.x", "†state.x"},
		{"${state.x}", "${state.x}", "†state.x"},
		{"{{state.x}}", "{{state.x}}", "†state.x"},
		{"{{ state.items[0].name }}", "{{ state.items[0].name }}", "†state.items[0].name"},
		{"${{ input.x }}", "${{ input.x }}", "†input.x"},
		{"{{†state.x}}", "{{†state.x}}", "†state.x"},
		{"total: ${input.sum} €", "${input.sum}", `total: †{input.sum} €`},
		{"†{state.a} of {{state.b}}", "{{state.b}}", `†{state.a} of †{state.b}`},
		{"†{\"$state.a\"} of $state.b", "$state.b", `†{"$state.a"} of †{state.b}`},
		{"a ††{$state.a} b", "$state.a", `a ††{†{state.a}} b`},
		{"①😀 $input.a", "$input.a", `①😀 †{input.a}`},
		{"††: {{state.a}} †state.b", "{{state.a}}", `††: †{state.a} †state.b`},
		{"†{state.a}: {{order.id}}, #{state.order['id']}, %state.order%", "{{order.id}}", `†{state.a}: †{state.order.id}, †{state.order.id}, †{state.order}`},
		{"state['order'].id", "state['order'].id", "†state.order.id"},
		{"{{ $.order }}", "{{ $.order }}", "†state.order"},
		{"to {{upper(state.order.id)}} and {{len(state.other)}}", "{{upper(state.order.id)}}", `to †{upper(state.order.id)} and {{len(state.other)}}`},
		{"${{ state.order.n + 1 }}", "${{ state.order.n + 1 }}", "†(†state.order.n + 1)"},
	} {
		m, ok := Lookalike(c.text, there)
		if !ok || c.text[m.Start:m.End] != c.at || m.Intended != c.instead {
			t.Errorf("Lookalike(%q) = %+v, %v", c.text, m, ok)
			continue
		}
		parseOK(t, m.Intended)
	}
	for _, text := range []string{
		"", "plain", "$5", "$5.00 or €4", "costs $state", "US$state.x", "statement.of", "the state.ment", "{{name}}", "{{user.name}}", "${HOME}/x",
		"$.store.book[0]", "$.input.x", "mail@state.order.id", "{order}", "order", "a † b", "Smith†, Jones‡", "word†note.2", "††state.x", "††: †state.x", "{state.x}", "{{ state.x | upper }}", "{{state}}", "{{upper(name)}}", "{{upper(state.x)}}", "{{state.order.id | upper}}", "${count + 1}",
		"$inputs.x", "use state.x here", "†", "†state.x", "$data", "data: $", "{{", "${", "{{state.", "${state.x", "†state", "see †2 and †3.", "†{state.a}", "a †{state.b}", "a †$state.x", "a ††state.x", "†{state.a $state.b",
	} {
		if m, ok := Lookalike(text, there); ok {
			t.Errorf("%q is taken for %s because of %q", text, m.Intended, text[m.Start:m.End])
		}
	}
}

// LANGUAGE.md#documents: looking for them takes no longer for a hostile text.
func TestLookalikesAreFoundSoon(t *testing.T) {
	for _, piece := range []string{"†.", "†a", " †a.", "{{", "${", "$state.", "{{state.a", "${state[\"", "†a[\"", "†a[", "{{ state.x ", "{a[\"", "%a.", "{state.a%", "<%= ", "@a.b", "{{(", "{{upper(state.a)}}", "${1+", "{{(}}", "†(", "†('", strings.Repeat("†(", 160) + strings.Repeat(")", 160), strings.Repeat("†(1+", 100) + strings.Repeat(")", 100)} {
		text := "x" + strings.Repeat(piece, maxLookalike/len(piece)-1)
		if took, ok := cputime.Within(time.Second, func() { Lookalike(text, func(Reference) bool { return false }) }); !ok {
			t.Errorf("%q, repeated, takes %v", piece, took)
		}
	}
}

// LANGUAGE.md#references-and-expressions: state.x where something else than text is wanted.
func TestBareReferences(t *testing.T) {
	for text, want := range map[string]bool{
		"state.x": true, "input.y[0]": true, " data.user.name ": true, "state": false, "state.": false, "state.x y": false, "statement.x": false,
		"user.name": false, "†state.x": false, "": false, "state.x + 1": false, "input[\"a b\"]": true,
	} {
		if got := BareReference(text); got != want {
			t.Errorf("BareReference(%q) = %v", text, got)
		}
	}
}
