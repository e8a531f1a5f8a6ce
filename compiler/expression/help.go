package expression

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/reference"
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
	"touppercase": "upper(…)", "uppercase": "upper(…)", "upcase": "upper(…)", "toupper": "upper(…)",
	"lowercase": "lower(…)", "downcase": "lower(…)", "tolowercase": "lower(…)", "tolower": "lower(…)",
	"includes": "x in list, or text contains part", "contains": "text contains part",
	"some": "any(…)", "every": "all(…)", "parseint": "int(…)", "parsefloat": "float(…)", "number": "float(…)",
	"str": "string(…)", "tostring": "string(…)",
	"sqrt": "x ** 0.5", "pow": "x ** y", "mod": "x % y", "avg": "mean(…)", "average": "mean(…)",
	"unique": "uniq(…)", "distinct": "uniq(…)", "head": "first(…)",
	"append": "concat(list, [item])", "push": "concat(list, [item])",
	"coalesce": "a || b", "default": "a || b", "ifnull": "a || b", "exists": "x != null", "isnull": "x == null",
	"range": "a range, such as 1..10", "foreach": "map(…)", "where": "filter(…)", "select": "map(…)",
	"fold": "reduce(…)",
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
	if slices.Contains(reference.Kinds, name) || name == "item" || name == "index" { // those of a call with "_each"
		return "a reference begins with †, in parentheses too: †" + name
	}
	if functions[name] != nil {
		return "a function is called: " + name + "(…)"
	}
	return "write \"" + name + "\" for text, or †state." + name + " for a value of the state"
}

func wrongArity(name string, f *function, got int) string {
	least, most := f.least, f.most
	if strings.HasPrefix(f.name, ".") {
		least, most, got = least-1, most-1, got-1
	}
	want := wording.Count(least, "argument")
	switch {
	case most < 0:
		want = "at least " + want
	case most > least:
		want = itoa(least) + " to " + wording.Count(most, "argument")
	}
	return quote(name) + " takes " + want + ", and has " + itoa(got)
}

// calledReference is the error of a reference, as it is written, with arguments behind it.
func calledReference(written string, ref Reference) *Error {
	help, last := "only functions can be called, not references", ref.Kind
	if len(ref.Path) > 0 {
		last = ref.Path[len(ref.Path)-1].Key
	} else {
		help = "an expression that begins with a function is in parentheses: †(" + last + "( … ))"
	}
	if instead := foreignNames[strings.ToLower(last)]; instead != "" && functions[last] == nil {
		help += "; write " + instead + ", in parentheses: †( … )"
	}
	return fail(ref.Start, ref.End, quote(written)+" can't be called", help)
}
