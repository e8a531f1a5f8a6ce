package expression

import "slices"

func edge(first bool) func(invocation) (any, error) {
	return func(c invocation) (any, error) {
		list, _ := c.args[0].([]any)
		switch {
		case len(list) == 0:
			return nil, nil
		case first:
			return list[0], nil
		}
		return list[len(list)-1], nil
	}
}

// get reads a key or an index, and gives null where there is none.
func get(c invocation) (any, error) {
	switch v := c.args[0].(type) {
	case map[string]any:
		if key, ok := c.args[1].(string); ok {
			return v[key], nil
		}
		return nil, c.fail(1, "the key of an object is a string, and this is "+kindOf(c.args[1]).String(), "")
	case []any:
		i, err := c.whole(1)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i += len(v)
		}
		if i >= 0 && i < len(v) {
			return v[i], nil
		}
	}
	return nil, nil
}

func take(c invocation) (any, error) {
	n, err := c.whole(1)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, c.fail(1, itoa(n)+" items can't be taken", "")
	}
	list := c.list(0)
	n = min(n, len(list))
	return list[:n:n], nil
}

func (c invocation) keys() ([]string, map[string]any, error) {
	object := c.args[0].(map[string]any)
	if err := c.grow(3 * listItem * len(object)); err != nil {
		return nil, nil, err
	}
	return sortedKeys(object), object, c.work(4 * len(object))
}

func keys(c invocation) (any, error) {
	keys, _, err := c.keys()
	out := make([]any, len(keys))
	for i, key := range keys {
		out[i] = key
	}
	return out, err
}

func values(c invocation) (any, error) {
	keys, object, err := c.keys()
	out := make([]any, len(keys))
	for i, key := range keys {
		out[i] = object[key]
	}
	return out, err
}

func toPairs(c invocation) (any, error) {
	keys, object, err := c.keys()
	out := make([]any, len(keys))
	for i, key := range keys {
		out[i] = []any{key, object[key]}
	}
	return out, err
}

func fromPairs(c invocation) (any, error) {
	list := c.list(0)
	if err := c.grow(objectField * len(list)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(list))
	for i, v := range list {
		pair, ok := v.([]any)
		if !ok || len(pair) != 2 {
			return nil, c.fail(0, "\"fromPairs\" wants a list of [key, value], and item "+itoa(i)+" isn't one", "")
		}
		key, ok := keyText(pair[0])
		if !ok {
			return nil, c.fail(0, "the key of pair "+itoa(i)+" is "+kindOf(pair[0]).String(), "a key is a string")
		}
		out[key] = pair[1]
	}
	return out, nil
}

func reverse(c invocation) (any, error) {
	list := c.list(0)
	if err := c.grow(listItem * len(list)); err != nil {
		return nil, err
	}
	out := slices.Clone(list)
	slices.Reverse(out)
	return out, nil
}

// uniq keeps the first of equal items. Scalars, which are most, are found by a
// map; lists and objects are compared with each other.
func uniq(c invocation) (any, error) {
	list := c.list(0)
	if err := c.grow(2 * objectField * len(list)); err != nil {
		return nil, err
	}
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
				same, err := c.m.equal(c.n, v, other, 0)
				if err != nil {
					return nil, err
				}
				if same {
					continue next
				}
			}
			large = append(large, v)
		}
		out = append(out, v)
	}
	return out, nil
}

func concat(c invocation) (any, error) {
	out := []any{}
	for i := range c.args {
		if err := c.grow(listItem * len(c.list(i))); err != nil {
			return nil, err
		}
		out = append(out, c.list(i)...)
	}
	return out, nil
}

func flatten(c invocation) (any, error) {
	out := []any{}
	var add func(list []any, depth int) error
	add = func(list []any, depth int) error {
		if depth > maxValueDepth {
			return c.fail(0, "the list is nested too deeply to be flattened", "")
		}
		for _, v := range list {
			if inner, ok := v.([]any); ok {
				if err := c.work(1); err != nil {
					return err
				}
				if err := add(inner, depth+1); err != nil {
					return err
				}
				continue
			}
			if err := c.grow(listItem); err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	}
	err := add(c.list(0), 0)
	return out, err
}

func sortList(c invocation) (any, error) {
	var order any
	if c.given(1) {
		order = c.args[1]
	}
	descending, err := c.m.descending(c.n, 1, order)
	if err != nil {
		return nil, err
	}
	list := c.list(0)
	if err := c.grow(listItem * len(list)); err != nil {
		return nil, err
	}
	out := slices.Clone(list)
	if out == nil {
		out = []any{}
	}
	var failure error
	slices.SortStableFunc(out, func(a, b any) int {
		return c.m.order(c.n, c.n.args[0], a, b, descending, &failure)
	})
	return out, failure
}

// each calls f with every number among the arguments, however deep in lists.
func (c invocation) each(f func(float64) error) error {
	var visit func(argument int, v any, depth int) error
	visit = func(argument int, v any, depth int) error {
		if err := c.work(1); err != nil {
			return err
		}
		switch v := v.(type) {
		case float64:
			return f(v)
		case []any:
			if depth > maxValueDepth {
				return c.fail(argument, "the list is nested too deeply", "")
			}
			for _, item := range v {
				if err := visit(argument, item, depth+1); err != nil {
					return err
				}
			}
			return nil
		}
		return c.fail(argument, quote(c.n.name)+" wants numbers, and got "+kindOf(v).String(), "")
	}
	for i, v := range c.args {
		if err := visit(i, v, 0); err != nil {
			return err
		}
	}
	return nil
}

func extreme(better func(a, b float64) bool) func(invocation) (any, error) {
	return func(c invocation) (any, error) {
		var best any
		err := c.each(func(v float64) error {
			if best == nil || better(v, best.(float64)) {
				best = v
			}
			return nil
		})
		return best, err
	}
}

func mean(c invocation) (any, error) {
	total, n := 0.0, 0
	if err := c.each(func(v float64) error { total += v; n++; return nil }); err != nil {
		return nil, err
	}
	if n == 0 {
		return 0.0, nil
	}
	return c.m.finite(c.n, total/float64(n))
}

func median(c invocation) (any, error) {
	var all []float64
	err := c.each(func(v float64) error { all = append(all, v); return c.grow(16) })
	if err != nil || len(all) == 0 {
		return 0.0, err
	}
	if err := c.work(8 * len(all)); err != nil {
		return nil, err
	}
	slices.Sort(all)
	middle := len(all) / 2
	if len(all)%2 == 1 {
		return all[middle], nil
	}
	return c.m.finite(c.n, (all[middle-1]+all[middle])/2)
}
