package runtime

import (
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A program is a plan with what all who run it share: many instances run one plan, and each keeps only its own state.
type program struct {
	state.Layout
	schemas map[pathtree.ID]*schema.Schema // what the state schema says of a path; nil for nothing
	facts   map[*plan.Call]*facts.Call     // of its calls, for a permit
}

func (p *program) factsOf(call *plan.Call) *facts.Call {
	if p.facts[call] == nil {
		p.facts[call] = facts.OfCalls(p.Plan)(call)
	}
	return p.facts[call]
}

// schemaAt is what a schema says of a path: an instance's own where it has one.
func (s *store) schemaAt(id pathtree.ID) *schema.Schema {
	if s.judging == nil {
		return s.program.schemaAt(id)
	}
	if over, below := s.judging.SchemaOf(s.program.Paths.Segments(id)); over != nil {
		return over.At(compiler.SchemaPath(below)).Schema
	}
	return nil
}

// schemaAt is what the schema of the state, or of a kind of data, says of a path; nil is nothing.
func (p *program) schemaAt(id pathtree.ID) *schema.Schema {
	if p.Plan.StateSchema == nil && p.Plan.DataSchemas == nil {
		return nil
	}
	s, known := p.schemas[id]
	if !known {
		if over, below := p.Plan.SchemaOver(id); over != nil {
			s = over.At(compiler.SchemaPath(below)).Schema
		}
		if p.schemas == nil {
			p.schemas = map[pathtree.ID]*schema.Schema{}
		}
		p.schemas[id] = s
	}
	return s
}
