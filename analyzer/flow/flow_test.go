package flow_test

import (
	"testing"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

const shop = `
inputSchema: {type: object, required: [id], properties: {id: {type: integer}, note: {type: string}}}
state: {label: null}
tools:
  find: {properties: {id: {type: integer}}, _output: {type: object, properties: {name: {type: string}, price: {type: number}}}}
  list: {_output: {type: array, maxItems: 3, items: {type: string}}}
  size: {properties: {of: {type: string}}, _output: {type: integer}}
  show: {properties: {x: {type: string, maxLength: 5}}}
calls:
- {_tool: find, id: †input.id, _outputPath: †state.item}
- {_tool: list, _outputPath: †state.names}
- {_tool: size, _each: †state.names, of: †item, _outputPath: †state.sizes}
- {_tool: show, x: †state.item.name}
- {_tool: show, x: †(†state.label || "none")}
- {_tool: show, x: †state.item.price}
- {_tool: show, x: "†(\"no. \" + string(†input.id > 1))"}
- {_tool: show, x: †state.sizes}
- {_tool: show, x: †input.note}
output: {all: †state.sizes, gone: †input.other}
`

func factsOf(t *testing.T, text string) *flow.Facts {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("shop.yaml", []byte(text)), compiler.Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return flow.New(p, 0, flow.NewSchemas())
}

// passed is what a call is passed as its only parameter.
func passed(f *flow.Facts, call int) (*plan.Call, []flow.Variant) {
	c := f.Plan.Calls[call]
	return c, f.Eval(c, c.Params.Fields[0].Value)
}

func TestAReadGivesWhatItsWriterGives(t *testing.T) {
	f := factsOf(t, shop)
	for call, want := range map[int]schema.Kinds{0: schema.Integer, 3: schema.String, 5: schema.Number, 7: schema.Array, 8: schema.String} {
		if _, all := passed(f, call); len(all) != 1 || all[0].Schema.Kinds() != want {
			t.Errorf("%q is passed %v, want %v", f.Plan.Calls[call].Name, all, want)
		}
	}
	if _, all := passed(f, 3); all[0].From.Call != f.Plan.Calls[0] || all[0].External {
		t.Errorf("the name comes from %v", all[0].From.Call)
	}
	if _, all := passed(f, 8); all[0].From.Call != nil || !all[0].External {
		t.Error("the note comes with a run")
	}
}

func TestWhatFitsAParameter(t *testing.T) {
	f := factsOf(t, shop)
	for call, want := range map[int]schema.Relation{
		3: schema.MayNotFit, // a long name
		4: schema.Fits,      // the null of the state gives way
		5: schema.Never,     // a number
		7: schema.Never,     // a list
	} {
		c, all := passed(f, call)
		if fit := f.Accepts(c, all, c.Tool.Parameters.At([]schema.Step{schema.Key("x")}).Schema); fit.Relation != want {
			t.Errorf("%q: %v, want %v", c.Name, fit.Relation, want)
		}
	}
}

func TestAListHasAsManyResultsAsItems(t *testing.T) {
	f := factsOf(t, shop)
	sizes := f.Plan.Calls[2]
	if least, most := f.Lengths(sizes); least != 0 || most != 3 {
		t.Errorf("%d to %d items", least, most)
	}
	if gives := f.Gives(sizes); gives.Accepts([]any{1.0, 2.0, 3.0, 4.0}) || !gives.Accepts([]any{1.0}) || gives.Accepts([]any{nil}) {
		t.Errorf("it gives %v", gives.Raw())
	}
	if items := f.Elements(sizes.Each.List); len(items) != 1 || items[0].Schema.Kinds() != schema.String {
		t.Errorf("its items are %v", items)
	}
}

func TestATextHasItsLiteralParts(t *testing.T) {
	f := factsOf(t, shop)
	_, all := passed(f, 6)
	if s := all[0].Schema; !s.Accepts("no. true") || s.Accepts(1.0) {
		t.Errorf("the text is %v", s.Raw())
	}
}

func TestWhatMayBeThere(t *testing.T) {
	f := factsOf(t, shop)
	for i := range f.Plan.Reads {
		r := &f.Plan.Reads[i]
		if may := f.MayBeThere(r); may == (r.Ref.String() == "†input.other") {
			t.Errorf("%s may be there: %v", r.Ref, may)
		}
	}
	if f.HasBranches() {
		t.Error("nothing decides what runs")
	}
}

// What is asked twice gives the very same schema, so that what is known of it is worked out once.
func TestSchemasAreWorkedOutOnce(t *testing.T) {
	s := flow.NewSchemas()
	a, b := schema.OfKinds(schema.String|schema.Null), schema.OfKinds(schema.String|schema.Number)
	met, full := s.Meet(a, b), s.NotNull(a)
	if s.Meet(a, b) != met || s.NotNull(a) != full || s.NotNull(b) != b || s.Meet(nil, b) != b {
		t.Error("a schema is made again")
	}
	before := s.Steps
	if v := s.Contains(b, a); v.Relation != schema.MayNotFit || s.Steps == before {
		t.Errorf("%v at %d steps", v, before-s.Steps)
	}
	after := s.Steps
	if s.Contains(b, a); s.Steps != after {
		t.Error("an answer is worked out again")
	}
}
