package analyzer

import (
	"math"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A flowTable keeps what was worked out of the flows of one plan.
type flowTable struct {
	*schemaTable
	reads [][]flow           // by read; nil where it wasn't asked
	types []*expression.Type // by read, where typed
	typed []bool

	guarding   []*plan.Call // the calls with a condition of their own
	guardsUpTo int          // of how many calls

	given map[pathtree.ID]flow
	state map[pathtree.ID]schema.Place

	implied map[implication]*schema.Schema

	listings map[*plan.Call]listing
	listing  int // how many are being worked out

	judgements []judgement
	judged     bool
	fitting    []bool // by the first read of an expression: all that comes surely fits what it is for
	certain    map[*plan.Call]bool
	cutShort   string // why the question at hand isn't fully analysed
	sure       bool   // all flows of the question at hand fit whatever comes

	into    []flow   // those into the read at hand
	outOf   []flow   // those out of the expression at hand
	writers []origin // of the read at hand
}

// A schemaTable keeps what was worked out of schemas. What is asked again gets the
// very same schema, so that what is known of one is worked out once, too, however
// many calls, in however many views of a plan, pass values of it.
type schemaTable struct {
	literals   map[any]*schema.Schema // by value, floats by their bits
	meets      map[[2]*schema.Schema]*schema.Schema
	bare       map[*schema.Schema]*schema.Schema // less null
	declared   map[description]*schema.Schema
	verdicts   map[[2]*schema.Schema]schema.Verdict
	ofSchemas  map[description]*expression.Type
	likes      map[*expression.Type]*schema.Schema
	sendable   map[sending]*schema.Schema
	lists      map[listed]*plan.Tool
	counts     map[[2]int]*schema.Schema // of so many items
	places     map[int]*schema.Schema    // of an item among so many
	containing map[string]*schema.Schema // something at a path
	openCode   map[*plan.Tool]bool       // tools that don't say what they take, so that nothing is known of what their code does
	steps      int                       // of reasoning that may still be done
	making     int                       // of making values up as evidence
	trying     int                       // of trials
	worked     expression.Meter          // remaining cost of expressions
}

func newSchemaTable() *schemaTable {
	return &schemaTable{
		literals: map[any]*schema.Schema{},
		meets:    map[[2]*schema.Schema]*schema.Schema{}, bare: map[*schema.Schema]*schema.Schema{},
		declared: map[description]*schema.Schema{}, verdicts: map[[2]*schema.Schema]schema.Verdict{},
		ofSchemas: map[description]*expression.Type{}, likes: map[*expression.Type]*schema.Schema{}, sendable: map[sending]*schema.Schema{},
		lists: map[listed]*plan.Tool{}, counts: map[[2]int]*schema.Schema{}, places: map[int]*schema.Schema{}, containing: map[string]*schema.Schema{},
		openCode: map[*plan.Tool]bool{},
		steps:    maxReasoning, making: maxReasoning / 4, trying: trialWork, worked: expression.Meter{Steps: 4_000_000, Memory: 256_000_000},
	}
}

// maxReasoning bounds the reasoning about all flows of a plan, in steps of
// containment: about a second's worth.
const maxReasoning = 400_000

func (p *Pass) flowing() *flowTable {
	if p.flows == nil {
		p.flows = &flowTable{
			given: map[pathtree.ID]flow{}, state: map[pathtree.ID]schema.Place{}, certain: map[*plan.Call]bool{}, implied: map[implication]*schema.Schema{},
			listings: map[*plan.Call]listing{},
		}
		if p.view != nil {
			p.flows.schemaTable = p.view.shared.schemas
		} else {
			p.flows.schemaTable = newSchemaTable()
		}
	}
	if t, n := p.flows, len(p.Plan.Reads); len(t.reads) < n {
		t.reads, t.types, t.typed, t.fitting = reaches(t.reads, n), reaches(t.types, n), reaches(t.typed, n), reaches(t.fitting, n)
	}
	return p.flows
}

// A description is a schema, and whether what it describes is brought to the plan: then of
// the properties that it names only those are there for sure which it requires.
type description struct {
	schema   *schema.Schema
	external bool
}

// asDeclared is a schema as its author means it.
func (t *schemaTable) asDeclared(s *schema.Schema, external bool) *schema.Schema {
	return once(t.declared, description{s, external}, func() *schema.Schema {
		if external {
			return s.AsNamed()
		}
		return s.AsDeclared()
	})
}

// once works something out the first time that it is asked.
func once[K comparable, V any](known map[K]V, key K, work func() V) V {
	v, ok := known[key]
	if !ok {
		v = work()
		known[key] = v
	}
	return v
}

// given is what the document itself says of a path.
func (p *Pass) given(id pathtree.ID) flow {
	known := p.flowing().given
	if p.view != nil && !p.view.isOwn(p.Plan.Paths.Segments(id)) {
		known = p.view.shared.given
	}
	return once(known, id, func() flow { return p.said(p.Plan.Paths.Segments(id)) })
}

// inResultAt is the schema of a part of a tool's result.
func (p *Pass) inResultAt(tool *plan.Tool, rest []expression.Segment) schema.Place {
	if len(rest) == 0 {
		return schema.Place{Schema: tool.Output, Possible: true}
	}
	return once(p.fields, placeIn(tool, rest), func() schema.Place { return tool.Output.At(compiler.SchemaPath(rest)) })
}

// stateAt is what the schema of the state, or of a kind of data, says of a path: a value that it rejects is
// never written there.
func (p *Pass) stateAt(id pathtree.ID) schema.Place {
	if p.Plan.StateSchema == nil && p.Plan.DataSchemas == nil || p.Unknown(diag.State) {
		return schema.Place{Possible: true}
	}
	known := p.flowing().state
	if p.view != nil && !p.view.isOwn(p.Plan.Paths.Segments(id)) {
		known = p.view.shared.state
	}
	return once(known, id, func() schema.Place {
		over, below := p.Plan.SchemaOver(id)
		if over == nil {
			return schema.Place{Possible: true}
		}
		at := over.At(compiler.SchemaPath(below))
		if !at.Possible {
			return schema.Place{Possible: true} // which is a finding of its own
		}
		return at
	})
}

// meet is the schema of what two schemas accept.
func (p *Pass) meet(a, b *schema.Schema) *schema.Schema {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	return once(p.flowing().meets, [2]*schema.Schema{a, b}, func() *schema.Schema { return schema.AllOf(a, b) })
}

// notNull is a schema less null.
func (p *Pass) notNull(s *schema.Schema) *schema.Schema {
	if s == nil || s.Kinds()&schema.Null == 0 {
		return s
	}
	return once(p.flowing().bare, s, func() *schema.Schema { return schema.AllOf(s, schema.OfKinds(schema.Anything&^schema.Null)) })
}

// literalSchema is the schema of a value that an expression gives word for word.
func (p *Pass) literalSchema(value any) *schema.Schema {
	key := value
	switch v := value.(type) {
	case float64:
		key = math.Float64bits(v) // which tells -0 from 0
	case []any, map[string]any:
		return schema.Const(value)
	}
	return once(p.flowing().literals, key, func() *schema.Schema { return schema.Const(value) })
}

// typeOfSchema is the type of what a schema accepts. It mustn't be changed.
func (p *Pass) typeOfSchema(s *schema.Schema, external bool) *expression.Type {
	return once(p.flowing().ofSchemas, description{s, external}, func() *expression.Type { return typeOfSchema(s, external, typeDepth) })
}

// likeness is the schema of what a type describes; nil where it says nothing.
func (p *Pass) likeness(t *expression.Type) *schema.Schema {
	if t == nil {
		return nil
	}
	return once(p.flowing().likes, t, func() *schema.Schema { return schemaOfType(t, typeDepth) })
}
