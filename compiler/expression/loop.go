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
func (m *evaluation) loop(n *node) (any, error) {
	base, err := m.run(n.args[0])
	if err != nil {
		return nil, err
	}
	list, ok := base.([]any)
	if !ok {
		return nil, m.fail(n.args[0], quote(n.name)+" wants a list, and got "+kindOf(base).String(), helpList(base))
	}
	// The start of reduce and the order of sortBy stand outside the loop.
	var extra any
	if len(n.args) == 3 {
		if extra, err = m.run(n.args[2]); err != nil {
			return nil, err
		}
	}
	m.scopes = append(m.scopes, scope{})
	defer func() { m.scopes = m.scopes[:len(m.scopes)-1] }()
	switch n.name {
	case "all", "none", "any", "one", "count", "find", "findIndex":
		return m.pass(n, list)
	case "findLast", "findLastIndex":
		for i := len(list) - 1; i >= 0; i-- {
			if yes, err := m.test(n, list, i); err != nil {
				return nil, err
			} else if yes {
				return found(n.name == "findLast", list, i), nil
			}
		}
		return nil, nil
	case "filter":
		return m.filter(n, list)
	case "map":
		if err := m.grow(n, listItem*len(list)); err != nil {
			return nil, err
		}
		out := make([]any, len(list))
		for i := range list {
			if out[i], err = m.turn(n, list, i); err != nil {
				return nil, err
			}
		}
		return out, nil
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
		return "an object's values are had by values(…)"
	}
	return ""
}

// turn evaluates the loop's expression for one item.
func (m *evaluation) turn(n *node, list []any, i int) (any, error) {
	top := len(m.scopes) - 1
	m.scopes[top].item, m.scopes[top].index = list[i], i
	if len(n.args) < 2 { // sum and count of the items themselves
		return list[i], m.step(n, 1)
	}
	return m.run(n.args[1])
}

// test evaluates the loop's expression where it must be true or false.
func (m *evaluation) test(n *node, list []any, i int) (bool, error) {
	v, err := m.turn(n, list, i)
	if err != nil {
		return false, err
	}
	yes, ok := v.(bool)
	if !ok {
		at, help := n, ""
		if len(n.args) > 1 {
			at, help = n.args[1], helpTruth(n.args[1])
		}
		return false, m.fail(at, quote(n.name)+" wants true or false of each item, and got "+kindOf(v).String(), help)
	}
	return yes, nil
}

func found(item bool, list []any, i int) any {
	if item {
		return list[i]
	}
	return float64(i)
}

// pass evaluates the loops that only ask which items pass.
func (m *evaluation) pass(n *node, list []any) (any, error) {
	passed := 0
	for i := range list {
		yes, err := m.test(n, list, i)
		if err != nil {
			return nil, err
		}
		switch {
		case yes && n.name == "any":
			return true, nil
		case yes && n.name == "none", !yes && n.name == "all":
			return false, nil
		case yes && (n.name == "find" || n.name == "findIndex"):
			return found(n.name == "find", list, i), nil
		case yes:
			passed++
		}
	}
	switch n.name {
	case "all", "none":
		return true, nil
	case "any":
		return false, nil
	case "one":
		return passed == 1, nil
	case "count":
		return float64(passed), nil
	}
	return nil, nil
}

func (m *evaluation) filter(n *node, list []any) (any, error) {
	out := []any{}
	for i := range list {
		yes, err := m.test(n, list, i)
		if err != nil {
			return nil, err
		}
		if yes {
			if err := m.grow(n, listItem); err != nil {
				return nil, err
			}
			out = append(out, list[i])
		}
	}
	return out, nil
}

func (m *evaluation) sum(n *node, list []any) (any, error) {
	total := 0.0
	for i := range list {
		v, err := m.turn(n, list, i)
		if err != nil {
			return nil, err
		}
		number, ok := v.(float64)
		if !ok {
			at := n
			if len(n.args) > 1 {
				at = n.args[1]
			}
			return nil, m.fail(at, "\"sum\" adds numbers, and got "+kindOf(v).String(), helpNull(v))
		}
		total += number
	}
	return m.finite(n, total)
}

// group puts the items into lists by what the expression says of them.
func (m *evaluation) group(n *node, list []any) (any, error) {
	out := map[string]any{}
	for i := range list {
		v, err := m.turn(n, list, i)
		if err != nil {
			return nil, err
		}
		key, ok := keyText(v)
		if !ok {
			return nil, m.fail(n.args[1], "\"groupBy\" wants a string, number or boolean of each item, and got "+kindOf(v).String(), "")
		}
		bytes := listItem
		items, known := out[key].([]any)
		if !known {
			bytes += objectField + len(key)
		}
		if err := m.grow(n, bytes); err != nil {
			return nil, err
		}
		out[key] = append(items, list[i])
	}
	return out, nil
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

func (m *evaluation) sortBy(n *node, list []any, order any) (any, error) {
	descending, err := m.descending(n, 2, order)
	if err != nil {
		return nil, err
	}
	if err := m.grow(n, 3*listItem*len(list)); err != nil {
		return nil, err
	}
	type pair struct{ item, key any }
	pairs := make([]pair, len(list))
	for i := range list {
		key, err := m.turn(n, list, i)
		if err != nil {
			return nil, err
		}
		pairs[i] = pair{list[i], key}
	}
	var failure error
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return m.order(n, n.args[1], a.key, b.key, descending, &failure)
	})
	out := make([]any, len(list))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out, failure
}

// descending reads the order of a sort: none, "asc" or "desc".
func (m *evaluation) descending(n *node, argument int, order any) (bool, error) {
	if len(n.args) <= argument {
		return false, nil
	}
	switch order {
	case "asc":
		return false, nil
	case "desc":
		return true, nil
	}
	return false, m.fail(n.args[argument], "the order of a sort is \"asc\" or \"desc\"", "")
}

// order compares two values for a sort, and remembers the first failure.
func (m *evaluation) order(n, at *node, a, b any, descending bool, failure *error) int {
	if *failure != nil {
		return 0
	}
	if *failure = m.step(n, 2); *failure != nil {
		return 0
	}
	if descending {
		a, b = b, a
	}
	before, err := m.less(opLess, at, at, a, b)
	if err == nil && !before {
		before, err = m.less(opLess, at, at, b, a)
		if before {
			return 1
		}
	} else if before {
		return -1
	}
	*failure = err
	return 0
}

func (m *evaluation) reduce(n *node, list []any, start any) (any, error) {
	top := len(m.scopes) - 1
	from := 0
	if len(n.args) < 3 {
		if len(list) == 0 {
			return nil, m.fail(n, "\"reduce\" of an empty list has no value", "give it a start: reduce(list, #acc + #, 0)")
		}
		start, from = list[0], 1
	}
	m.scopes[top].acc = start
	for i := from; i < len(list); i++ {
		acc, err := m.turn(n, list, i)
		if err != nil {
			return nil, err
		}
		m.scopes[top].acc = acc
	}
	return m.scopes[top].acc, nil
}
