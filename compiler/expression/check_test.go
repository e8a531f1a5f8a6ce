package expression

import (
	"reflect"
	"testing"
)

func obj(open bool, fields ...any) *Type {
	t := &Type{Kinds: Object, Open: open, Fields: map[string]*Type{}}
	for i := 0; i < len(fields); i += 2 {
		t.Fields[fields[i].(string)] = fields[i+1].(*Type)
	}
	return t
}

func listOf(elem *Type) *Type { return &Type{Kinds: Array, Elem: elem} }

// known are the types of a test's references, by canonical form.
var known = map[string]*Type{
	"†state.n": aNumber, "†state.s": aString, "†state.b": aBool, "†state.maybe": {Kinds: Number | Null}, "†state.either": {Kinds: Number | String},
	"†state.null": {Kinds: Null}, "†state.names": listOf(aString), "†state.things": listOf(nil), "†state.numbers": listOf(aNumber),
	"†state.items": listOf(obj(false, "name", aString, "price", aNumber, "tags", listOf(aString))),
	"†state.user":  obj(false, "name", aString, "age", aNumber), "†state.open": obj(true, "name", aString), "†state.object": {Kinds: Object},
}

func (e *Expr) knownTypes() func(int) *Type {
	return func(i int) *Type { return known[e.References()[i].String()] }
}

// LANGUAGE.md#references-and-expressions: a mistake of types is found, at the operand.
func TestTypeFaults(t *testing.T) {
	for _, c := range []faultCase{
		{"†state.n + ⟦†state.s⟧", "wants a number here, and this is a string", "float("},
		{"†state.s + ⟦†state.n⟧", "wants a string here", "string("},
		{"†state.s + \"①😀\" + ⟦†state.n⟧", "wants a string here", ""},
		{"⟦†state.b⟧ * 2", "wants a number, and this is a boolean", ""},
		{"⟦†state.names⟧ + †state.names", "this is a list", "concat"},
		{"†state.n % ⟦\"2\"⟧", "wants a number here", ""},
		{"†state.n == ⟦\"18\"⟧", "never equals", "without quotes"},
		{"†state.n < ⟦\"18\"⟧", "can't be compared", ""},
		{"⟦†state.b⟧ < 3", "can't be compared by size", ""},
		{"†(1 < †state.n < ⟦†state.s⟧)", "can't be compared", ""},
		{"⟦†state.n⟧ in †state.names", "never in a list", ""},
		{"†state.s in ⟦†state.s⟧", "wants a list or an object", "contains"},
		{"⟦†state.names⟧ contains \"x\"", "wants a string", "in list"},
		{"⟦†state.n⟧ matches \"x\"", "wants", ""},
		{"†(not ⟦†state.n⟧)", "wants a boolean", "compare"},
		{"†state.b and ⟦†state.n⟧", "wants a boolean", ""},
		{"†(⟦†state.n⟧ ? 1 : 2)", "wants a boolean", ""},
		{"†state.b or (⟦†state.n || †state.maybe⟧)", "wants a boolean", "write or"},
		{"⟦†state.n⟧ | map(#)", "wants a list", ""},
		{"†state.items | filter(⟦.prise⟧ > 10)", "no field \"prise\"", "\"price\""},
		{"†state.items | filter(.price > ⟦\"10\"⟧)", "can't be compared", ""},
		{"†state.items | filter(⟦.price⟧)", "wants a boolean", ""},
		{"†state.items | map(⟦.tags.x⟧)", "a list has no key", "map(.x)"},
		{"†state.items | map(⟦.cost⟧)", "no field", "its fields are \"name\", \"price\", \"tags\""},
		{"†state.items | sum(⟦.name⟧)", "wants a number", ""},
		{"†state.items | map(.price) | join(⟦1⟧)", "wants a string", ""},
		{"†(upper(⟦†state.n⟧))", "wants a string, and this is a number", ""},
		{"†(len(⟦†state.n⟧))", "wants a string, a list or an object", ""},
		{"†(keys(⟦†state.names⟧))", "wants an object", ""},
		{"†(⟦(†state.user).nam⟧)", "no field \"nam\"", "\"name\""},
		{"†(⟦(†state.n).x⟧)", "a number has no key", ""},
		{"†state.names[⟦†state.s⟧]", "wants a number", ""},
		{"†state.user[⟦†state.n⟧]", "wants a string", ""},
		{"†(⟦†state.n⟧[†state.n])", "wants a string, a list or an object", ""},
		{"†state.names[⟦†state.b⟧:]", "wants a number", ""},
		{"⟦†state.null⟧ + 1", "this is null", ""},
		{"†(let x = †state.s; ⟦x⟧ * 2)", "this is a string", ""},
		{"†(-⟦†state.s⟧)", "wants a number", ""},
		{"†(date(\"2024-01-01\") + ⟦1⟧)", "wants a duration here", ""},
		{"†(⟦date(\"2024-01-01\")⟧.Hours())", "wants a duration", ""},
		{"†({(⟦†state.n⟧): 1})", "wants a string", ""},
		{"†(†state.gone || ⟦†state.s⟧ * 2)", "wants a number", ""},
	} {
		text, _ := faulty(c.marked)
		e, err := Parse(text)
		if err == nil {
			err = e.Check(e.knownTypes()).Err
		}
		checkFault(t, c.marked, err, c.message, c.help)
	}
}

// LANGUAGE.md#references-and-expressions: what may come out well isn't an error, and the type of the result is as
// narrow as what is known allows.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		text string
		want *Type
	}{
		{"†state.n", aNumber},
		{"†state.unknown", nil},
		{"†state.unknown + 1", aNumber},
		{"†state.unknown + \"x\"", aString},
		{"†state.unknown + †state.other", &Type{Kinds: Number | String}},
		{"†state.unknown * 2", aNumber},
		{"†state.maybe + 1", aNumber},
		{"†state.either + 1", aNumber},
		{"†state.either + \"x\"", aString},
		{"†state.maybe || \"x\"", &Type{Kinds: Number | String}},
		{"†state.maybe || null", &Type{Kinds: Number | Null}},
		{"†state.maybe || †state.n", aNumber},
		{"†state.unknown || 1", nil},
		{"†state.null || 1", aNumber},
		{"†state.n && †state.maybe", aNumber},
		{"†state.n && †state.s", aString},
		{"†state.user?.name", nil},
		{"†(†state.user).name", aString},
		{"†(†state.user)?.nickname", nil},
		{"†(†state.open).nickname", nil},
		{"†(†state.object).nickname", nil},
		{"†state.items | filter(.price > 10)", known["†state.items"]},
		{"†state.items | map(.price)", listOf(aNumber)},
		{"†state.items | map(.price) | sum()", aNumber},
		{"†state.items | find(.price > 1)", known["†state.items"].Elem.with(Null)},
		{"†(first(†state.items)?.name)", aString.with(Null)},
		{"†(last(†state.names) || \"none\")", aString},
		{"†state.things | filter(.x > 10) | map(.y + 1)", listOf(aNumber)},
		{"†state.things[†state.n]", nil},
		{"†state.names[†state.n]", aString},
		{"†state.names[-1] == \"x\"", aBool},
		{"†state.n == null", aBool},
		{"†state.n > 1 ? \"a\" : †state.n", &Type{Kinds: String | Number}},
		{"†({\"a\": †state.n, \"b\": [1, \"x\"]})", obj(false, "a", aNumber, "b", listOf(&Type{Kinds: Number | String}))},
		{"†(let x = †state.n; x + 1)", aNumber},
		{"†(date(\"2024-01-01\"))", aString},
		{"†([date(\"2024-01-01\") - date(\"2023-01-01\")])", listOf(aString)},
		{"†((date(\"2024-01-01\") - date(†state.s)).Hours())", aNumber},
		{"†(reduce([1, 2], #acc + duration(\"1h\"), date(\"2024-01-01\")))", nil},
		{"†(1..†state.n)", numbers},
		{"†state.names | groupBy(#)", &Type{Kinds: Object, Open: true, Rest: &Type{Kinds: Array, Elem: aString}}},
		{"†(split(†state.s, \",\") | map(int(#)))", listOf(aNumber)},
		{"†(fromJSON(†state.s).a.b)", nil},
		{"†state.items | map(.tags || [])", listOf(listOf(aString))},
	} {
		e := parseOK(t, c.text)
		of := e.Check(e.knownTypes())
		got, err := of.Type, of.Err
		if err != nil {
			t.Errorf("%s is said to be wrong: %s (at %q)", c.text, err.Message, c.text[err.Start:err.End])
			continue
		}
		if c.want != nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s has type %+v, want %+v", c.text, got, c.want)
		}
	}
}

// LANGUAGE.md#references-and-expressions: the code of an activity is checked over its parameters.
func TestCheckCode(t *testing.T) {
	e, err := ParseCode("price * count")
	if err != nil {
		t.Fatal(err.Message)
	}
	types := map[string]*Type{"price": aNumber}
	of := e.CheckCode(func(name string) *Type { return types[name] })
	got, err := of.Type, of.Err
	if err != nil || !reflect.DeepEqual(got, aNumber) {
		t.Errorf("type %+v, %v", got, err)
	}
	types["count"] = aString
	if err = e.CheckCode(func(name string) *Type { return types[name] }).Err; err == nil || e.Text[err.Start:err.End] != "count" {
		t.Errorf("got %+v", err)
	}
}
