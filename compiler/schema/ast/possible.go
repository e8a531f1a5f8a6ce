package ast

// Possible are the kinds of which the node may accept a value: none of its keywords excludes them by kind.
func (n *Node) Possible() Kinds {
	if n.Verdict == Never {
		return 0
	}
	k := n.Kinds
	if n.Values != nil {
		k &= kindsOf(n.Values)
	}
	if n.Ref != nil {
		k &= n.Ref.Possible()
	}
	for _, x := range n.AllOf {
		k &= x.Possible()
	}
	for _, list := range [][]*Node{n.AnyOf, n.OneOf} {
		if list != nil {
			var of Kinds
			for _, x := range list {
				of |= x.Possible()
			}
			k &= of
		}
	}
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
