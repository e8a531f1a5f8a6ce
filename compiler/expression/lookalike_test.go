package expression

import (
	"testing"
)

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
		{" †input.n + 1", "†(†input.n + 1)", false},
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
		{"Use {{ †input.n + 1 }}", "Use {{ †{input.n} + 1 }}", false},
		{`$input.s || "none"`, `†input.s || "none"`, true},
		{"$(len($input.s))", "†(len(†input.s))", true},
		{"$input.m - $input.n", "†input.m - †input.n", false},
		{"$input.m and $input.n", "†input.m and †input.n", false},
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
		{"†{state.a}: {{order.id}}, ${state.order['id']}", "{{order.id}}", `†{state.a}: †{state.order.id}, †{state.order.id}`},
		{"state['order'].id", "state['order'].id", "†state.order.id"},
		{"{{ $.order }}", "{{ $.order }}", "†state.order"},
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
		"$.store.book[0]", "$.input.x", "mail@state.order.id", "{order}", "order", "a † b", "Smith†, Jones‡", "word†note.2", "††state.x", "††: †state.x", "{state.x}", "{{ state.x | upper }}", "{{state}}", "{{upper(name)}}", "{{upper(state.x)}}", "{{state.order.id | upper}}", "to {{upper(state.order.id)}}", "%state.order%", "$(state.order)", "${count + 1}",
		"$inputs.x", "use state.x here", "†", "†state.x", "$data", "data: $", "{{", "${", "{{state.", "${state.x", "†state", "see †2 and †3.", "†{state.a}", "a †{state.b}", "a †$state.x", "a ††state.x", "†{state.a $state.b",
	} {
		if m, ok := Lookalike(text, there); ok {
			t.Errorf("%q is taken for %s because of %q", text, m.Intended, text[m.Start:m.End])
		}
	}
}
