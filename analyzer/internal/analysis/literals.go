package analysis

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
type Literals struct {
	// Refused receives what a schema doesn't accept, and its path: .x[0].
	Refused func(at source.Span, below, why string)
	// Value, if set, receives each refused value with the schema.
	Value func(n *source.Node, s *schema.Schema)
	// Given, if set, receives the required properties that are present, and their object.
	Given func(f plan.TemplateField, below string)
}

// Judge compares a template with a schema; key is the key of its mapping, nil in a list.
func (l *Literals) Judge(t *plan.Template, key *source.Node, s *schema.Schema, below string) {
	refuse := func(why string) { l.Refused(PlaceAt(key, t.Node, nil), below, why) }
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			l.Refused(PlaceAt(key, t.Node, bad.Path), below+bad.Where(), bad.Message)
			if l.Value != nil {
				l.Value(t.Node.Along(bad.Path), s.At(flow.Steps(bad.Path)).Schema)
			}
		}
	case t.Items != nil:
		if s.Kinds()&schema.Array == 0 {
			refuse("expected " + s.Kinds().String() + ", got a list")
			return
		}
		for i, item := range t.Items {
			if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
				l.Judge(item, nil, at.Schema, fmt.Sprintf("%s[%d]", below, i))
			}
		}
	case s.Kinds()&schema.Object == 0:
		refuse("expected " + s.Kinds().String() + ", got a mapping")
	default:
		for _, required := range s.Required() {
			at := slices.IndexFunc(t.Fields, func(f plan.TemplateField) bool { return f.Key == required })
			if at < 0 {
				refuse("the property " + Quote(required) + " is missing")
			} else if l.Given != nil {
				l.Given(t.Fields[at], below)
			}
		}
		for _, f := range t.Fields {
			if at := s.Part(f.Key); at.Possible {
				l.Judge(f.Value, f.Node, at.Schema, below+"."+f.Key)
			} else {
				l.Refused(f.Node.Span(), below, "the property "+Quote(f.Key)+" isn't allowed")
			}
		}
	}
}

// PlaceAt follows a path from a node, whose key is given where it has one, into the text. The place of a mapping or
// list that isn't in one line with its key is that key, or else its first line.
func PlaceAt(key, n *source.Node, path []any) source.Span {
	for _, step := range path {
		var next *source.Node
		switch step := step.(type) {
		case string:
			for i := range n.Fields {
				if n.Fields[i].Key.Text == step {
					key, next = n.Fields[i].Key, n.Fields[i].Value
				}
			}
		case int:
			if step < len(n.Items) {
				key, next = nil, n.Items[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	span := n.Span()
	if key != nil && (n.Kind == source.Object || n.Kind == source.Array) && key.Span().From().Line != span.To().Line {
		return key.Span()
	}
	return span.Head()
}
