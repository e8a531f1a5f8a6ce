package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// schedules is how many orders of the same work are simulated.
const schedules = 20

// states compares in which states plans end: simulated in many orders, and after the program was killed and
// resumed.
func states(old, changed program, m *material) (outcome, error) {
	plans := append(m.in(generated, workflows, examples), thin(m.in(cases, pages), 3)...)
	result := overPlans(m.sound(old, plans), func(plan string) []difference {
		args := []string{"simulate", "--format", "json", "--schedules", fmt.Sprint(schedules), plan}
		before, after := old.read(args...), changed.read(args...)
		if before.status != after.status {
			return []difference{exits(plan, before, after)}
		}
		if before.status == 2 { // no plan: D1 compares why
			return nil
		}
		return compareLines(plan, linesOf(before.out, endOf), linesOf(after.out, endOf))
	})
	killed := overPlans(m.slow, func(plan string) []difference {
		whole := old.run("run", "--no-journal", "--confirm", "never", "--format", "json", plan)
		var differences []difference
		for after := 1; after < 16; after += 3 {
			journal, err := changed.kill(plan, after)
			if err != nil {
				return append(differences, difference{name: plan, what: "killed", changed: err.Error()})
			}
			resumed := changed.run(
				"resume", "--confirm", "never", "--in-flight", "retry", "--format", "json", journal,
			)
			if a, b := finalState(whole.out), finalState(resumed.out); a != b {
				differences = append(
					differences,
					difference{
						name:    plan,
						what:    fmt.Sprintf("killed after event %d", after),
						old:     a,
						changed: b + resumed.err,
					},
				)
			}
		}
		return differences
	})
	result.cases = append(slices.Clone(result.cases), named(killed.cases, " killed")...)
	result.differences = append(result.differences, killed.differences...)
	return result, nil
}

// named gives names an ending, so that a plan can be a case twice.
func named(names []string, ending string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name + ending
	}
	return all
}

// endOf is how one simulated run ended, without times and costs.
func endOf(v any) (key, text string) {
	run, _ := v.(map[string]any)
	calls, _ := run["calls"].([]any)
	statuses := map[string]any{}
	for i, c := range calls {
		if call, ok := c.(map[string]any); ok {
			statuses[fmt.Sprint(i, " ", call["call"], " ", call["instance"], " ", call["under"])] = []any{
				call["status"],
				call["attempts"],
			}
		}
	}
	end := map[string]any{
		"status": run["status"],
		"output": run["output"],
		"state":  run["state"],
		"errors": run["errors"],
		"calls":  statuses,
	}
	return fmt.Sprintf("%v %v", run["kind"], run["schedule"]), compact(wordless(end))
}

// finalState is the state in the last event of a run.
func finalState(out string) string {
	state := "no end"
	for text := range strings.Lines(out) {
		var event struct {
			Event, Status string
			State, Output any
		}
		if json.Unmarshal([]byte(text), &event) == nil && event.Event == "end" {
			state = event.Status + " " + compact(wordless(event.State)) + " " + compact(wordless(event.Output))
		}
	}
	return state
}
