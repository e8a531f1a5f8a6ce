package openapi

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// settle translates the schemas that operations refer to, finds out which operations have
// what they need, gives the schemas their names, and leaves those that the imported operations lead to.
func (r *reading) settle() {
	for i := 0; i < len(r.order); i++ {
		r.translate(r.order[i])
	}
	r.spread()
	for _, o := range r.Operations {
		if o.Refused == nil {
			o.Refused = o.scope.broken
		}
	}
	r.name()
	r.schemas = map[string]any{}
	for name, n := range r.byName {
		r.schemas[name] = rendered(n.value, false)
	}
	r.bound()
	kept, seen := map[string]any{}, map[string]bool{}
	for _, o := range r.Imported() {
		o.tool = r.fitting(o, o.tool, "parameters").(map[string]any)
		if o.output != nil {
			o.tool["properties"].(map[string]any)["_output"] = r.fitting(o, o.output, "result")
		}
	}
	for _, o := range r.Imported() {
		catalogue.Reach(o.tool, r.schemas, seen, func(name string) { kept[name] = r.schemas[name] })
	}
	r.schemas = kept
}

// spread has each schema know what holds of it because it holds of one that it leads to.
func (r *reading) spread() {
	for again := true; again; {
		again = false
		for _, n := range slices.Backward(r.order) {
			for _, to := range n.refs {
				to = cmp.Or(to.duplicate, to)
				if to.pruned && !n.pruned || to.large && !n.large || to.broken != nil && n.broken == nil {
					n.pruned, n.large = n.pruned || to.pruned, n.large || to.large
					n.broken, again = cmp.Or(n.broken, to.broken), true
				}
			}
		}
	}
}

var notSchemaName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// name gives the schemas their names: that of the document, and where values that are sent
// are others than those that come, one that says so. A schema in which nothing is only read or
// only written is one for both directions.
func (r *reading) name() {
	taken := map[string]int{}
	for _, n := range r.order {
		other := r.named[pointer{n.node, response}]
		if n.dir == request && other != nil && !n.pruned {
			n.duplicate = other
		}
		if n.node == nil || n.duplicate != nil {
			continue
		}
		name := cmp.Or(strings.Trim(notSchemaName.ReplaceAllString(path.Base(n.ref), "_"), "_"), "schema")
		if n.dir == request && other != nil {
			name += "Input"
		}
		n.name = unique(taken, name)
		r.byName[n.name] = n
	}
}

// rendered is a schema with names in the place of links. References to large schemas may be cut.
func rendered(v any, cut bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if refers, is := value.(link); !is {
				out[key] = rendered(value, cut)
			} else if to := cmp.Or(refers.to.duplicate, refers.to); !cut || !to.large {
				out[key] = "#/schemas/" + to.name
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rendered(v[i], cut)
		}
		return out
	}
	return v
}

// maxFaults is how many faults of one schema are left out before all of it is.
const maxFaults = 100

// bound cuts references between schemas that are too large with all that they refer to, so that each has at least its
// own properties.
func (r *reading) bound() {
	fine := map[string]bool{} // with all that they refer to
	for _, n := range r.order {
		if n.name == "" || n.large || fine[n.name] {
			continue
		}
		reference := map[string]any{"$ref": "#/schemas/" + n.name}
		_, fault := r.sound(reference, func(*schema.SchemaError) bool { return false })
		if fault == nil {
			catalogue.Reach(reference, r.schemas, fine, func(string) {})
		} else if fault.Limit {
			n.large = true
			r.spread()
		}
	}
	var large []*named
	for _, n := range r.order {
		if n.large && n.name != "" {
			large = append(large, n)
			r.schemas[n.name] = rendered(n.value, true)
		}
	}
	if len(large) > 0 {
		r.note(noteOf(large[0].node, "%s too large, such as %q; where one refers to another of them it may be anything",
			wording.Counted(len(large), "schema is", "schemas are"), large[0].name))
	}
}

// sound is a schema without what is wrong in it. What is wrong in those that it refers to is left out of these. The
// fault, if any, is one that isn't left out: all of it is too large, or leave has refused the fault.
func (r *reading) sound(v any, leave func(*schema.SchemaError) bool) (less any, fault *schema.SchemaError) {
	for range maxFaults {
		fault, _ = schema.New(v, schema.Options{Defs: r.schemas}).Compile().(*schema.SchemaError)
		switch {
		case fault == nil || fault.Limit || fault.Def == "" && !leave(fault):
			return v, fault
		case fault.Def == "":
			v = without(v, fault.Path)
		default:
			n := r.byName[fault.Def]
			r.note(noteOf(n.node.Follow(fault.Path), "%s is left out of the schema %q: %s", keywordOf(fault.Path),
				fault.Def, fault.Message))
			r.schemas[fault.Def] = without(r.schemas[fault.Def], fault.Path)
		}
	}
	return v, fault
}

func keywordOf(path []string) string {
	if len(path) == 0 {
		return "everything"
	}
	return `"` + path[len(path)-1] + `"`
}

// without is a schema with the keyword at the end of a path taken out, or, below a "not",
// where less would be more, the "not".
func without(v any, path []string) any {
	if at := slices.Index(path, "not"); at >= 0 {
		path = path[:at+1]
	}
	if len(path) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		if path[0] == "patternProperties" {
			delete(out, "additionalProperties") // which would refuse the names that the pattern allowed
		}
		if inner, known := v[path[0]]; len(path) == 1 || !known {
			delete(out, path[0])
		} else {
			out[path[0]] = without(inner, path[1:])
		}
		return out
	case []any:
		out := slices.Clone(v)
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(out) {
			out[i] = without(out[i], path[1:])
		}
		return out
	}
	return true
}

// emptySteps bounds the search for a value of one schema, and emptyBudget that for values
// of all that a document has.
const (
	emptySteps  = 2_000
	emptyBudget = 2_000_000
)

// fitting is a schema of an operation with names in the place of links, valid and not too large; else one that accepts
// everything, but names the parameters.
func (r *reading) fitting(o *Operation, v any, what string) any {
	full, fault := r.sound(rendered(v, false), func(fault *schema.SchemaError) bool {
		r.note(noteOf(o.Node, "%s is left out of the %s of %s: %s", keywordOf(fault.Path), what, o, fault.Message))
		return true
	})
	switch {
	case fault != nil:
		r.note(noteOf(o.Node, "the %s of %s aren't checked: %s", what, o, fault.Message))
	case schema.Empty(schema.New(full, schema.Options{Defs: r.schemas}), emptySteps, &r.left):
		r.note(noteOf(o.Node, "the %s of %s: no value fits the schema, so nothing is checked", what, o))
	default:
		return full
	}
	if what == "result" {
		return true
	}
	properties := o.tool["properties"].(map[string]any)
	for name := range properties {
		properties[name] = true
	}
	return o.tool
}
