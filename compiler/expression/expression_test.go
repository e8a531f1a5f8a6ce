package expression

import (
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// world is what the references of a test's expression hold, by canonical form;
// a pending one has the value pending, and what isn't in it is absent.
type world map[string]any

type pendingValue struct{}

var pending = pendingValue{}

func (w world) look(e *Expr) Lookup {
	return func(i int) (any, Presence) { return w.read(e.References()[i]) }
}

// read finds the longest beginning of the reference that the world has, and
// follows the rest into its value.
func (w world) read(r Reference) (any, Presence) {
	for n := len(r.Path); n >= 0; n-- {
		v, there := w[Reference{Kind: r.Kind, Path: r.Path[:n]}.String()]
		if !there {
			continue
		}
		if v == pending {
			return nil, Pending
		}
		for _, s := range r.Path[n:] {
			switch base := v.(type) {
			case object:
				v, there = base[s.Key]
				there = there && !s.IsIndex
			case []any:
				if there = s.IsIndex && s.Index < len(base); there {
					v = base[s.Index]
				}
			default:
				there = false
			}
			if !there {
				return nil, Absent
			}
		}
		return v, There
	}
	return nil, Absent
}

func list(items ...any) []any { return append([]any{}, items...) }

type object = map[string]any

// parseString reads what a plan's string holds: one expression, or a text with such.
func parseString(text string) (*Expr, *Error) {
	if reference.IsText(text) {
		return ParseText(text, func(word string) bool { return slices.Contains(reference.Kinds, word) })
	}
	return Parse(text)
}

func parseOK(t testing.TB, text string) *Expr {
	t.Helper()
	e, err := parseString(text)
	if err != nil {
		t.Fatalf("%s: %s (at %q)", text, err.Message, text[err.Start:err.End])
	}
	return e
}

// LANGUAGE.md#references-and-expressions
func TestWhatIsAnExpression(t *testing.T) {
	for _, c := range []struct {
		text    string
		is      bool
		literal string
	}{
		{"†state.a", true, "†state.a"},
		{"†", true, "†"},
		{"††state.a", false, "†state.a"},
		{"††", false, "†"},
		{"†††x", false, "††x"},
		{" †state.a", false, " †state.a"},
		{"", false, ""},
		{"state.a", false, "state.a"},
		{"a † b", false, "a † b"},
	} {
		if got := reference.IsExpression(c.text); got != c.is {
			t.Errorf("reference.IsExpression(%q) = %v", c.text, got)
		}
		if got := reference.Literal(c.text); got != c.literal {
			t.Errorf("Literal(%q) = %q, want %q", c.text, got, c.literal)
		}
	}
}

func key(k string) Segment { return Segment{Key: k} }
func at(k string, i int) Segment {
	return Segment{Key: k, Index: i, IsIndex: true}
}

// LANGUAGE.md#references-and-expressions
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		text      string
		kind      string
		path      []Segment
		canonical string
	}{
		{"†input", "input", nil, "†input"},
		{"†state.a", "state", []Segment{key("a")}, "†state.a"},
		{"†state.a.b_1", "state", []Segment{key("a"), key("b_1")}, "†state.a.b_1"},
		{"†state.a[0]", "state", []Segment{key("a"), at("0", 0)}, "†state.a[0]"},
		{"†state.a.0.b", "state", []Segment{key("a"), at("0", 0), key("b")}, "†state.a[0].b"},
		{"†state.a[ 12 ]", "state", []Segment{key("a"), at("12", 12)}, "†state.a[12]"},
		{`†state["any key"]`, "state", []Segment{key("any key")}, `†state["any key"]`},
		{`†state['it"s']`, "state", []Segment{key(`it"s`)}, `†state["it\"s"]`},
		{`†state["0"]`, "state", []Segment{key("0")}, `†state["0"]`},
		{`†state["plain"]`, "state", []Segment{key("plain")}, `†state.plain`},
		{`†state["a\u00e9\n\U0001f600"]`, "state", []Segment{key("aé\n😀")}, `†state["aé\n😀"]`},
		{`†state["\ufffd\x61\/\U0001F600\\ud83d"]`, "state", []Segment{key(`�a/😀\ud83d`)}, `†state["�a/😀\\ud83d"]`},
		{"†state.user-name", "state", []Segment{key("user-name")}, "†state.user-name"},
		{"†state.größe.名前", "state", []Segment{key("größe"), key("名前")}, "†state.größe.名前"},
		{"†state.1a", "state", []Segment{key("1a")}, "†state.1a"},
		{"†my-kind._x", "my-kind", []Segment{key("_x")}, "†my-kind._x"},
		{"†state.a[1000000]", "state", []Segment{key("a"), at("1000000", 1_000_000)}, "†state.a[1000000]"},
	} {
		ref, err := reference.Parse(c.text)
		if err != nil {
			t.Errorf("ParsePath(%q): %s", c.text, err.Message)
			continue
		}
		if ref.Kind != c.kind || !reflect.DeepEqual(ref.Path, c.path) || ref.Start != 0 || ref.End != len(c.text) || !ref.Required {
			t.Errorf("ParsePath(%q) = %+v", c.text, ref)
		}
		if got := ref.String(); got != c.canonical {
			t.Errorf("%q is written %q, want %q", c.text, got, c.canonical)
		}
		e := parseOK(t, c.text+"\n")
		if !e.Plain() || len(e.References()) != 1 || !reflect.DeepEqual(e.References()[0], ref) {
			t.Errorf("Parse(%q) = %+v, plain %v", c.text, e.References(), e.Plain())
		}
	}
}

// evaluation cases: what comes out of an expression over a small world.
var small = world{
	"†state.three": 3.0, "†state.half": 0.5, "†state.zero": 0.0, "†state.no": false, "†state.empty": "", "†state.null": nil,
	"†state.name": "Jo", "†state.text": "größer", "†state.list": list(1.0, 2.0, 3.0), "†state.none": list(),
	"†state.items": list(object{"name": "a", "price": 5.0}, object{"name": "b", "price": 15.0, "nick": "B"}, object{"name": "c", "price": 25.0, "nick": nil}),
	"†state.user":  object{"name": "Jo", "tags": list("x", "y"), "odd key": 1.0}, "†input.dagger": "†state.three", "†state.later": pending,
}

type absent struct{}

// LANGUAGE.md#references-and-expressions
func TestExpressions(t *testing.T) {
	evalCases(t, []evalCase{
		{"†state.items | filter(.price > 10) | map(.name)", list("b", "c")},
		{`†("Hello " + †state.name)`, "Hello Jo"},
		{"†state.three >= 3 and not †state.no", true},
		{"†state.three > 3 or †state.name == \"Jo\"", true},
		{"†state.list[†state.three - 1]", 3.0},
		{"†state.list[-1]", 3.0},
		{"†state.list[1:]", list(2.0, 3.0)},
		{"†state.list[:-1]", list(1.0, 2.0)},
		{"†state.text[1:3]", "rö"},
		{"†state.three == 3", true},
		{"†state.three in [1, 2, 3]", true},
		{"†state.three in 1..3", true},
		{"†state.three not in [1, 2]", true},
		{"†state.three % 2", 1.0},
		{"†state.three ** 2", 9.0},
		{"†state.three ^ 2", 9.0},
		{"†state.three / 2", 1.5},
		{"†state.name in †state.user", false},
		{"†(\"name\" in †state.user)", true},
		{"†(1 < †state.three <= 3)", true},
		{"†(1 < †state.three < 3 == false)", true},
		{"†state.three > 2 ? \"many\" : \"few\"", "many"},
		{"†(if †state.three > 5 { \"many\" } else { \"few\" })", "few"},
		{"†(let x = †state.three; let y = x * 2; x + y)", 9.0},
		{"†({\"n\": †state.name, (†state.name): 1})", object{"n": "Jo", "Jo": 1.0}},
		{"†state.user?.name", "Jo"},
		{"†state.gone?.name", nil},
		{"†state.gone?.name.first[0].x", nil},
		{"†state.later?.name", pending},
		{"†state.gone?.[†state.three]", nil},
		{"†(†state.user).gone?.x.y", nil},
		{"†state.name matches \"^J\"", true},
		{"†state.name contains \"o\" and †state.name startsWith \"J\" and †state.name endsWith \"o\"", true},
		{"†state.null contains \"x\"", false},
		{"†state.null == null", true},
		{"†state.list == [1, 2, 3]", true},
		{"†state.user == {\"odd key\": 1, \"tags\": [\"x\", \"y\"], \"name\": \"Jo\"}", true},
		{"†(reduce(†state.list, #acc * 10 + #, 0))", 123.0},
		{"†(reduce(†state.list, #acc * 10 + #))", 123.0},
		{"†state.list | map(# * #index)", list(0.0, 2.0, 6.0)},
		{"†state.list | map(let x = #; †state.list | map(# + x) | sum())", list(9.0, 12.0, 15.0)},
		// fallback and gate keep their meaning inside
		{"†(†state.gone || †state.three) + 1", 4.0},
		{"†(†state.gone || †state.lost) + 1", absent{}},
		{"†(†state.gone || †state.later) + 1", pending},
		{"†(†state.later || 1) + (†state.gone || †state.lost)", absent{}},
		{"†state.items | map(.nick || .name)", list("a", "B", "c")},
		{"†state.items | map(.nick || .nickname)", list(nil, "B", nil)},
		{"†state.items | map(.nick && .price)", list(nil, 15.0, nil)},
		{"†state.items | map(.nick || †state.gone || †state.name)", list("Jo", "B", "Jo")},
		{"†state.items | map(.name || †state.later)", list("a", "b", "c")},
		{"†state.items | map(.nick || †state.later)", pending},
		{"†state.items | map(.nick || †state.gone + 1 || \"-\")", list("-", "B", "-")},
		{"†state.items | filter(.price > (†state.gone || 10)) | len()", 2.0},
		{"†state.items | filter(.price > (†state.gone || †state.lost)) | len()", absent{}},
		// required references
		{"†state.three + †state.gone", absent{}},
		{"†state.later + †state.gone", absent{}},
		{"†state.later + †state.three", pending},
		{"†state.no ? †state.gone : 1", absent{}},
	})
}

// LANGUAGE.md#references-and-expressions: nothing that isn't a function of the references exists.
func TestNoClockNoFilesNoEnvironment(t *testing.T) {
	for _, text := range []string{
		"†(now())", "†(now)", "†(timezone(\"Europe/Berlin\"))", "†(date(\"2024-01-01\", \"2006-01-02\", \"Europe/Berlin\"))",
		"†(date(timezone(\"UTC\"), \"2024-01-01\"))", "†($env)", "†($env[\"x\"])", "†(env(\"HOME\"))", "†(random())",
	} {
		if e, err := Parse(text); err == nil {
			t.Errorf("%s is accepted as %s", text, e)
		}
	}
	t.Setenv("TZ", "America/New_York")
	evalCases(t, []evalCase{
		{"†(date(\"2024-02-29\"))", "2024-02-29T00:00:00Z"},
		{"†(date(\"02 Jan 06 15:04 EST\"))", "2006-01-02T15:04:00Z"},
		{"†(date(\"2024-03-01T00:00:00+01:00\"))", "2024-03-01T00:00:00+01:00"},
		{"†(date(\"2024-03-01\") - date(\"2024-02-28\"))", "48h0m0s"},
		{"†((date(\"2024-03-01\") - date(\"2024-02-28\")).Hours())", 48.0},
		{"†(date(\"2024-02-29\").Year() + date(\"2024-02-29\").Month())", 2026.0},
		{"†(date(\"2024-02-29\").Format(\"02.01.2006\"))", "29.02.2024"},
		{"†(date(\"2024-02-29\") < date(\"2024-03-01\"))", true},
		{"†(date(\"2024-02-29\") + duration(\"24h\") == date(\"2024-03-01\"))", true},
		{"†(duration(\"1h\") * 2)", "2h0m0s"},
		{"†(keys({\"b\": 1, \"a\": 2}) | join(\",\"))", "a,b"},
	})
}

// LANGUAGE.md#references-and-expressions
func TestValuesAreNeverEvaluated(t *testing.T) {
	evalCases(t, []evalCase{
		{"†input.dagger", "†state.three"},
		{"†input.dagger || 1", "†state.three"},
		{"†input.dagger + \"\"", "†state.three"},
		{"†(fromJSON(\"\\\"†state.three\\\"\"))", "†state.three"},
		{"†(\"†state.three\")", "†state.three"},
	})
}

type evalCase struct {
	text string
	want any // pending, absent{}, or the value
}

func evalCases(t *testing.T, cases []evalCase) {
	t.Helper()
	for _, c := range cases {
		e, err := parseString(c.text)
		if err != nil {
			t.Errorf("%s: %s (at %q)", c.text, err.Message, c.text[err.Start:err.End])
			continue
		}
		value, p, failure := e.Eval(small.look(e), nil)
		want, wantP := c.want, There
		if c.want == pending {
			want, wantP = nil, Pending
		} else if c.want == (any)(absent{}) {
			want, wantP = nil, Absent
		}
		if failure != nil || p != wantP || !reflect.DeepEqual(value, want) {
			t.Errorf("%s = %#v (presence %d, %v), want %#v", c.text, value, p, failure, c.want)
		}
	}
}

// LANGUAGE.md#activities: the code of an activity.
func TestCode(t *testing.T) {
	for _, c := range []struct {
		text      string
		params    map[string]any
		want      any
		variables []string
	}{
		{"price * count", object{"price": 2.5, "count": 4.0}, 10.0, []string{"count", "price"}},
		{"price * (count || 1)", object{"price": 2.5}, 2.5, []string{"count", "price"}},
		{"note", object{}, nil, []string{"note"}},
		{"note || other", object{}, nil, []string{"note", "other"}},
		{"note && other", object{"note": 1.0, "other": 2.0}, 2.0, []string{"note", "other"}},
		{"items | filter(.price > least) | map(.name)", object{"items": small["†state.items"], "least": 10.0}, list("b", "c"), []string{"items", "least"}},
		{"$env[\"user-id\"]", object{"user-id": "u"}, "u", []string{"user-id"}},
		{"{\"result\": arg_0 + arg_1}", object{"arg_0": 1.0, "arg_1": 2.0}, object{"result": 3.0}, []string{"arg_0", "arg_1"}},
		{"let x = a; x + x", object{"a": 1.0}, 2.0, []string{"a"}},
		{"null", nil, nil, nil},
		{"len(s) ?? 3", object{"s": "abc"}, 3.0, []string{"s"}},
	} {
		e, err := ParseCode(c.text)
		if err != nil {
			t.Errorf("%s: %s", c.text, err.Message)
			continue
		}
		got, failure := e.EvalCode(c.params, nil)
		if failure != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %#v (%v), want %#v", c.text, got, failure, c.want)
		}
		if !reflect.DeepEqual(e.Variables(), c.variables) {
			t.Errorf("%s uses %q, want %q", c.text, e.Variables(), c.variables)
		}
	}
	for _, text := range []string{"", "  ", "†state.a", "price *", "f(x)", "// nothing"} {
		if _, err := ParseCode(text); err == nil {
			t.Errorf("the code %q is accepted", text)
		}
	}
}

// EXECUTION.md#the-planning-loop and LANGUAGE.md#output-paths-and-state hand results on: none may share memory that changes with what it
// was computed from.
func TestResultsAreTheirOwn(t *testing.T) {
	items := list(object{"n": 1.0}, object{"n": 2.0})
	e := parseOK(t, "†state.items | filter(.n > 0)")
	value, _, err := e.Eval(func(int) (any, Presence) { return items, There }, nil)
	if err != nil {
		t.Fatal(err)
	}
	value.([]any)[0].(object)["n"] = 9.0
	if items[0].(object)["n"] != 1.0 {
		t.Error("changing the result changes the state")
	}
}
