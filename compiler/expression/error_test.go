package expression

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// A faulty text has its fault between ⟦ and ⟧, which aren't part of it.
func faulty(marked string) (text, fault string) {
	start, end := strings.Index(marked, "⟦"), strings.Index(marked, "⟧")
	fault = marked[start+len("⟦") : end]
	return strings.NewReplacer("⟦", "", "⟧", "").Replace(marked), fault
}

type faultCase struct {
	marked  string
	message string // a piece of it
	help    string // likewise
}

func checkFault(t *testing.T, marked string, err *Error, message, help string) {
	t.Helper()
	text, _ := faulty(marked)
	if err == nil {
		t.Errorf("%s is accepted", text)
		return
	}
	start := strings.Index(marked, "⟦")
	end := strings.Index(marked, "⟧") - len("⟦")
	if err.Start != start || err.End != end {
		t.Errorf("%s: the fault is said to be at %q (%d-%d), want %q (%d-%d): %s", text, text[err.Start:err.End], err.Start, err.End, text[start:end], start, end, err.Message)
	}
	if !strings.Contains(err.Message, message) {
		t.Errorf("%s: %q doesn't say %q", text, err.Message, message)
	}
	if !strings.Contains(err.Help, help) {
		t.Errorf("%s: the help %q doesn't say %q", text, err.Help, help)
	}
	if first, _ := utf8.DecodeRuneInString(err.Message); first >= 'A' && first <= 'Z' || strings.HasSuffix(err.Message, ".") {
		t.Errorf("%s: %q isn't in our form", text, err.Message)
	}
}

// LANGUAGE.md#references-and-expressions: what doesn't parse is reported at its place, with what to do;
// also behind †, ① and emoji.
func TestFaults(t *testing.T) {
	for _, c := range []faultCase{
		{"⟦†⟧", "refers to nothing", "††"},
		{"⟦†⟧ state.a", "must follow † directly", "††"},
		{"⟦†.⟧a", "begins with its kind", ""},
		{"⟦†⟧\"x\" + 1", "in parentheses", "†("},
		{"†state.a || ⟦†⟧(1 + 2)", "in parentheses", "†("},
		{"⟦†①⟧.a", "\"①\"", ""},
		{"†state⟦.⟧", "no key follows", ""},
		{"†state.a⟦.⟧ + 1", "no key follows", ""},
		{"†state⟦.⟧.a", "no key follows", "range"},
		{"†state.a⟦.⟧.†state.b", "no key follows", "space before"},
		{"†state⟦.⟧*", "no key follows", "map"},
		{"†state.items⟦[*⟧].x", "no index and no key", "map"},
		{"†state.items⟦[]⟧", "no index and no key", "[0]"},
		{"†state.items[⟦01⟧]", "from 0 to 1000000", "quoted"},
		{"†state.items[⟦00⟧]", "from 0 to 1000000", "quoted"},
		{"†state.items[⟦1000001⟧]", "from 0 to 1000000", "quoted"},
		{"†state.items.⟦99999999999999999999⟧", "from 0 to 1000000", "quoted"},
		{"†state⟦.⟧\"a\"", "no key follows", "[\"any key\"]"},
		{"†state[⟦\"⟧a]", "never closed", ""},
		{"†state[\"⟦\\q⟧\"]", "means no character", ""},
		{"†state[\"⟦\\ud83d\\u0061⟧\"]", "means no character", ""},
		{"†state[\"⟦\\xff⟧\"]", "means no character", ""},
		{"†state⟦.⟧-a", "no key follows", "any key"},
		{"⟦†state.f⟧(1)", "can't be called", "only functions"},
		{"⟦†len⟧(†state.a)", "can't be called", "†(len("},
		{"†state.nai⟦\u0308⟧ve", "must be quoted", "[\"key\"]"},
		{"†state.a⟦@⟧b", "must be quoted", ""},
		{"†state.a⟦†⟧state.b", "operator is missing", ""},
		{"†state.a ⟦†state.b⟧", "operator is missing", ""},
		{"†state⟦.⟧①", "no key follows", "any key"},
		{"†state.a + \"①😀\" + ⟦nme⟧", "no value \"nme\"", "†state.nme"},
		{"†state.a != \"😀\" or †state.a ⟦=⟧ 1", "compares nothing", "=="},
		{"†state.a ⟦there⟧", "operator is missing", "†{state.a} there"},
		{"⟦†not⟧ state.b", "is no reference", "†(not …)"},
		{"⟦†not⟧ †state.b", "is no reference", "†(not …)"},
		{"†(map(†state.a, x ⟦=⟧> x.n))", "no operator", "map(list, .key)"},
		{"†(\"①😀†\" ⟦OR⟧ †state.b)", "no operator", "did you mean or?"},
		{"†state.a ⟦AND⟧ †state.b", "no operator", "did you mean and?"},
		{"†state.a ⟦&⟧ †state.b", "no operator", "did you mean and?"},
		{"†state.a | ⟦†state.b⟧", "function must follow", "\"||\""},
		{"†state.a | ⟦3⟧", "function must follow", "\"||\""},
		{"†state.a ⟦≥⟧ 3", "unexpected character", ">="},
		{"†state.a == ⟦“⟧x”", "unexpected character", "straight quotes"},
		{"†state.a == ⟦'x⟧", "never closed", "'"},
		{"†state.a == ⟦\"x⟧\n\"", "isn't closed on its line", "\\n"},
		{"†state.a + ⟦None⟧", "no value", "null"},
		{"†state.a == ⟦True⟧", "no value", "true"},
		{"†state.a + ⟦len⟧", "no value", "len(…)"},
		{"†state.items | ⟦fliter⟧(.x > 1)", "no function", "filter"},
		{"†(⟦lenght⟧(†state.items))", "no function", "len"},
		{"†(⟦fetchUser⟧(†state.id))", "no function", "can't call tools"},
		{"†(⟦now⟧())", "reads the clock", "input"},
		{"†(⟦timezone⟧(\"UTC\"))", "zone files", ""},
		{"†(⟦date(\"a\", \"b\", \"c\")⟧)", "takes 1 to 2 arguments, and has 3", "date(string)"},
		{"†(⟦len()⟧)", "takes 1 argument, and has 0", "len(list)"},
		{"†(1 + ⟦)⟧", "a value is missing", ""},
		{"†state.a ⟦+⟧", "ends too early", "value must follow"},
		{"†⟦(⟧1 + †state.a", "never closed", "\")\""},
		{"†(1⟦]⟧", "doesn't close", "\")\""},
		{"†state.a⟦)⟧", "closes nothing", ""},
		{"†state.a + ⟦9007199254740993⟧", "larger than a number", "9007199254740991"},
		{"†state.a + ⟦b⟧\"x\"", "bytes", ""},
		{"†state.a matches ⟦\"(\"⟧", "pattern", ""},
		{"†state.a matches ⟦3⟧", "pattern", ""},
		{"†state.a ⟦/*⟧ x", "no comments", ""},
		{"†(†state.a ⟦//⟧ 2)", "no comments", "int(a / b)"},
		{"†(⟦#⟧ + 1)", "only stands for an item", ""},
		{"†state.items | map(⟦#acc⟧)", "reduce", ""},
		{"†state.items | map(#⟦†⟧state.key)", "an operator is missing between # and the reference", "#.key"},
		{"†(⟦sqrt⟧(†state.a))", "no function", "** 0.5"},
		{"†(⟦substring⟧(†state.a, 1))", "no function", "slice"},
		{"†state.items | map(⟦#foo⟧)", "no \"#foo\"", ""},
		{"†state.items | map({\"k\"⟦:⟧ .n})", "isn't allowed here", "map(({"},
		{"†({⟦†state.k⟧: 1})", "in parentheses", "{(†state.k)"},
		{"†(let ⟦†state.k⟧ = 1; 2)", "names a variable", ""},
		{"†(let ⟦len⟧ = 1; 2)", "meaning already", ""},
		{"†(let x = 1; let ⟦x⟧ = 2; x)", "already named", ""},
		{"†(†state.a.b).⟦trim⟧()", "can't be called", "only functions"},
		{"†(⟦1⟧; 2)", "one value", "let"},
	} {
		text, _ := faulty(c.marked)
		_, err := Parse(text)
		checkFault(t, c.marked, err, c.message, c.help)
	}
}

// LANGUAGE.md#references-and-expressions: what goes wrong while evaluating is reported at its place too.
func TestFailures(t *testing.T) {
	for _, c := range []faultCase{
		{"†state.three + ⟦†state.name⟧", "wants a number here, and this is a string", "string(…)"},
		{"†state.name + ⟦†state.three⟧", "wants a string here, and this is a number", "string(…)"},
		{"⟦†state.null⟧ + 1", "wants a number or a string, and this is null", "||"},
		{"⟦†state.list⟧ + [1]", "this is a list", "concat"},
		{"†state.three / (⟦†state.three - 3⟧)", "division by zero", ""},
		{"†state.three % ⟦0⟧", "division by zero", ""},
		{"†state.three % ⟦†state.half⟧", "whole numbers, and got 0.5", ""},
		{"†(⟦†state.list[†state.three]⟧ + 1)", "3 items, and no index 3", "get("},
		{"†(⟦(†state.user).gone.x⟧)", "null has no key \"x\"", "?.x"},
		{"†(⟦(†state.list).x⟧)", "a list has no key", "map(.x)"},
		{"†state.items | filter(⟦.price⟧)", "wants a boolean of each item, and this is a number", ""},
		{"†state.items | filter(⟦.price && .nick⟧)", "wants a boolean of each item, and this is null", "write and"},
		{"†(⟦†state.name⟧ ? 1 : 2)", "a condition wants a boolean, and this is a string", ""},
		{"†(not (⟦(†state.zero || 1) + 1⟧))", "\"not\" wants a boolean", "compare"},
		{"†(†state.no or (⟦†state.gone || †state.name⟧))", "\"or\" wants a boolean, and this is a string", "write or"},
		{"⟦†state.name⟧ | map(#)", "wants a list, and this is a string", ""},
		{"⟦†state.user⟧ | map(#)", "wants a list, and this is an object", "values("},
		{"†(upper(⟦†state.three⟧))", "wants a string, and this is a number", "string(…)"},
		{"†(⟦2 ** 5000⟧)", "too large", ""},
		{"†(⟦(0 - 8) ** 0.5⟧)", "isn't a number", ""},
		{"†(int(⟦\"x\"⟧))", "isn't a whole number", ""},
		{"†(fromJSON(⟦\"{\"⟧))", "isn't JSON", ""},
		{"†state.three < ⟦†state.name⟧", "can't be compared", ""},
		{"⟦†state.null⟧ < 3", "null can't be compared", "||"},
		{"†state.three in ⟦†state.name⟧", "wants a list", "contains"},
		{"⟦†state.list⟧ contains 1", "wants a string, and this is a list", "in list"},
		{"†(⟦reduce([], #acc)⟧)", "empty list", "start"},
		{"†state.list | sortBy(#, ⟦\"up\"⟧)", "asc", ""},
		{"†(sort(⟦[1, \"a\"]⟧))", "can't be compared", ""},
		{"†state.name matches ⟦\"[\" + \"a\"⟧", "pattern", ""},
	} {
		text, _ := faulty(c.marked)
		e := parseOK(t, text)
		_, p, err := e.Eval(small.look(e), nil)
		if p == Pending {
			t.Errorf("%s is pending and failed", text)
		}
		failure, _ := err.(*Error)
		checkFault(t, c.marked, failure, c.message, c.help)
	}
}

// LANGUAGE.md#references-and-expressions: an error in an operand isn't a value that isn't there.
func TestErrorsDontFallThrough(t *testing.T) {
	e := parseOK(t, "†state.name + 1 || 5")
	if v, _, err := e.Eval(small.look(e), nil); err == nil {
		t.Errorf("= %v", v)
	}
	// but a branch that isn't taken has none
	evalCases(t, []evalCase{
		{"†state.three > 5 ? (†state.name + 1 || 2) : 7", 7.0},
		{"†state.no and (†state.name + 1 || true)", false},
	})
}

func manyItems(n int) any {
	items := make([]any, n)
	for i := range items {
		items[i] = float64(i)
	}
	return items
}

// LANGUAGE.md#references-and-expressions: nothing exceeds the limits, and the refusal is prompt.
func TestLimits(t *testing.T) {
	deep := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	for name, text := range map[string]string{
		"five million parentheses": "†" + strings.Repeat("(", 900_000),
		"parentheses":              "†" + deep("(", "1", ")", 60),
		"lists":                    "†(" + deep("[", "1", "]", 60) + ")",
		"conditions":               "†(" + deep("(†a ? 1 : (", "2", "))", 40) + ")",
		"nots":                     "†(" + strings.Repeat("not ", 500_000) + "†a)",
		"signs":                    "†(" + strings.Repeat("-", 500_000) + "1)",
		"few signs":                "†(" + strings.Repeat("- ", 60) + "†a)",
		"powers":                   "†(" + strings.Repeat("2 ** ", 60) + "2)",
		"a long sum":               "†(1" + strings.Repeat(" + 1", 1000) + ")",
		"a long list":              "†([1" + strings.Repeat(", 1", 1000) + "])",
		"a long chain":             "†a" + strings.Repeat(" || †a", 1000),
		"a long text":              "†(\"" + strings.Repeat("x", 2<<20) + "\")",
		"a long reference":         "†a" + strings.Repeat(".b", 1<<20),
		"a long pattern":           "†a matches \"" + strings.Repeat("a", 1001) + "\"",
		"a repeated pattern":       "†a matches \"((a{100}){100}){100}\"",
		"dots":                     "†(" + strings.Repeat(".", 100_000) + ")",
		"lets":                     "†(" + strings.Repeat("let x = 1; ", 100_000) + "1)",
		"operators":                "†(" + strings.Repeat("|", 100_000) + ")",
		"comments":                 "†(" + strings.Repeat("/*", 100_000) + ")",
	} {
		if e, err := Parse(text); err == nil && name != "a long reference" {
			t.Errorf("%s: accepted as %.60s", name, e)
		} else if err != nil && (err.Start < 0 || err.End < err.Start || err.End > len(text)) {
			t.Errorf("%s: the place %d-%d is outside", name, err.Start, err.End)
		}
		if took, ok := cputime.Within(time.Second, func() { Parse(text) }); !ok {
			t.Errorf("%s: refused after %v", name, took)
		}
	}
	parseOK(t, "†(1"+strings.Repeat(" + 1", 400)+")")
	parseOK(t, "†"+deep("(", "1", ")", 49))
	parseOK(t, "†state.items"+strings.Repeat(" | filter(.price > 10)", 100))
}

// LANGUAGE.md#references-and-expressions: likewise while evaluating, and it is the same on every machine.
func TestCost(t *testing.T) {
	w := world{"†big": manyItems(100_000), "†text": strings.Repeat("ab", 500_000), "†as": strings.Repeat("a", 500_000)}
	doubling := "let a0 = †text; "
	nesting := "let b0 = [1, 1]; "
	for i := range "0123456789012345678901234567890123456789" {
		doubling += strings.ReplaceAll("let aN = aM + aM; ", "M", itoa(i))
		doubling = strings.ReplaceAll(doubling, "N", itoa(i+1))
		nesting += strings.ReplaceAll("let bN = [bM, bM]; ", "M", itoa(i))
		nesting = strings.ReplaceAll(nesting, "N", itoa(i+1))
	}
	for name, text := range map[string]string{
		"nested loops":       "†(all(†big, all(†big, all(†big, true))))",
		"quadratic":          "†(†big | map(count(†big)))",
		"quadratic in":       "†(†big | filter(# in †big) | len())",
		"range":              "†(1..1e9)",
		"large range":        "†(-9e15..9e15)",
		"nested ranges":      "†(1..1000 | map(1..1000) | map(1..1000))",
		"repeat":             "†(repeat(†text, 1000))",
		"large repeat":       "†(repeat(†text, 9e15))",
		"doubling":           "†(" + doubling + "len(a40))",
		"nesting":            "†(" + nesting + "b40)",
		"equal trees":        "†(" + nesting + strings.ReplaceAll(nesting, "b", "c") + "b40 == c40)",
		"tree as text":       "†(" + nesting + "string(b40))",
		"tree as json":       "†(" + nesting + "toJSON(b40))",
		"flattened tree":     "†(" + nesting + "flatten(b40))",
		"sum of a tree":      "†(" + nesting + "mean(b40))",
		"maximum of a tree":  "†(" + nesting + "max(b40))",
		"deep":               "†(len(reduce(†big, [#acc], 1) | toJSON()))",
		"deep result":        "†(reduce(†big, [#acc], 1))",
		"deep equal":         "†(reduce(†big, [#acc], 1) == reduce(†big, [#acc], 1))",
		"deep flatten":       "†(flatten(reduce(†big, [#acc], 1)))",
		"growing text":       "†(reduce(†big, #acc + \"xxxxxxxxxx\", \"\") | len())",
		"growing list":       "†(reduce(†big, concat(#acc, [#]), []) | len())",
		"growing object":     "†(†big | map(toPairs({\"a\": †text})) | map(toJSON(#)) | len())",
		"replace":            "†(replace(†text, \"a\", †text))",
		"replace nothing":    "†(replace(†text, \"\", \"" + strings.Repeat("x", 100) + "\"))",
		"join":               "†(join(split(†text, \"b\"), †text))",
		"split":              "†(†big | map(split(†text, \"\")))",
		"upper":              "†(†big | map(upper(†text)))",
		"trim":               "†(†big | map(trim(†text, †text)))",
		"length":             "†(†big | map(len(†text)))",
		"search":             "†(†big | map(†text contains \"bb\"))",
		"slices":             "†(†big | map(†text[1:]))",
		"characters":         "†(†big | map((†text)[-1]))",
		"sort":               "†(†big | map(sort(†big)))",
		"uniq":               "†(†big | map([#]) | uniq())",
		"pattern":            "†(†as matches \"(a?){50}b(a?){50}c\")",
		"patterns":           "†(†big | map(\"x\" matches (\"a{1000}\" + string(#))))",
		"base64":             "†(†big | map(toBase64(†text)))",
		"json":               "†(†big | map(fromJSON(toJSON(†big))))",
		"keys":               "†(let o = fromPairs(†big | map([string(#), #])); †big | map(keys(o)))",
		"group":              "†(†big | map(†big | groupBy(#)))",
		"format":             "†(†big | map(date(\"2024-02-29\").Format(†text)))",
		"layout":             "†(†big | map(date(†text, †text)))",
		"median":             "†(†big | map(median(†big)))",
		"conversion":         "†(†big | map(string(†big)))",
		"many small objects": "†(†big | map(({\"a\": #, \"b\": #, \"c\": {\"d\": #}})) | map(({\"a\": #, \"b\": #})) | map(({\"a\": #, \"b\": #})))",
		"index of":           "†(†big | map(lastIndexOf(†text, \"c\")))",
	} {
		if len(name)%amount.Of(3, 1, 1) > 0 { // with -thorough all are evaluated
			continue
		}
		t.Run(name, func(t *testing.T) {
			e := parseOK(t, text)
			var v any
			var first error
			if took, ok := cputime.Within(time.Second, func() { v, _, first = e.Eval(w.look(e), nil) }); !ok {
				t.Errorf("refused after %v", took)
			}
			if first == nil {
				t.Fatalf("it has a value of %T", v)
			}
			for range amount.Of(0, 1, 1) {
				if _, _, again := e.Eval(w.look(e), nil); again == nil || first.Error() != again.Error() {
					t.Errorf("refused differently: %q, then %q", first, again)
				}
			}
		})
	}
	// and what is reasonable is done
	for _, text := range []string{
		"†big | filter(# > 50000) | map(# * 2) | sum()",
		"†(†big | map(string(#)) | join(\",\") | len())",
		"†(†big | sortBy(-#) | take(3))",
		"†(†big | uniq() | len())",
		"†text matches \"^(ab)+$\"",
		"†(†text | upper() | len())",
		"†(†big | groupBy(# % 100) | keys() | len())",
	} {
		e := parseOK(t, text)
		if _, p, err := e.Eval(w.look(e), nil); err != nil || p != There {
			t.Errorf("%s: %v (presence %d)", text, err, p)
		}
	}
}
