package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// turned is what the courses of a plan may hang on.
type turned struct {
	turns []analyzer.Turn
	lists []*list
}

// A list is one that a call runs for the items of.
type list struct {
	call  *compiler.Call
	read  *compiler.Read
	turns []*analyzer.Turn // values of one item, or its place, on which conditions of the call turn
}

// mostLists bounds how many lists are tried for a call, and longestList their items.
const (
	mostLists   = 8
	longestList = 20
)

// listsOf are the lists that calls of a plan run for, where a read gives them as they are.
func listsOf(plan *compiler.Plan, turns []analyzer.Turn) (all []*list) {
	of := map[int]*list{}
	for _, call := range plan.Calls {
		if call.Each != nil && call.Each.List.Expr != nil && call.Each.List.Expr.Plain() {
			of[call.Index] = &list{call: call, read: &plan.Reads[call.Each.List.Reads[0]]}
			all = append(all, of[call.Index])
		}
	}
	for i := range turns {
		if l := of[turns[i].Read.Call]; l != nil && plan.OfItem(turns[i].Read) {
			l.turns = append(l.turns, &turns[i])
		}
	}
	return all
}

// tried are the lists that are tried in the place of another: none, one and two items, each
// with the values for which conditions of the call hold or don't, and all of these together;
// and as many as it takes that one stands where they turn on its place.
func (l *list) tried(plan *compiler.Plan, usual any) (all []any) {
	items, _ := usual.([]any)
	add := func(items ...any) {
		same := func(v any) bool { return reflect.DeepEqual(v, any(items)) }
		if items == nil {
			items = []any{}
		}
		if !same(usual) && !slices.ContainsFunc(all, same) {
			all = append(all, items)
		}
	}
	add()
	if len(items) == 0 {
		return all
	}
	kinds, long := []any{items[0]}, 2
	for _, t := range l.turns {
		for _, v := range t.Values {
			if n, number := v.(float64); t.Read.Ref.Kind == "index" {
				if number && n == float64(int(n)) && n < longestList {
					long = max(long, int(n)+1)
				}
			} else {
				kinds = append(kinds, planted(items[0], plan.Paths.Segments(t.Read.Path)[1:], v))
			}
		}
	}
	for _, one := range kinds {
		add(one)
	}
	for len(kinds) < long {
		kinds = append(kinds, kinds[len(kinds)-1])
	}
	add(kinds[:min(len(kinds), longestList)]...)
	return all
}

// unlike says in what a value differs first from another.
func unlike(v, other any, at string) string {
	where := ""
	if at != "" {
		where = " at " + at
	}
	switch v := v.(type) {
	case []any:
		others, _ := other.([]any)
		if len(v) != len(others) {
			return ", with " + wording.Count(len(v), "item") + where
		}
		for i := range v {
			if !reflect.DeepEqual(v[i], others[i]) {
				return unlike(v[i], others[i], fmt.Sprintf("%s[%d]", at, i))
			}
		}
	case map[string]any:
		others, _ := other.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if value, there := others[key]; !there || !reflect.DeepEqual(v[key], value) {
				return unlike(v[key], value, at+"."+key)
			}
		}
		return fmt.Sprintf(", with %s%s", wording.Counted(len(v), "property", "properties"), where)
	case string:
		others, _ := other.(string)
		same := 0
		for i, r := range v {
			if !strings.HasPrefix(others, v[:i]+string(r)) {
				break
			}
			same = i + utf8.RuneLen(r)
		}
		if same > 20 {
			return fmt.Sprintf(", with %q from character %d on%s", wording.Cut(v[same:], 40), utf8.RuneCountInString(v[:same])+1, where)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return ", with " + wording.Cut(string(text), 60) + where
}
