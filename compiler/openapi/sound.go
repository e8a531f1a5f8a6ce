package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// finish translates the schemas that operations refer to, leaves out what is wrong in them, and keeps those that the
// imported operations lead to.
func (r *reading) finish() {
	for ; len(r.waiting) > 0; r.waiting = r.waiting[1:] {
		r.referred(prefix + r.waiting[0])
	}
	r.bound()
	for _, o := range r.Imported() {
		o.tool = r.fitting(o, o.tool, "parameters").(map[string]any)
		if o.output != nil {
			o.tool["properties"].(map[string]any)["_output"] = r.fitting(o, o.output, "result")
		}
	}
	kept, seen := map[string]any{}, map[string]bool{}
	for _, o := range r.Imported() {
		catalogue.Reach(o.tool, r.schemas, seen, func(name string) { kept[name] = r.schemas[name] })
	}
	r.schemas = kept
}

// bound cuts references between schemas that are too large with all that they refer to, so that each has at least its
// own properties.
func (r *reading) bound() {
	users := map[string][]string{}
	for name, v := range r.schemas {
		cut(v, func(to string) bool { users[to] = append(users[to], name); return false })
	}
	fine, large := map[string]bool{}, map[string]bool{} // with all that they refer to
	for _, name := range slices.Sorted(maps.Keys(r.schemas)) {
		if large[name] || fine[name] {
			continue
		}
		reference := map[string]any{"$ref": prefix + name}
		fault := r.fault(reference)
		for ; fault != nil && !fault.Limit; fault = r.fault(reference) {
			at := cmp.Or(fault.Def, name)
			r.note(noteOf(r.named[at].node, "the schema %q may be anything: %s", at, fault.Message))
			r.schemas[at] = true
		}
		if fault == nil {
			catalogue.Reach(reference, r.schemas, fine, func(string) {})
			continue
		}
		for waiting := []string{name}; len(waiting) > 0; waiting = waiting[1:] {
			if at := waiting[0]; !large[at] {
				large[at] = true
				waiting = append(waiting, users[at]...)
			}
		}
	}
	all := slices.Sorted(maps.Keys(large))
	for _, name := range all {
		r.schemas[name] = cut(r.schemas[name], func(to string) bool { return large[to] })
	}
	if len(all) > 0 {
		r.note(noteOf(r.named[all[0]].node,
			"%s too large, such as %q; where one refers to another of them it may be anything",
			wording.Counted(len(all), "schema is", "schemas are"), all[0]))
	}
}

// cut is a schema without its references to some others.
func cut(v any, which func(name string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			text, _ := value.(string)
			if name, refers := strings.CutPrefix(text, prefix); !refers || key != "$ref" {
				out[key] = cut(value, which)
			} else if !which(name) {
				out[key] = value
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cut(v[i], which)
		}
		return out
	}
	return v
}

// emptySteps bounds the search for a value of one schema, and emptyBudget that for values
// of all that a document has.
const (
	emptySteps  = 2_000
	emptyBudget = 2_000_000
)

// fault is what is wrong with a schema, or nil.
func (r *reading) fault(v any) *schema.SchemaError {
	fault, _ := schema.New(v, schema.Options{Defs: r.schemas}).Compile().(*schema.SchemaError)
	return fault
}

// fitting is a schema of an operation, valid and not too large; else one that accepts everything, but names the
// parameters.
func (r *reading) fitting(o *Operation, v any, what string) any {
	why := "no value fits the schema"
	if fault := r.fault(v); fault != nil {
		why = fault.Message
	} else if !schema.Empty(schema.New(v, schema.Options{Defs: r.schemas}), emptySteps, &r.left) {
		return v
	}
	r.note(noteOf(o.Node, "the %s of %s: %s, so nothing is checked", what, o, why))
	if what == "result" {
		return true
	}
	properties := o.tool["properties"].(map[string]any)
	for name := range properties {
		properties[name] = true
	}
	return o.tool
}
