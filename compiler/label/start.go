package label

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A start is what stands there from the start, by path.
type start struct {
	plan    *compiler.Plan
	at      map[pathtree.ID]value // of what stands at the path itself
	below   map[pathtree.ID]value // of all that stands there and below
	open    map[pathtree.ID]bool  // a policy says who may know what stands there, whatever it is called
	opened  [][]expression.Segment
	all     value
	known   map[pathtree.ID]value // what read gives, as far as it was asked
	secrets map[string]bool       // keys, whether they are names of secrets
}

func newStart(p *compiler.Plan) *start {
	return &start{plan: p, at: map[pathtree.ID]value{}, below: map[pathtree.ID]value{}, open: map[pathtree.ID]bool{}, known: map[pathtree.ID]value{}, secrets: map[string]bool{}}
}

// add puts a value at a path, its kind first. Where the plan speaks of no such path what
// stands above it still holds it.
func (s *start) add(path []expression.Segment, v value) {
	s.all.join(v)
	id, whole := s.lookup(path)
	if whole {
		have := s.at[id]
		have.join(v)
		s.at[id] = have
	}
	for ; id > pathtree.Root; id = s.plan.Paths.Parent(id) {
		have := s.below[id]
		have.join(v)
		s.below[id] = have
	}
}

// lookup is the deepest path of the plan that leads to another, and whether it is that one.
func (s *start) lookup(path []expression.Segment) (id pathtree.ID, whole bool) {
	for _, segment := range path {
		next, ok := s.plan.Paths.Lookup(id, segment)
		if !ok {
			return id, false
		}
		id = next
	}
	return id, true
}

// read is what a read of a path may see of it.
func (s *start) read(id pathtree.ID) value {
	if v, ok := s.known[id]; ok {
		return v
	}
	v := s.below[id]
	paths := s.plan.Paths
	open, named := s.open[id], ""
	for up := id; up > pathtree.Root; up = paths.Parent(up) {
		v.join(s.at[up])
		open = open || s.open[up]
		if segment := paths.Segment(up); !segment.IsIndex && paths.Depth(up) > 1 && s.isSecret(segment.Key) {
			named = segment.Key
		}
	}
	if named != "" && !open {
		v.join(s.called(named))
	}
	s.known[id] = v
	return v
}

func (s *start) isSecret(key string) bool {
	is, asked := s.secrets[key]
	if !asked {
		is = naming.SecretKey(key)
		s.secrets[key] = is
	}
	return is
}

// called is the value of what stands under the name of a secret.
func (s *start) called(key string) value {
	return from(policy.Label{Confidentiality: policy.Secret}, func(taint) Hop {
		return Hop{Plan: s.plan, Words: fmt.Sprintf("%q is the name of a secret", key)}
	})
}

// declared adds what a document and its schemas say is secret, by name or by schema.
func (s *start) declared() {
	p := s.plan
	s.hold("input", p.Input, p.InputSchema)
	s.hold("state", p.State, p.StateSchema)
	for _, kind := range slices.Sorted(maps.Keys(p.Data)) {
		s.hold(kind, p.Data[kind], p.DataSchemas[kind])
	}
	for i := range p.Instances {
		one := &p.Instances[i]
		s.hold("input", one.Input, one.InputSchema)
		s.hold("state", one.State, one.StateSchema)
	}
}

func (s *start) hold(kind string, v any, of *schema.Schema) {
	path := []expression.Segment{{Key: kind}}
	s.named(path, v)
	s.ofSchema(path, of)
	if of.SpeaksOfSecrets() {
		of.Secrets(v, func(steps []any) { s.secret(slices.Concat(path, segments(steps)), "its schema says that it is secret") })
	}
}

func segments(steps []any) []expression.Segment {
	var all []expression.Segment
	for _, step := range steps {
		if i, ok := step.(int); ok {
			all = append(all, expression.Segment{Key: fmt.Sprint(i), Index: i, IsIndex: true})
		} else {
			all = append(all, expression.Segment{Key: step.(string)})
		}
	}
	return all
}

func (s *start) secret(path []expression.Segment, why string) {
	if slices.ContainsFunc(s.opened, func(above []expression.Segment) bool {
		return len(above) <= len(path) && slices.Equal(above, path[:len(above)])
	}) {
		return
	}
	at := Hop{Plan: s.plan, Words: why}
	s.add(path, from(policy.Label{Confidentiality: policy.Secret}, func(taint) Hop { return at }))
}

// named adds what stands under names of secrets. What is read by such a name needs no
// entry, so that only the first of a path is looked for.
func (s *start) named(path []expression.Segment, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := append(path[:len(path):len(path)], expression.Segment{Key: key})
			if s.isSecret(key) {
				s.secret(below, fmt.Sprintf("%q is the name of a secret", key))
			} else {
				s.named(below, v[key])
			}
		}
	case []any:
		for i, item := range v {
			s.named(append(path[:len(path):len(path)], expression.Segment{Key: fmt.Sprint(i), Index: i, IsIndex: true}), item)
		}
	}
}

// maxDeclared is how deep properties of a schema are looked at.
const maxDeclared = 6

// ofSchema adds what a schema names as a secret, be it there or not.
func (s *start) ofSchema(path []expression.Segment, of *schema.Schema) {
	if of == nil || len(path) > maxDeclared {
		return
	}
	for _, key := range of.Properties() {
		place := of.At([]schema.Step{schema.Key(key)})
		below := append(path[:len(path):len(path)], expression.Segment{Key: key})
		switch {
		case s.isSecret(key):
			s.secret(below, fmt.Sprintf("%q is the name of a secret", key))
		case saysSecret(place.Schema):
			s.secret(below, fmt.Sprintf("the schema of %q says that it is secret", key))
		default:
			s.ofSchema(below, place.Schema)
		}
	}
}

func saysSecret(s *schema.Schema) bool {
	raw, _ := s.Raw().(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

// holdsSecrets reports whether what a schema describes has a part that is secret.
func (s *start) holdsSecrets(of *schema.Schema, depth int) bool {
	if of == nil || depth > maxDeclared {
		return false
	}
	return of.SpeaksOfSecrets() || slices.ContainsFunc(of.Properties(), func(key string) bool {
		return s.isSecret(key) || s.holdsSecrets(of.At([]schema.Step{schema.Key(key)}).Schema, depth+1)
	})
}

// values adds what policies say of what stands there.
func (s *start) values(policies []*policy.Policy) {
	for _, one := range policies {
		for _, v := range one.Values {
			label := v.Said.Over(policy.Label{})
			s.add(v.Path, from(label, func(t taint) Hop {
				return Hop{Plan: s.plan, Span: v.Node.Span(), Words: fmt.Sprintf("%s says that it is %s", one.Title(), word(label, t))}
			}))
			if !one.Counts || v.Said.Confidentiality == nil {
				continue
			}
			s.opened = append(s.opened, v.Path)
			if id, whole := s.lookup(v.Path); whole {
				s.open[id] = true
			}
		}
	}
}

// advised says that advisors, which are models, have seen all that stands there.
func (s *start) advised(given value) {
	v := s.all
	v.join(given)
	s.add([]expression.Segment{{Key: "advice"}}, v.over(Hop{Plan: s.plan, Words: "advisors were shown it"}))
}

func word(l policy.Label, t taint) string {
	if t == untrusted {
		return l.Integrity.String()
	}
	return l.Confidentiality.String()
}
