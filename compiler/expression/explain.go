package expression

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/file"
)

const noOperator, onlyItem = "is no operator", "only stands for an item inside a function such as filter"

// signs are what is wrong with operators that don't exist, and with those that are where none can be.
var signs = map[string]struct{ message, help string }{
	"=":   {"compares nothing", "did you mean \"==\"?"},
	"=>":  {noOperator, "did you mean \">=\" or \"==\"? in map(list, .key) the item is #, without a name"},
	"===": {noOperator, "did you mean \"==\"?"},
	"!==": {noOperator, "did you mean \"!=\"?"},
	"<>":  {noOperator, "did you mean \"!=\"?"},
	"->":  {noOperator, "parts are read with a point: †state.a.b"},
	"&":   {noOperator, "did you mean and?"},
	";":   {"isn't allowed here", "an expression is one value"},
	"#":   {onlyItem, "write list | map(#.name)"},
	".":   {onlyItem, "write list | map(#.name)"},
}

// syntax turns the parser's complaint into ours.
func (s *scan) syntax(failure error) *Error {
	var f *file.Error
	last := len(s.tokens) - 1
	switch {
	case !errors.As(failure, &f):
		return fail(0, len(s.text), "this isn't an expression", "")
	case strings.Contains(f.Message, "maximum allowed nodes"):
		return tooLarge(s.text)
	case strings.Contains(f.Message, "EOF") && !(last > 0 && s.word(last-1) == "|"):
		return s.fault(last, "the expression ends too early after "+quote(s.word(last)), "a value must follow")
	}
	return s.explain(min(s.tokenAt(s.offset(f.From)), last), f.Message)
}

func (s *scan) fault(i int, message, help string) *Error {
	return fail(s.tokens[i].start, s.tokens[i].end, message, help)
}

// explain is what is wrong at the token that the parser stopped at.
func (s *scan) explain(i int, complaint string) *Error {
	t, word := s.tokens[i], s.word(i)
	its := quote(word) + " "
	number := i
	if i > 0 && t.kind != tokenNumber { // the parser stops behind it
		number--
	}
	switch isNumber := s.tokens[number].kind == tokenNumber; {
	case strings.Contains(complaint, "escape"):
		return s.fault(i, "the text has an escape that means no character", "write \\\\ for a backslash")
	case isNumber && (strings.Contains(complaint, "literal") || strings.Contains(complaint, "number")):
		return s.fault(number, quote(s.word(number))+" isn't a number", "whole numbers go up to 9007199254740991")
	}
	before, after, bracket := "", s.text[t.end:], s.bracketAround(i)
	if i > 0 {
		before = s.word(i - 1)
	}
	opens := func(brackets string) bool { return bracket > 0 && strings.Contains(brackets, s.word(bracket)) }
	switch {
	case (word == "." || word == "#") && opens("(") && s.tokens[bracket-1].kind == tokenWord:
		if name := s.word(bracket - 1); functions[name] == nil {
			return s.fault(bracket-1, unknownFunction(name), helpFunction(name))
		}
	case word == ":" && opens("{") && strings.Contains("(,", s.word(bracket-1)): // in an argument that begins so
		return s.fault(i, its+"isn't allowed here",
			"braces after \"(\" hold a condition; write an object in parentheses: map(({\"key\": .name}))")
	case word == "," && bracket < 0:
		return s.fault(i, its+"isn't allowed here",
			"an expression is one value: write †([†a, †b]) for a list, or \"†{a}, †{b}\" for a text")
	}
	for _, sign := range []string{before + word, word + after[:min(1, len(after))], word} {
		if known, ok := signs[sign]; ok {
			return s.fault(i, quote(sign)+" "+known.message, known.help)
		}
	}
	if before == "|" {
		if name, ok := FunctionFor(word); ok {
			return s.fault(i, "a function must follow \"|\", and it is called", "write "+name+"() with its parentheses")
		}
		return s.fault(i, "a function must follow \"|\"",
			"write list | filter(…); did you mean \"||\", the first value that is there?")
	}
	for _, operator := range []string{"or", "and", "not", "in"} {
		if strings.EqualFold(operator, word) && operator != word {
			return s.fault(i, its+noOperator, "did you mean "+operator+"?")
		}
	}
	if i > 0 {
		return s.betweenTokens(i)
	}
	return s.fault(i, its+"isn't allowed here", "")
}

// betweenTokens is what is wrong with a token that can't follow the one before it.
func (s *scan) betweenTokens(i int) *Error {
	t, word := s.tokens[i], s.word(i)
	last, before := s.tokens[i-1], s.word(i-1)
	name := strings.TrimPrefix(before, mark)
	switch {
	case last.kind == tokenReference && words[name]:
		return s.fault(i-1, quote(before)+" is no reference",
			"write an expression that doesn't begin with a reference in parentheses: †("+name+" …)")
	case t.valueLike() && t.kind != tokenClose && last.valueLike():
		help := "join the two with an operator, such as || or +"
		if t.kind == tokenWord && last.kind == tokenReference {
			help += "; in a text write a value in braces: †{" + name + "} " + word
		}
		return s.fault(i, "an operator is missing before "+quote(word), help)
	case last.kind == tokenOperator && (t.kind == tokenOperator || t.kind == tokenClose):
		return s.fault(i, "a value is missing between "+quote(before)+" and "+quote(word), "")
	}
	return s.fault(i, quote(word)+" isn't allowed here", "")
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
