package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/runtime"
)

// judge is what went wrong in a rehearsal.
func (c *course) judge() (all []Problem) {
	s := c.scenario
	if s.Outcome.Reason == TooLong {
		c.out.Cut = true
		return nil
	}
	if at := slices.IndexFunc(s.Calls, func(one CallReport) bool { return !one.Status.Settled() }); at >= 0 {
		return []Problem{{Kind: Stuck, Message: fmt.Sprintf("%q never settles", s.Calls[at].Call.Name)}}
	}
	known := map[cause]bool{}
	add := func(p Problem) {
		if of := (cause{p.Kind, p.Call, p.code}); !known[of] {
			known[of] = true
			all = append(all, p)
		}
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
		add(p)
	}
	idle := map[string][]bool{}
	for i := range s.Calls {
		one := &s.Calls[i]
		if one.Status != runtime.Skipped || one.Under != "" || one.Call.ItemOf != nil {
			continue
		}
		if idle[one.Instance] == nil {
			idle[one.Instance] = c.idle(one.Instance)
		}
		if why := c.needless(one, idle[one.Instance]); why != "" {
			add(Problem{Kind: Needless, Call: one.Call.Name, Message: why})
		}
	}
	return all
}

// needless is why a call that was skipped needn't have been: the values that it lacks are
// for parameters that its tool doesn't require while it requires others, or it comes after a call that had nothing to
// do. One behind a failure isn't needless: what it comes after may guard it.
func (c *course) needless(one *CallReport, idle []bool) string {
	call := c.plan.Calls[c.names[one.Call.Name]]
	if strings.HasPrefix(one.Reason, "it comes after") {
		for _, a := range call.After {
			if after := c.plan.Calls[a.Call]; !a.Settled && idle[a.Call] {
				return fmt.Sprintf("all that it reads is there; it comes after %q, which had nothing to do; if it may run when that fails, too, \"_after: {settled: …}\" lets it run either way", after.Name)
			}
		}
		return ""
	}
	if call.Tool == nil || call.Tool.Parameters == nil || len(call.Tool.Parameters.Required()) == 0 || strings.HasPrefix(one.Reason, "its condition") || call.Each != nil {
		return ""
	}
	var lacks []string
	for _, f := range call.Params.Fields {
		for _, r := range f.Value.Reads {
			if !f.Value.Expr.Plain() || c.there(&c.plan.Reads[r]) {
				continue
			}
			if slices.Contains(call.Tool.Parameters.Required(), f.Key) {
				return ""
			}
			lacks = append(lacks, fmt.Sprintf("%q", f.Key))
		}
	}
	if lacks == nil {
		return ""
	}
	return fmt.Sprintf("it lacks %s, which %q doesn't require: \"|| null\" behind the reference runs it without", strings.Join(lacks, " and "), call.ToolName)
}

// idle reports which calls of an instance had nothing to do: their own conditions kept them from
// running, and nothing that failed or was refused decided these.
func (c *course) idle(instance string) []bool {
	n := len(c.plan.Calls)
	calls, idle, spoilt := make([]*CallReport, n), make([]bool, n), make([]bool, n)
	for i := range c.scenario.Calls {
		if one := &c.scenario.Calls[i]; one.Instance == instance && one.Under == "" && one.Call.ItemOf == nil {
			calls[c.names[one.Call.Name]] = one
		}
	}
	is := func(call int32) bool { return spoilt[call] }
	for _, i := range c.plan.Graph.Order() {
		one := calls[i]
		switch {
		case one == nil || one.Status == runtime.Done:
		case one.Status != runtime.Skipped:
			spoilt[i] = true
		case one.Call.When != nil && strings.HasPrefix(one.Reason, "its condition"):
			spoilt[i] = slices.ContainsFunc(one.Call.When.Reads, func(r int) bool { return slices.ContainsFunc(c.plan.Reads[r].Writers, is) })
			idle[i] = !spoilt[i]
		default:
			spoilt[i] = slices.ContainsFunc(c.plan.Graph.Deps(int(i)), is)
		}
	}
	return idle
}

// there reports whether a read of the plan has a value at the end.
func (c *course) there(r *compiler.Read) bool {
	if slices.ContainsFunc(r.Writers, func(w int32) bool { return c.provides(w, r) }) {
		return true
	}
	if c.begins == nil {
		c.begins = map[string]any{"input": compiler.Overlay(c.plan.Input, any(c.given)), "state": compiler.Overlay(c.plan.State, any(c.state)), "data": any(c.plan.Data)}
	}
	v, ok := c.plan.Paths.Walk(c.begins, r.Path)
	return ok && v != nil
}

// provides reports whether a call wrote something that a read sees.
func (c *course) provides(w int32, r *compiler.Read) bool {
	return slices.ContainsFunc(c.writes[int(w)], func(m *runtime.Message) bool {
		if !c.plan.Paths.IsAbove(m.Path, r.Path) {
			return m.Value != nil && c.plan.Paths.IsAbove(r.Path, m.Path)
		}
		v, ok := pathtree.Walk(m.Value, c.plan.Paths.Segments(r.Path)[c.plan.Paths.Depth(m.Path):])
		return ok && v != nil
	})
}
