package branch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A subject is a value that conditions are about. Its cells are sample values, see [samples]. A last
// cell represents all other values, unless each of them gives the same results as a sample.
type subject struct {
	name   string // the reference as a person writes it
	number int
	read   int // one of its reads
	atoms  []*atom

	domain  *domain // nil until it is asked for
	cells   []cell
	in      []logic.Literal // by cell
	exact   bool            // every value gives the same results as a cell
	opaque  bool            // no value was found with which all conditions go well
	divided bool
}

// A cell is one value, in the place of many.
type cell struct {
	value       any
	exceptional bool   // it can come, and isn't what the plan is about: a failure record, or a value with which a condition fails
	untried     bool   // a value that wasn't tried
	outcomes    string // by atom, where they were asked for
}

func (e *Conditions) subject(read int) *subject {
	k := e.key(&e.plan.Reads[read])
	s := e.subjects[k]
	if s == nil {
		s = &subject{name: e.plan.Reads[read].Ref.String(), number: len(e.subjects), read: read}
		e.subjects[k] = s
	}
	return s
}

// isAlone reports whether each of the subject's atoms is about no other subject.
func (s *subject) isAlone() bool {
	return !slices.ContainsFunc(s.atoms, func(a *atom) bool { return len(a.subjects) > 1 })
}

// A domain is what a value may be that isn't null.
type domain struct {
	schema  *schema.Schema // its schema; nil for anything
	sure    bool           // it is never anything else
	records []any          // what it is where it is (part of) the record of a failure
}

// domainOf returns the possible values of a read: from schemas of results, and from values like those in the document.
func (e *Conditions) domainOf(r *plan.Read) domain {
	paths := e.plan.Paths
	kind := paths.Kind(r.Path)
	if compiler.ReadsItem(e.plan, r) && !e.facts.Unknown(diag.State|diag.Writes|diag.Input) {
		s, sure := e.facts.Item(r)
		return domain{schema: e.facts.NotNull(s), sure: sure}
	}
	if r.Path == pathtree.Root || paths.Depth(r.Path) < 2 || kind == "error" || e.facts.Unknown(diag.State|diag.Writes|diag.Input) {
		return domain{}
	}
	declared := e.facts.StateAt(r.Path).Schema
	d := domain{sure: true}
	var all []*schema.Schema
	add := func(s *schema.Schema, sure bool) {
		d.sure = d.sure && sure
		all = append(all, s)
	}
	for _, w := range r.Writers {
		call := e.plan.Calls[w]
		for i, path := range call.Paths() {
			if !e.look() {
				return domain{}
			}
			if !paths.Overlap(path.ID, r.Path) {
				continue
			}
			rest := paths.Segments(r.Path)[min(paths.Depth(r.Path), paths.Depth(path.ID)):]
			s, described := declared, call.Tool != nil && call.Tool.Output != nil
			var text *schema.Schema // in a record
			if i == call.FailureRoute() {
				if record, ok := pathtree.Walk(someRecord, rest); ok {
					d.records = append(d.records, record)
					if _, isText := record.(string); isText {
						text = e.facts.Meet(schema.OfKinds(schema.String), declared)
						s = text
					}
				}
			}
			if i != call.FailureRoute() && path.ID == r.Path && (call.Method == plan.Push || call.Method == plan.Concat) {
				s = e.facts.Meet(schema.OfKinds(schema.Array), declared)
			}
			if call.Method == plan.Set && paths.IsAbove(path.ID, r.Path) && described {
				if at := e.facts.InResult(call.Tool, r.Path, len(rest)); at.Possible {
					if s = e.facts.Meet(at.Schema, declared); text != nil && s != nil {
						s = schema.AnyOf(s, text)
					}
				}
			}
			add(s, s != nil && (text == nil || described))
		}
	}
	if _, held := paths.Walk(e.plan.State, r.Path); len(r.Writers) == 0 || r.Start || held {
		add(e.facts.Given(r.Path))
	}
	if len(all) == 1 {
		d.schema = all[0]
	} else if !slices.Contains(all, nil) {
		d.schema = schema.AnyOf(all...)
	}
	d.schema = e.facts.NotNull(d.schema)
	return d
}

// someRecord represents the records of failures.
var someRecord any = map[string]any{"code": "error", "message": "it failed", "details": nil}

func (d *domain) kinds() schema.Kinds {
	return d.schema.Kinds() &^ schema.Null
}

// divide chooses the cells of a subject, once all atoms are known.
func (e *Conditions) divide(s *subject) {
	if s.divided {
		return
	}
	s.divided = true
	alike, alone := likeness{}, s.isAlone()
	if alone {
		alike = e.likeness(s)
		if known := e.divided[alike]; known != nil {
			s.divideLike(known)
			s.place(e)
			return
		}
		e.divided[alike] = s
	}
	s.settle(e, newSamples(e, s))
	s.place(e)
}

// domain is what a subject may be.
func (e *Conditions) domain(s *subject) *domain {
	if s.domain == nil {
		d := e.domainOf(&e.plan.Reads[s.read])
		s.domain = &d
	}
	return s.domain
}

// A likeness is all that the cells of a subject depend on whose atoms are about it alone:
// plans ask the same about many values.
type likeness struct {
	schema         *schema.Schema
	sure           bool
	records, atoms string
}

func (e *Conditions) likeness(s *subject) likeness {
	d := e.domain(s)
	l := likeness{schema: d.schema, sure: d.sure}
	if len(d.records) > 0 {
		l.records = fmt.Sprint(d.records...)
	}
	var atoms strings.Builder
	for _, a := range s.atoms {
		atoms.WriteString(a.shape)
		atoms.WriteByte(0) // which no text holds unescaped
	}
	l.atoms = atoms.String()
	return l
}

// divideLike gives a subject the cells of one like it, and its atoms what they come out as.
func (s *subject) divideLike(other *subject) {
	s.cells, s.exact, s.opaque = slices.Clone(other.cells), other.exact, other.opaque
	for i, a := range s.atoms {
		a.outcomes = slices.Clone(other.atoms[i].outcomes)
	}
}

// place makes the literals of a subject's cells: it is in exactly one of them. By default that is the first.
func (s *subject) place(e *Conditions) {
	s.in = make([]logic.Literal, len(s.cells))
	about, so, last := aboutSubject{s}, logic.True, len(s.cells)
	if last > 0 && s.cells[last-1].untried {
		last--
		if s.in[last] = logic.True; !s.opaque {
			s.in[last] = e.And(e.Untried(), e.Variable(true, false, about))
		}
		so = s.in[last].Not()
	}
	exceptional := slices.IndexFunc(s.cells[:last], func(c cell) bool { return c.exceptional })
	if exceptional > 0 {
		usual := e.Variable(false, true, about)
		e.ExactlyOne(s.in[exceptional:last], e.And(so, usual.Not()), false, about)
		so, last = e.And(so, usual), exceptional
	}
	if last > 0 {
		e.ExactlyOne(s.in[:last], so, true, about)
	}
}

// settle makes the cells of a subject from samples. It leaves out samples with the same outcomes as another, sets apart
// those with which a condition fails, and adds records of failures and the cell for values that weren't tried.
func (s *subject) settle(e *Conditions, from *samples) {
	alone := s.isAlone()
	alike := map[string]bool{}
	var usual, exceptional []cell
	for _, v := range from.values {
		c := cell{value: v}
		if alone {
			c.outcomes = e.results(s, v)
			if alike[c.outcomes] {
				continue
			}
			alike[c.outcomes] = true
			c.exceptional = strings.IndexByte(c.outcomes, byte(isNeither)) >= 0
		}
		if c.exceptional {
			exceptional = append(exceptional, c)
		} else {
			usual = append(usual, c)
		}
	}
	if s.opaque = len(usual) == 0; s.opaque {
		exceptional = nil
	}
	s.cells = append(usual, exceptional...)
	for _, record := range s.domain.records {
		if record != nil && len(s.cells) > 0 && s.domain.schema != nil {
			s.cells = append(s.cells, cell{value: record, exceptional: true})
		}
	}
	if s.exact = from.exact && !s.opaque; !s.exact {
		s.cells = append(s.cells, cell{untried: true})
	}
	if alone {
		for i, a := range s.atoms {
			a.outcomes = make([]outcome, stateCells+len(s.cells))
			for k, c := range s.cells {
				if c.outcomes != "" {
					a.outcomes[stateCells+k] = outcome(c.outcomes[i])
				}
			}
		}
	}
}

// results are the outcomes of the atoms of a subject that are about it alone.
func (e *Conditions) results(s *subject, value any) string {
	all := make([]byte, len(s.atoms))
	for i, a := range s.atoms {
		all[i] = byte(e.evaluate(a, func(int) (any, expression.Presence) { return value, expression.There }))
	}
	return string(all)
}

// A Turn is a value that conditions are about, by one of its reads, with sample values for their outcomes.
type Turn struct {
	Read   *plan.Read
	Values []any

	of *subject
	e  *Conditions
}

// Alike reports whether all conditions have the same outcome for both values.
func (t *Turn) Alike(a, b any) bool {
	return !slices.ContainsFunc(t.of.atoms, func(of *atom) bool {
		comes := func(v any) outcome {
			return t.e.evaluate(of, func(int) (any, expression.Presence) { return v, expression.There })
		}
		return len(of.subjects) > 1 || comes(a) != comes(b)
	})
}

// Turns are the values that a plan's conditions are about, in the order in which these ask for them. What can't be had
// from outside, as the record of a failure, isn't among their values.
func Turns(plan *plan.Plan, facts Facts) []Turn {
	e := newConditions(plan, facts, 8)
	turns := make([]Turn, len(e.subjects))
	for _, s := range e.subjects {
		e.divide(s)
		turn := Turn{Read: &e.plan.Reads[s.read], of: s, e: e}
		for _, c := range s.cells {
			if !c.exceptional && !c.untried {
				turn.Values = append(turn.Values, c.value)
			}
		}
		turns[s.number] = turn
	}
	return turns
}
