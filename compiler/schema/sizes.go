package schema

// A size is how many there are: characters, items, properties.
type size struct{ min, max int }

var anySize = size{max: maxCount}

func (z size) holds(n int) bool { return z.min <= n && n <= z.max }

// sized is the goal of being of a size.
type sized size

func (g sized) apply(_ *prover, s *state) bool { return s.size().narrow(size(g)) }

func atLeast(n int) sized { return sized{n, maxCount} }
func atMost(n int) sized  { return sized{0, n} }

// size is that of the state's kind.
func (s *state) size() *size {
	switch s.kind {
	case String:
		return &s.text.size
	case Array:
		return &s.array.size
	}
	return &s.object.size
}

// narrow is false where nothing is left.
func (z *size) narrow(by size) bool {
	z.min, z.max = max(z.min, by.min), min(z.max, by.max)
	return z.min <= z.max
}

// refusals are the sizes that it doesn't hold.
func (z size) refusals() []goal {
	var options []goal
	if z.min > 0 {
		options = append(options, atMost(z.min-1))
	}
	if z.max < maxCount {
		options = append(options, atLeast(z.max+1))
	}
	return options
}

// Lengths are how many items the lists among the values that the schema accepts may have, at least and at most, by its
// keywords; most is -1 where they don't bound it.
func (s *Schema) Lengths() (least, most int) {
	z := s.ready().lengths(maxShape)
	if z.max == maxCount {
		return z.min, -1
	}
	return z.min, max(z.min, z.max)
}

func (n *node) lengths(depth int) size {
	z := anySize
	if depth == 0 || n.verdict != depends {
		return z
	}
	if n.values != nil {
		z = across(n.values, func(v any) (size, bool) { list, ok := v.([]any); return size{len(list), len(list)}, ok })
	}
	if a := n.arrays; a != nil {
		z.narrow(a.size)
		if a.rest != nil && a.rest.verdict == never {
			z.narrow(size{0, len(a.prefix)})
		}
	}
	if n.ref != nil {
		z.narrow(n.ref.lengths(depth - 1))
	}
	for _, x := range n.allOf {
		z.narrow(x.lengths(depth - 1))
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		if list != nil {
			z.narrow(across(list, func(x *node) (size, bool) { return x.lengths(depth - 1), x.possible()&Array != 0 }))
		}
	}
	return z
}

// across are the sizes of those of several that have one.
func across[T any](all []T, of func(T) (size, bool)) size {
	hull, some := size{min: maxCount}, false
	for _, one := range all {
		if z, ok := of(one); ok {
			hull, some = size{min(hull.min, z.min), max(hull.max, z.max)}, true
		}
	}
	if !some {
		return anySize
	}
	return hull
}
