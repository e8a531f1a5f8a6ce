package session

import (
	"cmp"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// thereToRun refuses a run that can't go on where it stood because the folder of an
// activity, or a program in it, is missing: once it is back, the run can be resumed.
func (s *Session) thereToRun() error {
	all := s.Program.Activities(activity.Of)
	used := activity.InUse(s.Program.Plan, s.Options.Planned)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if used != nil && !used(name) {
			continue
		}
		if what := cmp.Or(activity.Missing(all[name])); what != "" {
			return diag.NewError(ErrNotThere, "the run can't go on: %s of activity \"%s\" isn't there", what, name).
				Advise("put it back, then run \"obelus resume %s\"", s.ID())
		}
	}
	return nil
}
