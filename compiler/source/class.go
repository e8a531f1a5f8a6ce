package source

// A class is a set of bytes.
type class [256]bool

func classOf(in func(c byte) bool) *class {
	var c class
	for i := range c {
		c[i] = in(byte(i))
	}
	return &c
}

// end is where the run of bytes of the class at text[i:] ends.
func (c *class) end(text string, i int) int {
	for i < len(text) && c[text[i]] {
		i++
	}
	return i
}
