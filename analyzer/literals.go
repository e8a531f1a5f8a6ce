package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Literals are held against schemas: the values in a template, or the parts of them,
// that hold no expression. What an expression will give isn't judged here.
type literals struct {
	// refused receives what a schema doesn't accept, and its path: .x[0].
	refused func(at source.Span, below, why string)
	// value, if set, receives each refused value with the schema.
	value func(n *source.Node, s *schema.Schema)
	// given, if set, receives the required properties that are present, and their object.
	given func(f plan.TemplateField, below string)
}

// judge compares a template with a schema; key is the key of its mapping, nil in a list.
func (l *literals) judge(t *plan.Template, key *source.Node, s *schema.Schema, below string) {
	refuse := func(why string) { l.refused(placeAt(key, t.Node, nil), below, why) }
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			l.refused(placeAt(key, t.Node, bad.Path), below+bad.Where(), bad.Message)
			if l.value != nil {
				l.value(t.Node.Along(bad.Path), s.At(flow.Steps(bad.Path)).Schema)
			}
		}
	case t.Items != nil:
		if s.Kinds()&schema.Array == 0 {
			refuse("expected " + s.Kinds().String() + ", got a list")
			return
		}
		for i, item := range t.Items {
			if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
				l.judge(item, nil, at.Schema, fmt.Sprintf("%s[%d]", below, i))
			}
		}
	case s.Kinds()&schema.Object == 0:
		refuse("expected " + s.Kinds().String() + ", got a mapping")
	default:
		for _, required := range s.Required() {
			at := slices.IndexFunc(t.Fields, func(f plan.TemplateField) bool { return f.Key == required })
			if at < 0 {
				refuse("the property " + quote(required) + " is missing")
			} else if l.given != nil {
				l.given(t.Fields[at], below)
			}
		}
		for _, f := range t.Fields {
			if at := s.At([]schema.Step{schema.Key(f.Key)}); at.Possible {
				l.judge(f.Value, f.Node, at.Schema, below+"."+f.Key)
			} else {
				l.refused(f.Node.Span(), below, "the property "+quote(f.Key)+" isn't allowed")
			}
		}
	}
}
