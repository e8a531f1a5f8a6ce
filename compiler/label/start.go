package label

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A start is what stands there from the start, by path. It knows paths by themselves, since
// those of a plan that arrives become more.
type start struct {
	plan  *plan.Plan
	root  spot
	all   value
	known map[pathtree.ID]value // results of read
}

// A spot is a place in what stands there.
type spot struct {
	next  map[expression.Segment]*spot
	here  value // of what stands at the place itself
	below value // of all that stands there and below
	open  bool  // a policy declares its confidentiality, whatever its name is
}

func newStart(p *plan.Plan) *start {
	return &start{plan: p, known: map[pathtree.ID]value{}}
}

// from is the value of a source with a label. Hop makes the hop of each taint.
func from(l policy.Label, hop func(taint) Hop) (v value) {
	for i, has := range []bool{
		l.Integrity == policy.Untrusted, l.Confidentiality >= policy.Private, l.Confidentiality == policy.Secret,
	} {
		if has {
			v[i] = &step{Hop: hop(taint(i))}
		}
	}
	return v
}

// secretBy is the value of what is secret by a hop.
func secretBy(hop Hop) value {
	return from(policy.Label{Confidentiality: policy.Secret}, func(taint) Hop { return hop })
}

// add puts a value at a path, its kind first.
func (s *start) add(path []expression.Segment, v value) *spot {
	s.all.join(v)
	at := &s.root
	for _, segment := range path {
		next := at.next[segment]
		if next == nil {
			next = &spot{}
			if at.next == nil {
				at.next = map[expression.Segment]*spot{}
			}
			at.next[segment] = next
		}
		at = next
		at.below.join(v)
	}
	at.here.join(v)
	return at
}

// read is what a read of a path may see of it.
func (s *start) read(id pathtree.ID) value {
	known, asked := s.known[id]
	if !asked {
		v, path := s.along(s.plan.Paths.Segments(id))
		named := slices.IndexFunc(path, func(segment expression.Segment) bool {
			return !segment.IsIndex && naming.SecretKey(segment.Key)
		})
		if named >= 0 {
			v.join(s.called(path[named].Key))
		}
		s.known[id], known = v, v
	}
	return known
}

// nothing is the value of what is as good as the plan's own text.
var nothing value

// along is what stands at a path, above and below it, and as much of the path below its kind
// as says by its names whether that is secret: none of it where a policy does.
func (s *start) along(path []expression.Segment) (v value, names []expression.Segment) {
	names = path[min(1, len(path)):]
	at := &s.root
	for _, segment := range path {
		if at = at.next[segment]; at == nil {
			return v, names
		}
		v.join(at.here)
		if at.open {
			names = nil
		}
	}
	v.join(at.below)
	return v, names
}

// called is the value of what stands under the name of a secret.
func (s *start) called(key string) value {
	return secretBy(Hop{Plan: s.plan, Words: fmt.Sprintf("%q is the name of a secret", key)})
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
	of.Secrets(v, func(steps []any, _ any) {
		s.secret(slices.Concat(path, segments(steps)), "its schema says that it is secret")
	})
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
	if _, names := s.along(path); names != nil {
		s.add(path, secretBy(Hop{Plan: s.plan, Words: why}))
	}
}

// named adds what stands under names of secrets. What is read by such a name needs no
// entry, so that only the first of a path is looked for.
func (s *start) named(path []expression.Segment, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := append(path[:len(path):len(path)], expression.Segment{Key: key})
			if naming.SecretKey(key) {
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
		case naming.SecretKey(key):
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
func holdsSecrets(of *schema.Schema, depth int) bool {
	if of == nil || depth > maxDeclared {
		return false
	}
	return of.HasSecrets() || slices.ContainsFunc(of.Properties(), func(key string) bool {
		return naming.SecretKey(key) || holdsSecrets(of.At([]schema.Step{schema.Key(key)}).Schema, depth+1)
	})
}

// values adds what policies say of what stands there.
func (s *start) values(policies []*policy.Policy) {
	for _, one := range policies {
		for _, v := range one.Values {
			label := v.Said.Over(policy.Label{})
			at := s.add(v.Path, from(label, func(t taint) Hop {
				return Hop{Plan: s.plan, Span: v.Node.Span(), Words: fmt.Sprintf("%s says that it is %s", one.Title(), word(label, t))}
			}))
			at.open = at.open || one.Counts && v.Said.Confidentiality != nil
		}
	}
}

// advised says that advisors, which are models, have seen all that stands there.
func (s *start) advised(given value) {
	v := s.all
	if v.join(given); v == nothing {
		return
	}
	s.add([]expression.Segment{{Key: "advice"}}, v.over(Hop{Plan: s.plan, Words: "advisors were shown it"}))
}

func word(l policy.Label, t taint) string {
	if t == untrusted {
		return l.Integrity.String()
	}
	return l.Confidentiality.String()
}
