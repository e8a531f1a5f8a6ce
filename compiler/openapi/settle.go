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
// what they need, and gives the schemas their names.
func (r *reading) settle() {
	for i := 0; i < len(r.order); i++ {
		r.translate(r.order[i])
	}
	r.spread()
	for _, o := range r.Operations {
		if o.Refused == nil && o.scope.broken != nil {
			o.Refused = o.scope.broken
		}
	}
	r.name()
	r.schemas = map[string]any{}
	for name, n := range r.byName {
		r.schemas[name] = rendered(n.value, nil)
	}
	r.bound()
	for _, o := range r.Operations {
		if o.Refused == nil {
			r.finish(o)
		}
	}
	r.keepReached()
}

// spread has each schema know what holds of it because it holds of one that it leads to.
func (r *reading) spread() {
	for again := true; again; {
		again = false
		for _, n := range slices.Backward(r.order) {
			for _, to := range n.refs {
				if to.duplicate != nil {
					to = to.duplicate
				}
				if to.pruned && !n.pruned || to.large && !n.large || to.broken != nil && n.broken == nil {
					n.pruned, n.large, n.broken = n.pruned || to.pruned, n.large ||
						to.large, cmp.Or(n.broken, to.broken)
					again = true
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

// rendered is a schema with names in the place of links, and without those that are left open.
func rendered(v any, open func(*named) bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			to, refers := value.(link)
			if refers && to.to.duplicate != nil {
				to.to = to.to.duplicate
			}
			switch {
			case !refers:
				out[key] = rendered(value, open)
			case open == nil || !open(to.to):
				out[key] = "#/schemas/" + to.to.name
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rendered(v[i], open)
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
		if fault := r.sound(reference); fault == nil {
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
			r.schemas[n.name] = rendered(n.value, func(to *named) bool { return to.large })
		}
	}
	if len(large) > 0 {
		r.note(noteOf(large[0].node, "%s too large, such as %q; where one refers to another of them it may be anything",
			wording.Counted(len(large), "schema is", "schemas are"), large[0].name))
	}
}

func (r *reading) compiled(v any) *schema.Schema {
	return schema.New(v, schema.Options{Defs: r.schemas})
}

// sound leaves what is wrong out of the schemas that a schema refers to. The fault that it
// returns is the first of the schema itself, or that it is too large.
func (r *reading) sound(v any) (fault *schema.SchemaError) {
	for range maxFaults {
		fault, _ = r.compiled(v).Compile().(*schema.SchemaError)
		if fault == nil || fault.Limit || fault.Def == "" {
			return fault
		}
		n := r.byName[fault.Def]
		r.note(noteOf(n.node.Follow(fault.Path), "%s is left out of the schema %q: %s", keywordOf(fault.Path),
			fault.Def, fault.Message))
		r.schemas[fault.Def] = without(r.schemas[fault.Def], fault.Path)
	}
	return fault
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

// WithoutPatterns is a schema without the patterns that can't be used, and what is wrong with each.
func WithoutPatterns(v any) (less any, faults []string) {
	for range maxFaults {
		fault, _ := schema.New(v, schema.Options{}).Compile().(*schema.SchemaError)
		if fault == nil || fault.Limit {
			break
		}
		last := fault.Path[max(0, len(fault.Path)-2):]
		if keywordOf(last) != `"pattern"` && !slices.Contains(last, "patternProperties") {
			break
		}
		v, faults = without(v, fault.Path), append(faults, fault.Message)
	}
	return v, faults
}

// finish gives an operation's tool its schemas.
func (r *reading) finish(o *Operation) {
	o.input = r.fitting(o, o.input, "parameters")
	maps.Copy(o.tool, o.input.(map[string]any))
	if o.output != nil {
		o.output = r.fitting(o, o.output, "result")
		properties := maps.Clone(o.tool["properties"].(map[string]any))
		properties["_output"] = o.output
		o.tool["properties"] = properties
	}
}

// emptySteps bounds the search for a value of one schema, and emptyBudget that for values
// of all that a document has.
const (
	emptySteps  = 2_000
	emptyBudget = 2_000_000
)

// fitting is a schema of an operation with names in the place of links, valid and not too large.
func (r *reading) fitting(o *Operation, v any, what string) any {
	full := rendered(v, nil)
	for range maxFaults {
		fault := r.sound(full)
		switch {
		case fault == nil && schema.Empty(r.compiled(full), emptySteps, &r.left):
			r.Notes = append(r.Notes,
				*noteOf(o.Node, "the %s of %s: no value fits the schema, so nothing is checked", what, o))
			return open(full, what)
		case fault == nil:
			return full
		case fault.Limit:
			r.note(noteOf(o.Node, "the %s of %s aren't checked: %s", what, o, fault.Message))
			return open(full, what)
		default:
			r.note(noteOf(o.Node, "%s is left out of the %s of %s: %s", keywordOf(fault.Path), what, o, fault.Message))
			full = without(full, fault.Path)
		}
	}
	return open(full, what)
}

// open is a schema of an operation that says nothing but the names of its parameters.
func open(v any, what string) any {
	m, ok := v.(map[string]any)
	if what == "result" || !ok {
		return true
	}
	out := map[string]any{"type": "object", "properties": map[string]any{}}
	if m["required"] != nil {
		out["required"] = m["required"]
	}
	properties, _ := m["properties"].(map[string]any)
	for name := range properties {
		out["properties"].(map[string]any)[name] = true
	}
	return out
}

// keepReached leaves the schemas that the imported operations lead to.
func (r *reading) keepReached() {
	kept, seen := map[string]any{}, map[string]bool{}
	for _, o := range r.Imported() {
		catalogue.Reach(o.tool, r.schemas, seen, func(name string) { kept[name] = r.schemas[name] })
	}
	r.schemas = kept
}
