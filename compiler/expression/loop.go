package expression

import "slices"

// loops are the functions that look at each item of a list with an expression
// of their own.
var loops = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "count": true, "sum": true,
	"find": true, "findIndex": true, "findLast": true, "findLastIndex": true,
	"groupBy": true, "sortBy": true, "reduce": true,
}

// loop evaluates one of loops.
func (m *evaluation) loop(n *node) any {
	base := m.run(n.args[0])
	list, ok := base.([]any)
	if !ok {
		panic(m.fail(n.args[0], quote(n.name)+" wants a list, and got "+kindOf(base).String(), helpList(base)))
	}
	// The start of reduce and the order of sortBy stand outside the loop.
	var extra any
	if len(n.args) == 3 {
		extra = m.run(n.args[2])
	}
	m.scopes = append(m.scopes, scope{})
	defer func() { m.scopes = m.scopes[:len(m.scopes)-1] }()
	switch n.name {
	case "all", "none", "any", "one", "count", "find", "findIndex":
		return m.pass(n, list)
	case "findLast", "findLastIndex":
		for i := len(list) - 1; i >= 0; i-- {
			if m.test(n, list, i) {
				return found(n.name == "findLast", list, i)
			}
		}
		return nil
	case "filter":
		return m.filter(n, list)
	case "map":
		m.grow(n, listItem*len(list))
		out := make([]any, len(list))
		for i := range list {
			out[i] = m.turn(n, list, i)
		}
		return out
	case "sum":
		return m.sum(n, list)
	case "groupBy":
		return m.group(n, list)
	case "sortBy":
		return m.sortBy(n, list, extra)
	}
	return m.reduce(n, list, extra)
}

func helpList(v any) string {
	switch v.(type) {
	case nil:
		return "write … || [] to have an empty list instead"
	case map[string]any:
		return "use values(…) for an object's values"
	}
	return ""
}

// turn evaluates the loop's expression for one item.
func (m *evaluation) turn(n *node, list []any, i int) any {
	top := len(m.scopes) - 1
	m.scopes[top].item, m.scopes[top].index = list[i], i
	if len(n.args) < 2 { // sum and count of the items themselves
		m.step(n, 1)
		return list[i]
	}
	return m.run(n.args[1])
}

// test evaluates the loop's expression where it must be true or false.
func (m *evaluation) test(n *node, list []any, i int) bool {
	v := m.turn(n, list, i)
	yes, ok := v.(bool)
	if !ok {
		at, help := n, ""
		if len(n.args) > 1 {
			at, help = n.args[1], helpTruth(n.args[1])
		}
		panic(m.fail(at, quote(n.name)+" wants true or false of each item, and got "+kindOf(v).String(), help))
	}
	return yes
}

func found(item bool, list []any, i int) any {
	if item {
		return list[i]
	}
	return float64(i)
}

// pass evaluates the loops that only ask which items pass.
func (m *evaluation) pass(n *node, list []any) any {
	passed := 0
	for i := range list {
		yes := m.test(n, list, i)
		switch {
		case yes && n.name == "any":
			return true
		case yes && n.name == "none", !yes && n.name == "all":
			return false
		case yes && (n.name == "find" || n.name == "findIndex"):
			return found(n.name == "find", list, i)
		case yes:
			passed++
		}
	}
	switch n.name {
	case "all", "none":
		return true
	case "any":
		return false
	case "one":
		return passed == 1
	case "count":
		return float64(passed)
	}
	return nil
}

func (m *evaluation) filter(n *node, list []any) any {
	out := []any{}
	for i := range list {
		yes := m.test(n, list, i)
		if yes {
			m.grow(n, listItem)
			out = append(out, list[i])
		}
	}
	return out
}

func (m *evaluation) sum(n *node, list []any) any {
	total := 0.0
	for i := range list {
		v := m.turn(n, list, i)
		number, ok := v.(float64)
		if !ok {
			at := n
			if len(n.args) > 1 {
				at = n.args[1]
			}
			panic(m.fail(at, "\"sum\" adds numbers, and got "+kindOf(v).String(), helpNull(v)))
		}
		total += number
	}
	return m.finite(n, total)
}

// group puts the items into lists by what the expression says of them.
func (m *evaluation) group(n *node, list []any) any {
	out := map[string]any{}
	for i := range list {
		v := m.turn(n, list, i)
		key, ok := keyText(v)
		if !ok {
			panic(m.fail(n.args[1], "\"groupBy\" wants a string, number or boolean of each item, and got "+kindOf(v).String(), ""))
		}
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
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return string(appendNumber(nil, v)), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

func (m *evaluation) sortBy(n *node, list []any, order any) any {
	descending := m.descending(n, 2, order)
	m.grow(n, 3*listItem*len(list))
	type pair struct{ item, key any }
	pairs := make([]pair, len(list))
	for i := range list {
		key := m.turn(n, list, i)
		pairs[i] = pair{list[i], key}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return m.order(n, n.args[1], a.key, b.key, descending) })
	out := make([]any, len(list))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out
}

// descending reads the order of a sort: none, "asc" or "desc".
func (m *evaluation) descending(n *node, argument int, order any) bool {
	if len(n.args) <= argument {
		return false
	}
	switch order {
	case "asc":
		return false
	case "desc":
		return true
	}
	panic(m.fail(n.args[argument], "the order of a sort is \"asc\" or \"desc\"", ""))
}

// order compares two values for a sort.
func (m *evaluation) order(n, at *node, a, b any, descending bool) int {
	m.step(n, 2)
	if descending {
		a, b = b, a
	}
	switch {
	case m.less(opLess, at, at, a, b):
		return -1
	case m.less(opLess, at, at, b, a):
		return 1
	}
	return 0
}

func (m *evaluation) reduce(n *node, list []any, start any) any {
	top := len(m.scopes) - 1
	from := 0
	if len(n.args) < 3 {
		if len(list) == 0 {
			panic(m.fail(n, "\"reduce\" of an empty list has no value", "give it a start: reduce(list, #acc + #, 0)").of(OfValue))
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
