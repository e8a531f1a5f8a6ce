package ast

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// resolve finds what a reference means.
func (r *reader) resolve(p pendingRef) {
	target, fault, help := r.target(p.node, p.ref)
	switch {
	case r.full:
	case fault != "":
		r.fail(p.node, []string{"$ref"}, help, "%s", fault)
	default:
		p.node.Ref = target
	}
}

func (r *reader) target(n *Node, ref string) (target *Node, fault, help string) {
	u := n.Unit
	uri, fragment, _ := strings.Cut(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	base := n.base
	if uri != "" {
		base = resolveURI(base, uri)
	}
	root := u.ids[base]
	switch {
	case root == nil:
		return nil, fmt.Sprintf("%q is outside of this document", ref), r.help(ref)
	case fragment == "":
		return root, "", ""
	case fragment[0] != '/':
		if target := u.ids[base+"#"+fragment]; target != nil {
			return target, "", ""
		}
		return nil, fmt.Sprintf("no schema here has the anchor %q", fragment), ""
	}
	tokens := strings.Split(fragment[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	if own, _ := root.Raw.(map[string]any); uri == "" && tokens[0] == "schemas" && len(tokens) > 1 &&
		own["schemas"] == nil {
		if root = r.named(tokens[1]); root == nil {
			return nil, fmt.Sprintf("the document has no schema %q", tokens[1]), r.help(ref)
		}
		tokens = tokens[2:]
	}
	if target = r.follow(root, tokens); target == nil {
		return nil, fmt.Sprintf("%q leads to nothing", ref), ""
	}
	return target, "", ""
}

// help suggests how to write a reference that leads nowhere.
func (r *reader) help(ref string) string {
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
	return `a reference reaches "#/…" inside the schema and "#/schemas/…" in the document; ` +
		`no file and no URL is ever read`
}

// named is the root of one of the document's named schemas, or nil.
func (r *reader) named(name string) *Node {
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
// it. A schema where no keyword puts one is read then.
func (r *reader) follow(n *Node, tokens []string) *Node {
	for len(tokens) > 0 {
		child, used := n.child(tokens)
		if child == nil || child.Verdict == unread && used == len(tokens) {
			raw, there := any(nil), false
			switch v := n.Raw.(type) {
			case map[string]any:
				raw, there = v[tokens[0]]
			case []any:
				if i, err := strconv.Atoi(tokens[0]); err == nil && i >= 0 && i < len(v) {
					raw, there = v[i], true
				}
			}
			if !there {
				return nil
			}
			if used = 1; len(tokens) == 1 {
				n.Children = slices.DeleteFunc(n.Children, func(x *Node) bool { return x == child })
				return r.node(n.Unit, n, tokens[0], "", raw, n.base, 0)
			}
			child = &Node{Unit: n.Unit, parent: n, keyword: tokens[0], Raw: raw, base: n.base, Verdict: unread}
			n.Children = append(n.Children, child)
		}
		n, tokens = child, tokens[used:]
	}
	return n
}

func (n *Node) child(tokens []string) (*Node, int) {
	for _, c := range n.Children {
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

// checkLoops refuses schemas that apply themselves to the same value for ever,
// and those whose references multiply beyond the limit.
func (r *reader) checkLoops(root *Node) {
	const open = -1
	sizes := map[*Node]int{}
	var order []*Node
	var size func(n *Node) int
	size = func(n *Node) int {
		if s, ok := sizes[n]; ok {
			return max(s, 1)
		}
		sizes[n] = open
		order = append(order, n)
		total := 1
		if m, ok := n.Raw.(map[string]any); ok {
			total += len(m)
		}
		add := func(x *Node) { total = min(total+size(x), maxKeywords+1) }
		n.InPlace(add)
		n.Below(add)
		sizes[n] = total
		return total
	}
	if size(root) > maxKeywords {
		r.stop(root,
			fmt.Sprintf("with its references expanded a schema can have %d keywords, "+
				"and this one has more", maxKeywords),
			"references that meet the same schema again and again multiply; refer to it fewer times")
		return
	}

	state := map[*Node]int8{} // 1 while open, 2 when done
	var walk func(n *Node)
	walk = func(n *Node) {
		state[n] = 1
		n.InPlace(func(x *Node) {
			switch state[x] {
			case 0:
				walk(x)
			case 1:
				r.fail(n, nil, "let a reference back lead through a property or an item",
					"this schema applies itself to the same value for ever")
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
