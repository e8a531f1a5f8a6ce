package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A Store is the state that a plan is at work on, and decides what may be written into it.
type Store struct {
	Plan    *plan.Plan
	Program *Program
	// the document as its instance has it, where that has schemas of its own and the plan at hand doesn't know them
	Judging *plan.Plan
	Log     *state.Log
	Budget  *Budget
	Learned int // messages of the log that [Store.Secrets] has learned from
	secrets *redact.Set
}

// A Program is a plan with what all who run it share: many instances run one plan, and each keeps only its own state.
type Program struct {
	state.Layout
	Facts   func(*plan.Call) *facts.Call   // of its calls, for a permit
	Schemas map[pathtree.ID]*schema.Schema // what the state schema says of a path; nil for nothing
}

// CodeOutside is the code of what a policy forbids: that of the rule that finds it beforehand.
const CodeOutside = "outside-bounds"

// Misfit says what a schema rejects, and where in the value.
func Misfit(v *schema.Violation) string {
	if where := strings.TrimPrefix(v.Where(), "."); where != "" {
		return " at " + where + ": " + v.Message
	}
	return ": " + v.Message
}

// unfitting is the failure of what a schema rejects, or can't be held against it within what that may cost.
func unfitting(code, what string, v *schema.Violation) *state.Failure {
	if v.Keyword == schema.Limit {
		return &state.Failure{Code: CodeLimit, Message: v.Message}
	}
	return &state.Failure{Code: code, Message: what + Misfit(v)}
}

// Invalid validates resolved parameters just before the start: what doesn't fit the tool, can't be an argument of the
// program or be in the request, or isn't within the bounds of a policy, is a structural error. What the schema's
// patterns cost is taken off an allowance; nil is none.
func Invalid(p *plan.Plan, call *plan.Call, params map[string]any, a *schema.Allowance) *state.Failure {
	tools, by := []*plan.Tool{call.Single()}, p.Activities[call.Activity]
	if d := p.Delegates[call.Delegate]; d != nil && d.Face != nil {
		if tools[0] != nil && tools[0].Parameters == d.Face.Parameters {
			tools[0] = nil
		}
		tools = append(tools, d.Face)
	}
	for i, tool := range tools {
		if tool == nil || tool.Parameters == nil {
			continue
		}
		if tool.Given != nil { // it counts for the policies below, too
			passed := params
			params = maps.Clone(tool.Given)
			maps.Copy(params, passed)
		}
		if v := tool.Parameters.ValidateWithin(params, a); v != nil {
			whose := [...]string{"the tool's schema", "the input of the plan"}[i]
			return unfitting("bad-parameter", "the parameters don't fit "+whose, v)
		}
	}
	if by != nil {
		if err := kinds.CheckArguments(by, params); err != nil {
			return &state.Failure{Code: "bad-parameter", Message: err.Error()}
		}
	}
	why := guard.Outside(p, call, params, a)
	if why == "" {
		why = label.Unendorsed(p, call, params, false, a)
	}
	if why == "" {
		return nil
	}
	return &state.Failure{Code: CodeOutside, Message: why}
}

// Invalid is [Invalid] of a call of the plan.
func (s *Store) Invalid(call *plan.Call, params map[string]any) *state.Failure {
	if s.Budget.Samples != nil {
		return s.Budget.Samples.Invalid(call, params)
	}
	return Invalid(s.Plan, call, params, &s.Budget.Matching)
}

// Refused says why a result can't be that of a call, wherever it is written.
func (s *Store) Refused(call *plan.Call, value any) *state.Failure {
	if call.Each != nil { // each result of it was judged
		return nil
	}
	if call.Tool != nil && call.Tool.Output != nil {
		if v := s.Budget.Validate(call.Tool.Output, value); v != nil {
			return unfitting("bad-output", "the result doesn't fit the tool's \"_output\"", v)
		}
	}
	if why := label.Unendorsed(s.Plan, call, value, true, &s.Budget.Matching); why != "" {
		return badOutput("%s", why)
	}
	return nil
}

// Candidates are the alternatives that a result may take: one, unless it depends on what is there already.
func (s *Store) Candidates(call *plan.Call, value any, named int) []plan.Route {
	if named < 0 && call.Method != plan.Set && len(call.Output) > 1 {
		return call.Output
	}
	at := s.taking(call, value, named)
	return call.Output[at : at+1]
}

func (s *Store) taking(call *plan.Call, value any, named int) int {
	if named >= 0 || len(call.Output) == 1 {
		return max(0, named)
	}
	return max(0, slices.IndexFunc(call.Output, func(r plan.Route) bool { return s.accepts(call, r, value) }))
}

// Admitted finds the alternative that a result takes, and whether it may be written there.
func (s *Store) Admitted(call *plan.Call, value any, named int) (int, *state.Failure) {
	route := s.taking(call, value, named)
	// Only where the activity itself names the failure route: those who meet there never refuse each other.
	if path := s.Occupied(call.Output[route], false); path != pathtree.Root {
		return 0, badOutput("%s is written already, and a path is written once", s.Plan.Paths.String(path))
	}
	return route, s.Unfits(call, call.Output[route], call.Method, value)
}

// accepts reports whether the state schema has nothing against a value on any path of a route. Whether there is a place
// for it is another question, and not one that chooses.
func (s *Store) accepts(call *plan.Call, route plan.Route, value any) bool {
	return !slices.ContainsFunc(route, func(path plan.Path) bool {
		_, rejects, _ := s.misfit(call, plan.Route{path}, call.Method, value)
		return rejects != nil
	})
}

// misfit is the first path of a route to which a value can't be written, one after the other: what stands there has no
// place for it, or the state schema rejects it.
func (s *Store) misfit(call *plan.Call, route plan.Route, method plan.Method, value any) (at *plan.Path,
	rejects *schema.Violation, noPlace error) {
	draft := s.Log.Draft(int32(call.Index))
	defer draft.Discard()
	for i, path := range route {
		written := value
		if s.NeedsBase(path.ID, method) {
			if written, noPlace = draft.Write(path.ID, method, value); noPlace != nil {
				return &route[i], nil, noPlace
			}
		}
		if kept := s.SchemaAt(path.ID); kept != nil {
			if rejects = s.Budget.Validate(kept, written); rejects != nil {
				return &route[i], rejects, nil
			}
		}
	}
	return nil, nil, nil
}

func badOutput(format string, args ...any) *state.Failure {
	return &state.Failure{Code: "bad-output", Message: fmt.Sprintf(format, args...)}
}

// Unfits says why a value can't be written to all paths of a route.
func (s *Store) Unfits(call *plan.Call, route plan.Route, method plan.Method, value any) (failure *state.Failure) {
	path, rejects, why := s.misfit(call, route, method, value)
	switch {
	case path == nil:
		return nil
	case rejects != nil:
		why, failure = rejects, unfitting("bad-output",
			"the state schema rejects the value of "+s.Plan.Paths.String(path.ID), rejects)
	default:
		failure = badOutput("%s can't be written: %v", s.Plan.Paths.String(path.ID), why)
	}
	if s.Budget.Samples != nil {
		s.Budget.Samples.Unfit(call, *path, value, why, s.Log)
	}
	return failure
}

// IsTaken reports whether, under once, a value already is where the call would write, its failure route aside.
func (s *Store) IsTaken(call *plan.Call) bool {
	for alternative, route := range call.Output {
		if alternative != call.FailureRoute() && s.Occupied(route, true) != pathtree.Root {
			return true
		}
	}
	return false
}

// Occupied is a path of a route with a value on it or an overlapping one, under once, records aside or not; or the
// root.
func (s *Store) Occupied(route plan.Route, records bool) pathtree.ID {
	if s.Plan.Writes != plan.Once {
		return pathtree.Root
	}
	for _, path := range route {
		if value, ok := s.Log.Initial(path.ID); ok && value != nil {
			return path.ID
		}
		for _, message := range s.Log.Over(path.ID) {
			if records || !message.Failure {
				return path.ID
			}
		}
	}
	return pathtree.Root
}

// NeedsBase reports whether a write asks for something of what stands there already: one that sets a key of the state
// itself does so only if the state may be something else than an object.
func (s *Store) NeedsBase(path pathtree.ID, method plan.Method) bool {
	if method != plan.Set || s.Plan.Paths.Depth(path) > 2 {
		return true
	}
	above := s.Plan.Paths.Parent(path)
	return above != pathtree.Root && s.Log.IsWritten(above)
}

// SchemaAt is what the schema of the state, or of a kind of data, says of a path, for this instance; or nil.
func (s *Store) SchemaAt(id pathtree.ID) *schema.Schema {
	of, schemas := cmp.Or(s.Judging, s.Program.Plan), s.Program.Schemas
	if of.StateSchema == nil && of.DataSchemas == nil {
		return nil
	}
	at, known := schemas[id]
	if known && s.Judging == nil {
		return at
	}
	if over, below := of.SchemaOf(s.Program.Paths.Segments(id)); over != nil {
		at = over.At(below).Schema
	}
	if s.Judging == nil {
		schemas[id] = at
	}
	return at
}
