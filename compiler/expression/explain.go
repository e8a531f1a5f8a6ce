package expression

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/obelus-dev/obelus/compiler/naming"
)

// A fault is what the parser stopped at: what is wrong there, and what to do.
type fault struct {
	token
	message, help string
}

// complaints are what the parser's messages mean, by a part of them. %q is the token.
var complaints = []struct{ part, message, help string }{
	{"integer literal", "%q isn't a number", "whole numbers go up to 9007199254740991"},
	{"float literal", "%q isn't a number", "whole numbers go up to 9007199254740991"},
	{"hex literal", "%q isn't a number", "whole numbers go up to 9007199254740991"},
	{"number", "%q isn't a number", "whole numbers go up to 9007199254740991"},
	{"escape", "the text has an escape that means no character", "write \\\\ for a backslash"},
	{"arguments", "an argument is missing", "write list | filter(.price > 10), for example"},
	{"wrap predicate", "\";\" isn't allowed here", "put braces around it: filter({ let x = #; x > 1 })"},
}

// signs are what is wrong with operators that don't exist, and with those that are where none can be.
var signs = map[string]struct{ message, help string }{
	"=":      {"\"=\" compares nothing", "did you mean \"==\"?"},
	"=>":     {"\"=>\" is no operator", "the item is # and what it holds .key, without a name: map(list, .key)"},
	"===":    {"\"===\" is no operator", "did you mean \"==\"?"},
	"!==":    {"\"!==\" is no operator", "did you mean \"!=\"?"},
	"<>":     {"\"<>\" is no operator", "did you mean \"!=\"?"},
	"->":     {"\"->\" is no operator", "parts are read with a point: †state.a.b"},
	"&":      {"\"&\" is no operator", "did you mean and?"},
	";":      {"\";\" isn't allowed here", "an expression is one value"},
	"?":      {"\"?\" isn't allowed here", "a choice is written condition ? value : other"},
	"#":      {"\"#\" only stands for an item inside a function such as filter", "write list | map(#.name)"},
	".":      {"\".\" only stands for an item inside a function such as filter", "write list | map(#.name)"},
	"is":     {"\"is\" is no operator", "did you mean \"==\"?"},
	"equals": {"\"equals\" is no operator", "did you mean \"==\"?"},
	"eq":     {"\"eq\" is no operator", "did you mean \"==\"?"},
	"xor":    {"\"xor\" is no operator", "write != between booleans"},
}

// explain is what is wrong at the token that the parser stopped at.
func (s *scan) explain(i int, complaint string) fault {
	t, word := s.tokens[i], s.word(i)
	if t.kind == tokenNumber && strings.Count(word, ".") > 1 {
		return fault{t, quote(word) + " isn't a number", "a list of numbers is written [1, 2, 3]"}
	}
	for _, c := range complaints {
		if strings.Contains(complaint, c.part) {
			return fault{t, strings.Replace(c.message, "%q", quote(word), 1), c.help}
		}
	}
	before, after := "", s.text[t.end:]
	if i > 0 {
		before = s.word(i - 1)
	}
	switch {
	case word == "." || word == "#":
		if f := s.callAround(i); f >= 0 && (functions[s.word(f)] == nil || functions[s.word(f)].loop == nil) {
			return s.notPerItem(f)
		}
	case word == ":" && s.inBraces(i):
		return fault{t, "\":\" isn't allowed here",
			"braces after \"(\" hold a condition; write an object in parentheses: map(({\"key\": .name}))"}
	case word == "," && s.bracketAround(i) < 0:
		return fault{t, "\",\" isn't allowed here",
			"an expression is one value: write †([†a, †b]) for a list, or \"†{a}, †{b}\" for a text"}
	}
	for _, sign := range []string{before + word, word + after[:min(1, len(after))], word} {
		if known, ok := signs[sign]; ok {
			return fault{t, known.message, known.help}
		}
	}
	if before == "|" {
		if name, ok := FunctionFor(word); ok {
			return fault{t, "a function must follow \"|\", and it is called",
				"write " + name + "() with its parentheses"}
		}
		return fault{t, "a function must follow \"|\"",
			"write list | filter(…); did you mean \"||\", the first value that is there?"}
	}
	if intended := meantOperator(word); intended != "" && t.kind == tokenWord {
		return fault{t, quote(word) + " is no operator", "did you mean " + intended + "?"}
	}
	if i > 0 {
		return s.betweenTokens(i)
	}
	return fault{t, quote(word) + " isn't allowed here", ""}
}

// meantOperator is the operator in words that a word is taken for; "" if there is none.
func meantOperator(word string) string {
	for _, operator := range []string{"or", "and", "not", "in", "matches", "contains", "startsWith", "endsWith"} {
		if strings.EqualFold(operator, word) && operator != word {
			return operator
		}
	}
	if words[word] {
		return ""
	}
	near, _ := naming.Nearest(word, []string{"contains", "matches", "startsWith", "endsWith"})
	return near
}

// notPerItem is the fault of reading an item in the arguments of a function that isn't called per item.
func (s *scan) notPerItem(function int) fault {
	t, name := s.tokens[function], s.word(function)
	if functions[name] == nil {
		return fault{t, unknownFunction(name), helpFunction(name)}
	}
	return fault{t, quote(name) + " takes a value, and no item for item",
		"write " + name + "(list) for the whole, or list | map(" + name + "(#)) for each item"}
}

// betweenTokens is the fault of a token that can't follow the one before it.
func (s *scan) betweenTokens(i int) fault {
	t, word := s.tokens[i], s.word(i)
	last, before := s.tokens[i-1], s.word(i-1)
	name := strings.TrimPrefix(before, mark)
	switch {
	case last.kind == tokenReference && words[name]:
		return fault{last, quote(before) + " is no reference",
			"write an expression that doesn't begin with a reference in parentheses: †(" + name + " …)"}
	case t.valueLike() && t.kind != tokenClose && last.valueLike():
		help := "join the two with an operator, such as || or +"
		if t.kind == tokenWord && last.kind == tokenReference {
			help += "; in a text write a value in braces: †{" + name + "} " + word
		}
		return fault{t, "an operator is missing before " + quote(word), help}
	case last.kind == tokenOperator && (t.kind == tokenOperator || t.kind == tokenClose):
		return fault{t, "a value is missing between " + quote(before) + " and " + quote(word), ""}
	}
	return fault{t, quote(word) + " isn't allowed here", ""}
}

// callAround is the index of the word whose call's arguments hold the i-th
// token, or -1.
func (s *scan) callAround(i int) int {
	open := s.bracketAround(i)
	if open < 1 || s.text[s.tokens[open].start] != '(' || s.tokens[open-1].kind != tokenWord {
		return -1
	}
	return open - 1
}

// inBraces reports whether the i-th token is in braces that are the beginning of an argument.
func (s *scan) inBraces(i int) bool {
	open := s.bracketAround(i)
	if open < 1 || s.text[s.tokens[open].start] != '{' {
		return false
	}
	before := s.text[s.tokens[open-1].start]
	return before == '(' || before == ','
}

// bracketAround is the index of the innermost bracket that is open at the i-th
// token, or -1.
func (s *scan) bracketAround(i int) int {
	for j := i - 1; j >= 0; j-- {
		switch t := s.tokens[j]; {
		case t.kind == tokenClose:
			j = t.match
		case t.kind == tokenOpen:
			return j
		}
	}
	return -1
}

// syntax turns the parser's complaint into ours.
func (s *scan) syntax(failure error) *Error {
	var f *file.Error
	if !errors.As(failure, &f) {
		return fail(0, len(s.text), "this isn't an expression", "")
	}
	if strings.Contains(f.Message, "maximum allowed nodes") {
		return tooLarge(s.text, s.limits)
	}
	last := len(s.tokens) - 1
	if strings.Contains(f.Message, "EOF") && !(last > 0 && s.word(last-1) == "|") {
		t := s.tokens[last]
		return fail(t.start, t.end, "the expression ends too early after "+quote(s.text[t.start:t.end]),
			"a value must follow")
	}
	found := s.explain(min(s.tokenAt(s.offset(f.From)), last), f.Message)
	return fail(found.start, found.end, found.message, found.help)
}
