package simulate

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/runtime"
)

func judge(s *Scenario) (all []Problem) {
	if s.Outcome.Reason == TooLong {
		return nil
	}
	if at := slices.IndexFunc(s.Calls, func(one CallReport) bool { return !one.Status.Settled() }); at >= 0 {
		return []Problem{{Kind: Stuck, Message: fmt.Sprintf("%q never settles", s.Calls[at].Call.Name)}}
	}
	if s.Outcome.Status == runtime.RunStopped {
		all = append(all, Problem{Kind: Unhandled, Message: fmt.Sprintf("the run stops: %s", s.Outcome.Reason),
			code: string(s.Outcome.Reason)})
	}
	failed := slices.ContainsFunc(s.Outcome.Errors, func(e runtime.CallError) bool { return e.Call != "" })
	for _, e := range s.Outcome.Errors {
		if failed && e.Call == "" {
			continue // for want of what the calls didn't give
		}
		p := Problem{Kind: Unhandled, Call: e.Call, Message: e.Message, code: e.Code}
		if e.Code == "no-output" {
			p.Kind = NoOutput
		}
		if !slices.ContainsFunc(all, p.is) {
			all = append(all, p)
		}
	}
	return all
}
