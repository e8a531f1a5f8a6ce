package source

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// faults are texts with what is wrong with them: code, line:column of start and
// end, and words of the message.
var faults = []struct {
	name   string
	format Format
	text   string
	code   string
	at     string
	says   string
}{
	// LANGUAGE.md#yaml-and-json: duplicate keys.
	{"duplicate", YAML, "a: 1\n†: 2\na: 3\n", "OB103", "3:1-3:2", `the key "a" is given twice`},
	{"duplicate by escape", YAML, "calls: []\n\"\\x63alls\": []\n", "OB103", "2:1-2:11", `"calls"`},
	{"duplicate in flow", YAML, "x: {†a: 1, b: 2, †a: 3}\n", "OB103", "1:18-1:20", `"†a"`},
	{"duplicate of many", YAML, "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, c: 2}", "OB103", "1:80-1:81", `"c"`},
	{"duplicate in JSON", JSON, `{"①": 1, "b": {"x": 1, "\u0078": 2}}`, "OB103", "1:24-1:32", `"x"`},
	// LANGUAGE.md#yaml-and-json: tabs.
	{"tab indents", YAML, "a:\n\tb: 1\n", "OB101", "2:1-2:2", "a tab in the indentation"},
	{"tab behind spaces", YAML, "a:\n  b: 1\n  \tc: 2\n", "OB101", "3:3-3:4", "a tab in the indentation"},
	{"tab after a dash", YAML, "-\t- x\n", "OB101", "1:2-1:3", "a tab in the indentation"},
	{"tab before a compact key", YAML, "- \ta: x\n", "OB101", "1:3-1:4", "a tab in the indentation"},
	{"tab in a bracket", YAML, "a: [\n\tb]\n", "OB101", "2:1-2:2", "a tab in the indentation"},
	{"tab in quotes", YAML, "a: \"b\n\tc\"\n", "OB101", "2:1-2:2", "a tab in the indentation"},
	// LANGUAGE.md#yaml-and-json: aliases.
	{"undefined alias", YAML, "a: [†, *none]\n", "OB101", "1:8-1:13", `the alias "none" has no anchor`},
	{"alias before its anchor", YAML, "a: *x\nb: &x 1\n", "OB101", "1:4-1:6", `"x"`},
	{"alias of itself", YAML, "a: &x\n  - b\n  - *x\n", "OB101", "3:5-3:7", "inside of what it stands for"},
	{"alias of its flow", YAML, "&x [*x]", "OB101", "1:5-1:7", "inside of what it stands for"},
	{"alias as a key without space", YAML, "a: &x k\n*x: 1\n", "OB101", "2:1-2:4", `the alias "x:"`},
	{"anchored alias", YAML, "a: &x k\nb: &y *x\n", "OB101", "2:4-2:6", `can't have an anchor`},
	{"nameless anchor", YAML, "a: & b\n", "OB101", "1:4-1:5", "without a name"},
	// LANGUAGE.md#yaml-and-json: merge keys, tags, directives.
	{"merge key", YAML, "a: &x {b: 1}\nc:\n  <<: *x\n", "OB101", "3:3-3:5", "a merge key"},
	{"merge key in flow", YAML, "[&x {b: 1}, {† : 1, <<: *x}]", "OB101", "1:21-1:23", "a merge key"},
	{"tag", YAML, "a: !secret x\n", "OB101", "1:4-1:11", "a tag"},
	{"tag of the core schema", YAML, "- {a: !!str 1}\n", "OB101", "1:7-1:12", "a tag"},
	{"tag of a key", YAML, "a: 1\n! b: 2\n", "OB101", "2:1-2:2", "a tag"},
	{"question mark", YAML, "a: 1\n? b\n: 2\n", "OB101", "2:1-2:2", "question mark"},
	{"question mark in braces", YAML, "{? a: 1}", "OB101", "1:2-1:3", "question mark"},
	{"pair in a list", YAML, "[a: 1]", "OB101", "1:3-1:4", "behind an item"},
	{"anchor of a key", YAML, "a: 1\n&b b: 2\n", "OB101", "2:1-2:3", "an anchor in the place"},
	{"anchor of a key in braces", YAML, "{&b b: 2}", "OB101", "1:2-1:4", "an anchor in the place"},
	{"tag of another schema", YAML, "a: !!binary aGk=\n", "OB101", "1:4-1:12", "a tag"},
	{"directive", YAML, "%YAML 1.2\n---\na: 1\n", "OB101", "1:1-1:10", "a directive"},
	// LANGUAGE.md#yaml-and-json: keys that are no strings.
	{"number as key", YAML, "†: 1\n12: 2\n", "OB101", "2:1-2:3", "the key 12 is a number"},
	{"boolean as key", YAML, "{true: 1}", "OB101", "1:2-1:6", "the key true is a boolean"},
	{"null as key", YAML, "~: 1\n", "OB101", "1:1-1:2", "the key ~ is null"},
	{"list as key", YAML, "[a]: 1\n", "OB101", "1:1-1:4", "a key that is a list"},
	{"mapping as key", YAML, "{a: 1}: 2\n", "OB101", "1:1-1:7", "a key that is a mapping"},
	{"alias as a key", YAML, "a: &n b\n*n : 2\n", "OB101", "2:1-2:3", "a key that is an alias"},
	{"no key", YAML, "a: 1\n: 2\n", "OB101", "2:1-2:2", "expected a key"},
	// LANGUAGE.md#yaml-and-json: more than one document.
	{"second document", YAML, "a: 1\n---\nb: 2\n", "OB101", "2:1-2:4", "a second document"},
	{"text after the end", YAML, "a: 1\n...\nb: 2\n", "OB101", "3:1-3:5", "a second document"},
	{"after a value", JSON, "{}\n {}", "OB101", "2:2-2:3", "after the JSON value"},
	// LANGUAGE.md#yaml-and-json: laxness in JSON.
	{"comment", JSON, "{\n  // †\n  \"a\": 1}", "OB101", "2:3-2:7", "comments"},
	{"comment after a value", JSON, "[1 /* x */]", "OB101", "1:4-1:12", "comments"},
	{"hash", JSON, "# x\n[]", "OB101", "1:1-1:4", "comments"},
	{"trailing comma", JSON, "{\"†\": [1, 2,]}", "OB101", "1:12-1:13", "comma"},
	{"trailing comma in a mapping", JSON, "{\"a\": 1, }", "OB101", "1:8-1:9", "comma"},
	{"bare key", JSON, "{†a: 1}", "OB101", "1:2-1:4", `found "†a"`},
	{"single quotes", JSON, "['a']", "OB101", "1:2-1:3", "single quotes"},
	{"Python", JSON, "[True]", "OB101", "1:2-1:6", `"True"`},
	{"leading zero", JSON, "[012]", "OB101", "1:2-1:5", "begin with 0"},
	{"plus", JSON, "[+1]", "OB101", "1:2-1:4", `"+1"`},
	{"bare point", JSON, "[1.]", "OB101", "1:2-1:4", "digits"},
	{"hexadecimal", JSON, "[0x1F]", "OB101", "1:2-1:6", `"0x1F"`},
	{"missing comma", JSON, "[1 2]", "OB101", "1:4-1:5", "expected a comma"},
	{"missing colon", JSON, "{\"a\" 1}", "OB101", "1:6-1:7", `after the key "a"`},
	{"unclosed", JSON, "{\"a\": [1", "OB101", "1:7-1:8", "never closed"},
	{"unclosed string", JSON, "[\"a\n\"]", "OB101", "1:2-1:4", "closed on its line"},
	{"control character", JSON, "[\"†\x01\"]", "OB101", "1:4-1:5", "U+0001"},
	{"bad escape", JSON, `["†\x41"]`, "OB101", "1:4-1:6", `"\\x"`},
	{"byte order mark", JSON, "\uFEFF{}", "OB101", "1:1-1:1", "byte order mark"},
	{"empty", JSON, " \n", "OB101", "2:1-2:1", "empty"},
	{"cut off", JSON, "[tru", "OB101", "1:2-1:5", `"tru"`},
	// LANGUAGE.md#yaml-and-json: what no text may hold.
	{"UTF-8", YAML, "a: †\xff\n", "OB101", "1:5-1:6", "0xFF"},
	{"UTF-8 in JSON", JSON, "\"a\xc3\"", "OB101", "1:3-1:4", "0xC3"},
	{"UTF-16", YAML, "\xff\xfea\x00", "OB101", "1:1-1:3", "UTF-16"},
	{"NUL", YAML, "a: b\x00\n", "OB101", "1:5-1:6", "NUL"},
	{"escaped NUL", YAML, `a: "b\0"`, "OB101", "1:6-1:8", "NUL"},
	{"NUL in JSON", JSON, `["†\u0000"]`, "OB101", "1:4-1:10", "NUL"},
	{"escape character", YAML, "a: \x1b[31m\n", "OB101", "1:4-1:5", "U+001B"},
	{"C1 control", YAML, "a: \u0090\n", "OB101", "1:4-1:5", "U+0090"},
	{"lone surrogate", YAML, `a: "†\ud800"`, "OB101", "1:6-1:12", "surrogate"},
	{"low surrogate first", JSON, `["\udc00\ud800"]`, "OB101", "1:3-1:9", "surrogate"},
	{"surrogate without its second", JSON, `["\ud83dx"]`, "OB101", "1:3-1:9", "surrogate"},
	{"wide surrogate", YAML, `a: "\U0000D800"`, "OB101", "1:5-1:15", "surrogate"},
	{"beyond Unicode", YAML, `a: "\U00110000"`, "OB101", "1:5-1:15", "beyond Unicode"},
	{"NaN", YAML, "a: .nan\n", "OB101", "1:4-1:8", ".nan"},
	{"infinity", YAML, "a: [-.INF]\n", "OB101", "1:5-1:10", "-.INF"},
	{"NaN in JSON", JSON, "[NaN]", "OB101", "1:2-1:5", "NaN"},
	{"integer", YAML, "†: 9007199254740993\n", "OB101", "1:4-1:20", "2^53"},
	{"negative integer", JSON, "[-9007199254740993]", "OB101", "1:2-1:19", "2^53"},
	{"integer of whose digits 17 count", JSON, "[1152921504606846976]", "OB101", "1:2-1:21", "2^53"},
	{"integer beyond canonical form", JSON, "[1000000000000000000000]", "OB101", "1:2-1:24", "2^53"},
	{"hexadecimal integer", YAML, "a: 0x20000000000000\n", "OB101", "1:4-1:20", "2^53"},
	{"octal integer", YAML, "a: 0o1000000000000000000\n", "OB101", "1:4-1:25", "2^53"},
	{"float", YAML, "a: 1e400\n", "OB101", "1:4-1:9", "64-bit float"},
	{"float in JSON", JSON, "[1, -1e400]", "OB101", "1:5-1:11", "64-bit float"},
	{"tiny float", JSON, "[1e-400]", "OB101", "1:2-1:8", "64-bit float"},
	// Other syntax.
	{"second colon", YAML, "a: b: c\n", "OB101", "1:5-1:6", "a second colon"},
	{"list behind a key", YAML, "a: - b\n", "OB101", "1:4-1:5", "can't begin on this line"},
	{"bad indentation", YAML, "calls:\n    - a\n  - b\n", "OB101", "3:3-3:6", "indented by 2"},
	{"deeper key", YAML, "a: \"x\"\n  b: 1\n", "OB101", "2:3-2:7", "indented by 2"},
	{"colon behind lines", YAML, "a: x\n  b: 1\n", "OB101", "2:4-2:5", "several lines"},
	{"outdented", YAML, "  a: 1\n b: 2\n", "OB101", "2:2-2:6", "fits no list or mapping"},
	{"text among keys", YAML, "a: 1\n†b\nc: 2\n", "OB101", "2:1-2:3", `found "†b"`},
	{"key without space", YAML, "a: 1\nb:2\n", "OB101", "2:1-2:4", `found "b:2"`},
	{"text behind quotes in brackets", YAML, `["a" †]`, "OB101", "1:6-1:7", "expected a comma"},
	{"text behind a block indicator", YAML, "a: | †\n", "OB101", "1:6-1:7", "end of the line"},
	{"key among items", YAML, "- a\nb: 1\n", "OB101", "2:1-2:5", "expected an item"},
	{"key at the column of the dash", YAML, "calls:\n  - _tool: †\n  x: 1\n", "OB101", "3:3-3:7", "expected an item"},
	{"brace not closed before the next key", YAML, "a: {b: '1'\nc: 2\n", "OB101", "1:4-1:5", "\"{\" is never closed; expected \"}\""},
	{"brace not closed before the next item", YAML, "- {a: 1\n- {b: 2}\n", "OB101", "1:3-1:4", "\"{\" is never closed; expected \"}\""},
	{"comma left out between lines", YAML, "{\n'a': 1,\n'b': '2'\n'c': 3}\n", "OB101", "4:1-4:2", "expected a comma"},
	{"text behind the mark of the end", YAML, "a: 1\n... b\n", "OB101", "2:5-2:6", "behind the end"},
	{"comment without space", YAML, "a: 'b'#c\n", "OB101", "1:7-1:9", "behind the end"},
	{"dash in brackets", YAML, "[- a]", "OB101", "1:2-1:3", "dashes"},
	{"block text in brackets", YAML, "[a, | b]", "OB101", "1:5-1:6", "inside brackets"},
	{"bracket as text", YAML, "a: ]b\n", "OB101", "1:4-1:5", `"]"`},
	{"nameless alias", YAML, "a: * b\n", "OB101", "1:4-1:5", "without a name"},
	{"anchor beside a dash", YAML, "&a - b\n", "OB101", "1:1-1:3", "first line of a list"},
	{"key of several lines", YAML, "a: 1\n\"b\n  c\": 2\n", "OB101", "2:1-3:5", "several lines"},
	{"short escape", YAML, `a: "\u12"`, "OB101", "1:5-1:9", "hexadecimal"},
	{"wrong escape", YAML, `a: "\u12G4"`, "OB101", "1:5-1:11", "hexadecimal"},
	{"comma instead of a key", JSON, `{,}`, "OB101", "1:2-1:3", "expected a key"},
	{"comma instead of a value", JSON, `[,]`, "OB101", "1:2-1:3", "before the comma"},
	{"quotes of another kind as key", JSON, `{'a': 1}`, "OB101", "1:2-1:3", "single quotes"},
	{"nothing behind a colon", JSON, `{"a":`, "OB101", "1:6-1:6", "the text ends"},
	{"brace instead of a value", JSON, `{"a":}`, "OB101", "1:6-1:7", `"}"`},
	{"item among keys", YAML, "a: 1\n- b\n", "OB101", "2:1-2:4", "an item of a list"},
	{"open bracket", YAML, "a: [1, 2\nb: 3\n", "OB101", "2:2-2:3", "behind an item"},
	{"open brace", YAML, "a:\n  - {_tool: x, b: {c: 1}\n", "OB101", "2:5-2:6", "never closed"},
	{"empty item", YAML, "[a,,b]", "OB101", "1:4-1:5", `found ","`},
	{"wrong bracket", YAML, "[a}", "OB101", "1:3-1:4", "expected a comma"},
	{"open quote", YAML, "a: \"†\nb: 2\n", "OB101", "1:4-1:5", "quote"},
	{"open quote at the end", YAML, "a: '†", "OB101", "1:4-1:5", "never closed"},
	{"text behind quotes", YAML, "a: \"b\" c\n", "OB101", "1:8-1:9", "behind the end"},
	{"bad escape in YAML", YAML, `a: "C:\dir"`, "OB101", "1:7-1:9", `"\\d"`},
	{"reserved", YAML, "a: @b\n", "OB101", "1:4-1:5", `"@"`},
	{"template", YAML, "a: {{state.x}}\n", "OB101", "1:5-1:14", "a key that is a mapping"},
	{"block header", YAML, "a: | text\n", "OB101", "1:6-1:7", "end of the line"},
	{"spaces before a block", YAML, "a: |\n     \n  x\n", "OB101", "2:1-2:6", "more spaces"},
	{"two anchors", YAML, "a: &x &y 1\n", "OB101", "1:7-1:9", "second anchor"},
	// Limits.
	{"deep", YAML, strings.Repeat("[", 101), "OB105", "1:101-1:102", "100 deep"},
	{"deep in JSON", JSON, strings.Repeat("[", 101), "OB105", "1:101-1:102", "100 deep"},
	{"deep dashes", YAML, strings.Repeat("- ", 101), "OB105", "1:201-1:202", "100 deep"},
	{"long number", JSON, "[" + strings.Repeat("1", 41) + "]", "OB105", "1:2-1:43", "41 characters"},
	{"long number in YAML", YAML, "a: 0." + strings.Repeat("1", 39), "OB105", "1:4-1:45", "41 characters"},
}

// TestFaults shows that each of LANGUAGE.md#yaml-and-json's errors, and other broken text, is found at
// its place, by itself, in words that say what to do.
func TestFaults(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			_, problems := parse(c.format, c.text)
			if len(problems) != 1 {
				t.Fatalf("%d problems, expected one: %v", len(problems), problems)
			}
			p := problems[0]
			at := fmt.Sprintf("%d:%d-%d:%d", p.Span.From().Line, p.Span.From().Column, p.Span.To().Line, p.Span.To().Column)
			if p.Code != c.code || p.Warning || at != c.at || !strings.Contains(p.Message, c.says) {
				t.Errorf("%s %s %q (%s), expected %s %s %q", p.Code, at, p.Message, p.Help, c.code, c.at, c.says)
			}
			if utf8.ValidString(c.text) && !utf8.ValidString(p.Span.Text()) {
				t.Errorf("the place cuts a character in two: %q", p.Span.Text())
			}
			if strings.HasSuffix(p.Message, ".") || strings.HasSuffix(p.Help, ".") {
				t.Errorf("a full stop in %q or %q", p.Message, p.Help)
			}
		})
	}
}
