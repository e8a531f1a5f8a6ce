package request

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A bundler copies JSON Schemas into a request, their members in the order in
// which they were written. What they refer to is carried along under one "$defs",
// so that the copy needs no other document, and everything is brought to draft
// 2020-12, because a text has one dialect. A reference that this can't follow
// (dynamic ones, and those by an anchor or the URL of a "$id") is left out: what it
// would demand isn't demanded.
type bundler struct {
	plan *plan.Plan

	defs      Object
	names     map[variant]string // of definitions
	lossy     map[string]bool    // of definitions: a reference was left out
	taken     map[string]int     // names of definitions, and how many there are like it
	instances Object             // the schema of what names one, once it is needed

	lost int // references that were left out so far
}

// A variant is a schema with what its references are relative to.
type variant struct{ root, node *source.Node }

// A unit is what references are relative to: a root, and for a tool's "_output"
// the tool around it, which lends its definitions.
type unit struct{ root, around *source.Node }

// old reports whether the unit is of a draft in which nothing counts beside a $ref.
func (u unit) old() bool {
	dialect := u.root.Get("$schema")
	if dialect == nil {
		dialect = u.around.Get("$schema")
	}
	return strings.Contains(dialect.AsText(), "/draft-0")
}

// deepest is how many levels of a schema are copied. A request has to be readable
// again; what lies deeper is left to the check of each call.
const deepest = 16

// alone is the copy of a schema that is self-contained.
func (s Context) alone(u unit, n *source.Node) any {
	w := &bundler{plan: s.Plan}
	copied, ok := w.schema(u, n, 0).(Object)
	if !ok {
		return Of(n)
	}
	if len(w.defs) > 0 {
		copied = append(copied, Member{"$defs", w.defs})
	}
	return copied
}

// schema copies one schema.
func (w *bundler) schema(u unit, n *source.Node, depth int) any {
	switch {
	case n.Kind != source.Object:
		return Of(n)
	case depth > deepest:
		return Object{}
	}
	out := Object{}
	alone := u.old() && n.Get("$ref") != nil
	for _, f := range n.Fields {
		if !alone || f.Key.Text == "$ref" {
			out = w.keyword(out, u, n, f, depth)
		}
	}
	return out
}

// Keywords that need more than to be copied.
var (
	// What names a place or a dialect: the copy has neither.
	placing = []string{"$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment",
		"$defs", "definitions"}
	// What speaks of the same value,
	inPlace = []string{"allOf", "anyOf"}
	// and demands less where a reference was left out.
	choosing    = []string{"not", "if", "then", "else"}
	unevaluated = []string{"unevaluatedItems", "unevaluatedProperties"}
	// What speaks of a value inside.
	within = []string{"additionalProperties", "contains", "propertyNames"}
)

// keyword appends the copy of one keyword of n.
func (w *bundler) keyword(out Object, u unit, n *source.Node, f source.Field, depth int) Object {
	key, value := f.Key.Text, f.Value
	add := func(key string, value any) Object { return append(out, Member{key, value}) }
	below := func(n *source.Node) any { return w.schema(u, n, depth+1) }
	listed := func(each func(*source.Node) any) []any {
		list := make([]any, len(value.Items))
		for i, item := range value.Items {
			list[i] = each(item)
		}
		return list
	}
	mapped := func(each func(*source.Node) any) Object {
		all := Object{}
		for _, f := range value.Fields {
			all = append(all, Member{f.Key.Text, each(f.Value)})
		}
		return all
	}

	switch {
	case strings.HasPrefix(key, "x-"), slices.Contains(placing, key):
		return out
	case key == "$ref", key == "$dynamicRef", key == "$recursiveRef":
		to, ok := w.target(u, value.AsText())
		if !ok || key != "$ref" {
			w.lost++
			return out
		}
		name := w.define(to)
		if w.lossy[name] {
			w.lost++
		}
		return add(key, "#/$defs/"+name)
	case key == "oneOf":
		before := w.lost
		all := listed(below)
		if w.lost > before { // they can't be told apart
			return add("anyOf", all)
		}
		return add(key, all)
	case slices.Contains(inPlace, key):
		return add(key, listed(below))
	case slices.Contains(choosing, key), slices.Contains(unevaluated, key):
		before := w.lost
		copied := below(value)
		if w.lost > before {
			return out
		}
		return add(key, copied)
	case key == "properties", key == "patternProperties", key == "dependentSchemas":
		return add(key, mapped(below))
	case slices.Contains(within, key), key == "items" && value.Kind != source.Array:
		return add(key, below(value))
	case key == "prefixItems", key == "items":
		return add("prefixItems", listed(below))
	case key == "additionalItems":
		if items := n.Get("items"); items != nil && items.Kind == source.Array {
			return add("items", below(value))
		}
		return out
	case key == "dependencies":
		return add("dependentSchemas", mapped(func(n *source.Node) any { return dependent(n, below) }))
	case strings.HasPrefix(key, "exclusive") && value.Kind == source.Bool:
		return out // draft 4: it belongs to its neighbour
	case n.Get("exclusiveM" + strings.TrimPrefix(key, "m")).IsTrue():
		return add("exclusiveM"+key[1:], Of(value))
	}
	return add(key, Of(value))
}

// dependent is a part of draft 7's "dependencies" as one of "dependentSchemas".
func dependent(n *source.Node, copied func(*source.Node) any) any {
	if n.Kind == source.Array {
		return Object{{"required", Of(n)}}
	}
	return copied(n)
}

type target struct {
	unit unit
	node *source.Node
	name string // what a definition of it is called
}

// target follows a reference inside its unit, or into the document's named
// schemas.
func (w *bundler) target(u unit, ref string) (target, bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	switch {
	case ok && fragment == "":
		return target{u, u.root, "self"}, true
	case !ok || fragment[0] != '/':
		return target{}, false
	}
	tokens := strings.Split(fragment[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	name := tokens[len(tokens)-1]
	if tokens[0] == "schemas" && len(tokens) > 1 && u.root.Get("schemas") == nil {
		root := w.plan.NamedSchemas[tokens[1]]
		n := along(root, tokens[2:])
		return target{unit{root: root}, n, name}, n != nil
	}
	n := along(u.root, tokens)
	if n == nil && slices.Contains([]string{"$defs", "definitions"}, tokens[0]) {
		n = along(u.around, tokens)
	}
	return target{u, n, name}, n != nil
}

// along goes down a JSON pointer; nil when it leads to nothing.
func along(n *source.Node, tokens []string) *source.Node {
	for _, token := range tokens {
		next := n.Get(token)
		if n != nil && n.Kind == source.Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		n = next
	}
	return n
}

func (w *bundler) define(to target) string {
	v := variant{to.unit.root, to.node}
	if name, ok := w.names[v]; ok {
		return name
	}
	if w.names == nil {
		w.names, w.lossy = map[variant]string{}, map[string]bool{}
	}
	name := w.name(to.name)
	w.names[v] = name
	at, before := len(w.defs), w.lost
	w.defs = append(w.defs, Member{Key: name})
	copied := w.schema(to.unit, to.node, 0) // may define others
	w.defs[at].Value, w.lossy[name] = copied, w.lost > before
	return name
}

// name makes a name that can be in a reference as it is, and that no other
// definition has.
func (w *bundler) name(like string) string {
	like = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, like)
	if w.taken == nil {
		w.taken = map[string]int{}
	}
	name := like
	for w.taken[name] > 0 {
		w.taken[like]++
		name = like + strconv.Itoa(w.taken[like])
	}
	w.taken[name] = 1
	return name
}
