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
	open  [][]expression.Segment // those whose confidentiality a policy declares, whatever their names are
	all   value                  // of all spots
	known map[pathtree.ID]value  // results of read
}

// A spot is what is known of a path, whose kind comes first.
type spot struct {
	path []expression.Segment
	value
}

func newStart(p *plan.Plan) *start {
	return &start{plan: p, known: map[pathtree.ID]value{}}
}

func (s *start) add(path []expression.Segment, v value) {
	s.all.join(v)
	s.spots = append(s.spots, spot{path, v})
}

// isOpen reports whether a policy declares a path, or one above it.
func (s *start) isOpen(path []expression.Segment) bool {
	return slices.ContainsFunc(s.open, func(open []expression.Segment) bool {
		return len(open) <= len(path) && slices.Equal(open, path[:len(open)])
	})
}

// read is what a read of a path may see of it.
func (s *start) read(id pathtree.ID) value {
	known, asked := s.known[id]
	if !asked {
		path := s.plan.Paths.Segments(id)
		v := s.at(path)
		named := slices.IndexFunc(path, func(segment expression.Segment) bool {
			return !segment.IsIndex && naming.SecretKey(segment.Key)
		})
		if named > 0 && !s.isOpen(path) {
			v.join(from(secret, Hop{Words: nameOfSecret(path[named].Key)}))
		}
		s.known[id], known = v, v
	}
	return known
}

// at is what is known of a path, of those above it, and of those below it.
func (s *start) at(path []expression.Segment) (v value) {
	for i := range s.spots {
		at := &s.spots[i]
		if n := min(len(path), len(at.path)); slices.Equal(path[:n], at.path[:n]) {
			v.join(at.value)
		}
	}
	return v
}

// declared adds what a document and its schemas say is secret, by name or by schema.
func (s *start) declared() {
	s.plan.AnyBegins(func(v *plan.Values) bool {
		s.hold("input", v.Input, v.InputSchema)
		s.hold("state", v.State, v.StateSchema)
		for _, kind := range slices.Sorted(maps.Keys(v.Data)) {
			s.hold(kind, v.Data[kind], cmp.Or(v.DataSchemas[kind], s.plan.DataSchemas[kind]))
		}
		return false
	})
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
	names(path, v, of, s.secret)
	of.Secrets(v, func(below []schema.Step, _ any) { s.secret(slices.Concat(path, below), declaredSecret) })
}

const declaredSecret = "its schema says that it is secret"

func nameOfSecret(key string) string { return fmt.Sprintf("%q is the name of a secret", key) }

// secret adds a secret where no policy says what is there.
func (s *start) secret(path []expression.Segment, why string) {
	if !s.isOpen(path) {
		s.add(path, from(secret, Hop{Words: why}))
	}
}

// maxDeclared is how deep properties of a schema are looked at.
const maxDeclared = 6

// names finds what is a secret by its name, in a value or in a schema of it, and what a schema says is one, be it there
// or not. What is read by such a name needs no entry, so that only the first of a path is looked for.
func names(path []expression.Segment, v any, of *schema.Schema, found func(path []expression.Segment, why string)) {
	if items, ok := v.([]any); ok {
		for i, item := range items {
			names(append(slices.Clip(path), schema.Index(i)), item, nil, found)
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
		at, part := append(slices.Clip(path), schema.Key(key)), (*schema.Schema)(nil)
		if of != nil {
			part = of.Part(key).Schema
		}
		switch {
		case naming.SecretKey(key):
			found(at, nameOfSecret(key))
		case saysSecret(part):
			found(at, declaredSecret)
		default:
			names(at, object[key], part, found)
		}
	}
}

func saysSecret(s *schema.Schema) bool {
	raw, _ := s.Raw().(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

// holdsSecrets reports whether what a schema describes has a part that is secret.
func holdsSecrets(of *schema.Schema) (holds bool) {
	if holds = of.HasSecrets(); !holds {
		names(nil, nil, of, func([]expression.Segment, string) { holds = true })
	}
	return holds
}

// values adds what policies say of what stands there.
func (s *start) values(policies []*policy.Policy) {
	for _, one := range policies {
		for _, v := range one.Values {
			path, label := interned(v.Path), v.Said.Over(policy.Label{})
			words := fmt.Sprintf("%s says that it is %s", one.Title(), label)
			s.add(path, from(label, Hop{Span: v.Node.Span(), Words: words}))
			if one.Counts && v.Said[policy.Confidentiality] != nil {
				s.open = append(s.open, path)
			}
		}
	}
}

// advised says that advisors, which are models, have seen all that stands there.
func (s *start) advised(given value) {
	v := s.all
	if v.join(given); v != nothing {
		s.add([]expression.Segment{{Key: "advice"}}, v)
	}
}
