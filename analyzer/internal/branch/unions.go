package branch

import (
	"encoding/json"
	"regexp"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Parts of a result whose schema is a union depend on each other: which variant it has is a choice of the run, and
// decides of each part whether it is there and what it may be.

const (
	maxVariants      = 8     // of a union; with more the parts count as independent
	maxUnions        = 2     // along one path
	alternativeSteps = 1_000 // of finding those that a schema allows
)

// A variant is what a place in a result may be where the unions above it have certain alternatives.
type variant struct {
	chosen logic.Literal  // they have
	there  logic.Literal  // there is something at the place, then
	schema *schema.Schema // of that; nil for anything
}

type unionKey struct {
	heldKey
	schema *schema.Schema
}

// alternatives are those of a value that a schema describes, at a path of a result; just the schema if it is no union.
func (e *Conditions) alternatives(k heldKey, s *schema.Schema) []variant {
	all, known := e.unions[unionKey{k, s}]
	if known {
		return all
	}
	schemas, known := e.options[s]
	if !known {
		schemas = s.Alternatives(alternativeSteps)
		e.options[s] = schemas
	}
	if len(schemas) < 2 || len(schemas) > maxVariants {
		schemas = []*schema.Schema{s}
	}
	chosen := make([]logic.Literal, len(schemas))
	e.within(int(k.call), func() { e.ExactlyOne(chosen, logic.True, true, unionKey{k, s}) })
	for i, one := range schemas {
		all = append(all, variant{chosen[i], logic.True, one})
	}
	e.unions[unionKey{k, s}] = all
	return all
}

// variants are those of a place in a result, or in what a run begins with: some steps below a value that a schema
// describes. There is nothing below null, which is a branch of the plan; what needn't be there is as held says.
func (e *Conditions) variants(
	k heldKey, s *schema.Schema, steps []expression.Segment, unions int, held func() valued,
) (all []variant) {
	if len(steps) == 0 {
		return []variant{{logic.True, logic.True, s}}
	}
	above, solid := k, logic.True
	for range steps {
		above.path = e.plan.Paths.Parent(above.path)
	}
	if saysNull(s) {
		solid = e.nulls(above).Not()
	}
	options := []variant{{logic.True, logic.True, e.facts.NotNull(s)}}
	if k.call >= 0 && unions < maxUnions {
		options = e.alternatives(above, options[0].schema)
	}
	for _, option := range options {
		next := e.facts.At(option.schema, steps[:1])
		below := []variant{{logic.True, logic.False, nil}}
		if next.Required && next.Schema != nil {
			below = e.variants(k, next.Schema, steps[1:], unions+min(1, len(options)-1), held)
		} else if at := e.facts.At(option.schema, steps); at.Possible {
			below[0] = variant{logic.True, held().there, at.Schema}
		}
		for _, v := range below {
			all = append(all, variant{e.And(option.chosen, v.chosen), e.And(solid, v.there), v.schema})
		}
	}
	return all
}

// variantsOf are those of the value of a variable, if it is a part of just one result.
func (e *Conditions) variantsOf(s *variable) []variant {
	r, paths := &e.plan.Reads[s.read], e.plan.Paths
	anything := []variant{{chosen: logic.True}}
	if len(r.Writers) != 1 || compiler.ReadsItem(e.plan, r) || !s.isAlone() || e.initial(r).there != logic.False {
		return anything
	}
	call, at := e.plan.Calls[r.Writers[0]], -1
	for i, path := range call.Paths() {
		if paths.Overlap(path.ID, r.Path) {
			if at >= 0 || i == call.FailureRoute() || !paths.IsAbove(path.ID, r.Path) {
				return anything
			}
			at = int(path.ID)
		}
	}
	if at < 0 || call.Method != plan.Set || call.Tool == nil || call.Each != nil || call.Produced != nil {
		return anything
	}
	steps := paths.Segments(r.Path)[paths.Depth(pathtree.ID(at)):]
	k := heldKey{int32(call.Index), r.Path}
	return e.variants(k, e.facts.Written(call, pathtree.ID(at)), steps, 0, func() valued { return e.held(k) })
}

// HasAlternatives reports whether a schema holds keywords by which parts of a value depend on each other.
func HasAlternatives(s *schema.Schema) bool {
	text, err := json.Marshal(s.Raw())
	return err != nil || alternatives.Match(text)
}

var alternatives = regexp.MustCompile(`"(oneOf|anyOf|\$ref)":`)
