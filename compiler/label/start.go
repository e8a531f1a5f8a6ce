package label

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A start is what is there from the start: what is known of some paths. It knows paths by themselves, since those of a
// plan that arrives become more.
type start struct {
	plan  *plan.Plan
	spots []spot
	open  [][]expression.Segment // those whose confidentiality a policy declares
	first bool                   // one secret is enough
	all   value                  // of all of them
	known map[pathtree.ID]value  // results of read
}

// A spot is what is known of a path, whose kind comes first.
type spot struct {
	path []expression.Segment
	value
	open bool // a policy declares its confidentiality, whatever its name is
}

func newStart(p *plan.Plan) *start {
	return &start{plan: p, known: map[pathtree.ID]value{}}
}

func (s *start) add(path []expression.Segment, v value, open bool) {
	s.all.join(v)
	s.spots = append(s.spots, spot{path, v, open})
	if open {
		s.open = append(s.open, path)
	}
}

// read is what a read of a path may see of it.
func (s *start) read(id pathtree.ID) value {
	known, asked := s.known[id]
	if !asked {
		path := s.plan.Paths.Segments(id)
		v, open := s.at(path)
		named := slices.IndexFunc(path, func(segment expression.Segment) bool {
			return !segment.IsIndex && naming.SecretKey(segment.Key)
		})
		if named > 0 && !open {
			v.join(s.secretBy(nameOfSecret(path[named].Key)))
		}
		s.known[id], known = v, v
	}
	return known
}

// nothing is the value of what is as good as the plan's own text.
var nothing value

// at is what is known of a path, of those above it, and of those below it; and whether a policy declares it, so that
// its name says nothing.
func (s *start) at(path []expression.Segment) (v value, open bool) {
	for i := range s.spots {
		at := &s.spots[i]
		n := min(len(path), len(at.path))
		if slices.Equal(path[:n], at.path[:n]) {
			v.join(at.value)
			open = open || at.open && n == len(at.path)
		}
	}
	return v, open
}

// declared adds what a document and its schemas say is secret, by name or by schema.
func (s *start) declared() {
	s.holdAll(&s.plan.Values)
	for i := range s.plan.Instances {
		s.holdAll(&s.plan.Instances[i].Values)
	}
}

func (s *start) holdAll(v *plan.Values) {
	s.hold("input", v.Input, v.InputSchema)
	s.hold("state", v.State, v.StateSchema)
	for _, kind := range slices.Sorted(maps.Keys(v.Data)) {
		s.hold(kind, v.Data[kind], cmp.Or(v.DataSchemas[kind], s.plan.DataSchemas[kind]))
	}
}

// interned is a path as the plan's tree has it: what a message declares as a kind is below the data.
func interned(path []expression.Segment) []expression.Segment {
	if slices.Contains(reference.Kinds, path[0].Key) {
		return path
	}
	return append([]expression.Segment{{Key: "data"}}, path...)
}

func (s *start) hold(kind string, v any, of *schema.Schema) {
	path := interned([]expression.Segment{{Key: kind}})
	s.names(path, v, of)
	of.Secrets(v, func(steps []any, _ any) {
		at := path
		for _, step := range steps {
			at = below(at, step)
		}
		s.secret(at, declaredSecret)
	})
}

// below is a path with a step more.
func below(path []expression.Segment, step any) []expression.Segment {
	segment := expression.Segment{Key: fmt.Sprint(step)}
	segment.Index, segment.IsIndex = step.(int)
	return append(slices.Clip(path), segment)
}

const declaredSecret = "its schema says that it is secret"

func nameOfSecret(key string) string { return fmt.Sprintf("%q is the name of a secret", key) }

func (s *start) secretBy(why string) value { return secretBy(Hop{Plan: s.plan, Words: why}) }

func (s *start) secret(path []expression.Segment, why string) {
	isAbove := func(open []expression.Segment) bool {
		return len(open) <= len(path) && slices.Equal(path[:len(open)], open)
	}
	if !slices.ContainsFunc(s.open, isAbove) {
		s.add(path, s.secretBy(why), false)
	}
}

// maxDeclared is how deep properties of a schema are looked at.
const maxDeclared = 6

// names adds what is a secret by its name, in a value or in a schema of it, and what a schema says is one, be it there
// or not. What is read by such a name needs no entry, so that only the first of a path is looked for.
func (s *start) names(path []expression.Segment, v any, of *schema.Schema) {
	if items, ok := v.([]any); ok {
		for i, item := range items {
			s.names(below(path, i), item, nil)
		}
	}
	object, _ := v.(map[string]any)
	keys := slices.Collect(maps.Keys(object))
	if of != nil && len(path) <= maxDeclared {
		keys = append(keys, of.Properties()...)
	} else {
		of = nil
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if s.first && len(s.spots) > 0 {
			return
		}
		at, part := below(path, key), (*schema.Schema)(nil)
		if of != nil {
			part = of.Part(key).Schema
		}
		switch {
		case naming.SecretKey(key):
			s.secret(at, nameOfSecret(key))
		case saysSecret(part):
			s.secret(at, declaredSecret)
		default:
			s.names(at, object[key], part)
		}
	}
}

func saysSecret(s *schema.Schema) bool {
	raw, _ := s.Raw().(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

// holdsSecrets reports whether what a schema describes has a part that is secret.
func holdsSecrets(of *schema.Schema) bool {
	s := &start{first: true}
	s.names(nil, nil, of)
	return len(s.spots) > 0 || of.HasSecrets()
}

// values adds what policies say of what stands there.
func (s *start) values(policies []*policy.Policy) {
	for _, one := range policies {
		for _, v := range one.Values {
			label := v.Said.Over(policy.Label{})
			s.add(interned(v.Path), from(label, func(k respect) Hop {
				return Hop{Plan: s.plan, Span: v.Node.Span(),
					Words: fmt.Sprintf("%s says that it is %s", one.Title(), word(label, k))}
			}), one.Counts && v.Said.Confidentiality != nil)
		}
	}
}

// advised says that advisors, which are models, have seen all that stands there.
func (s *start) advised(given value) {
	v := s.all
	if v.join(given); v == nothing {
		return
	}
	s.add([]expression.Segment{{Key: "advice"}}, v.over(Hop{Plan: s.plan, Words: "advisors were shown it"}), false)
}

func word(l policy.Label, k respect) string {
	if k == integrity {
		return l.Integrity.String()
	}
	return l.Confidentiality.String()
}
