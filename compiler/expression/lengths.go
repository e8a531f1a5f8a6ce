package expression

import "slices"

// AnyLength is the most items of a list with no known bound.
const AnyLength = 1<<31 - 1

// An Interval is how few and how many items a list may have.
type Interval struct{ Least, Most int }

// AnyItems is the length of an unknown list.
var AnyItems = Interval{0, AnyLength}

// With is an interval that has all numbers of two.
func (a Interval) With(b Interval) Interval {
	return Interval{min(a.Least, b.Least), max(a.Most, b.Most)}
}

// Lengths is how many items the list of a reference has.
type Lengths func(ref int) Interval

// Items is how many items the list has that a part of an expression results in. Nothing is known of anything but a
// list.
func (n *Node) Items(known Lengths) Interval {
	switch {
	case n.Op == OpRef:
		return known(n.Index)
	case n.Op == OpList:
		return Interval{len(n.Args), len(n.Args)}
	case n.Op == OpFallback:
		all := n.Args[0].Items(known)
		for _, a := range n.Args[1:] {
			all = all.With(a.Items(known))
		}
		return all
	case n.fn != nil && n.fn.items != nil:
		return n.fn.items(n, n.Args[0].Items(known))
	}
	return AnyItems
}

// IsCut reports whether how many items a list has depends on a number that isn't written out: the end of a range, the
// count of take, a bound of a slice.
func (n *Node) IsCut() bool {
	return n.any(func(n *Node) bool {
		numbers := n.Args
		switch {
		case n.Op == OpSlice || n.Op == OpCall && n.Name == "take":
			numbers = n.Args[1:]
		case n.Op != OpRange:
			return false
		}
		return slices.ContainsFunc(numbers, func(a *Node) bool { return a != nil && a.Op != OpLiteral })
	})
}

// written is the whole number that is written as an operand. One that is left out is the other one given.
func (n *Node) written(operand, otherwise int) (int, bool) {
	a := n.Args[operand]
	if a == nil {
		return otherwise, true
	}
	v, ok := integer(a.Value)
	return v, ok && a.Op == OpLiteral
}

// What is known of the lists that operators and functions result in, by what is known of their first operand.

func asMany(_ *Node, list Interval) Interval { return list }
func atMost(_ *Node, list Interval) Interval { return Interval{0, list.Most} }

func taken(n *Node, list Interval) Interval {
	count, ok := n.written(1, 0)
	if !ok || count < 0 {
		return atMost(n, list)
	}
	return Interval{min(list.Least, count), min(list.Most, count)}
}

func spanned(n *Node, _ Interval) Interval {
	from, ok := n.written(0, 0)
	to, both := n.written(1, 0)
	if !ok || !both {
		return AnyItems
	}
	length := min(max(0, to-from+1), AnyLength)
	return Interval{length, length}
}

func sliced(n *Node, list Interval) Interval {
	from, ok := n.written(1, 0)
	to, both := n.written(2, AnyLength)
	switch {
	case ok && from < 0 && n.Args[2] == nil: // the last ones
		return Interval{min(list.Least, -from), min(list.Most, -from)}
	case !ok || !both || from < 0 || to < 0:
		return atMost(n, list)
	}
	return Interval{max(0, min(to, list.Least)-from), max(0, min(to, list.Most)-from)}
}
