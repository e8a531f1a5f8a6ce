package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// programsGrace is how long a program that outlived a killed run may take to end when
// it is asked to.
const programsGrace = 5 * time.Second

// endPrograms ends what a killed run left at work, before anything that it may be at
// is begun anew (S8.8).
func endPrograms(k *keeper, notice func(string)) error {
	found, err := activity.EndRegistered(k.programs(), programsGrace)
	for _, one := range found {
		whose := fmt.Sprintf("the worker %q", one.Activity)
		if one.Call != "" {
			whose = "a program of the call \"" + one.Call + "\""
		}
		processes := "1 process"
		if n := len(one.Processes); n != 1 {
			processes = fmt.Sprintf("%d processes", n)
		}
		notice(fmt.Sprintf("%s was still at work (%s); it is asked to end", whose, processes))
	}
	if err != nil {
		return diag.Troubled(ErrStillAtWork, "%v", err).About(k.id()).From(err).Advise("the run goes on once it is gone")
	}
	return nil
}

// thereToRun refuses a run that can't go on where it stood because the folder of an
// activity, or a program in it, isn't there: when it is back, the run goes on.
func (s *Session) thereToRun() error {
	all := s.program.Activities(activity.Of)
	used := activity.InUse(s.program.Plan, s.Planned())
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if used != nil && !used(name) {
			continue
		}
		if what := cmp.Or(activity.Missing(all[name])); what != "" {
			return diag.Troubled(ErrNotThere, "the run can't go on: %s of activity \"%s\" isn't there", what, name).About(s.ID()).Advise("put it back, and the run goes on")
		}
	}
	return nil
}
