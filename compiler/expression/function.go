package expression

import (
	"maps"
	"slices"
	"strings"
)

// A function is a function, a method or an operator of the expression language. The parser, the checker, the evaluator,
// and the messages read the same entry of the table.
type function struct {
	// signature is the name, the parameters and the result, as in "split(string, separator string, most integer?)
	// [string]" (a list of strings). Behind "; " are other parameters and the result for them. A parameter is its
	// kinds, behind a label if there is one. It may be left out behind "?", and is repeated behind "...". Behind "#" it
	// is an expression that is evaluated once per item of the first argument. The result is "item" for an item of the
	// first argument or null, and "same" for the type of the first argument.
	signature string
	phrase    string // what messages call it; "": its name in quotes
	op        Op     // of an operator

	// What it costs: bytes of a text, as the first argument, that are a step (0: it is free), bytes of memory for each
	// byte, item or key of the first argument, and what else the arguments decide.
	scan, grow int
	cost       func(invocation)

	partial bool             // it fails for some arguments of these kinds
	fails   func(*Node) bool // it fails for some of them where these are the nodes of the arguments

	results func(c *checker, n *Node, types []*Type) *Type // the type of the result, if the signature can't say it
	items   func(n *Node, list Interval) Interval          // how many items its result has, by its first operand's
	run     func(invocation) any                           // nil: what the library does

	// The parts of the signature.
	name        string
	forms       []form
	least, most int // arguments that are required, and that are possible; -1: any number
	perItem     bool
}

// A form is what a function accepts, and what it results in then.
type form struct {
	params     []param
	result     *Type // nil: any
	item, same bool
}

// A param is one parameter of a function.
type param struct {
	label   string
	kinds   KindSet
	integer bool // a whole number, which the function gets as an int
	perItem bool
}

// param is the parameter of an argument: the last is that of all further arguments.
func (f *form) param(i int) *param { return &f.params[min(i, len(f.params)-1)] }

func (f *function) param(i int) *param { return f.forms[0].param(i) }

// words are what messages call a function.
func (f *function) words() string {
	if f.phrase != "" {
		return f.phrase
	}
	return quote(strings.TrimPrefix(f.name, ".")) // that of a method starts with one
}

// usage is how a function is called: with the arguments that it requires, and with all.
func (f *function) usage() string {
	call := func(params []param) string {
		labels := make([]string, len(params))
		for i, p := range params {
			labels[i] = p.label
		}
		return f.name + "(" + strings.Join(labels, ", ") + ")"
	}
	params := f.forms[0].params
	if len(params) == f.least {
		return "write " + call(params)
	}
	return "write " + call(params[:f.least]) + " or " + call(params)
}

var kindWords = map[string]KindSet{
	"null": Null, "boolean": Bool, "number": Number, "integer": Number, "string": String, "list": Array,
	"object": Object, "date": date, "duration": duration, "any": anything,
}

func kindsOf(words string) (kinds KindSet) {
	for word := range strings.SplitSeq(words, "|") {
		kinds |= kindWords[word]
	}
	return kinds
}

// functions are those of the expression language that depend on nothing but their arguments, by name; methods have a
// dot before it. It is filled when the program starts, since loops evaluate expressions, which call functions.
var functions map[string]*function

// functionNames are the names of all functions, sorted, for suggestions.
var functionNames []string

// operators are what nodes do that have operands, by operation.
var operators [OpPower + 1]*function

func init() {
	functions = make(map[string]*function, len(functionTable))
	for i := range functionTable {
		f := &functionTable[i]
		f.readSignature()
		if f.run == nil {
			f.run = library(f.name)
		}
		functions[f.name] = f
	}
	functionNames = slices.Sorted(maps.Keys(functions))
	for i := range operatorTable {
		operatorTable[i].readSignature()
		operators[operatorTable[i].op] = &operatorTable[i]
	}
}

func (f *function) readSignature() {
	name, rest, _ := strings.Cut(f.signature, "(")
	f.name = name
	for text := range strings.SplitSeq(rest, "; ") {
		params, result, _ := strings.Cut(strings.TrimPrefix(text, "("), ") ")
		f.forms = append(f.forms, form{})
		form := &f.forms[len(f.forms)-1]
		f.least, f.most = 0, 0
		for text := range strings.SplitSeq(params, ", ") {
			text, repeated := strings.CutSuffix(text, "...")
			text, optional := strings.CutSuffix(text, "?")
			text, perItem := strings.CutPrefix(text, "#")
			label, kinds, labelled := strings.Cut(text, " ")
			if !labelled {
				label, kinds = strings.ReplaceAll(strings.TrimSuffix(text, "|null"), "|", " or "), text
			}
			f.perItem = f.perItem || perItem
			form.params = append(form.params, param{label, kindsOf(kinds), kinds == "integer", perItem})
			if !optional {
				f.least++
			}
			if f.most++; repeated {
				f.most = -1
			}
		}
		switch element, isList := strings.CutPrefix(result, "["); {
		case isList:
			form.result = &Type{Kinds: Array, Elem: &Type{Kinds: kindsOf(strings.TrimSuffix(element, "]"))}}
		case result == "item":
			form.item = true
		case result == "same":
			form.same = true
		case result != "any":
			form.result = &Type{Kinds: kindsOf(result), Open: result == "object"}
		}
	}
}

// accepting are the forms, of some, that accept an argument of some kinds, and the kinds that all of these accept. A
// set of forms has a bit for each.
func (n *Node) accepting(i int, got KindSet, among uint) (forms uint, want KindSet) {
	for f := range n.fn.forms {
		if among&(1<<f) == 0 {
			continue
		}
		kinds := n.fn.forms[f].param(i).kinds
		if n.Soft && i == 0 {
			kinds |= Null
		}
		if want |= kinds; kinds&got != 0 {
			forms |= 1 << f
		}
	}
	return forms, want
}

const allForms = ^uint(0)

// accept are the forms that accept arguments of some kinds, or which argument is of no kind that any accepts.
func (n *Node) accept(kinds []KindSet) (forms uint, problem *Error) {
	forms = allForms
	for i, got := range kinds {
		next, want := n.accepting(i, got, forms)
		if next == 0 {
			return 0, n.mismatch(i, want, got, kinds)
		}
		forms = next
	}
	return forms, nil
}

// refuses reports whether none of some forms accepts some arguments of some kinds, from the i-th on.
func (n *Node) refuses(kinds []KindSet, i int, forms uint) bool {
	if i == len(kinds) {
		return false
	}
	var seen uint
	for kind := KindSet(1); kind <= kinds[i]; kind <<= 1 {
		if kinds[i]&kind == 0 {
			continue
		}
		next, _ := n.accepting(i, kind, forms)
		if next != seen && n.refuses(kinds, i+1, next) || next == 0 {
			return true
		}
		seen = next
	}
	return false
}

// mismatch is the error of an argument of a kind that isn't wanted.
func (n *Node) mismatch(i int, want, got KindSet, kinds []KindSet) *Error {
	where := ""
	switch {
	case n.Op.Orders():
		if x, y := kinds[0], got; i == 1 {
			if _, ordered := n.accepting(0, x, allForms); y&ordered != 0 {
				help := conversion(n.Args[i], n.fn.name, want, got)
				if x&ordered|y == Number|String {
					help = "write float(…) around the string to compare numbers"
				}
				return n.wrong(i, (x&ordered).String()+" can't be compared with "+y.String(), help)
			}
		}
		return n.wrong(i, got.String()+" can't be compared by size", conversion(n.Args[i], n.fn.name, want, got))
	case n.Op == OpText:
		return n.wrong(i, inText+" accepts a string, a number or a boolean; this is "+got.String(),
			conversion(n.Args[i], inText, want, got))
	case n.fn.param(i).perItem:
		where = " of each item"
	case n.fn.op != OpLiteral && i > 0 && want != Bool:
		where = " here"
	}
	return unwanted(n.Args[i], n.fn.words(), where, want, got)
}

// wrong is an error at an argument.
func (n *Node) wrong(i int, message, help string) *Error {
	return fail(n.Args[i].Start, n.Args[i].End, message, help)
}

// unwanted is the error of a node whose value has another kind than is wanted: by what, and where if that needs saying.
func unwanted(n *Node, what, where string, want, got KindSet) *Error {
	shown := want &^ Null
	if shown&^(date|duration) != 0 {
		shown &^= date | duration
	}
	message := what + " wants " + shown.String() + where + ", and this is " + got.String()
	return fail(n.Start, n.End, message, conversion(n, strings.Trim(what, `"`), want, got))
}

// conversions are what to do about a value of another kind than is wanted: the first that applies, for what is wanted
// by an operator or any, and for what there is.
var conversions = []struct {
	by        string
	want, got KindSet
	help      string
}{
	{"", Array, Null, "write … || [] to have an empty list instead"},
	{inText, anything, Null, "add a default: †{ … || \"none\" }; string(…) would write the word null"},
	{inText, anything, anything, "write string(…) or toJSON(…) to convert it"},
	{"", anything, Null, "write … || 0, or … || \"\", to have a value in its place"},
	{"+", anything, Array, "lists are joined by concat(…, …)"},
	{"contains", anything, Array, "an item of a list is found by in: item in list"},
	{"in", anything, String, "a piece of a string is found by contains"},
	{"+", Number, String, "write float(…) to read it as a number, or string(…) around the other"},
	{"", Number, String, "write float(…) to read it as a number"},
	{"", String, Number | Bool, "write string(…) around it to have a string"},
	{"", Array, Object, "use values(…) for an object's values"},
	{"", Number, Array | Object, "write len(…) around it to have its length"},
	{"", date, anything, "date(…) reads one"},
	{"", duration, anything, "duration(…) reads one, and so does the difference of two dates"},
}

func conversion(n *Node, by string, want, got KindSet) string {
	switch {
	case want != Bool:
	case n.Op == OpFallback:
		return "|| is the first value that is set; write or for booleans"
	case n.Op == OpGate:
		return "&& is the last value when all are set; write and for booleans"
	default:
		return "compare it, as in x != null or x > 0"
	}
	for _, c := range conversions {
		if (c.by == "" || c.by == by) && c.want&want != 0 && c.got&got != 0 && (c.got != Null || got == Null) {
			return c.help
		}
	}
	return ""
}
