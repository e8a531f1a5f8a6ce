package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// runs compares transcripts without times: of examples and recorded planners, of generated plans, of
// arithmetic plans of the corpus, and of the sessions of commands; and what becomes of the oracle's journals.
func runs(old, changed program, m *material) (outcome, error) {
	commands := m.runnable()
	names := make([]string, len(commands))
	for i, args := range commands {
		names[i] = "run " + strings.Join(args, " ")
	}
	found := make([][]difference, len(commands))
	each(len(commands), func(i int) {
		args := append([]string{"run", "--no-journal", "--format", "json", "--confirm", "never"}, commands[i]...)
		before, after := old.read(args...), changed.read(args...)
		if before.status != after.status {
			found[i] = []difference{exits(names[i], before, after)}
			return
		}
		if before.status != 2 {
			found[i] = compareLines(names[i], linesOf(before.out, lineOf), linesOf(after.out, lineOf))
		}
	})
	result := outcome{cases: names}
	for _, some := range found {
		result.differences = append(result.differences, some...)
	}
	played := make([][]difference, len(m.sessions))
	each(len(m.sessions), func(i int) { played[i] = compareSession(m.sessions[i], old, changed) })
	for i, s := range m.sessions {
		result.cases = append(result.cases, s.name)
		result.differences = append(result.differences, played[i]...)
	}
	resumed, refused, err := journals(old, changed, m)
	result.cases = append(result.cases, resumed.cases...)
	result.differences = append(result.differences, resumed.differences...)
	if refused > 0 {
		result.note = fmt.Sprintf("%d journals are refused with a sentence", refused)
	}
	return result, err
}

// runnable are the arguments of runs that need no network, model or person.
func (m *material) runnable() [][]string {
	var all [][]string
	for _, plan := range m.in(examples) {
		if strings.Count(plan, "/") == 1 && filepath.Base(plan) != "health.yaml" { // it says how busy this machine is
			all = append(all, []string{plan})
		}
		recorded := strings.TrimSuffix(plan, ".yaml") + ".solutions.yaml"
		if _, err := os.Stat(filepath.Join(m.plans, recorded)); err == nil {
			all = append(all, []string{plan, "--planner", "replay:" + recorded})
		}
	}
	for _, plan := range thin(m.in(generated), 20) {
		all = append(all, []string{plan})
	}
	for i, plan := range m.in(corpus) {
		if strings.HasPrefix(plan, corpus+"/mathqa/") && i%6 == 0 {
			all = append(all, []string{plan, "--activities", "arithmetic/activities.yaml"})
		}
	}
	return all
}

// arithmetic carries out most of the operations of MathQA's plans.
const arithmetic = `activities:
  add: {expr: "{result: arg_0 + arg_1}"}
  subtract: {expr: "{result: arg_0 - arg_1}"}
  multiply: {expr: "{result: arg_0 * arg_1}"}
  divide: {expr: "{result: arg_0 / arg_1}"}
  power: {expr: "{result: arg_0 ** arg_1}"}
  sqrt: {expr: "{result: arg_0 ** 0.5}"}
  max: {expr: "{result: max(arg_0, arg_1)}"}
  min: {expr: "{result: min(arg_0, arg_1)}"}
  negate: {expr: "{result: -arg_0}"}
  inverse: {expr: "{result: 1 / arg_0}"}
  floor: {expr: "{result: floor(arg_0)}"}
  reminder: {expr: "{result: int(arg_0) % int(arg_1)}"}
  circle_area: {expr: "{result: 3.141592653589793 * arg_0 * arg_0}"}
  rectangle_area: {expr: "{result: arg_0 * arg_1}"}
  square_area: {expr: "{result: arg_0 * arg_0}"}
  speed: {expr: "{result: arg_0 / arg_1}"}
  negate_prob: {expr: "{result: 1 - arg_0}"}
  triangle_area: {expr: "{result: arg_0 * arg_1 / 2}"}
`

// lineOf is what of one line of a command's JSON is compared: of findings, simulated runs and differences
// what their own differentials compare; of events all but times and sentences.
func lineOf(v any) (key, text string) {
	fields, _ := v.(map[string]any)
	switch fields["kind"] {
	case "finding":
		start, _ := fields["start"].(map[string]any)
		return fmt.Sprintf(
			"finding %v %v %v",
			fields["code"],
			fields["severity"],
			fields["call"],
		), fmt.Sprint(fields["file"], ":", start["line"])
	case "scenario":
		return endOf(v)
	case "difference":
		return changeOf(v)
	}
	for _, name := range []string{"at", "journal", "id", "signed"} {
		delete(fields, name)
	}
	var words []string
	for _, name := range []string{"event", "kind", "call", "status", "name", "verdict", "instance"} {
		if word, ok := fields[name].(string); ok {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), compact(wordless(v))
}
