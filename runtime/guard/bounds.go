package guard

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Outside is why a call with parameters may not be, by the policies of its plan;
// "" when it may. What patterns cost is taken off an allowance.
func Outside(plan *plan.Plan, call *plan.Call, params map[string]any, a *schema.Allowance) string {
	for _, p := range plan.Policies {
		for i := range p.Only {
			if name := label.Unlisted(&p.Only[i], call); name != "" {
				return fmt.Sprintf("%q isn't among the tools that there may be, by the policy's rule %q", name,
					p.Only[i].Name)
			}
		}
		for i := range p.Bounds {
			b := &p.Bounds[i]
			if !label.Carries(call, b.Tool) {
				continue
			}
			if v := b.Refuses(params, a); v != nil {
				return fmt.Sprintf("the policy's rule %q doesn't let %q of %q be this: %s", b.Name,
					b.Parameter+v.Where(), b.Tool, v.Message)
			}
		}
	}
	return ""
}
