package branch

import (
	"fmt"
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
	maxRefuted    = 24     // times that a question is asked again
	maxStatements = 6      // parts of one result that are held against each other
	unionSteps    = 2_000  // of looking for a result, each time
	unionBudget   = 60_000 // of all times
)

// Solve is [logic.Circuit.Solve] of what no union rules out.
func (e *Conditions) Solve(goals []logic.Literal, strict bool) []logic.Answer {
	answers := e.Circuit.Solve(goals, strict)
	for i, goal := range goals {
		answers[i] = e.possible(goal, answers[i], strict)
	}
	return answers
}

// SolveOne is Solve of one goal.
func (e *Conditions) SolveOne(goal logic.Literal, strict bool) logic.Answer {
	return e.possible(goal, e.Circuit.SolveOne(goal, strict), strict)
}

// SolveLikely asks strictly first: what is possible is best shown where nothing unforeseen happens.
func (e *Conditions) SolveLikely(goals []logic.Literal) []logic.Answer {
	answers := e.Solve(goals, true)
	for i, goal := range goals {
		// That every part that a variant names is there may be what no variant allows.
		if !answers[i].Possible || e.conflict(goal, answers[i].Assignment, true) != logic.False {
			answers[i] = e.SolveOne(goal, false)
		}
	}
	return answers
}

// possible asks a question again for as long as a union rules out what answers it.
func (e *Conditions) possible(goal logic.Literal, answer logic.Answer, strict bool) logic.Answer {
	left := goal
	for range maxRefuted {
		if !answer.Possible {
			return answer
		}
		conflict := e.conflict(goal, answer.Assignment, !strict)
		if conflict == logic.False {
			return answer
		}
		left = e.And(left, conflict.Not())
		answer = e.Circuit.SolveOne(left, strict)
	}
	if answer.Possible && e.conflict(goal, answer.Assignment, !strict) != logic.False {
		return logic.Answer{}
	}
	return answer
}

// A statement is what an assignment says of a part of a result. It is worked out where there are two of one result.
type statement struct {
	at   string // where, and what
	says func() *schema.Schema
	so   func() logic.Literal
}

// conflict is what of an assignment in which a goal holds no result of some call allows; False
// where there is no such thing. Parts that needn't be there count if they are asked for: a
// strict question takes what a variant names for there.
func (e *Conditions) conflict(goal logic.Literal, a logic.Assignment, optional bool) logic.Literal {
	if !e.hasUnions() {
		return logic.False
	}
	all := map[int32][]statement{}
	var calls []int32
	add := func(call int32, one statement) {
		if all[call] == nil {
			calls = append(calls, call)
		}
		if len(all[call]) < maxStatements && !slices.ContainsFunc(all[call], func(known statement) bool { return known.at == one.at }) {
			all[call] = append(all[call], one)
		}
	}
	for _, v := range e.Implicant(goal, a) {
		switch about := e.About(v).(type) {
		case aboutSubject:
			if call, one, ok := e.statementOf(about.of, a, optional); ok {
				add(call, one)
			}
		case aboutNull:
			k := about.heldKey
			switch steps, required, ok := e.below(k); {
			case ok && (required || optional) && e.Value(v, a):
				add(k.call, ofNull(steps, true, e.null[k]))
			case ok && required && !e.Value(v, a):
				add(k.call, ofNull(steps, false, e.null[k].Not()))
			}
		case aboutGiven:
			k := about.heldKey
			if steps, _, ok := e.below(k); ok && optional && e.Value(v, a) {
				add(k.call, statement{fmt.Sprint(steps), func() *schema.Schema { return schema.Containing(steps, nil) }, func() logic.Literal { return e.holding[k].there }})
			}
		}
	}
	for _, call := range calls {
		if len(all[call]) < 2 {
			continue
		}
		if conflict := e.refute(e.plan.Calls[call].Tool.Output, all[call]); conflict != logic.False {
			return conflict
		}
	}
	return logic.False
}

// ofNull is that a part of a result is there and null, or there and not null.
func ofNull(steps []schema.Step, null bool, so logic.Literal) statement {
	kinds := schema.Null
	if !null {
		kinds = schema.Anything &^ schema.Null
	}
	says := func() *schema.Schema { return schema.Containing(steps, schema.OfKinds(kinds)) }
	return statement{fmt.Sprint(steps, null), says, func() logic.Literal { return so }}
}

// refute is the first two statements about a result that can't both be true.
func (e *Conditions) refute(result *schema.Schema, all []statement) logic.Literal {
	for i := range all {
		for k := range i {
			if e.excluded(result, all[k], all[i]) {
				return e.And(all[k].so(), all[i].so())
			}
		}
	}
	return logic.False
}

// excluded reports whether no result satisfies all statements.
func (e *Conditions) excluded(result *schema.Schema, all ...statement) bool {
	key, parts := refutation{result: result}, []*schema.Schema{result}
	for _, one := range all {
		key.reported += one.at + "\x00"
	}
	is, known := e.refuted[key]
	if !known {
		for _, one := range all {
			parts = append(parts, one.says())
		}
		is = schema.Empty(schema.AllOf(parts...), unionSteps, &e.refuting)
		e.refuted[key] = is
	}
	return is
}

// A refutation is a question whether a result can satisfy some statements.
type refutation struct {
	result   *schema.Schema
	reported string
}

// statementOf is what an assignment says of the value of a subject: that it is there, and in one of its cells.
func (e *Conditions) statementOf(s *subject, a logic.Assignment, optional bool) (call int32, one statement, ok bool) {
	r := &e.plan.Reads[s.read]
	if len(r.Writers) != 1 || compiler.ReadsItem(e.plan, r) || e.initial(r).there != logic.False {
		return 0, one, false
	}
	k := heldKey{r.Writers[0], r.Path}
	steps, required, ok := e.below(k)
	solid, together := e.read(s.read).solid, 0
	if !s.isAlone() { // else subjects that are alike have the same cells
		together = 1 + s.number
	}
	if !ok || !required && !optional || !e.Evaluate(solid, a) {
		return 0, one, false
	}
	for i, in := range s.in {
		if s.cells[i].untried || !e.Holds(in, a) {
			continue
		}
		return k.call, statement{
			fmt.Sprint(steps, "cell", i, e.likeness(s), together),
			func() *schema.Schema { return schema.Containing(steps, e.standsFor(s, i)) },
			func() logic.Literal { return e.And(solid, in) },
		}, true
	}
	return 0, one, false
}

// standsFor accepts all values for which a cell stands, and maybe others; nil accepts all.
func (e *Conditions) standsFor(s *subject, cell int) *schema.Schema {
	if !s.isAlone() {
		return nil
	}
	own := e.results(s, s.cells[cell].value)
	var known []*schema.Schema
	for i, a := range s.atoms {
		if o := outcome(own[i]); o == isTrue || o == isFalse {
			if implied := Implied(a.term, o == isTrue, func(int) ([]schema.Step, bool) { return nil, true }); implied != nil {
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
func (e *Conditions) below(k heldKey) (steps []schema.Step, required, ok bool) {
	if k.call < 0 {
		return nil, false, false
	}
	call, paths := e.plan.Calls[k.call], e.plan.Paths
	if !e.isUnion(call) || call.Method != plan.Set || len(call.Output) == 0 {
		return nil, false, false
	}
	for i, path := range call.Paths() {
		switch {
		case !paths.Overlap(path.ID, k.path):
		case ok || i == call.FailureRoute() || !paths.IsAbove(path.ID, k.path):
			return nil, false, false
		default:
			rest := paths.Segments(k.path)[paths.Depth(path.ID):]
			steps, required, ok = compiler.SchemaPath(rest), len(rest) == 0 || e.facts.InResult(call.Tool, k.path, len(rest)).Required, true
		}
	}
	return steps, required, ok
}

// isUnion reports whether the schema of a call's result contains alternatives.
func (e *Conditions) isUnion(call *plan.Call) bool {
	if call.Tool == nil || call.Tool.Output == nil || call.Each != nil || call.Produced != nil {
		return false
	}
	is, known := e.unions[call.Tool.Output]
	if !known {
		is = HasAlternatives(call.Tool.Output.Raw(), 12)
		e.unions[call.Tool.Output] = is
	}
	return is
}

// hasUnions reports whether some call's result has alternatives in it.
func (e *Conditions) hasUnions() bool {
	for ; e.unionsUpTo < len(e.plan.Calls); e.unionsUpTo++ {
		e.someUnion = e.someUnion || e.isUnion(e.plan.Calls[e.unionsUpTo])
	}
	return e.someUnion
}

// HasAlternatives reports whether a schema holds keywords by which parts of a value hang together.
func HasAlternatives(raw any, depth int) bool {
	switch raw := raw.(type) {
	case map[string]any:
		for key, value := range raw {
			switch key {
			case "oneOf", "anyOf", "if", "not", "$ref", "dependentSchemas", "dependencies", "dependentRequired":
				return true
			}
			if depth > 0 && HasAlternatives(value, depth-1) {
				return true
			}
		}
	case []any:
		for _, one := range raw {
			if depth > 0 && HasAlternatives(one, depth-1) {
				return true
			}
		}
	}
	return false
}
