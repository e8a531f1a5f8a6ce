package expression

import (
	"iter"
	"slices"
)

// turn evaluates the expression of a function for one item of its list.
func (c invocation) turn(i int) any {
	m, n, item := c.m, c.n, c.list(0)[i]
	top := len(m.scopes) - 1
	m.scopes[top].item, m.scopes[top].index = item, i
	if len(n.Args) > 1 {
		return m.operand(n, 1)
	}
	c.work(1) // sum and count of the items themselves
	if kinds := n.fn.param(1).kinds; KindOf(item)&kinds == 0 {
		panic(abandoned{unwanted(n, n.fn.words(), " of each item", kinds, KindOf(item))})
	}
	return item
}

// turns are the results of the expression for all items.
func (c invocation) turns() []any {
	out := make([]any, len(c.list(0)))
	for i := range out {
		out[i] = c.turn(i)
	}
	return out
}

// find is a function that results in something of the index of the first item, in an order, that its condition accepts
// or refuses; of -1 if there is none.
func find(
	order func([]any) iter.Seq2[int, any], accepted bool, result func(list []any, i int) any,
) func(invocation) any {
	return func(c invocation) any {
		for i := range order(c.list(0)) {
			if c.turn(i) == accepted {
				return result(c.list(0), i)
			}
		}
		return result(nil, -1)
	}
}

func isNone(_ []any, i int) any { return i < 0 }

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

func one(c invocation) any { return count(c) == 1.0 }

func count(c invocation) any {
	passed := 0.0
	for i := range c.list(0) {
		if c.turn(i) == true {
			passed++
		}
	}
	return passed
}

func filter(c invocation) any {
	out := []any{}
	for i, item := range c.list(0) {
		if c.turn(i) == true {
			c.grow(listItem)
			out = append(out, item)
		}
	}
	return out
}

func sum(c invocation) any {
	total := 0.0
	for i := range c.list(0) {
		total += c.turn(i).(float64)
	}
	return finiteNumber(c.n, total)
}

// groupBy puts the items into lists by what the expression results in.
func groupBy(c invocation) any {
	out := map[string]any{}
	for i, item := range c.list(0) {
		key, _ := keyText(c.turn(i))
		items, known := out[key].([]any)
		if !known {
			c.grow(objectField + len(key))
		}
		c.grow(listItem)
		out[key] = append(items, item)
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

func sortBy(c invocation) any { return c.sorted(c.turns(), 2) }

// sorted are the items in the order of their keys, as an argument says: "asc" or "desc".
func (c invocation) sorted(keys []any, argument int) any {
	sign := 1
	if c.given(argument) {
		switch c.args[argument] {
		case "asc":
		case "desc":
			sign = -1
		default:
			panic(c.fail(argument, "the order of a sort is \"asc\" or \"desc\"", ""))
		}
	}
	type pair struct{ item, key any }
	pairs := make([]pair, len(keys))
	for i, item := range c.list(0) {
		pairs[i] = pair{item, keys[i]}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		c.work(2)
		order, ok := c.m.compare(c.n, a.key, b.key)
		if !ok {
			panic(c.fail(argument-1, KindOf(a.key).String()+" can't be compared with "+KindOf(b.key).String(), ""))
		}
		return sign * order
	})
	out := make([]any, len(pairs))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out
}

func reduce(c invocation) any {
	list, from := c.list(0), 0
	acc := &c.m.scopes[len(c.m.scopes)-1].acc
	switch {
	case c.given(2):
		*acc = c.args[2]
	case len(list) == 0:
		panic(failure(c.n, "\"reduce\" of an empty list has no value",
			"give it a start: reduce(list, #acc + #, 0)").of(OfValue))
	default:
		*acc, from = list[0], 1
	}
	for i := from; i < len(list); i++ {
		result := c.turn(i)
		c.m.scopes[len(c.m.scopes)-1].acc = result // inner loops may have moved the scopes
	}
	return c.m.scopes[len(c.m.scopes)-1].acc
}
