package expression

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// parseTextAlways reads any string as a text with expressions in it.
func parseTextAlways(text string) (*Expr, *Error) {
	return ParseText(text, func(word string) bool { return slices.Contains(reference.Kinds, word) })
}

// LANGUAGE.md#text-with-expressions: the place of an error is in the string, and its help says what is meant.
func TestFaultsInTexts(t *testing.T) {
	for _, c := range []struct{ text, at, message, help string }{
		{"a †{state.name", "†{", "never closed", "††{"},
		{"a †{state.name \"}", "\"", "never closed", ""},
		{"a †{}", "", "missing", ""},
		{"①😀 †{state..a} b", ".", "no key follows", ""},
		{"①😀 †{state.a +} b", "+", "ends too early", ""},
		{"†{state.a} †{upper(input.b, 1)}", "upper(input.b, 1)", "1 argument", ""},
		{"†{stat.a}", "stat", "no value", "state"},
		{"†{†(state.a)}", "†", "no †", "leave out"},
		{"†{let state = 1; 2}", "state", "not a reference", ""},
		{"†{state(1)}", "state", "no function", ""},
		{"†{state.a b}", "b", "operator is missing", ""},
		{"†{state.a}†{\"abc\"state.b}", "state", "operator is missing", ""},
	} {
		e, err := parseString(c.text)
		if err == nil {
			t.Errorf("%s is read as %s", c.text, e)
			continue
		}
		placed(t, c.text, err)
		if at := c.text[err.Start:err.End]; !strings.HasPrefix(at, c.at) || !strings.Contains(err.Message, c.message) || !strings.Contains(err.Help, c.help) {
			t.Errorf("%s: %s (%s) at %q", c.text, err.Message, err.Help, at)
		}
	}
	for _, c := range []struct{ text, at string }{
		{"①😀 †{state.null} b", "state.null"},
		{"†{state.name}: †{ state.list }", "state.list"},
		{"†{state.user}", "state.user"},
		{"†{state.name} †{(state.gone || null)}", "state.gone || null"},
	} {
		e := parseOK(t, c.text)
		_, _, err := e.Eval(small.look(e), nil)
		if fault, ok := err.(*Error); !ok || c.text[fault.Start:fault.End] != c.at || !strings.Contains(fault.Help, "toJSON") && !strings.Contains(fault.Help, "||") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// LANGUAGE.md#text-with-expressions: null, a list or an object is an error where the types tell.
func TestTypesInTexts(t *testing.T) {
	types := map[string]*Type{"a": aString, "n": aNumber, "l": numbers, "o": anObject, "null": {Kinds: Null}, "maybe": {Kinds: Null | String}, "any": nil}
	for text, at := range map[string]string{
		"†{state.a} †{state.n} †{state.maybe} †{state.any}": "",
		"x †{state.l}":             "state.l",
		"x †{state.a}†{ state.o }": "state.o",
		"x †{state.null}":          "state.null",
		"x †{state.n + state.a}":   "state.a",
		"x †{string(state.l)}":     "",
	} {
		e := parseOK(t, text)
		of := e.Check(func(i int) *Type { return types[e.refs[i].Path[0].Key] })
		result, err := of.Type, of.Err
		switch {
		case err == nil && (at != "" || result.Kinds != String):
			t.Errorf("%s is %v", text, result)
		case err != nil && (at == "" || text[err.Start:err.End] != at):
			t.Errorf("%s: %s at %q", text, err.Message, text[err.Start:err.End])
		}
	}
}

// EXECUTION.md#limits: the limits are those of all expressions of a text together, and reading it
// ends soon, however many they are.
func TestTextsAreLimited(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{strings.Repeat("†{state.a} ", 900), true},
		{strings.Repeat("†{state.a} ", 1100), false},
		{strings.Repeat("†{1+1} ", 400), false},
		{"†{" + strings.Repeat("(", 60) + "1" + strings.Repeat(")", 60) + "}", false},
		{strings.Repeat("x", 2<<20) + "†{state.a}" + strings.Repeat("††{", 1<<18), true},
		{strings.Repeat("†{\"a\"}", 1<<18), false},
		{strings.Repeat("†{{", 1<<18), false},
	} {
		var err *Error
		if took, ok := cputime.Within(2*time.Second, func() { _, err = parseString(c.text) }); !ok {
			t.Errorf("%.40q takes %v", c.text, took)
		}
		if (err == nil) != c.ok {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
	e := parseOK(t, strings.Repeat("†{state.text}", 500))
	if _, _, err := e.Eval(func(int) (any, Presence) { return strings.Repeat("x", 1<<20), There }, nil); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("500 MiB of text: %v", err)
	}
}

// A pieceOf is a literal or an expression of a text, as a plain reading of LANGUAGE.md#text-with-expressions cuts
// it, character by character.
type pieceOf struct {
	text string
	code bool
}

func plainReading(s string) (pieces []pieceOf, ok bool) {
	in := []rune(s)
	has := func(i int, what string) bool { return strings.HasPrefix(string(in[min(i, len(in)):]), what) }
	var literal []rune
	i := 0
	if has(0, "††") {
		literal, i = []rune("†"), 2
	}
	for i < len(in) {
		switch {
		case has(i, "††{"):
			literal, i = append(literal, '†', '{'), i+3
		case has(i, "†{"):
			pieces = append(pieces, pieceOf{string(literal), false})
			literal = nil
			depth, quote, from := 0, rune(0), i+2
			for i = from; ; i++ {
				switch {
				case i >= len(in):
					return nil, false
				case quote != 0:
					if in[i] == '\\' && quote != '`' {
						i++
					} else if in[i] == quote {
						quote = 0
					}
					continue
				case in[i] == '"' || in[i] == '\'' || in[i] == '`':
					quote = in[i]
					continue
				case in[i] == '{':
					depth++
					continue
				case in[i] == '}' && depth > 0:
					depth--
					continue
				case in[i] != '}':
					continue
				}
				break
			}
			pieces = append(pieces, pieceOf{string(in[from:i]), true})
			i++
		default:
			literal, i = append(literal, in[i]), i+1
		}
	}
	return append(pieces, pieceOf{string(literal), false}), true
}

// LANGUAGE.md#text-with-expressions: what a text gives is what a plain reading of the contract gives, for texts of
// random marks, braces, quotes and expressions, over values that are there or not.
func TestTextsAgainstAPlainReading(t *testing.T) {
	r := rand.New(rand.NewSource(49))
	words := []string{"†", "†{", "††{", "{", "}", "}", "\"", "'", "`", "\\", " ", "a", "é😀", "†{†state.r0}", "†{ †state.r1 || †state.r2 }", "†{\"x\"}",
		"†{†state.r3}", "†state.r1", "†{†state.r1 + 1}", "†{'}'}", "†{({\"a\": †state.r4}).a}", "†{[†state.r2]}", "†{1}", "\n"}
	read, refused, values := 0, 0, 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.Intn(7) {
			b.WriteString(words[r.Intn(len(words))])
		}
		text := b.String()
		pieces, ok := plainReading(text)
		if reference.IsText(text) != (!reference.IsExpression(text) && strings.Contains(text, "†{") && (!ok || len(pieces) > 1)) {
			t.Fatalf("IsText(%q) = %v", text, reference.IsText(text))
		}
		if !reference.IsText(text) {
			continue
		}
		var parts []*Expr
		for _, piece := range pieces {
			if piece.code && ok {
				e, err := Parse(mark + "(" + piece.text + ")")
				ok = err == nil
				parts = append(parts, e)
			}
		}
		e, err := parseString(text)
		if (err == nil) != ok {
			t.Fatalf("%q: read %v (%v), and the plain reading says %v", text, err == nil, err, ok)
		}
		if !ok {
			refused++
			placed(t, text, err)
			continue
		}
		if slices.ContainsFunc(e.refs, func(r Reference) bool { return len(r.Path) != 1 || len(r.Path[0].Key) != 2 }) {
			continue // of no value that the world has
		}
		read++
		for range 3 {
			world := randomWorld(r)
			want, got := plainText(pieces, parts, world), e.in(world)
			if got != want && !(got.p == 99 && want.p == 99) {
				t.Fatalf("%q over %v = %v, want %v", text, world, got, want)
			}
			if got.p == There {
				values++
			}
		}
	}
	if read < 2000 || refused < 2000 || values < 2000 {
		t.Errorf("%d texts were read, %d refused, and %d had a value: too few to show anything", read, refused, values)
	}
}

// plainText is what a text gives: absent while one of its expressions is, else pending,
// else wrong, else all of it.
func plainText(pieces []pieceOf, parts []*Expr, world []outcome) outcome {
	var text string
	var pending, wrong bool
	next := 0
	for _, piece := range pieces {
		if !piece.code {
			text += piece.text
			continue
		}
		o := parts[next].in(world)
		next++
		switch v := o.value.(type) {
		case string:
			if o.p == 99 {
				wrong = true
			}
			text += v
		case bool:
			text += strconv.FormatBool(v)
		case float64:
			text += strconv.FormatFloat(v, 'f', -1, 64)
		default:
			wrong = wrong || o.p == There
		}
		if o.p == Absent {
			return outcome{nil, Absent}
		}
		pending = pending || o.p == Pending
	}
	switch {
	case pending:
		return outcome{nil, Pending}
	case wrong:
		return outcome{nil, 99}
	case !utf8.ValidString(text):
		return outcome{nil, 99}
	}
	return outcome{text, There}
}
