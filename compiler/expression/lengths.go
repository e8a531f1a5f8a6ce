package expression

// AnyLength is the most items of a list with no known bound. Whole numbers without one are between it and its negative.
const AnyLength = 1<<31 - 1

// An Interval is what is known of a whole number: how small and how large it may be.
type Interval struct{ Least, Most int }

// AnyNumber is a number of which nothing is known, AnyItems the length of a list of which nothing is.
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

// Items is how many items the list has that a part of an expression results in. Nothing is known of anything but a list.
func (n *Node) Items(known Known) Interval {
	of := func(i int) Interval { return n.Args[i].Items(known) }
	switch n.Op {
	case OpRef:
		return known.Items(n.Index)
	case OpList:
		return Interval{len(n.Args), len(n.Args)}
	case OpFallback, OpCond:
		all := of(len(n.Args) - 1)
		for i := range n.Args[:len(n.Args)-1] {
			if n.Op == OpFallback || i > 0 {
				all = all.With(of(i))
			}
		}
		return all
	case OpGate:
		return of(len(n.Args) - 1)
	case OpRange:
		length := n.Args[1].number(known).plus(n.Args[0].number(known).negative())
		return length.plus(Interval{1, 1}).positive()
	case OpSlice:
		return n.sliced(known)
	case OpLoop, OpCall:
		switch n.Name {
		case "map", "sortBy", "sort", "reverse":
			return of(0)
		case "filter":
			return Interval{0, of(0).Most}
		case "uniq":
			return Interval{min(of(0).Least, 1), of(0).Most}
		case "take":
			count := n.Args[1].number(known)
			return Interval{min(of(0).Least, count.Least), min(of(0).Most, count.Most)}.positive()
		case "concat":
			var all Interval
			for i := range n.Args {
				all = all.plus(of(i))
			}
			return all
		}
	}
	return AnyItems
}

// number is what is known of the whole number that a node results in.
func (n *Node) number(known Known) Interval {
	switch n.Op {
	case OpRef:
		return known.Number(n.Index)
	case OpLiteral:
		if v, ok := integer(n.Value); ok && v <= AnyLength && v >= -AnyLength {
			return Interval{v, v}
		}
	case OpNegate:
		return n.Args[0].number(known).negative()
	case OpAdd:
		return n.Args[0].number(known).plus(n.Args[1].number(known))
	case OpSubtract:
		return n.Args[0].number(known).plus(n.Args[1].number(known).negative())
	case OpCall:
		if n.Name == "len" {
			return n.Args[0].Items(known)
		}
	}
	return AnyNumber
}

// sliced is the length of a slice. A bound below 0 counts from the end.
func (n *Node) sliced(known Known) Interval {
	list := n.Args[0].Items(known)
	from, to := Interval{}, AnyNumber // which counts as the end
	for i, bound := range []*Interval{&from, &to} {
		if n.Args[i+1] == nil {
			continue
		}
		if *bound = n.Args[i+1].number(known); bound.Least != bound.Most {
			return Interval{0, list.Most}
		}
	}
	if from.Least < 0 && to.Least >= 0 { // longer lists give shorter ones
		return Interval{0, min(list.Most, to.Least, -from.Least)}
	}
	of := func(length int) int {
		cut := func(at int) int {
			if at < 0 {
				at += length
			}
			return max(0, min(at, length))
		}
		end := length
		if to != AnyNumber {
			end = cut(to.Least)
		}
		return max(0, end-cut(from.Least))
	}
	return Interval{of(list.Least), of(list.Most)}
}
