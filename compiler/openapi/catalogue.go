package openapi

import (
	"maps"

	"github.com/obelus-dev/obelus/compiler/lock"
)

// Imported are the operations that became tools.
func (a *API) Imported() (all []*Operation) {
	for _, o := range a.Operations {
		if o.Refused == "" {
			all = append(all, o)
		}
	}
	return all
}

// Catalogue is the file of definitions that the imported operations make: tools, the
// activities that carry them out, and the schemas that they share.
func (a *API) Catalogue() map[string]any {
	tools, activities := map[string]any{}, map[string]any{}
	for _, o := range a.Imported() {
		tools[o.Name], activities[o.Name] = o.tool, o.activity
	}
	out := map[string]any{"tools": tools, "activities": activities}
	if len(a.schemas) > 0 {
		out["schemas"] = a.schemas
	}
	return out
}

// Locked is what is locked of the imported operations.
func (a *API) Locked() (all []lock.Tool) {
	for _, o := range a.Imported() {
		t := lock.Tool{Name: o.Name, Operation: o.String(), Request: o.request, Input: o.input, Output: o.output, Annotations: maps.Clone(o.hints)}
		if text, _ := o.tool["description"].(string); text != "" {
			t.Description = lock.Digest(text)
		}
		all = append(all, t)
	}
	return all
}

// Schemas are those that the tools refer to, by name.
func (a *API) Schemas() map[string]any { return a.schemas }
