package expression

import (
	"iter"
	"slices"
)

// loop evaluates a function that looks at each item of a list.
func (m *evaluation) loop(n *Node) any {
	base := m.want(n.Args[0], Array, n)
	// The start of reduce and the order of sortBy are outside of the loop.
	var extra any
	if len(n.Args) == 3 {
		extra = m.want(n.Args[2], n.fn.params[2].kinds, n)
	}
	list := base.([]any)
	m.grow(n, n.fn.grow*len(list))
	m.scopes = append(m.scopes, scope{})
	defer func() { m.scopes = m.scopes[:len(m.scopes)-1] }()
	return n.fn.loop(m, n, list, extra)
}

// turn evaluates the loop's expression for one item.
func (m *evaluation) turn(n *Node, list []any, i int) any {
	top := len(m.scopes) - 1
	m.scopes[top].item, m.scopes[top].index = list[i], i
	if len(n.Args) > 1 {
		return m.want(n.Args[1], n.fn.params[1].kinds, n)
	}
	m.step(n, 1) // sum and count of the items themselves
	if kinds := n.fn.params[1].kinds; kindOf(list[i])&kinds == 0 {
		panic(abandoned{mismatch(n, quote(n.Name), " of each item", kinds, kindOf(list[i]))})
	}
	return list[i]
}

// next is the index of the first item, in an order, that the loop's condition accepts or refuses; -1 if there is none.
func (m *evaluation) next(n *Node, list []any, order iter.Seq2[int, any], accepted bool) int {
	for i := range order {
		if m.turn(n, list, i) == accepted {
			return i
		}
	}
	return -1
}

// search is a loop that results in something of the index of the first item, in an order, that its condition accepts or
// refuses.
func search(
	order func([]any) iter.Seq2[int, any], accepted bool, result func(list []any, i int) any,
) func(*evaluation, *Node, []any, any) any {
	return func(m *evaluation, n *Node, list []any, _ any) any {
		return result(list, m.next(n, list, order(list), accepted))
	}
}

func isNone(_ []any, i int) any  { return i < 0 }
func isFound(_ []any, i int) any { return i >= 0 }

func one(m *evaluation, n *Node, list []any, _ any) any { return count(m, n, list, nil) == 1.0 }

func count(m *evaluation, n *Node, list []any, _ any) any {
	passed := 0.0
	for i := range list {
		if m.turn(n, list, i) == true {
			passed++
		}
	}
	return passed
}

func itemAt(list []any, i int) any {
	if i < 0 {
		return nil
	}
	return list[i]
}

func indexOrNull(_ []any, i int) any {
	if i < 0 {
		return nil
	}
	return float64(i)
}

func filter(m *evaluation, n *Node, list []any, _ any) any {
	out := []any{}
	for i := range list {
		if m.turn(n, list, i) == true {
			m.grow(n, listItem)
			out = append(out, list[i])
		}
	}
	return out
}

func mapItems(m *evaluation, n *Node, list []any, _ any) any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = m.turn(n, list, i)
	}
	return out
}

func sum(m *evaluation, n *Node, list []any, _ any) any {
	total := 0.0
	for i := range list {
		total += m.turn(n, list, i).(float64)
	}
	return m.finite(n, total)
}

// groupBy puts the items into lists by what the expression results in.
func groupBy(m *evaluation, n *Node, list []any, _ any) any {
	out := map[string]any{}
	for i := range list {
		key, _ := keyText(m.turn(n, list, i))
		bytes := listItem
		items, known := out[key].([]any)
		if !known {
			bytes += objectField + len(key)
		}
		m.grow(n, bytes)
		out[key] = append(items, list[i])
	}
	return out
}

// keyText is a scalar as the key of an object.
func keyText(v any) (string, bool) {
	switch v.(type) {
	case string, float64, bool:
		return AsText(v)
	}
	return "", false
}

func sortBy(m *evaluation, n *Node, list []any, order any) any {
	descending := descending(n, 2, order)
	type pair struct{ item, key any }
	pairs := make([]pair, len(list))
	for i := range list {
		pairs[i] = pair{list[i], m.turn(n, list, i)}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return m.sortOrder(n.Args[1], a.key, b.key, descending) })
	out := make([]any, len(list))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out
}

// descending reads the order of a sort: none, "asc" or "desc".
func descending(n *Node, argument int, order any) bool {
	if len(n.Args) > argument && order != "asc" && order != "desc" {
		panic(failure(n.Args[argument], "the order of a sort is \"asc\" or \"desc\"", ""))
	}
	return order == "desc"
}

// sortOrder compares two values for a sort.
func (m *evaluation) sortOrder(n *Node, a, b any, descending bool) int {
	m.step(n, 2)
	if descending {
		a, b = b, a
	}
	order, ok := m.compare(n, a, b)
	if !ok {
		panic(failure(n, kindOf(a).String()+" can't be compared with "+kindOf(b).String(), ""))
	}
	return order
}

func reduce(m *evaluation, n *Node, list []any, start any) any {
	top := len(m.scopes) - 1
	from := 0
	if len(n.Args) < 3 {
		if len(list) == 0 {
			help := "give it a start: reduce(list, #acc + #, 0)"
			panic(failure(n, "\"reduce\" of an empty list has no value", help).of(OfValue))
		}
		start, from = list[0], 1
	}
	m.scopes[top].acc = start
	for i := from; i < len(list); i++ {
		acc := m.turn(n, list, i)
		m.scopes[top].acc = acc
	}
	return m.scopes[top].acc
}
