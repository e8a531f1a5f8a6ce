package lock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Drift is one thing that is another than was locked.
type Drift struct {
	Tool   string
	Breaks bool   // a plan that was sound may not be any more; else it is harmless
	New    bool   // it wasn't locked, and is there now
	Judged bool   // a check of a plan with the tool as it is now says whether this one breaks
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
			all = append(all, Drift{Tool: old.Name, Breaks: true, Judged: true, What: "it isn't there any more"})
			continue
		}
		all = append(all, compare(old, *now, before, after)...)
	}
	for _, now := range is {
		if find(was, now.Name, Tool.key) == nil {
			all = append(all, Drift{Tool: now.Name, New: true, What: "it is new"})
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
	if was.Request != nil && is.Request != nil {
		compareRequests(was, is, tell)
	}
	if !sameSchema(closed(was.Input, before), closed(is.Input, after)) {
		drifts = append(drifts, fits(was, compiled(passed(was.Input), before), compiled(is.Input, after), "its parameters have changed", "its parameters may not be %s any more"))
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

// compareRequests tells how an operation is sent otherwise: to where, with what to show who asks, in
// which form. A catalogue goes on sending what was locked, so that whatever else is wanted breaks plans, but
// for the place of a parameter that wasn't there: that is told with the parameters.
func compareRequests(was, is Tool, tell func(breaks bool, what string)) {
	before, after := requestParts(was.Request), requestParts(is.Request)
	inputs, _ := was.Input.(map[string]any)
	known, _ := inputs["properties"].(map[string]any)
	for _, part := range slices.Sorted(maps.Keys(after)) {
		old, there := before[part]
		now := after[part]
		if there {
			if old != now {
				tell(true, fmt.Sprintf("%s is %s, and was %s", part, now, old))
			}
		} else if name := requestParameter.FindStringSubmatch(now); part != itsBody && (name == nil || known[name[1]] != nil) {
			tell(true, fmt.Sprintf("%s is wanted now: %s", part, now))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[part]; !there {
			tell(false, fmt.Sprintf("%s isn't wanted any more", part))
		}
	}
}

var requestParameter = regexp.MustCompile(`^[^†]*†([A-Za-z_][A-Za-z0-9_]*)`)

const itsBody = "its body"

// requestParts are what a request is made of, by what messages call it.
func requestParts(request any) map[string]string {
	parts := map[string]string{"its response": `"json"`}
	add := func(called string, value any) {
		text, _ := json.Marshal(value)
		parts[called] = string(text)
	}
	all, _ := request.(map[string]any)
	for key, value := range all {
		of := map[string]string{"query": "the field %q of its query", "headers": "the header %q", "body": "the field %q of its body"}[key]
		fields, several := value.(map[string]any)
		for name, field := range fields {
			add(fmt.Sprintf(of, name), field)
		}
		if !several && value != "none" {
			add("its "+key, value)
		}
	}
	return parts
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
		return Drift{Tool: tool.Name, Judged: true, What: changed + ", and whatever was sound is"}
	case schema.Unknown:
		return Drift{Tool: tool.Name, Breaks: true, Judged: true, What: fmt.Sprintf("%s, and it can't be shown that whatever was sound is (%s)", changed, cmp.Or(verdict.Reason, verdict.Keyword))}
	}
	text, _ := json.Marshal(verdict.Witness)
	what := fmt.Sprintf(refused, wording.Cut(string(text), 200))
	if why := consumer.Validate(verdict.Witness); why != nil {
		what += ": " + why.Message
	}
	return Drift{Tool: tool.Name, Breaks: true, Judged: true, What: what, Witness: verdict.Witness}
}

// passed are the parameters that plans may pass: those that the schema names, unless it says itself
// that there are others (OB503).
func passed(input any) any {
	m, _ := input.(map[string]any)
	for key := range m {
		if !slices.Contains([]string{"type", "properties", "required", "description", "title", "$schema"}, key) {
			return input
		}
	}
	if m["properties"] == nil {
		return input
	}
	m = maps.Clone(m)
	m["additionalProperties"] = false
	return m
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
