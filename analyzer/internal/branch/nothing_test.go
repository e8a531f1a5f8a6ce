package branch

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Nothing is known of a plan beside itself.
type Nothing struct{}

// The methods are those of [Facts].
func (Nothing) Item(*plan.Read) (*schema.Schema, bool)   { return nil, false }
func (Nothing) Unknown(diag.Facts) bool                  { return false }
func (Nothing) MayBeThere(*plan.Read) bool               { return true }
func (Nothing) Begins(string, []expression.Segment) bool { return false }
func (Nothing) StateAt(pathtree.ID) schema.Place         { return schema.Place{Possible: true} }
func (Nothing) Given(pathtree.ID) (*schema.Schema, bool) { return nil, false }
func (Nothing) Meet(_, b *schema.Schema) *schema.Schema  { return b }
func (Nothing) NotNull(s *schema.Schema) *schema.Schema  { return s }
func (Nothing) InResult(*plan.Tool, pathtree.ID, int) schema.Place {
	return schema.Place{Possible: true}
}
