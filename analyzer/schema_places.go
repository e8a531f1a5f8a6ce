package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A schemaPlace is a schema that stands somewhere in a document.
type schemaPlace struct {
	what  string         // which schema it is a part of, for a message
	node  *source.Node   // an object
	root  *schema.Schema // what it is a part of; nil where the place isn't one of a value
	steps []schema.Step  // the place of the values in those of the whole
	tool  bool           // the node is a tool's definition as well
	takes bool           // it is a tool's parameters, among which its meta-fields may stand
}

// maxSchemaPlaces bounds how many schemas are looked at one by one.
const maxSchemaPlaces = 20_000

// schemaPlaces are the schemas of a document and those inside of them, the outer before
// the inner. A mapping that several aliases repeat is listed once.
func schemaPlaces(p *Pass) []schemaPlace {
	w := &schemaWalk{seen: map[source.Span]bool{}}
	for _, t := range p.Plan.Tools {
		if t.Builtin || t.Node == nil {
			continue
		}
		what, parameters := "the tool "+quote(t.Name), t.Node
		if in := t.Node.Get("inputSchema"); in != nil {
			w.add(schemaPlace{what: what, node: t.Node, tool: true})
			parameters = in
		}
		if t.OutputNode != nil {
			w.add(schemaPlace{what: "the result of " + quote(t.Name), node: t.OutputNode, root: t.Output})
		}
		w.add(schemaPlace{what: what, node: parameters, root: t.Parameters, tool: parameters == t.Node, takes: true})
	}
	root := p.Plan.Root
	for _, own := range []struct {
		key string
		s   *schema.Schema
	}{{"inputSchema", p.Plan.InputSchema}, {"stateSchema", p.Plan.StateSchema}, {"outputSchema", p.Plan.OutputSchema}} {
		if n := root.Get(own.key); n != nil {
			w.add(schemaPlace{what: quote(own.key), node: n, root: own.s})
		}
	}
	if named := root.Get("schemas"); named != nil {
		for _, f := range named.Fields {
			w.add(schemaPlace{what: "the schema " + quote(f.Key.Text), node: f.Value})
		}
	}
	return w.all
}

type schemaWalk struct {
	all  []schemaPlace
	seen map[source.Span]bool
}

func (w *schemaWalk) add(at schemaPlace) {
	n := at.node
	if n == nil || n.Kind != source.Object || w.seen[n.Span()] || len(w.all) >= maxSchemaPlaces {
		return
	}
	w.seen[n.Span()] = true
	w.all = append(w.all, at)
	for _, f := range n.Fields {
		inner, value := schemaPlace{what: at.what, node: f.Value}, f.Value
		switch f.Key.Text {
		case "properties":
			for _, property := range value.Fields {
				inner.node, inner.root, inner.steps = property.Value, at.root, append(slices.Clip(at.steps), schema.Key(property.Key.Text))
				if at.takes && strings.HasPrefix(property.Key.Text, "_") {
					inner.root = nil
				}
				w.add(inner)
			}
		case "patternProperties", "$defs", "definitions", "dependentSchemas":
			for _, one := range value.Fields {
				inner.node = one.Value
				w.add(inner)
			}
		case "anyOf", "allOf", "oneOf", "prefixItems":
			for _, one := range value.Items {
				inner.node = one
				w.add(inner)
			}
		case "items":
			if n.Get("prefixItems") == nil {
				inner.root, inner.steps = at.root, append(slices.Clip(at.steps), schema.Index(0))
			}
			w.add(inner)
		case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "additionalItems":
			w.add(inner)
		}
	}
}
