package branch

import (
	"encoding/json"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Implies reports whether it is proven that one condition of a call holds only where
// another one does, whatever may come to what they read. Both are texts as _when has them.
func Implies(condition, other string) bool {
	type call struct {
		Tool string `json:"_tool"`
		When string `json:"_when"`
	}
	text, err := json.Marshal(map[string][]call{"calls": {{"a", condition}, {"b", other}}})
	if err != nil {
		return false
	}
	plan, found := compiler.Compile(source.NewFile("conditions.json", text), compiler.Options{})
	if diag.HasErrors(found) || len(plan.Calls) != 2 {
		return false
	}
	e := New(plan, Nothing{})
	return e.SolveOne(e.And(e.Runs(plan.Calls[0]), e.Runs(plan.Calls[1]).Not()), false).Impossible
}

// Nothing is known of a plan beside itself.
type Nothing struct{}

// The methods are those of [Facts].
func (Nothing) Item(*compiler.Read) (*schema.Schema, bool)   { return nil, false }
func (Nothing) Unknown(diag.Facts) bool                      { return false }
func (Nothing) MayBeThere(*compiler.Read) bool               { return true }
func (Nothing) BeginsWith([]expression.Segment) bool         { return false }
func (Nothing) Handed([]expression.Segment) (is, known bool) { return false, false }
func (Nothing) InResult(*compiler.Tool, pathtree.ID, int) schema.Place {
	return schema.Place{Possible: true}
}
func (Nothing) InState(pathtree.ID) *schema.Schema       { return nil }
func (Nothing) Given(pathtree.ID) (*schema.Schema, bool) { return nil, false }
func (Nothing) Both(_, b *schema.Schema) *schema.Schema  { return b }
func (Nothing) NotNull(s *schema.Schema) *schema.Schema  { return s }
