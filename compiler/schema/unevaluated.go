package schema

// evaluatesNamesOnly reports whether nothing but properties that the node or its
// parts declare by name can count as evaluated.
func (n *node) evaluatesNamesOnly() bool {
	names := n.dynamic == nil && n.meta == "" && (n.objects == nil || n.objects.additional == nil && n.objects.patterns == nil)
	n.inPlace(func(x *node) {
		names = names && (x == n.not || (x.objects == nil || x.objects.unevaluated == nil) && x.evaluatesNamesOnly())
	})
	return names
}
