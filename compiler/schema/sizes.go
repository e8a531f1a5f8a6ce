package schema

// A size is how many there are: characters, items, properties.
type size struct{ min, max int }

var anySize = size{max: maxCount}

func (z size) holds(n int) bool { return z.min <= n && n <= z.max }

// sized is the goal of being of a size.
type sized size

func (g sized) apply(_ *prover, s *state) bool { return s.size().narrow(size(g)) }

func (g sized) foresee(s *state) outlook {
	z := s.size()
	switch {
	case max(z.min, g.min) > min(z.max, g.max):
		return hopeless
	case g.min <= z.min && z.max <= g.max:
		return sure
	}
	return open
}

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
