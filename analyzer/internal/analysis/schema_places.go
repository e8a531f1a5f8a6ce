package analysis

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A schemaPlace is a schema that stands somewhere in a document.
type schemaPlace struct {
	What  string         // which schema it is a part of, for a message
	Node  *source.Node   // an object
	Root  *schema.Schema // what it is a part of; nil where the place isn't one of a value
	Steps []schema.Step  // the place of the values in those of the whole
	Tool  bool           // the node is a tool's definition as well
	takes bool           // it is a tool's parameters, among which its meta-fields may stand
}

// maxSchemaPlaces bounds how many schemas are looked at one by one.
const maxSchemaPlaces = 20_000

// SchemaPlaces are the schemas of a document and those inside of them, the outer before
// the inner. A mapping that several aliases repeat is listed once.
func SchemaPlaces(p *Pass) []schemaPlace {
	w := &schemaWalk{seen: map[source.Span]bool{}}
	for _, t := range p.Plan.Tools {
		if t.Builtin || t.Node == nil {
			continue
		}
		what, parameters := "the tool "+Quote(t.Name), t.Node
		if in := t.Node.Get("inputSchema"); in != nil {
			w.add(schemaPlace{What: what, Node: t.Node, Tool: true})
			parameters = in
		}
		if t.OutputNode != nil {
			w.add(schemaPlace{What: "the result of " + Quote(t.Name), Node: t.OutputNode, Root: t.Output})
		}
		w.add(schemaPlace{What: what, Node: parameters, Root: t.Parameters, Tool: parameters == t.Node, takes: true})
	}
	root := p.Plan.Root
	for _, own := range []struct {
		key string
		s   *schema.Schema
	}{{"inputSchema", p.Plan.InputSchema}, {"stateSchema", p.Plan.StateSchema}, {"outputSchema", p.Plan.OutputSchema}} {
		if n := root.Get(own.key); n != nil {
			w.add(schemaPlace{What: Quote(own.key), Node: n, Root: own.s})
		}
	}
	if named := root.Get("schemas"); named != nil {
		for _, f := range named.Fields {
			w.add(schemaPlace{What: "the schema " + Quote(f.Key.Text), Node: f.Value})
		}
	}
	return w.all
}

type schemaWalk struct {
	all  []schemaPlace
	seen map[source.Span]bool
}

func (w *schemaWalk) add(at schemaPlace) {
	n := at.Node
	if n == nil || n.Kind != source.Object || w.seen[n.Span()] || len(w.all) >= maxSchemaPlaces {
		return
	}
	w.seen[n.Span()] = true
	w.all = append(w.all, at)
	for _, f := range n.Fields {
		inner, value := schemaPlace{What: at.What, Node: f.Value}, f.Value
		switch f.Key.Text {
		case "properties":
			for _, property := range value.Fields {
				inner.Node, inner.Root, inner.Steps = property.Value, at.Root,
					append(slices.Clip(at.Steps), schema.Key(property.Key.Text))
				if at.takes && strings.HasPrefix(property.Key.Text, "_") {
					inner.Root = nil
				}
				w.add(inner)
			}
		case "patternProperties", "$defs", "definitions", "dependentSchemas":
			for _, one := range value.Fields {
				inner.Node = one.Value
				w.add(inner)
			}
		case "anyOf", "allOf", "oneOf", "prefixItems":
			for _, one := range value.Items {
				inner.Node = one
				w.add(inner)
			}
		case "items":
			if n.Get("prefixItems") == nil {
				inner.Root, inner.Steps = at.Root, append(slices.Clip(at.Steps), schema.Index(0))
			}
			w.add(inner)
		case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "unevaluatedItems",
			"unevaluatedProperties", "additionalItems":
			w.add(inner)
		}
	}
}
