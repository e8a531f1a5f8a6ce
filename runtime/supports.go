package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
)

// Supports tells why this version can't carry a plan out, or nil. Such plans
// are checked and drawn all the same.
func Supports(p *compiler.Plan) error {
	for _, call := range p.Calls {
		switch {
		case call.Delegate != "":
			return fmt.Errorf("the call %q can't be carried out: this version doesn't run delegates", call.Name)
		case call.Scopes != nil:
			return fmt.Errorf("the call %q can't be carried out: this version doesn't hand scopes to activities", call.Name)
		}
	}
	return nil
}
