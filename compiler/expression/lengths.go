package expression

// AnyLength is the most items of a list with no known bound. Whole numbers without one are between it and its negative.
const AnyLength = 1<<31 - 1

// An Interval is what is known of a whole number: how small and how large it may be.
type Interval struct{ Least, Most int }

// AnyNumber is an unknown number, AnyItems the length of an unknown list.
var (
	AnyNumber = Interval{-AnyLength, AnyLength}
	AnyItems  = Interval{0, AnyLength}
)

// With is an interval that has all numbers of two.
func (a Interval) With(b Interval) Interval {
	return Interval{min(a.Least, b.Least), max(a.Most, b.Most)}
}

// plus has the sums of the numbers of two intervals.
func (a Interval) plus(b Interval) Interval {
	return Interval{max(a.Least+b.Least, -AnyLength), min(a.Most+b.Most, AnyLength)}
}

func (a Interval) negative() Interval { return Interval{-a.Most, -a.Least} }

// positive has the numbers of an interval, and 0 for those below it.
func (a Interval) positive() Interval { return Interval{max(0, a.Least), max(0, a.Most)} }

// Known is what is known of the values of an expression's references: how many items a list has, and which number a
// number is.
type Known struct{ Items, Number func(ref int) Interval }

// Items is how many items the list has that a part of an expression results in. Nothing is known of anything but a
// list.
func (n *Node) Items(known Known) Interval {
	switch {
	case n.Op == OpRef:
		return known.Items(n.Index)
	case n.Op == OpList:
		return Interval{len(n.Args), len(n.Args)}
	case n.fn != nil && n.fn.items != nil:
		return n.fn.items(n, known)
	}
	return AnyItems
}

// number is what is known of the whole number that a node results in.
func (n *Node) number(known Known) Interval {
	v, ok := integer(n.Value)
	switch {
	case n.Op == OpRef:
		return known.Number(n.Index)
	case n.Op == OpLiteral && ok && v <= AnyLength && v >= -AnyLength:
		return Interval{v, v}
	case n.Op == OpNegate:
		return n.Args[0].number(known).negative()
	case n.Op == OpAdd:
		return n.Args[0].number(known).plus(n.Args[1].number(known))
	case n.Op == OpSubtract:
		return n.Args[0].number(known).plus(n.Args[1].number(known).negative())
	case n.Op == OpCall && n.Name == "len":
		return n.Args[0].Items(known)
	}
	return AnyNumber
}

// What is known of the lists that operators and functions result in.

func asMany(n *Node, known Known) Interval { return n.Args[0].Items(known) }
func atMost(n *Node, known Known) Interval { return Interval{0, n.Args[0].Items(known).Most} }

func distinct(n *Node, known Known) Interval {
	list := n.Args[0].Items(known)
	return Interval{min(list.Least, 1), list.Most}
}

func taken(n *Node, known Known) Interval {
	list, count := n.Args[0].Items(known), n.Args[1].number(known)
	return Interval{min(list.Least, count.Least), min(list.Most, count.Most)}.positive()
}

func spanned(n *Node, known Known) Interval {
	return n.Args[1].number(known).plus(n.Args[0].number(known).negative()).plus(Interval{1, 1}).positive()
}

func allOperands(n *Node, known Known) (all Interval) {
	for _, a := range n.Args {
		all = all.plus(a.Items(known))
	}
	return all
}

func lastOperand(n *Node, known Known) Interval { return n.Args[len(n.Args)-1].Items(known) }

func someOperand(n *Node, known Known) Interval {
	all := lastOperand(n, known)
	for i, a := range n.Args {
		if n.Op == OpFallback || i > 0 {
			all = all.With(a.Items(known))
		}
	}
	return all
}

// sliced is the length of a slice. A bound below 0 counts from the end.
func sliced(n *Node, known Known) Interval {
	list, from, to := n.Args[0].Items(known), Interval{}, Interval{AnyLength, AnyLength}
	for i, bound := range []*Interval{&from, &to} {
		if n.Args[i+1] == nil {
			continue
		}
		if *bound = n.Args[i+1].number(known); bound.Least != bound.Most {
			return Interval{0, list.Most}
		}
	}
	if from.Least < 0 && to.Least >= 0 && to.Least < AnyLength { // longer lists give shorter ones
		return Interval{0, min(list.Most, to.Least, -from.Least)}
	}
	of := func(length int) int {
		cut := func(at int) int {
			if at < 0 {
				at += length
			}
			return max(0, min(at, length))
		}
		return max(0, cut(to.Least)-cut(from.Least))
	}
	return Interval{of(list.Least), of(list.Most)}
}
