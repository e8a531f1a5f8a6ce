package dot

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Instances are those whose calls one node represents.
type instances struct {
	ids    map[string]bool
	shared bool // it represents calls of all instances as well
}

func (i *instances) add(id string) {
	if id == "" {
		i.shared = true
		return
	}
	if i.ids == nil {
		i.ids = map[string]bool{}
	}
	i.ids[id] = true
}

// one reports whether all the calls are for one instance.
func (i *instances) one() bool { return len(i.ids) == 1 && !i.shared }

// words say how many instances have calls of their own among several.
func (i *instances) words() string {
	switch {
	case len(i.ids) == 0:
		return ""
	case i.shared && len(i.ids) == 1:
		return "some for one instance only"
	case i.shared:
		return fmt.Sprintf("some for one of %d instances", len(i.ids))
	}
	return fmt.Sprintf("of %d instances", len(i.ids))
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
