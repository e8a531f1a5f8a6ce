package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

func (p *parser) ref(k string, v any) {
	text, ok := p.string(k, v)
	if !ok {
		return
	}
	if p.node.unit.draft >= Draft6 && !formats["uri-reference"](text) {
		p.fail(k, "", "%q isn't a URI reference", text)
		return
	}
	p.reader.refs = append(p.reader.refs, pendingRef{p.node, k, text})
}

// resolve finds what a reference means.
func (r *reader) resolve(p pendingRef) {
	target, fault, help := r.target(p.node, p.ref)
	if r.full {
		return
	}
	if fault != "" {
		r.fail(p.node, []string{p.keyword}, help, "%s", fault)
		return
	}
	n := p.node
	switch p.keyword {
	case "$ref":
		n.ref = target
	case "$dynamicRef":
		anchor := p.ref[strings.IndexByte(p.ref, '#')+1:]
		n.dynamic = &dynamicRef{target: target, anchor: anchor}
		if anchor == "" || anchor[0] == '/' || target.base == nil || target.base.dynamic[anchor] != target {
			n.dynamic.anchor = "/" // nothing dynamic about it
		}
		r.dynamics = append(r.dynamics, n)
	case "$recursiveRef":
		n.dynamic = &dynamicRef{target: target}
		r.dynamics = append(r.dynamics, n)
	}
}

func (r *reader) target(n *node, ref string) (target *node, fault, help string) {
	u := n.unit
	uri, fragment, _ := strings.Cut(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	at := n.base
	if uri != "" {
		uri = resolveURI(n.base.uri, uri)
		if at = u.resources[uri]; at == nil {
			if d, ok := dialectOf(uri); ok && fragment == "" {
				return &node{unit: detached, kinds: Anything, meta: metaURL[d], raw: map[string]any{"$ref": uri}}, "", ""
			}
			return nil, fmt.Sprintf("%q is outside of this document", ref), r.help(u, ref)
		}
	}
	switch {
	case fragment == "":
		return at.root, "", ""
	case fragment[0] != '/':
		if target := at.anchors[fragment]; target != nil {
			return target, "", ""
		}
		return nil, fmt.Sprintf("no schema here has the anchor %q", fragment), ""
	}
	tokens := strings.Split(fragment[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	root := at.root
	if own, _ := root.raw.(map[string]any); uri == "" && tokens[0] == "schemas" && len(tokens) > 1 && own["schemas"] == nil {
		if root = r.named(tokens[1]); root == nil {
			return nil, fmt.Sprintf("the document has no schema %q", tokens[1]), r.help(u, ref)
		}
		tokens = tokens[2:]
	}
	if target = r.follow(root, tokens); target == nil {
		return nil, fmt.Sprintf("%q leads to nothing", ref), ""
	}
	return target, "", ""
}

// help suggests how to write a reference that leads nowhere.
func (r *reader) help(u *unit, ref string) string {
	names := slices.Sorted(maps.Keys(r.family.options.Defs))
	name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "schemas/")
	if slices.Contains(names, name) {
		return fmt.Sprintf(`write "#/schemas/%s"`, strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
	}
	if strings.HasPrefix(ref, "#/schemas/") {
		if len(names) == 0 {
			return "define it under schemas"
		}
		return "there are " + strings.Join(names, ", ")
	}
	return `a reference reaches "#/…" inside the schema and "#/schemas/…" in the document; no file and no URL is ever read`
}

// named is the root of one of the document's named schemas, or nil.
func (r *reader) named(name string) *node {
	raw, ok := r.family.options.Defs[name]
	if !ok || name == "" { // "" is the schema itself
		return nil
	}
	u := r.family.units[name]
	if u == nil {
		u = r.unit(name, raw)
	}
	return u.root
}

// follow goes along a JSON pointer, through schemas as long as they go along
// it and through plain JSON after that.
func (r *reader) follow(n *node, tokens []string) *node {
	for len(tokens) > 0 {
		child, used := n.child(tokens)
		if child == nil {
			return r.oddPlace(n, tokens)
		}
		n, tokens = child, tokens[used:]
	}
	return n
}

func (n *node) child(tokens []string) (*node, int) {
	for _, c := range n.children {
		if c.keyword != tokens[0] {
			continue
		}
		if c.key == "" && !c.keyed() {
			return c, 1
		}
		if len(tokens) > 1 && c.key == tokens[1] {
			return c, 2
		}
	}
	return nil, 0
}

// oddPlace reads the schema at a place where no keyword puts one.
func (r *reader) oddPlace(n *node, tokens []string) *node {
	raw, there := along(n.raw, tokens)
	if !there {
		return nil
	}
	path := append(n.path(), tokens...)
	key := strings.Join(path, "\x00")
	u := n.unit
	if found := u.odd[key]; found != nil {
		return found
	}
	odd := &node{unit: u, parent: u.root, odd: path}
	if _, ok := raw.(bool); !ok {
		if _, ok := raw.(map[string]any); !ok {
			r.fail(odd, nil, "", "a schema is an object, true or false; a reference leads here, and here is %s", describe(raw))
			return odd
		}
	}
	found := r.oddNode(u, path, raw, n.base)
	if found == nil {
		return odd
	}
	u.odd[key] = found
	return found
}

func (r *reader) oddNode(u *unit, path []string, raw any, base *resource) *node {
	// The parent has to be there before anything below fails and asks for a path.
	parent := &node{unit: u, parent: u.root, odd: path}
	n := r.node(u, parent, "", "", raw, base, 0)
	if n != nil {
		n.parent, n.odd = u.root, path
	}
	return n
}

// resolveURI resolves a relative reference; one that can't be is left as it is.
func resolveURI(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

var metaURL = map[Dialect]string{
	Draft4:    "http://json-schema.org/draft-04/schema",
	Draft6:    "http://json-schema.org/draft-06/schema",
	Draft7:    "http://json-schema.org/draft-07/schema",
	Draft2019: "https://json-schema.org/draft/2019-09/schema",
	Draft2020: "https://json-schema.org/draft/2020-12/schema",
}

// settleScopes makes dynamic references that can lead to one place only into
// ordinary ones, which is nearly all of them.
func (r *reader) settleScopes() {
	if len(r.dynamics) == 0 {
		return
	}
	anchors, recursive := map[string]int{}, 0
	for _, u := range r.family.units {
		seen := map[*resource]bool{}
		for _, res := range u.resources {
			if seen[res] {
				continue
			}
			seen[res] = true
			if res.recursive {
				recursive++
			}
			for name := range res.dynamic {
				anchors[name]++
			}
		}
	}
	var scoped []*node
	for _, n := range r.dynamics {
		d := n.dynamic
		fixed := d.anchor == "/" || d.anchor != "" && anchors[d.anchor] < 2 ||
			d.anchor == "" && (recursive < 2 || !d.target.base.recursive || d.target.base.root != d.target)
		if !fixed {
			scoped = append(scoped, n)
			continue
		}
		n.dynamic = nil
		if n.ref == nil {
			n.ref = d.target
		} else {
			n.allOf = append(slices.Clone(n.allOf), d.target)
		}
	}
	if r.family.scoped = scoped != nil; r.family.scoped {
		r.spreadScope(scoped)
	}
}

// spreadScope marks all nodes that lead to one of those whose reference depends on
// the dynamic scope.
func (r *reader) spreadScope(scoped []*node) {
	var nodes []*node
	for _, u := range r.family.units {
		nodes = append(nodes, u.root)
		nodes = slices.AppendSeq(nodes, maps.Values(u.odd))
	}
	above := map[*node][]*node{}
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		nodes = append(nodes, n.children...)
		visit := func(x *node) { above[x] = append(above[x], n) }
		n.inPlace(visit)
		n.below(visit)
	}
	for len(scoped) > 0 {
		n := scoped[len(scoped)-1]
		if scoped = scoped[:len(scoped)-1]; !n.scoped {
			n.scoped = true
			scoped = append(scoped, above[n]...)
		}
	}
}

// checkLoops refuses schemas that apply themselves to the same value for ever,
// and those whose references multiply beyond the limit.
func (r *reader) checkLoops(root *node) {
	const open = -1
	sizes := map[*node]int{}
	var order []*node
	var size func(n *node) int
	size = func(n *node) int {
		if s, ok := sizes[n]; ok {
			return max(s, 1)
		}
		sizes[n] = open
		order = append(order, n)
		total := 1
		if m, ok := n.raw.(map[string]any); ok {
			total += len(m)
		}
		add := func(x *node) { total = min(total+size(x), maxKeywords+1) }
		n.inPlace(add)
		n.below(add)
		sizes[n] = total
		return total
	}
	if size(root) > maxKeywords {
		r.stop(root, fmt.Sprintf("with its references expanded a schema can have %d keywords, and this one has more", maxKeywords),
			"references that meet the same schema again and again multiply; refer to it fewer times")
		return
	}

	state := map[*node]int8{} // 1 while open, 2 when done
	var walk func(n *node)
	walk = func(n *node) {
		state[n] = 1
		n.inPlace(func(x *node) {
			switch state[x] {
			case 0:
				walk(x)
			case 1:
				r.fail(n, nil, "let a reference back lead through a property or an item", "this schema applies itself to the same value for ever")
			}
		})
		state[n] = 2
	}
	for _, n := range order {
		if state[n] == 0 {
			walk(n)
		}
	}
}
