package branch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A subject is a value that conditions are about. Of all values that it may have a few
// are tried, its cells, so chosen that every other one is as good as one of them: for
// each value that the schemas allow there is a cell for which all atoms come out the
// same. Where that can't be shown there is one cell more, for values that weren't
// tried.
//
// Subjects that stand in one atom are divided together.
type subject struct {
	name   string // the reference as a person writes it
	number int
	read   int // one of its reads
	atoms  []*atom
	under  *subject   // the subject that stands for those it is divided together with
	with   []*subject // of that one: all of them

	domain  domain
	cells   []cell
	in      []logic.Literal // by cell
	whole   schema.Kinds    // every value of these kinds is as good as a cell
	listed  bool            // every value is a cell
	opaque  bool            // no value was found with which all conditions go well
	divided bool
}

// A cell is one value, in the place of many.
type cell struct {
	value     any
	rare      bool   // it can come, and isn't what the plan is about: a failure record, a value with which a condition goes wrong
	elsewhere bool   // a value that wasn't tried
	outcomes  string // by atom, where they were asked for
}

// maxCells bounds the cells of a value that conditions are about.
const maxCells = 300

func (e *Conditions) subject(read int) *subject {
	k := e.key(&e.plan.Reads[read])
	s := e.subjects[k]
	if s == nil {
		s = &subject{name: e.plan.Reads[read].Ref.String(), number: len(e.subjects), read: read}
		s.under, s.with = s, []*subject{s}
		e.subjects[k] = s
	}
	return s
}

// join lets two subjects be divided together.
func (s *subject) join(other *subject) {
	a, b := s.under, other.under
	if a == b {
		return
	}
	if len(a.with) > len(b.with) {
		a, b = b, a
	}
	for _, one := range a.with {
		one.under = b
	}
	b.with = append(b.with, a.with...)
	a.with = nil
}

// A domain is what a value may be that isn't null.
type domain struct {
	schema  *schema.Schema // what it is as far as it is known; nil for anything
	sure    bool           // it is never anything else
	records []any          // what it is where it is (part of) the record of a failure
}

// domainOf is what may come to a read: of results what schemas say, of values that a
// document gives others like them.
func (e *Conditions) domainOf(r *compiler.Read) domain {
	paths := e.plan.Paths
	kind := paths.Kind(r.Path)
	if e.plan.OfItem(r) && !e.facts.Unknown(diag.State|diag.Writes|diag.Input) {
		s, sure := e.facts.Item(r)
		return domain{schema: e.facts.NotNull(s), sure: sure}
	}
	if r.Path == pathtree.Root || paths.Depth(r.Path) < 2 || kind == "error" || e.facts.Unknown(diag.State|diag.Writes|diag.Input) {
		return domain{}
	}
	declared := e.facts.InState(r.Path)
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
						text = e.facts.Both(schema.OfKinds(schema.String), declared)
						s = text
					}
				}
			}
			if i != call.FailureRoute() && path.ID == r.Path && (call.Method == compiler.Push || call.Method == compiler.Concat) {
				s = e.facts.Both(schema.OfKinds(schema.Array), declared)
			}
			if call.Method == compiler.Set && paths.IsAbove(path.ID, r.Path) && described {
				if at := e.facts.InResult(call.Tool, r.Path, len(rest)); at.Possible {
					if s = e.facts.Both(at.Schema, declared); text != nil && s != nil {
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

// someRecord is what stands for the records of failures (S9.2).
var someRecord any = map[string]any{"code": "error", "message": "it failed", "details": nil}

func (d *domain) kinds() schema.Kinds {
	return d.schema.Kinds() &^ schema.Null
}

// divide makes the cells of a subject, once all atoms are known.
func (e *Conditions) divide(s *subject) {
	if s.divided {
		return
	}
	with := s.under.with
	slices.SortFunc(with, func(a, b *subject) int { return a.number - b.number })
	for _, one := range with {
		one.divided = true
		one.domain = e.domainOf(&e.plan.Reads[one.read])
		one.whole = schema.Anything
	}
	alike, alone := with[0].likeness(), len(with) == 1
	if known := e.divided[alike]; alone && known != nil {
		s.divideLike(known)
		s.place(e)
		return
	}
	d := newDivision(e, with)
	d.divide()
	for _, one := range with {
		d.settle(one)
		one.place(e)
	}
	if alone {
		e.divided[alike] = s
	}
}

// A likeness is all that the cells of a subject hang on that stands alone: plans ask the
// same of many values.
type likeness struct {
	schema         *schema.Schema
	sure           bool
	records, atoms string
}

func (s *subject) likeness() likeness {
	l := likeness{schema: s.domain.schema, sure: s.domain.sure}
	if len(s.domain.records) > 0 {
		l.records = fmt.Sprint(s.domain.records...)
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
	s.cells, s.whole, s.listed, s.opaque = slices.Clone(other.cells), other.whole, other.listed, other.opaque
	for i, a := range s.atoms {
		a.outcomes = slices.Clone(other.atoms[i].outcomes)
	}
}

// place makes the literals of a subject's cells: it is in exactly one of them. By
// default that is the first.
func (s *subject) place(e *Conditions) {
	s.in = make([]logic.Literal, len(s.cells))
	about, so, last := aboutSubject{s}, logic.True, len(s.cells)
	if last > 0 && s.cells[last-1].elsewhere {
		last--
		if s.in[last] = logic.True; !s.opaque {
			s.in[last] = e.And(e.Untried(), e.Variable(true, false, about))
		}
		so = s.in[last].Not()
	}
	rare := slices.IndexFunc(s.cells[:last], func(c cell) bool { return c.rare })
	if rare > 0 {
		usual := e.Variable(false, true, about)
		e.ExactlyOne(s.in[rare:last], e.And(so, usual.Not()), false, about)
		so, last = e.And(so, usual), rare
	}
	if last > 0 {
		e.ExactlyOne(s.in[:last], so, true, about)
	}
}

// A division divides subjects that stand in atoms together.
type division struct {
	e        *Conditions
	subjects []*subject
	atoms    []*atom
	numbers  numbers
	pieces   map[*subject][]*schema.Schema // what atoms ask of texts, lists and objects
	pool     []any                         // constants that any of the subjects is compared with
	equal    bool                          // some are compared with each other
}

func newDivision(e *Conditions, subjects []*subject) *division {
	d := &division{e: e, subjects: subjects, pieces: map[*subject][]*schema.Schema{}}
	d.numbers = newNumbers(d)
	for _, s := range subjects {
		for _, a := range s.atoms {
			if a.subjects[0] == s {
				d.atoms = append(d.atoms, a)
			}
		}
	}
	return d
}

func (d *division) divide() {
	for _, a := range d.atoms {
		d.understand(a)
	}
	for _, s := range d.subjects {
		d.pool = append(d.pool, s.domain.schema.Landmarks().Listed...)
	}
	d.numbers.choose()
	if d.equal {
		d.share()
	}
	for _, s := range d.subjects {
		d.fill(s)
	}
	if d.equal { // what one of them may be is tried for all
		for _, s := range d.subjects {
			list := &cellList{of: s, cells: s.cells}
			for _, other := range d.subjects {
				for _, c := range other.cells {
					list.add(c.value)
				}
			}
			s.cells = list.cells
		}
	}
}

// share lets subjects that are compared with each other be asked all that is asked of
// one of them.
func (d *division) share() {
	var all []*schema.Schema
	for _, s := range d.subjects {
		all = append(all, d.pieces[s]...)
		if s.domain.schema != nil {
			all = append(all, s.domain.schema)
		}
	}
	for _, s := range d.subjects {
		d.pieces[s] = slices.DeleteFunc(slices.Clone(all), func(x *schema.Schema) bool { return x == s.domain.schema })
	}
	d.numbers.shareLengths()
}

// understand takes an atom apart, to find the values that it changes at. Of the kinds
// of value for which that can't be said not every value is as good as a cell.
func (d *division) understand(a *atom) {
	numeric := d.numbers.read(a)
	if len(a.subjects) == 1 {
		s := a.subjects[0]
		piece, constants := pieceOf(a.term)
		d.pool = append(d.pool, constants...)
		switch {
		case numeric || constants != nil:
		case piece != nil:
			d.pieces[s] = append(d.pieces[s], schema.New(piece, schema.Options{}))
			if s.whole &^= mentionsNumbers(a.term); asksWhole(a.term) && s.domain.kinds()&(schema.Number&^schema.Integer) != 0 {
				s.whole &^= schema.Number
			}
		default:
			s.whole = 0
		}
		return
	}
	t := a.term
	if (t.Op == expression.TermEqual || t.Op == expression.TermUnequal) && isHole(t.Args[0]) && isHole(t.Args[1]) {
		d.equal = true
		for _, s := range a.subjects {
			s.whole &^= schema.Array | schema.Object
			if !numeric {
				s.whole &^= schema.Number
			}
		}
		return
	}
	for _, s := range a.subjects {
		if !numeric {
			s.whole = 0
		} else if t.Op >= expression.TermEqual && isHole(t.Args[0]) && isHole(t.Args[1]) {
			s.whole &^= schema.String // texts have an order as well
		}
	}
}

// fill makes the cells of a subject.
func (d *division) fill(s *subject) {
	list := &cellList{of: s}
	kinds := s.domain.kinds()
	for _, v := range d.pool {
		if schema.KindOf(v)&schema.Number == 0 {
			list.add(v)
		}
	}
	if kinds&schema.Boolean != 0 {
		list.add(true)
		list.add(false)
	}
	if kinds&schema.Number != 0 {
		d.numbers.fill(s, list)
	}
	for _, kind := range []schema.Kinds{schema.String, schema.Array, schema.Object} {
		if kinds&kind != 0 {
			d.search(s, kind, list)
		}
	}
	if s.cells = list.cells; len(s.cells) > maxCells {
		s.cells, s.whole = s.cells[:maxCells], 0
	}
}

// A cellList collects values of a subject.
type cellList struct {
	of    *subject
	cells []cell
	seen  map[any]bool
}

// add takes up a value that the subject may have.
func (l *cellList) add(v any) bool {
	if v == nil || !l.of.domain.schema.Accepts(v) {
		return false
	}
	switch v.(type) {
	case []any, map[string]any:
		if slices.ContainsFunc(l.cells, func(c cell) bool { return reflect.DeepEqual(c.value, v) }) {
			return true
		}
	default:
		if l.seen == nil {
			l.seen = map[any]bool{}
			for _, c := range l.cells {
				if schema.KindOf(c.value)&(schema.Array|schema.Object) == 0 {
					l.seen[c.value] = true
				}
			}
		}
		if l.seen[v] {
			return true
		}
		l.seen[v] = true
	}
	l.cells = append(l.cells, cell{value: v})
	return true
}

// maxLikened bounds how many outcomes are compared to leave out cells that are alike.
const maxLikened = 200_000

// settle completes the cells of a subject: it leaves out those that are as good as
// another, sets apart those with which a condition goes wrong, and adds records of
// failures and one for values that weren't tried.
func (d *division) settle(s *subject) {
	alone := len(d.subjects) == 1 && !d.equal && len(s.cells)*len(s.atoms) <= maxLikened
	alike := map[string]bool{}
	kept, rare := s.cells[:0], []cell(nil)
	for _, c := range s.cells {
		if alone {
			c.outcomes = d.outcomes(s, c.value)
			if alike[c.outcomes] {
				continue
			}
			alike[c.outcomes] = true
			if c.rare = strings.IndexByte(c.outcomes, byte(isNeither)) >= 0; c.rare {
				rare = append(rare, c)
				continue
			}
		}
		kept = append(kept, c)
	}
	if s.opaque = len(kept) == 0; s.opaque {
		rare = nil
	}
	s.cells = append(kept, rare...)
	for _, record := range s.domain.records {
		if record != nil && len(s.cells) > 0 && s.domain.schema != nil {
			s.cells = append(s.cells, cell{value: record, rare: true})
		}
	}
	if kinds := s.domain.kinds(); !s.listed && (!s.domain.sure && kinds != schema.Anything&^schema.Null || s.whole&kinds != kinds) || s.opaque {
		s.cells = append(s.cells, cell{elsewhere: true})
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

// outcomes are what the atoms of a subject that stands alone come out as.
func (d *division) outcomes(s *subject, value any) string {
	all := make([]byte, len(s.atoms))
	for i, a := range s.atoms {
		all[i] = byte(d.e.evaluate(a, func(int) (any, expression.Presence) { return value, expression.There }))
	}
	return string(all)
}

// A Turn is a value that conditions are about, by one of its reads, and what it may be:
// for whatever the conditions can come to, as far as such values were found.
type Turn struct {
	Read   *compiler.Read
	Values []any
	Exact  bool // every other value that the schemas allow is as good as one of these

	of *subject
	e  *Conditions
}

// Alike reports whether all conditions are known to come to the same with either value.
func (t *Turn) Alike(a, b any) bool {
	return !slices.ContainsFunc(t.of.atoms, func(of *atom) bool {
		comes := func(v any) outcome {
			return t.e.evaluate(of, func(int) (any, expression.Presence) { return v, expression.There })
		}
		return len(of.subjects) > 1 || comes(a) != comes(b)
	})
}

// Turns are the values that a plan's conditions are about, in the order in which these ask
// for them. What can't be had from outside, as the record of a failure, isn't among their
// values.
func Turns(plan *compiler.Plan, facts Facts) []Turn {
	e := begun(plan, facts, 8)
	turns := make([]Turn, len(e.subjects))
	for _, s := range e.subjects {
		e.divide(s)
		kinds := s.domain.kinds()
		turn := Turn{Read: &e.plan.Reads[s.read], Exact: s.listed || s.whole&kinds == kinds, of: s, e: e}
		for _, c := range s.cells {
			if !c.rare && !c.elsewhere {
				turn.Values = append(turn.Values, c.value)
			}
		}
		turns[s.number] = turn
	}
	return turns
}
