package expression

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// refused are the library's functions that would make an expression more than
// a function of what it references.
var refused = map[string]string{
	"now":      "reads the clock",
	"timezone": "reads the machine's zone files",
}

// foreignNames are names that other languages have for what is written otherwise
// here.
var foreignNames = map[string]string{
	"length": "len(…)", "lenght": "len(…)", "size": "len(…)", "count": "len(…)",
	"substring": "a slice, such as x[0:3]", "substr": "a slice, such as x[0:3]", "slice": "a slice, such as x[0:3]",
	"touppercase": "upper(…)", "uppercase": "upper(…)", "upcase": "upper(…)", "lowercase": "lower(…)", "downcase": "lower(…)", "toupper": "upper(…)", "tolowercase": "lower(…)", "tolower": "lower(…)",
	"includes": "x in list, or text contains part", "contains": "text contains part", "some": "any(…)", "every": "all(…)",
	"parseint": "int(…)", "parsefloat": "float(…)", "number": "float(…)", "str": "string(…)", "tostring": "string(…)",
	"sqrt": "x ** 0.5", "pow": "x ** y", "mod": "x % y", "avg": "mean(…)", "average": "mean(…)",
	"unique": "uniq(…)", "distinct": "uniq(…)", "head": "first(…)", "append": "concat(list, [item])", "push": "concat(list, [item])",
	"coalesce": "a || b", "default": "a || b", "ifnull": "a || b", "exists": "x != null", "isnull": "x == null",
	"range": "a range, such as 1..10", "foreach": "map(…)", "where": "filter(…)", "select": "map(…)", "fold": "reduce(…)",
	"json": "toJSON(…)", "stringify": "toJSON(…)",
}

// FunctionFor is the function that a word is, or that other languages give that name.
func FunctionFor(word string) (name string, ok bool) {
	if name, ok = strings.CutSuffix(foreignNames[strings.ToLower(word)], "(…)"); ok {
		return name, true
	}
	return word, functions[word] != nil
}

func unknownFunction(name string) string {
	if why := refused[name]; why != "" {
		return quote(name) + " " + why + ", and so isn't available"
	}
	return "there is no function " + quote(name)
}

func helpFunction(name string) string {
	if refused[name] != "" {
		return "pass the value in as input, or let a tool produce it"
	}
	if instead := foreignNames[strings.ToLower(name)]; instead != "" {
		return "write " + instead
	}
	if near, ok := naming.Nearest(name, functionNames); ok {
		return "did you mean " + quote(near) + "?"
	}
	return "an expression can't call tools; their results are read from where they are written, such as †state.result"
}

// helpName is what to do about a word in the place of a value.
func helpName(name string) string {
	switch strings.ToLower(name) {
	case "none", "undefined", "nil", "null":
		return "did you mean null?"
	case "true", "false", "and", "or", "not", "in":
		return "did you mean " + strings.ToLower(name) + "?"
	}
	if slices.Contains(kinds, name) {
		return "a reference begins with †, in parentheses too: †" + name + ".…"
	}
	if name == "item" || name == "index" { // of a call with "_each"
		return "a reference begins with †, in parentheses too: †" + name
	}
	if functions[name] != nil || loops[name] {
		return "a function is called: " + name + "(…)"
	}
	return "write \"" + name + "\" for text, or †state." + name + " for a value of the state"
}

func wrongArity(name string, least, most, got int) string {
	want := wording.Count(least, "argument")
	switch {
	case most < 0:
		want = "at least " + want
	case most > least:
		want = itoa(least) + " to " + wording.Count(most, "argument")
	}
	return quote(name) + " takes " + want + ", and has " + itoa(got)
}

// explain says what is wrong at the token that the parser stopped at.
func (s *scan) explain(i int, complaint string) (at token, message, help string) {
	t := s.tokens[i]
	word := s.word(i)
	before := ""
	if i > 0 {
		before = s.word(i - 1)
	}
	switch {
	case t.kind == tokenNumber && strings.Count(word, ".") > 1:
		return t, quote(word) + " isn't a number", "a list of numbers is written [1, 2, 3]"
	case strings.Contains(complaint, "integer literal"), strings.Contains(complaint, "float literal"),
		strings.Contains(complaint, "hex literal"), strings.Contains(complaint, "number"):
		return t, quote(word) + " isn't a number", "whole numbers go up to 9007199254740991"
	case strings.Contains(complaint, "escape"):
		return t, "the text has an escape that means no character", "write \\\\ for a backslash"
	case strings.Contains(complaint, "arguments"):
		return t, "an argument is missing", "write list | filter(.price > 10), for example"
	case strings.Contains(complaint, "wrap predicate"):
		return t, "\";\" isn't allowed here", "put braces around it: filter({ let x = #; x > 1 })"
	}
	if f := s.callAround(i); f >= 0 {
		name := s.word(f)
		if (word == "." || word == "#") && !loops[name] {
			t = s.tokens[f]
			if functions[name] != nil {
				return t, quote(name) + " takes a value, and no item for item", "write " + name + "(list) for the whole, or list | map(" + name + "(#)) for each item"
			}
			return t, unknownFunction(name), helpFunction(name)
		}
	}
	switch word {
	case ":":
		if s.inBraces(i) {
			return t, "\":\" isn't allowed here", "braces after \"(\" hold a condition; write an object in parentheses: map(({\"key\": .name}))"
		}
	case "=":
		if strings.HasPrefix(s.text[t.end:], ">") {
			return t, "\"=>\" is no operator", "the item is # and what it holds .key, without a name: map(list, .key)"
		}
		if before == "==" || before == "!=" {
			return t, "\"" + before + "=\" is no operator", "did you mean \"" + before + "\"?"
		}
		return t, "\"=\" compares nothing", "did you mean \"==\"?"
	case ",":
		if s.bracketAround(i) < 0 {
			return t, "\",\" isn't allowed here", "an expression is one value: write †([†a, †b]) for a list, or \"†{a}, †{b}\" for a text"
		}
	case "&":
		return t, "\"&\" is no operator", "did you mean and?"
	case ";":
		return t, "\";\" isn't allowed here", "an expression is one value"
	case "?":
		return t, "\"?\" isn't allowed here", "a choice is written condition ? value : other"
	case "#", ".":
		return t, quote(word) + " only stands for an item inside a function such as filter", "write list | map(#.name)"
	}
	if name, ok := FunctionFor(word); ok && before == "|" {
		return t, "a function must follow \"|\", and it is called", "write " + name + "() with its parentheses"
	}
	if before == "|" {
		return t, "a function must follow \"|\"", "write list | filter(…); did you mean \"||\", the first value that is there?"
	}
	if t.kind == tokenWord {
		switch strings.ToLower(word) {
		case "or", "and", "not", "in", "matches", "contains", "startswith", "endswith":
			for _, operator := range []string{"or", "and", "not", "in", "matches", "contains", "startsWith", "endsWith"} {
				if strings.EqualFold(operator, word) && operator != word {
					return t, quote(word) + " is no operator", "did you mean " + operator + "?"
				}
			}
		case "is", "eq", "equals":
			return t, quote(word) + " is no operator", "did you mean \"==\"?"
		case "xor":
			return t, quote(word) + " is no operator", "of two booleans write !="
		}
		if near, ok := naming.Nearest(word, []string{"contains", "matches", "startsWith", "endsWith"}); ok {
			return t, quote(word) + " is no operator", "did you mean " + near + "?"
		}
	}
	if i > 0 && s.tokens[i-1].kind == tokenReference && words[strings.TrimPrefix(before, mark)] {
		return s.tokens[i-1], quote(before) + " is no reference", "write an expression that doesn't begin with a reference in parentheses: †(" + strings.TrimPrefix(before, mark) + " …)"
	}
	if i > 0 && t.valueLike() && t.kind != tokenClose && s.tokens[i-1].valueLike() {
		help := "join the two with an operator, such as || or +"
		if t.kind == tokenWord && s.tokens[i-1].kind == tokenReference {
			help += "; in a text write a value in braces: †{" + strings.TrimPrefix(before, mark) + "} " + word
		}
		return t, "an operator is missing before " + quote(word), help
	}
	if i > 0 && s.tokens[i-1].kind == tokenOperator && (t.kind == tokenOperator || t.kind == tokenClose) {
		help := ""
		switch before + word {
		case "<>":
			help = "did you mean !=?"
		case "->":
			help = "parts are read with a point: †state.a.b"
		}
		return t, "a value is missing between " + quote(before) + " and " + quote(word), help
	}
	return t, quote(word) + " isn't allowed here", ""
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
