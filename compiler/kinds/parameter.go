package kinds

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
)

// What can be in an address, in a field, and in a field that may be sent several times, as JSON Schemas.
var (
	asSegment = map[string]any{"type": []any{"string", "number", "boolean"}}
	asItem    = map[string]any{"type": []any{"string", "number", "boolean", "null"}}
	asField   = map[string]any{"type": []any{"string", "number", "boolean", "null", "array"}, "items": asItem}
	asForm    = map[string]any{"type": "object", "additionalProperties": asField}
)

// HTTPParameter is a JSON Schema of the values of a parameter that the request can be made of, by their kinds
// alone; nil where it can be made of any. What is refused besides ([HTTPRequest]) depends on the values.
func HTTPParameter(h *plan.HTTP, parameter string) any {
	var all []any
	takes := func(n *source.Node, what map[string]any) {
		if n.Kind != source.String || !reference.IsExpression(n.Text) {
			return
		}
		ref, err := reference.Parse(n.Text)
		if err != nil || ref.Kind != parameter {
			return
		}
		for _, s := range slices.Backward(ref.Path) {
			if s.IsIndex {
				return
			}
			what = map[string]any{"properties": map[string]any{s.Key: what}}
		}
		all = append(all, what)
	}
	field := func(n *source.Node) {
		takes(n, asField)
		for _, item := range n.Items {
			takes(item, asItem)
		}
	}
	if slices.Contains(append(parametersIn(h.Path), parametersIn(h.Search)...), parameter) {
		all = append(all, asSegment)
	}
	for _, f := range slices.Concat(h.Query, h.Headers) {
		field(f.Value)
	}
	switch {
	case h.Sends != plan.BodyForm:
	case h.Body == nil && !h.Taken[parameter]:
		all = append(all, asField)
	case h.Body != nil:
		takes(h.Body, asForm)
		for _, f := range h.Body.Fields {
			field(f.Value)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return map[string]any{"allOf": all}
}
