package ast

// A Size is how many there are: characters, items, properties.
type Size struct{ Min, Max int }

var AnySize = Size{Max: MaxCount}

func (z Size) Holds(n int) bool { return z.Min <= n && n <= z.Max }

// Narrow is false where nothing is left.
func (z *Size) Narrow(by Size) bool {
	z.Min, z.Max = max(z.Min, by.Min), min(z.Max, by.Max)
	return z.Min <= z.Max
}
