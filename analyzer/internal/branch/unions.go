package branch

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// The formulas take the parts of one result for independent of each other. Where its schema is a union they aren't: no
// variant may allow what an assignment says of two of them. Such assignments are refuted when they come up, and the
// question is asked again without what refuted them, as solvers modulo theories do (Nieuwenhuis, Oliveras and Tinelli,
// "Solving SAT and SAT Modulo Theories", JACM 53(6), 2006).

// Bounds on refuting.
const (
	maxRefuted    = 25     // times that a question is asked
	maxStatements = 6      // parts of one result that are held against each other
	unionSteps    = 2_000  // of looking for a result, each time
	unionBudget   = 60_000 // of all times
)

// unions are what is known of results with alternatives.
type unions struct {
	of      *Conditions
	refuted map[[2]any]bool         // whether no result satisfies two statements
	left    int                     // steps that refuting may still take
	known   map[*schema.Schema]bool // whether they have alternatives in them
	some    bool                    // one has
}

// Solve is SolveOne of several goals.
func (e *Conditions) Solve(goals []logic.Literal, strict bool) []logic.Answer {
	answers := make([]logic.Answer, len(goals))
	for i, goal := range goals {
		answers[i] = e.SolveOne(goal, strict)
	}
	return answers
}

// SolveLikely asks strictly first: what is possible is best shown where nothing unforeseen happens.
func (e *Conditions) SolveLikely(goals []logic.Literal) []logic.Answer {
	answers := e.Solve(goals, true)
	for i, goal := range goals {
		// That every part that a variant names is there may be what no variant allows.
		if !answers[i].Possible || e.unions.conflict(goal, answers[i].Assignment, true) != logic.False {
			answers[i] = e.SolveOne(goal, false)
		}
	}
	return answers
}

// SolveOne is [logic.Circuit.Solve] of what no union rules out: as long as one rules out the answer, the question is
// asked again.
func (e *Conditions) SolveOne(goal logic.Literal, strict bool) logic.Answer {
	left := goal
	for range maxRefuted {
		answer := e.Circuit.Solve(left, strict)
		if !answer.Possible {
			return answer
		}
		conflict := e.unions.conflict(goal, answer.Assignment, !strict)
		if conflict == logic.False {
			return answer
		}
		left = e.And(left, conflict.Not())
	}
	return logic.Answer{}
}

// A statement is what an assignment says of a part of a call's result.
type statement struct {
	call int32
	at   string // where, and what
	says *schema.Schema
	so   logic.Literal
}

// conflict is what of an assignment in which a goal holds no result of some call allows: the first two statements that
// can't both be true; False where there are none. Parts that needn't be there count if they are asked for: a strict
// question takes what a variant names for there.
func (u *unions) conflict(goal logic.Literal, a logic.Assignment, optional bool) logic.Literal {
	if !u.some {
		return logic.False
	}
	all := map[int32][]statement{}
	for _, v := range u.of.Implicant(goal, a) {
		one, ok := u.statement(v, a, optional)
		known := all[one.call]
		if !ok || len(known) == maxStatements ||
			slices.ContainsFunc(known, func(other statement) bool { return other.at == one.at }) {
			continue
		}
		for _, other := range known {
			if u.excluded(u.of.plan.Calls[one.call].Tool.Output, other, one) {
				return u.of.And(other.so, one.so)
			}
		}
		all[one.call] = append(known, one)
	}
	return logic.False
}

// statement is what a variable says of a result in an assignment.
func (u *unions) statement(v int32, a logic.Assignment, optional bool) (one statement, ok bool) {
	switch about := u.of.About(v).(type) {
	case aboutVariable:
		return u.statementOf(about.of, a, optional)
	case aboutNull:
		k, null, kinds, so := about.heldKey, u.of.Value(v, a), schema.Null, u.of.null[about.heldKey]
		if !null {
			kinds, so = schema.Anything&^schema.Null, so.Not()
		}
		steps, required, ok := u.below(k)
		return statement{k.call, fmt.Sprint(steps, null), schema.Containing(steps, schema.OfKinds(kinds)), so}, ok &&
			(required || optional && null)
	case aboutGiven:
		k := about.heldKey
		steps, _, ok := u.below(k)
		return statement{k.call, fmt.Sprint(steps), schema.Containing(steps, nil), u.of.holding[k].there}, ok &&
			optional && u.of.Value(v, a)
	}
	return one, false
}

// excluded reports whether no result satisfies two statements.
func (u *unions) excluded(result *schema.Schema, a, b statement) bool {
	key := [2]any{result, a.at + "\x00" + b.at}
	is, known := u.refuted[key]
	if !known {
		is = schema.Empty(schema.AllOf(result, a.says, b.says), unionSteps, &u.left)
		u.refuted[key] = is
	}
	return is
}

// statementOf is what an assignment says of the value of a variable: that it is there, and in one of its points.
func (u *unions) statementOf(s *variable, a logic.Assignment, optional bool) (one statement, ok bool) {
	r := &u.of.plan.Reads[s.read]
	if len(r.Writers) != 1 || compiler.ReadsItem(u.of.plan, r) || u.of.initial(r).there != logic.False {
		return one, false
	}
	steps, required, ok := u.below(heldKey{r.Writers[0], r.Path})
	solid := u.of.read(s.read).solid
	if !ok || !required && !optional || !u.of.Holds(solid, a) {
		return one, false
	}
	for i, in := range s.in {
		if !s.points[i].untried && u.of.Holds(in, a) {
			says := schema.Containing(steps, u.standsFor(s, i))
			return statement{r.Writers[0], fmt.Sprint(steps, "point", i, s.number), says, u.of.And(solid, in)}, true
		}
	}
	return one, false
}

// standsFor accepts all values for which a point stands, and maybe others; nil accepts all.
func (u *unions) standsFor(s *variable, point int) *schema.Schema {
	if !s.isAlone() {
		return nil
	}
	own := u.of.results(s, s.points[point].value)
	var known []*schema.Schema
	for i, a := range s.predicates {
		if o := outcome(own[i]); o == isTrue || o == isFalse {
			if implied := Implied(a.term, o == isTrue,
				func(int) ([]schema.Step, bool) { return nil, true }); implied != nil {
				known = append(known, implied)
			}
		}
	}
	if known == nil {
		return nil
	}
	return schema.AllOf(known...)
}

// below returns the position of a path in the result of a call whose schema is a union, and whether
// every result has a value there.
func (u *unions) below(k heldKey) (steps []schema.Step, required, ok bool) {
	if k.call < 0 {
		return nil, false, false
	}
	call, paths := u.of.plan.Calls[k.call], u.of.plan.Paths
	if !u.isUnion(call) || call.Method != plan.Set || len(call.Output) == 0 {
		return nil, false, false
	}
	for i, path := range call.Paths() {
		switch {
		case !paths.Overlap(path.ID, k.path):
		case ok || i == call.FailureRoute() || !paths.IsAbove(path.ID, k.path):
			return nil, false, false
		default:
			rest := paths.Segments(k.path)[paths.Depth(path.ID):]
			steps, required, ok = rest, u.of.facts.At(call.Tool.Output, rest).Required, true
		}
	}
	return steps, required, ok
}

// isUnion reports whether the schema of a call's result contains alternatives.
func (u *unions) isUnion(call *plan.Call) bool {
	if call.Tool == nil || call.Each != nil || call.Produced != nil {
		return false
	}
	is, known := u.known[call.Tool.Output]
	if !known {
		is = HasAlternatives(call.Tool.Output)
		u.known[call.Tool.Output] = is
	}
	return is
}

var alternatives = regexp.MustCompile(`"(oneOf|anyOf|if|not|\$ref|dependentSchemas|dependencies|dependentRequired)":`)

// HasAlternatives reports whether a schema holds keywords by which parts of a value hang together.
func HasAlternatives(s *schema.Schema) bool {
	text, err := json.Marshal(s.Raw())
	return err != nil || alternatives.Match(text)
}
