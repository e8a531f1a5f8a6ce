package branch

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A variable is a value that conditions are about. Its points are sample values, see [samples]. A last
// point represents all other values, unless each of them gives the same results as a sample.
type variable struct {
	name       string // the reference as a person writes it
	number     int
	read       int // one of its reads
	predicates []*predicate

	domain  Domain
	points  []point
	in      []logic.Literal // by point
	opaque  bool            // no value was found with which all conditions go well
	divided bool
}

// A point is one value, in the place of many.
type point struct {
	value       any
	outcomes    string // of the variable's predicates, of one that is alone
	exceptional bool   // it can come, and isn't what the plan is about: a condition fails with it
	untried     bool   // a value that wasn't tried
}

// variables are the values that a plan's conditions are about, and what these ask of them.
type variables struct {
	*logic.Circuit
	plan  *plan.Plan
	facts Facts

	alike       map[likeness]tried
	byRead      map[readKey]*variable
	predicates  map[string]*predicate // by what they say, and of what
	terms       map[templateNode]*predicate
	free        map[string]logic.Literal // what predicates say of values that weren't tried
	evaluations expression.Meter         // that evaluating predicates may still take
	sampled     int                      // steps that making values took
}

// newVariables collects those of a plan, with a share of the evaluation budget.
func newVariables(plan *plan.Plan, facts Facts, part int) *variables {
	e := &variables{
		Circuit: logic.New(maxGates + callGates*len(plan.Calls)), plan: plan, facts: facts,
		alike: map[likeness]tried{}, byRead: map[readKey]*variable{}, predicates: map[string]*predicate{},
		terms: map[templateNode]*predicate{}, free: map[string]logic.Literal{},
		evaluations: expression.Meter{Steps: evaluationWork / part, Memory: evaluationRoom / part},
	}
	e.findPredicates(plan.Calls)
	return e
}

func (e *variables) variable(read int) *variable {
	k := keyOf(e.plan, read)
	s := e.byRead[k]
	if s == nil {
		r := &e.plan.Reads[read]
		s = &variable{name: r.Ref.String(), number: len(e.byRead), read: read, domain: e.facts.Domain(r)}
		e.byRead[k] = s
	}
	return s
}

// isAlone reports whether each of the variable's predicates is about no other variable.
func (s *variable) isAlone() bool {
	return !slices.ContainsFunc(s.predicates, func(a *predicate) bool { return len(a.variables) > 1 })
}

// A Domain is what a value may be that isn't null.
type Domain struct {
	Schema *schema.Schema // nil for anything
	Sure   bool           // it is never anything else
}

// Tried are the points of a variable: samples without those with the same outcomes as another, and apart from the usual
// ones those with which a condition fails.
type tried struct {
	usual, exceptional []point
	exact              bool // every value gives the same results as a point
}

func (e *variables) try(s *variable, alone bool) (made tried) {
	from, alike := newSamples(e, s), map[string]bool{}
	for _, v := range from.values {
		outcomes := ""
		if alone {
			if outcomes = e.results(s, v); alike[outcomes] {
				continue
			}
			alike[outcomes] = true
		}
		if strings.IndexByte(outcomes, byte(isNeither)) >= 0 {
			made.exceptional = append(made.exceptional, point{value: v, outcomes: outcomes, exceptional: true})
		} else {
			made.usual = append(made.usual, point{value: v, outcomes: outcomes})
		}
	}
	if len(made.usual) == 0 {
		return tried{}
	}
	made.exact = from.exact
	return made
}

// A likeness is all that the points of a variable depend on: plans ask the same about many values.
type likeness struct {
	schema *schema.Schema
	sure   bool
	asked  string
	only   int // of one that is like no other: its number
}

// divide makes the points of a variable, once all predicates are known, and a last one for values that weren't tried.
func (e *variables) divide(s *variable, variants []variant) {
	s.divided = true
	var asked strings.Builder
	for _, a := range s.predicates {
		asked.WriteString(a.shape + "\x00") // which no text holds unescaped
	}
	alone, like := s.isAlone(), likeness{schema: s.domain.Schema, sure: s.domain.Sure, asked: asked.String()}
	if !alone {
		like.only = 1 + s.number
	}
	made, known := e.alike[like]
	if !known {
		made = e.try(s, alone)
		e.alike[like] = made
	}
	usual, exceptional := made.usual, made.exceptional
	s.opaque = len(usual) == 0
	s.points = slices.Concat(usual, exceptional)
	s.in = make([]logic.Literal, len(s.points))
	about, so := aboutVariable{s}, logic.True
	if !made.exact {
		rest := logic.True
		if !s.opaque {
			rest = e.And(e.Untried(), e.Variable(true, false, about))
		}
		s.points, s.in, so = append(s.points, point{untried: true}), append(s.in, rest), rest.Not()
	}
	if n := len(usual); len(exceptional) > 0 {
		isUsual := e.Variable(false, true, about)
		e.ExactlyOne(s.in[n:n+len(exceptional)], e.And(so, isUsual.Not()), false, about)
		so = e.And(so, isUsual)
	}
	for i := range usual {
		s.in[i] = logic.False
	}
	for _, v := range variants { // by default it is in the first
		fits := e.fitting(s, usual, v.schema)
		in := make([]logic.Literal, len(fits))
		if len(fits) > 0 {
			e.ExactlyOne(in, e.And(so, v.chosen), true, about)
		}
		for i, point := range fits {
			s.in[point] = e.Or(s.in[point], in[i])
		}
	}
}

// fitting are the points for what a schema accepts: of one that lists its values those with the same outcomes.
func (e *variables) fitting(s *variable, points []point, of *schema.Schema) (all []int) {
	values := valuesOf(of)
	for i, p := range points {
		if values == nil || slices.ContainsFunc(values, func(v any) bool { return e.results(s, v) == p.outcomes }) {
			all = append(all, i)
		}
	}
	return all
}

// results are the outcomes of the predicates of a variable that are about it alone.
func (e *variables) results(s *variable, value any) string {
	all := make([]byte, len(s.predicates))
	for i, a := range s.predicates {
		all[i] = byte(e.evaluate(a, func(int) (any, expression.Presence) { return value, expression.There }))
	}
	return string(all)
}

// A Turn is a value that conditions are about, by one of its reads, with sample values for their outcomes.
type Turn struct {
	Read   *plan.Read
	Values []any

	of *variable
	e  *variables
}

// Alike reports whether all conditions have the same outcome for both values.
func (t *Turn) Alike(a, b any) bool {
	return !slices.ContainsFunc(t.of.predicates, func(of *predicate) bool {
		comes := func(v any) outcome {
			return t.e.evaluate(of, func(int) (any, expression.Presence) { return v, expression.There })
		}
		return len(of.variables) > 1 || comes(a) != comes(b)
	})
}

// Turns are the values that a plan's conditions are about, in the order in which these ask for them. What can't be had
// from outside, as the record of a failure, isn't among their values.
func Turns(plan *plan.Plan, facts Facts) []Turn {
	e := newVariables(plan, facts, 8)
	turns := make([]Turn, len(e.byRead))
	for _, s := range e.byRead {
		e.divide(s, nil)
		turn := Turn{Read: &e.plan.Reads[s.read], of: s, e: e}
		for _, c := range s.points {
			if !c.exceptional && !c.untried {
				turn.Values = append(turn.Values, c.value)
			}
		}
		turns[s.number] = turn
	}
	return turns
}
