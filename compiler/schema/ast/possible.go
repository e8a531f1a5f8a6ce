package ast

// Possible are the kinds of values that the node may accept: none of its keywords excludes them by kind.
func (n *Node) Possible() Kinds {
	if n.Verdict == Never {
		return 0
	}
	k := n.Kinds
	if n.Values != nil {
		k &= kindsOf(n.Values)
	}
	k = Combined(n, k, func(a, b Kinds) Kinds { return a & b }, func(a, b Kinds) Kinds { return a | b },
		func(x *Node) (Kinds, bool) { return x.Possible(), true })
	if n.Not != nil {
		k &^= n.Not.FullKinds()
	}
	if n.Cond != nil && (n.Then != nil || n.Other != nil) {
		then, other := n.Cond.Possible(), Anything&^n.Cond.FullKinds()
		if n.Then != nil {
			then &= n.Then.Possible()
		}
		if n.Other != nil {
			other &= n.Other.Possible()
		}
		k &= then | other
	}
	return k
}

// Combined is what a node says of a value, and the nodes that it applies to the same: a reference and all of allOf with
// each other, and of anyOf and oneOf what one of those that count says.
func Combined[T any](n *Node, own T, both, either func(a, b T) T, of func(*Node) (T, bool)) T {
	for _, x := range n.AllOf {
		said, _ := of(x)
		own = both(own, said)
	}
	if n.Ref != nil {
		said, _ := of(n.Ref)
		own = both(own, said)
	}
	for _, list := range [][]*Node{n.AnyOf, n.OneOf} {
		var all *T
		for _, x := range list {
			said, counts := of(x)
			switch {
			case !counts:
			case all == nil:
				all = &said
			default:
				*all = either(*all, said)
			}
		}
		if all != nil {
			own = both(own, *all)
		}
	}
	return own
}

// FullKinds are kinds whose values the node accepts, all of them; the set can be too
// small, never too large.
func (n *Node) FullKinds() Kinds {
	switch n.Verdict {
	case Never:
		return 0
	case Always:
		return Anything
	}
	if n.Values != nil || n.OneOf != nil || n.Not != nil || n.Cond != nil {
		return 0
	}
	k := n.Kinds
	if n.Numbers != nil {
		k &^= Number
	}
	if r := n.Strings; r != nil && (r.Pattern != nil || r.Size != AnySize || r.Valid != nil) {
		k &^= String
	}
	if n.Arrays != nil {
		k &^= Array
	}
	if n.Objects != nil {
		k &^= Object
	}
	if n.Ref != nil {
		k &= n.Ref.FullKinds()
	}
	for _, x := range n.AllOf {
		k &= x.FullKinds()
	}
	if n.AnyOf != nil {
		var of Kinds
		for _, x := range n.AnyOf {
			of |= x.FullKinds()
		}
		k &= of
	}
	return k
}

// Plain goes through nodes that are nothing but a reference.
func (n *Node) Plain() *Node {
	for range maxKeywords {
		if n.Ref == nil || n.Kinds != Anything || n.Values != nil || n.AllOf != nil || n.AnyOf != nil ||
			n.OneOf != nil ||
			n.Not != nil || n.Cond != nil || n.Numbers != nil || n.Strings != nil || n.Arrays != nil ||
			n.Objects != nil {
			break
		}
		n = n.Ref
	}
	return n
}

// Secret reports whether the schema says that its value is a secret.
func (n *Node) Secret() bool {
	raw, _ := n.Raw.(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

// Constant is the node of some values.
func Constant(values ...any) *Node {
	return &Node{Unit: Detached, Kinds: kindsOf(values), Values: values}
}
