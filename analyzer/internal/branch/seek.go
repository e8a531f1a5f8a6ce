package branch

import "github.com/obelus-dev/obelus/compiler/schema"

// Bounds on the search for texts, lists and objects.
const (
	searchSteps = 4_000   // of one question about schemas
	searchWork  = 400_000 // of all of a plan
	maxFound    = 100     // cells of one kind
)

// A seeker finds values of one kind for everything that atoms may ask of it together.
type seeker struct {
	d      *division
	of     *subject
	kind   schema.Kinds
	list   *cellList
	accept []*schema.Schema
	refuse []*schema.Schema
	ways   [][][2]*schema.Schema // for each question its answers: what is accepted then, or refused
	each   int                   // how many values are wanted for each way to answer all
	found  int
}

// search makes the cells of one kind.
func (d *division) search(s *subject, kind schema.Kinds, list *cellList) {
	x := &seeker{d: d, of: s, kind: kind, list: list, accept: []*schema.Schema{s.domain.schema, schema.OfKinds(kind)}, each: 1}
	if d.equal {
		x.each = len(d.subjects)
	}
	var named []any
	for _, c := range list.cells {
		if schema.KindOf(c.value) == kind {
			named = append(named, c.value)
		}
	}
	if len(named) > 0 {
		x.refuse = append(x.refuse, schema.New(object{"enum": named}, schema.Options{}))
	}
	for _, r := range d.numbers.lengths(s) {
		if len(x.ways) == 0 {
			x.ways = append(x.ways, nil)
		}
		x.ways[0] = append(x.ways[0], [2]*schema.Schema{schema.New(lengths(r[0], r[1]), schema.Options{})})
	}
	if q := d.numbers.known[quantity{s, true}]; q != nil && q.apart && len(d.pieces[s]) > 0 {
		s.whole &^= kind
	}
	for _, piece := range d.pieces[s] {
		x.ways = append(x.ways, [][2]*schema.Schema{{piece}, {nil, piece}})
	}
	var values []any
	for _, v := range someValues[kind] {
		if x.fits(v, x.accept, x.refuse) {
			values = append(values, v)
		}
	}
	x.look(0, x.accept, x.refuse, values)
}

// someValues are tried before others are sought.
var someValues = map[schema.Kinds][]any{
	schema.String: {"text", "", "a", "A", "some text", "Text", " ", "1", "b", "c"},
	schema.Array:  {[]any{}, []any{1.0}, []any{"text"}, []any{1.0, 2.0}},
	schema.Object: {object{}},
}

func (x *seeker) fits(v any, accept, refuse []*schema.Schema) bool {
	for _, s := range accept {
		if !s.Accepts(v) {
			return false
		}
	}
	for _, s := range refuse {
		if s.Accepts(v) {
			return false
		}
	}
	return true
}

// look answers the questions from one on in every way in which that can be done.
func (x *seeker) look(from int, accept, refuse []*schema.Schema, values []any) {
	if len(values) == 0 {
		v, found := x.inhabit(accept, refuse)
		if !found {
			return
		}
		values = []any{v}
	}
	if from == len(x.ways) {
		for len(values) < x.each {
			v, found := x.inhabit(accept, append(refuse[:len(refuse):len(refuse)], schema.New(object{"enum": values}, schema.Options{})))
			if !found {
				break
			}
			values = append(values, v)
		}
		if x.found++; x.found*x.each > maxFound {
			x.of.whole &^= x.kind
			return
		}
		if x.of.whole&x.kind != 0 {
			values = values[:min(len(values), x.each)]
		}
		for _, v := range values { // all there are, where it isn't known which would do
			x.list.add(v)
		}
		return
	}
	for _, way := range x.ways[from] {
		also, not := accept, refuse
		if way[0] != nil {
			also = append(accept[:len(accept):len(accept)], way[0])
		}
		if way[1] != nil {
			not = append(refuse[:len(refuse):len(refuse)], way[1])
		}
		var left []any
		for _, v := range values {
			if x.fits(v, also[len(accept):], not[len(refuse):]) {
				left = append(left, v)
			}
		}
		x.look(from+1, also, not, left)
	}
}

// inhabit finds a value. Where it can't be known whether there is one, the cells of
// this kind aren't all.
func (x *seeker) inhabit(accept, refuse []*schema.Schema) (value any, found bool) {
	e := x.d.e
	if e.searched > searchWork {
		x.of.whole &^= x.kind
		return nil, false
	}
	e.searched += searchSteps / 20
	value, found, known := schema.Inhabit(accept, refuse, schema.Budget{Steps: searchSteps})
	if !known {
		e.searched += searchSteps
		x.of.whole &^= x.kind
	}
	return value, found
}
