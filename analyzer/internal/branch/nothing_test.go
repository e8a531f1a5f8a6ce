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
func (Nothing) Domain(*plan.Read) Domain                       { return Domain{} }
func (Nothing) Written(*plan.Call, pathtree.ID) *schema.Schema { return nil }
func (Nothing) Unknown(diag.Facts) bool                        { return false }
func (Nothing) NeverThere(*plan.Read) bool                     { return false }
func (Nothing) Begins(string, []expression.Segment) bool       { return false }
func (Nothing) NotNull(s *schema.Schema) *schema.Schema        { return s }
func (Nothing) At(*schema.Schema, []expression.Segment) schema.Place {
	return schema.Place{Possible: true}
}
