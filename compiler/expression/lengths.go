package expression

// Lengths are how many items a list may have that a part of an expression gives, from
// what is known of the lists that its references give: at least and at most. Of anything
// else than a list nothing is known.
func (p Part) Lengths(ref func(i int) (least, most int)) (least, most int) {
	n := p.node
	if n == nil {
		n = p.expr.tree()
	}
	return n.lengths(ref)
}

// AnyLength is the most items of a list with no known bound.
const AnyLength = 1<<31 - 1

func (n *node) lengths(ref func(i int) (least, most int)) (least, most int) {
	of := func(i int) (int, int) { return n.args[i].lengths(ref) }
	constant := func(i int) (int, bool) {
		if n.args[i] == nil || n.args[i].op != opLiteral && n.args[i].op != opNegate {
			return 0, false
		}
		sign, at := 1, n.args[i]
		if at.op == opNegate {
			sign, at = -1, at.args[0]
		}
		v, ok := integer(at.value)
		return sign * v, ok && at.op == opLiteral
	}
	switch n.op {
	case opRef:
		return ref(n.index)
	case opLiteral:
		if list, ok := n.value.([]any); ok {
			return len(list), len(list)
		}
	case opList:
		return len(n.args), len(n.args)
	case opFallback, opCond:
		from := 0
		if n.op == opCond {
			from = 1
		}
		least, most = of(from)
		for i := from + 1; i < len(n.args); i++ {
			a, b := of(i)
			least, most = min(least, a), max(most, b)
		}
		return least, most
	case opGate:
		return of(len(n.args) - 1)
	case opRange:
		if from, ok := constant(0); ok {
			if to, ok := constant(1); ok {
				return max(0, to-from+1), max(0, to-from+1)
			}
		}
	case opSlice:
		return n.sliced(constant, ref)
	case opLoop, opCall:
		switch n.name {
		case "map", "sortBy", "sort", "reverse":
			return of(0)
		case "filter":
			_, most = of(0)
			return 0, most
		case "uniq":
			least, most = of(0)
			return min(least, 1), most
		case "take":
			least, most = of(0)
			if count, ok := constant(1); ok {
				return max(0, min(least, count)), max(0, min(most, count))
			}
			return 0, most
		case "concat":
			for i := range n.args {
				a, b := of(i)
				least, most = least+a, min(most+b, AnyLength)
			}
			return least, most
		}
	}
	return 0, AnyLength
}

// sliced are the lengths of a slice. A bound below 0 counts from the end.
func (n *node) sliced(constant func(i int) (int, bool), ref func(i int) (least, most int)) (int, int) {
	least, most := n.args[0].lengths(ref)
	from, fixed := constant(1)
	to, ends := constant(2)
	if n.args[1] != nil && !fixed || n.args[2] != nil && !ends {
		return 0, most
	}
	of := func(length int) int {
		cut := func(at int) int {
			if at < 0 {
				at += length
			}
			return max(0, min(at, length))
		}
		end := length
		if n.args[2] != nil {
			end = cut(to)
		}
		return max(0, end-cut(from))
	}
	if from < 0 && n.args[2] != nil && to >= 0 { // longer lists give shorter ones
		return 0, min(most, to, -from)
	}
	return of(least), of(most)
}
