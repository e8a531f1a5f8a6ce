package openapi

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// settle translates the schemas that operations refer to, finds out which operations have
// what they need, and gives the schemas their names.
func (r *reading) settle() {
	for i := 0; i < len(r.order); i++ {
		r.translate(r.order[i])
	}
	r.refuseExternal()
	r.findTwins()
	r.name()
	r.schemas = map[string]any{}
	for _, n := range r.order {
		if n.name != "" {
			r.schemas[n.name] = rendered(n.value)
		}
	}
	for _, o := range r.Operations {
		if o.Refused == "" {
			r.finish(o)
		}
	}
	r.keepReached()
	slices.SortStableFunc(r.Notes, func(a, b Note) int { return a.At.Start - b.At.Start })
	for _, name := range slices.Sorted(maps.Keys(r.holds)) {
		r.Variables = append(r.Variables, Variable{name, r.holds[name]})
	}
}

// spread gives to whatever leads to some schemas, directly or through others, what these
// are given.
func (r *reading) spread(from []*named, give func(to, from *named) bool) {
	above := map[*named][]*named{}
	for _, n := range r.order {
		for _, to := range n.refs {
			above[to] = append(above[to], n)
		}
	}
	for len(from) > 0 {
		n := from[0]
		from = from[1:]
		for _, up := range above[n] {
			if give(up, n) {
				from = append(from, up)
			}
		}
	}
}

// refuseExternal refuses the operations that need what is outside of the document.
func (r *reading) refuseExternal() {
	var outer []*named
	for _, n := range r.order {
		if n.external != nil {
			outer = append(outer, n)
		}
	}
	r.spread(outer, func(to, from *named) bool {
		news := to.external == nil
		if news {
			to.external = from.external
		}
		return news
	})
	for _, o := range r.Operations {
		if o.Refused == "" && o.scope.external != nil {
			at := o.scope.external
			o.refuse(refuse(at, Outside, "%q is outside of the document, and only the document itself is read", at.Text))
		}
	}
}

// findTwins lets a schema be one for both directions where nothing in it is only read or
// only written.
func (r *reading) findTwins() {
	var apart []*named
	for _, n := range r.order {
		if n.pruned {
			apart = append(apart, n)
		}
	}
	r.spread(apart, func(to, from *named) bool {
		news := !to.pruned
		to.pruned = true
		return news
	})
	for _, n := range r.order {
		if other := r.named[pointer{n.ref, response}]; n.dir == request && n.node != nil && other != nil && !n.pruned {
			n.duplicate = other
		}
	}
}

// name gives the schemas their names: that of the document, and where values that are sent
// are others than those that come, one that says so.
func (r *reading) name() {
	taken := map[string]int{}
	for _, n := range r.order {
		if n.node == nil || n.duplicate != nil {
			continue
		}
		tokens := tokensOf(n.ref)
		words := tokens[max(0, len(tokens)-1):]
		if len(tokens) != 3 || tokens[0] != "components" {
			words = tokens[max(0, len(tokens)-4):]
		}
		name := strings.Trim(notSchemaName.ReplaceAllString(strings.Join(words, "_"), "_"), "_")
		if name == "" {
			name = "schema"
		}
		if n.dir == request && r.named[pointer{n.ref, response}] != nil {
			name += "Input"
		}
		n.name = unique(taken, name)
		r.byName[n.name] = n
	}
}

// rendered is a schema with names in the place of links.
func rendered(v any) any {
	switch v := v.(type) {
	case link:
		if v.to.duplicate != nil {
			v.to = v.to.duplicate
		}
		return "#/schemas/" + v.to.name
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = rendered(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rendered(v[i])
		}
		return out
	}
	return v
}

// maxMends is how many faults of one schema are left out before all of it is.
const maxMends = 100

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
		if inner, there := v[path[0]]; len(path) == 1 || !there {
			delete(out, path[0])
		} else {
			out[path[0]] = without(inner, path[1:])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			if strconv.Itoa(i) == path[0] {
				out[i] = without(out[i], path[1:])
			}
		}
		return out
	}
	return true
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

const contradictory = "a schema contradicts itself"

const tooLarge = "a schema is larger than one may be"

// fitting is a schema of an operation with names in the place of links, valid and not too large.
func (r *reading) fitting(o *Operation, v any, what string) any {
	full := rendered(v)
	for range maxMends {
		wrong := compile(full, r.schemas)
		switch {
		case wrong == nil:
			if r.relax(full) {
				continue
			}
			return full
		case wrong.Limit:
			r.note(o.Node, tooLarge, "the %s of %s aren't checked: %s", what, o, wrong.Message)
			return open(full, what)
		case wrong.Def != "":
			n := r.byName[wrong.Def]
			r.note(n.node.Follow(wrong.Path), malformed, "%s is left out of the schema %q: %s", keywordOf(wrong.Path), wrong.Def, wrong.Message)
			r.schemas[wrong.Def] = without(r.schemas[wrong.Def], wrong.Path)
		default:
			r.note(o.Node, malformed, "%s is left out of the %s of %s: %s", keywordOf(wrong.Path), what, o, wrong.Message)
			full = without(full, wrong.Path)
		}
	}
	return open(full, what)
}

// emptySteps bounds the search for a value of one schema, and emptyBudget that for values
// of all that a document has.
const (
	emptySteps  = 2_000
	emptyBudget = 2_000_000
)

// relax looks for what makes that no value fits a schema, in what it refers to, such as
// parts of an object that are closed each for itself, and leaves of it what properties
// there are. It reports whether it found any.
func (r *reading) relax(v any) (found bool) {
	if !schema.Empty(r.compiled(v), emptySteps, &r.left) {
		return false
	}
	seen := map[string]bool{}
	catalogue.Reach(v, r.schemas, seen, func(name string) {
		if n := r.byName[name]; schema.Empty(r.compiled(r.schemas[name]), emptySteps, &r.left) && !n.relaxed {
			properties, budget := map[string]any{}, maxParts
			r.schemas[name] = true
			if r.flat(without(n.value, []string{"oneOf"}), &budget, properties, map[string]bool{}) {
				r.schemas[name] = map[string]any{"type": "object", "properties": rendered(properties)}
			}
			r.note(n.node, contradictory, "no value fits the schema %q; only the properties that it has are taken from it", name)
			n.relaxed, found = true, true
		}
	})
	return found
}

func (r *reading) compiled(v any) *schema.Schema {
	return schema.New(v, schema.Options{Defs: r.schemas})
}

// open is a schema of an operation that says nothing but the names of its parameters.
func open(v any, what string) any {
	m, ok := v.(map[string]any)
	if what == "result" || !ok {
		return true
	}
	out := map[string]any{"type": "object", "properties": map[string]any{}, "required": m["required"]}
	properties, _ := m["properties"].(map[string]any)
	for name := range properties {
		out["properties"].(map[string]any)[name] = true
	}
	if out["required"] == nil {
		delete(out, "required")
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

var notSchemaName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
