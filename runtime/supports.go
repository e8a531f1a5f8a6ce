package runtime

import (
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
)

// Supports tells why this version can't carry a plan out, or nil. Such plans
// are checked and drawn all the same.
func Supports(p *compiler.Plan) error {
	if len(p.Instances) > 0 {
		return errors.New("this version doesn't run plans over several instances")
	}
	for _, call := range p.Calls {
		switch {
		case call.Delegate != "":
			return fmt.Errorf("the call %q can't be carried out: this version doesn't run delegates", call.Name)
		case call.Instance != "":
			return fmt.Errorf("the call %q can't be carried out: this version doesn't run plans over several instances", call.Name)
		case call.Scopes != nil:
			return fmt.Errorf("the call %q can't be carried out: this version doesn't hand scopes to activities", call.Name)
		}
	}
	return nil
}
