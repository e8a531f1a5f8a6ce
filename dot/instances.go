package dot

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// ofInstances says how many instances have calls of their own among several; "" is the call of all.
func ofInstances(ids map[string]bool) string {
	all := ids[""]
	if delete(ids, ""); len(ids) == 0 {
		return ""
	}
	words := "of " + wording.Count(len(ids), "instance")
	if all {
		words = "some " + words
	}
	return words
}

// inEvery says for how many instances a call is run that names none.
func inEvery(p *plan.Plan) string {
	switch {
	case len(p.Instances) > 0:
		return "for each of " + wording.Count(len(p.Instances), "instance")
	case p.AwaitsInstances:
		return "for each instance"
	}
	return ""
}

// frameOf is the frame of a call that is for one instance.
func frameOf(c *plan.Call) []string {
	if c.Instance == "" {
		return nil
	}
	return []string{"instance " + diag.Escape(c.Instance)}
}
