package lock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Drift is one thing that is another than was locked.
type Drift struct {
	Tool   string
	Breaks bool   // a plan that was sound may not be any more; else it is harmless
	What   string // in words, the tool aside: "its parameters refuse {\"q\":\"\"}, which was fine"
}

// Compare tells how tools differ from what was locked; both lists are sorted by name. What a plan hands a
// tool was checked against the locked parameters, so each value of these must do still;
// what comes back must be what the locked result admits. Where that can't be shown, it
// breaks plans.
func Compare(was, is []Tool) []Drift {
	var drifts []Drift
	for _, old := range was {
		now := find(is, old.Name, Tool.key)
		if now == nil {
			drifts = append(drifts, Drift{old.Name, true, "it isn't there any more"})
			continue
		}
		drifts = append(drifts, compare(old, *now)...)
	}
	for _, now := range is {
		if find(was, now.Name, Tool.key) == nil {
			drifts = append(drifts, Drift{now.Name, false, "it is new"})
		}
	}
	slices.SortStableFunc(drifts, func(a, b Drift) int { return cmp.Compare(a.Tool, b.Tool) })
	return drifts
}

// Breaking reports whether any of several drifts breaks plans.
func Breaking(drifts []Drift) bool {
	return slices.ContainsFunc(drifts, func(d Drift) bool { return d.Breaks })
}

func compare(was, is Tool) (drifts []Drift) {
	tell := func(breaks bool, what string) { drifts = append(drifts, Drift{was.Name, breaks, what}) }
	if was.Operation != is.Operation {
		tell(true, fmt.Sprintf("it is %q, and was %q", is.Operation, was.Operation))
	}
	if !sameSchema(was.Input, is.Input) {
		tell(fits(was.Input, is.Input, "its parameters have changed", "its parameters may not be %s any more"))
	}
	if !sameSchema(was.Output, is.Output) {
		tell(fits(is.Output, was.Output, "its result has changed", "its result may now be %s, which was ruled out"))
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

// fits reports whether a change of a schema breaks plans, and says so with a value that
// the producer gives and the consumer refuses.
func fits(producer, consumer any, changed, refused string) (breaks bool, what string) {
	verdict := schema.Contains(compiled(producer), compiled(consumer), schema.Budget{})
	switch verdict.Relation {
	case schema.Fits:
		return false, changed + ", and whatever was sound is"
	case schema.Unknown:
		return true, fmt.Sprintf("%s, and it can't be shown that whatever was sound is (%s)", changed, cmp.Or(verdict.Reason, verdict.Keyword))
	}
	text, _ := json.Marshal(verdict.Witness)
	return true, fmt.Sprintf(refused, wording.Cut(string(text), 200))
}

func compiled(raw any) *schema.Schema {
	if raw == nil {
		return nil
	}
	return schema.New(raw, schema.Options{})
}
