package expression

import "slices"

func edge(first bool) func(invocation) any {
	return func(c invocation) any {
		list, _ := c.args[0].([]any)
		switch {
		case len(list) == 0:
			return nil
		case first:
			return list[0]
		}
		return list[len(list)-1]
	}
}

// get reads a key or an index, and gives null where there is none.
func get(c invocation) any {
	switch v := c.args[0].(type) {
	case map[string]any:
		if key, ok := c.args[1].(string); ok {
			return v[key]
		}
		panic(abandoned{mismatch(c.n.Args[1], "the index of an object", "", String, kindOf(c.args[1]))})
	case []any:
		i := c.integer(1)
		if i < 0 {
			i += len(v)
		}
		if i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func take(c invocation) any {
	n := c.integer(1)
	if n < 0 {
		panic(c.fail(1, itoa(n)+" items can't be taken", "").of(OfValue))
	}
	list := c.list(0)
	n = min(n, len(list))
	return list[:n:n]
}

// ofFields makes a list with an item for each key of an object and its value, in the order of the keys.
func ofFields(item func(key string, value any) any) func(invocation) any {
	return func(c invocation) any {
		object := c.args[0].(map[string]any)
		c.work(4 * len(object))
		out := make([]any, 0, len(object))
		for _, key := range sortedKeys(object) {
			out = append(out, item(key, object[key]))
		}
		return out
	}
}

func fromPairs(c invocation) any {
	list := c.list(0)
	out := make(map[string]any, len(list))
	for i, v := range list {
		pair, ok := v.([]any)
		if !ok || len(pair) != 2 {
			panic(c.fail(0, "\"fromPairs\" wants a list of [key, value], and item "+itoa(i)+" isn't one", ""))
		}
		key, ok := keyText(pair[0])
		if !ok {
			panic(c.fail(0, "the key of pair "+itoa(i)+" is "+kindOf(pair[0]).String(), "a key is a string"))
		}
		out[key] = pair[1]
	}
	return out
}

func reverse(c invocation) any {
	out := slices.Clone(c.list(0))
	slices.Reverse(out)
	return out
}

// uniq keeps the first of equal items. Scalars, which are most, are found by a
// map; lists and objects are compared with each other.
func uniq(c invocation) any {
	list := c.list(0)
	seen := make(map[any]bool, len(list))
	out := []any{}
	var large []any
next:
	for _, v := range list {
		switch v.(type) {
		case nil, bool, float64, string:
			if seen[v] {
				continue
			}
			seen[v] = true
		default:
			for _, other := range large {
				if c.m.equal(c.n, v, other, 0) {
					continue next
				}
			}
			large = append(large, v)
		}
		out = append(out, v)
	}
	return out
}

func concat(c invocation) any {
	out := []any{}
	for i := range c.args {
		c.grow(listItem * len(c.list(i)))
		out = append(out, c.list(i)...)
	}
	return out
}

func flatten(c invocation) any {
	var visit func(list []any, depth int, leaf func(any))
	visit = func(list []any, depth int, leaf func(any)) {
		if depth > maxValueDepth {
			panic(c.fail(0, "the list is nested too deeply to be flattened", ""))
		}
		for _, v := range list {
			if inner, ok := v.([]any); ok {
				c.work(1)
				visit(inner, depth+1, leaf)
				continue
			}
			leaf(v)
		}
	}
	length := 0
	visit(c.list(0), 0, func(any) { length++ })
	c.grow(listItem * length)
	out := make([]any, 0, length)
	visit(c.list(0), 0, func(v any) { out = append(out, v) })
	return out
}

func sortList(c invocation) any {
	var order any
	if c.given(1) {
		order = c.args[1]
	}
	descending := descending(c.n, 1, order)
	out := append([]any{}, c.list(0)...)
	slices.SortStableFunc(out, func(a, b any) int { return c.m.sortOrder(c.n.Args[0], a, b, descending) })
	return out
}

// each calls f with every number among the arguments, however deep in lists.
func (c invocation) each(f func(float64)) {
	var visit func(argument int, v any, depth int)
	visit = func(argument int, v any, depth int) {
		c.work(1)
		switch v := v.(type) {
		case float64:
			f(v)
		case []any:
			if depth > maxValueDepth {
				panic(c.fail(argument, "the list is nested too deeply", ""))
			}
			for _, item := range v {
				visit(argument, item, depth+1)
			}
		default:
			panic(c.fail(argument, quote(c.n.Name)+" wants numbers, and got "+kindOf(v).String(), ""))
		}
	}
	for i, v := range c.args {
		visit(i, v, 0)
	}
}

func extreme(better func(a, b float64) bool) func(invocation) any {
	return func(c invocation) any {
		var best any
		c.each(func(v float64) {
			if best == nil || better(v, best.(float64)) {
				best = v
			}
		})
		return best
	}
}

func mean(c invocation) any {
	total, n := 0.0, 0
	c.each(func(v float64) { total += v; n++ })
	if n == 0 {
		return 0.0
	}
	return c.m.finite(c.n, total/float64(n))
}

func median(c invocation) any {
	var all []float64
	c.each(func(v float64) { all = append(all, v); c.grow(16) })
	if len(all) == 0 {
		return 0.0
	}
	c.work(8 * len(all))
	slices.Sort(all)
	middle := len(all) / 2
	if len(all)%2 == 1 {
		return all[middle]
	}
	return c.m.finite(c.n, (all[middle-1]+all[middle])/2)
}
