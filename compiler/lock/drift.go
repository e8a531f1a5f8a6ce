package lock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Drift is one thing that is another than was locked.
type Drift struct {
	Tool   string
	Breaks bool   // a plan that was sound may not be any more; else it is harmless
	What   string // in words, the tool aside: "its parameters may not be {\"q\":\"\"} any more"
	// Witness is a value that was fine and isn't, or that wasn't to come and now may;
	// nil where none shows it.
	Witness any
}

// Compare tells how tools differ from what was locked; both lists are sorted by name. What a plan hands a
// tool was checked against the locked parameters, so each value of these must do still;
// what comes back must be what the locked result admits. Where that can't be shown, it
// breaks plans.
func Compare(was, is []Tool) []Drift { return drifts(was, is, nil, nil) }

// Drifts tells how the operations of a file differ from what was locked, as [Compare] does.
func (f File) Drifts(is File) []Drift {
	return drifts(f.Operations, is.Operations, f.Schemas, is.Schemas)
}

// drifts compares tools whose schemas refer to others by name.
func drifts(was, is []Tool, before, after map[string]any) (all []Drift) {
	for _, old := range was {
		now := find(is, old.Name, Tool.key)
		if now == nil {
			all = append(all, Drift{Tool: old.Name, Breaks: true, What: "it isn't there any more"})
			continue
		}
		all = append(all, compare(old, *now, before, after)...)
	}
	for _, now := range is {
		if find(was, now.Name, Tool.key) == nil {
			all = append(all, Drift{Tool: now.Name, What: "it is new"})
		}
	}
	slices.SortStableFunc(all, func(a, b Drift) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}

// Breaking reports whether any of several drifts breaks plans.
func Breaking(drifts []Drift) bool {
	return slices.ContainsFunc(drifts, func(d Drift) bool { return d.Breaks })
}

func compare(was, is Tool, before, after map[string]any) (drifts []Drift) {
	tell := func(breaks bool, what string) {
		drifts = append(drifts, Drift{Tool: was.Name, Breaks: breaks, What: what})
	}
	if was.Operation != is.Operation {
		tell(true, fmt.Sprintf("it is %q, and was %q", is.Operation, was.Operation))
	}
	if !sameSchema(closed(was.Input, before), closed(is.Input, after)) {
		drifts = append(drifts, fits(was, compiled(was.Input, before), compiled(is.Input, after), "its parameters have changed", "its parameters may not be %s any more"))
	}
	if !sameSchema(closed(was.Output, before), closed(is.Output, after)) {
		drifts = append(drifts, fits(was, compiled(is.Output, after), compiled(was.Output, before), "its result has changed", "its result may now be %s, which was ruled out"))
	}
	for _, name := range Hints {
		// What isn't said is the worst (S17.1).
		worst := name == "destructiveHint" || name == "openWorldHint"
		before, now := hint(was, name, worst), hint(is, name, worst)
		if before != now {
			tell(now == worst, fmt.Sprintf("its %s is %t, and was %t", name, now, before))
		}
	}
	if was.Description != is.Description {
		tell(false, "it describes itself otherwise")
	}
	return drifts
}

func hint(t Tool, name string, otherwise bool) bool {
	if said, ok := t.Annotations[name]; ok {
		return said
	}
	return otherwise
}

// fits says whether a change of a schema breaks plans, with a value that the producer
// gives and the consumer refuses.
func fits(tool Tool, producer, consumer *schema.Schema, changed, refused string) Drift {
	verdict := schema.Contains(producer, consumer, schema.Budget{})
	switch verdict.Relation {
	case schema.Fits:
		return Drift{Tool: tool.Name, What: changed + ", and whatever was sound is"}
	case schema.Unknown:
		return Drift{Tool: tool.Name, Breaks: true, What: fmt.Sprintf("%s, and it can't be shown that whatever was sound is (%s)", changed, cmp.Or(verdict.Reason, verdict.Keyword))}
	}
	text, _ := json.Marshal(verdict.Witness)
	what := fmt.Sprintf(refused, wording.Cut(string(text), 200))
	if why := consumer.Validate(verdict.Witness); why != nil {
		what += ": " + why.Message
	}
	return Drift{tool.Name, true, what, verdict.Witness}
}

func compiled(raw any, named map[string]any) *schema.Schema {
	if raw == nil {
		return nil
	}
	return schema.New(raw, schema.Options{Defs: named})
}

// closed is a schema together with those that it refers to.
func closed(raw any, named map[string]any) any {
	all := map[string]any{}
	Reach(raw, named, map[string]bool{}, func(name string) { all[name] = named[name] })
	if len(all) == 0 {
		return raw
	}
	return []any{raw, all}
}

// Reach visits the names of the schemas that a schema refers to as "#/schemas/NAME", those
// inside others first. What is in seen isn't visited, and is then.
func Reach(raw any, named map[string]any, seen map[string]bool, visit func(name string)) {
	switch v := raw.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ref, ok := v[key].(string)
			name := strings.TrimPrefix(ref, "#/schemas/")
			if _, known := named[name]; ok && key == "$ref" && known && !seen[name] {
				seen[name] = true
				Reach(named[name], named, seen, visit)
				visit(name)
			}
			Reach(v[key], named, seen, visit)
		}
	case []any:
		for _, item := range v {
			Reach(item, named, seen, visit)
		}
	}
}
