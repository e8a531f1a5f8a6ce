package permit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Allow adds what a reviewer permits besides what the plan does: the contents of a file that EXECUTION.md#permits
// describes for --allow. The facts are those of the plan.
func (p *Permit) Allow(f *facts.Facts, contents map[string]any) error {
	if budget, ok := contents["budget"].(map[string]any); ok {
		text, _ := budget["time"].(string)
		if d, err := time.ParseDuration(text); err == nil {
			budget["time"] = d.Seconds()
		}
	}
	var file struct {
		Allow  map[string]map[string]any `json:"allow"`
		Budget map[string]float64        `json:"budget"`
		Models []string                  `json:"models"`
	}
	if err := diag.ReadStrictly(facts.Compact(contents), &file); err != nil {
		return err
	}
	for _, name := range sorted(file.Allow) {
		if err := p.allow(f, name, file.Allow[name]); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	for _, name := range sorted(file.Budget) {
		if most := file.Budget[name]; most < 0 || !slices.Contains([]string{"calls", "ticks", "cost", "time"}, name) {
			return fmt.Errorf("a budget has calls, ticks, cost and time, each from 0; got %s: %s", name, Number(most))
		}
		p.Budget[name] = file.Budget[name]
	}
	if file.Models != nil {
		p.Models = file.Models
	}
	return nil
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// allow adds what the calls of a tool may be given.
func (p *Permit) allow(f *facts.Facts, name string, rule map[string]any) error {
	var names []string
	for _, t := range f.Tools {
		names = append(names, t.Name)
	}
	at := slices.Index(names, name)
	if at < 0 {
		return fmt.Errorf("the plan has no such tool; it has %s", wording.Names(names, 10))
	}
	t := &f.Tools[at]
	e := Entry{
		Tool: name, Effect: t.Effect.Kind, OpenWorld: t.Effect.OpenWorld, Context: t.Runs.Kind == facts.Model,
		Allow: map[string]any{}, Below: []string{"†state", "†data"}, Times: mostTimes,
	}
	if d := f.Delegates[t.Runs.Plan]; d != nil {
		p.add(d, f, t.Runs.Plan, mostTimes)
	}
	for _, key := range sorted(rule) {
		v := rule[key]
		switch path, _ := v.(string); {
		case key == "_times":
			if diag.ReadStrictly(facts.Compact(v), &e.Times) != nil || e.Times < 1 {
				return fmt.Errorf("\"_times\" is a whole number from 1; got %s", short(v))
			}
		case key == "_outputPath":
			if path != "" {
				v = []any{path}
			}
			if err := diag.ReadStrictly(facts.Compact(v), &e.Below); err != nil {
				return fmt.Errorf("\"_outputPath\": %w", err)
			}
			for i, path := range e.Below {
				if !strings.HasPrefix(path, "†") {
					e.Below[i] = "†state." + path
				}
			}
		case strings.HasPrefix(key, "_"):
			return fmt.Errorf("there is no %q: expected \"_times\" or \"_outputPath\"", key)
		case strings.HasPrefix(path, "†"):
			e.Allow[key] = path
			e.Needs = append(e.Needs, writersOf(f, path)...)
		default:
			expected := schemaOf(v)
			if e.Allow[key] = expected; schema.New(expected, schema.Options{}).Compile() != nil {
				return fmt.Errorf("%q: it isn't a JSON Schema: %s", key, short(v))
			}
		}
	}
	p.Calls = append(p.Calls, e)
	return nil
}

// schemaOf is the schema of what a reviewer allows: a schema, a list of values, or a value.
func schemaOf(allowed any) map[string]any {
	switch v := allowed.(type) {
	case map[string]any:
		return v
	case []any:
		return map[string]any{"enum": v}
	}
	return map[string]any{"const": allowed}
}

func short(v any) string { return wording.Cut(string(facts.Compact(v)), 60) }

// writersOf are the tools of the plan's own calls that write at a path, and what is there from the start.
func writersOf(f *facts.Facts, at string) []Row {
	all := []Row{{Writers, at, start}}
	for i := range f.Calls {
		for _, path := range slices.Concat(f.Calls[i].Writes...) {
			if facts.Within(path, at) || facts.Within(at, path) {
				all = append(all, Row{Writers, at, "every " + f.Calls[i].Tool})
			}
		}
	}
	return sortedRows(all)
}

// String is an entry that a reviewer added, in one line.
func (e *Entry) String() string {
	often := "any number of times"
	if e.Times < mostTimes {
		often = wording.Count(e.Times, "time")
	}
	text := fmt.Sprintf("calls of %q that are at worst %s, with %s, writing at or below %s, %s",
		e.Tool, effect(e.Effect, e.OpenWorld), facts.Compact(e.Allow), listed(e.Below), often)
	from := map[string][]string{}
	for _, row := range e.Needs {
		from[row.Of] = append(from[row.Of], entryText(row.Is))
	}
	for _, path := range sorted(from) {
		text += fmt.Sprintf("; %s from %s", path, wording.Or(from[path]))
	}
	return text
}

// allowed compares the call with an entry that a reviewer added.
func (s *Subject) allowed(e *Entry, differ func(is Row, approved string)) {
	c, named := s.Call, 0
	for _, name := range sorted(e.Allow) {
		path, count := facts.Step("", name), named
		for i := range c.Values {
			if v := &c.Values[i]; facts.Within(v.Path, path) {
				if named++; !s.permits(e.Allow[name], name, v) {
					differ(Row{Parameter, v.Path, text(v)}, short(e.Allow[name]))
				}
				if _, isPath := e.Allow[name].(string); isPath {
					s.checkWriters(e, v.Sources, differ)
				}
			}
		}
		if named == count {
			differ(Row{Parameter, name, nothing}, short(e.Allow[name]))
		}
	}
	if len(e.Allow) > 0 && named < len(c.Values) {
		differ(Row{Parameter, "", "others"}, listed(sorted(e.Allow)))
	}
	for _, path := range slices.Concat(c.Writes...) {
		if !slices.ContainsFunc(e.Below, func(above string) bool { return facts.Within(path, above) }) {
			differ(Row{Path, "", path}, listed(e.Below))
		}
	}
	if !e.Context && (len(c.Context) > 0 || c.Runs.Kind == facts.Produced) {
		differ(Row{Context, "", given}, nothing)
	}
}

// checkWriters reports the tools that may have written what is read, or have, and aren't those of the plan.
func (s *Subject) checkWriters(e *Entry, sources []facts.Source, differ func(is Row, approved string)) {
	for _, source := range sources {
		tools := source.Tools
		if wrote, known := s.Wrote[source.Path]; known {
			tools = nil
			for _, w := range wrote {
				tools = append(tools, w.Tool)
			}
		}
		for _, tool := range tools {
			if row := (Row{Writers, source.Path, "every " + tool}); !slices.Contains(e.Needs, row) {
				differ(row, nothing)
			}
		}
	}
}

// permits reports whether a value is what a reviewer allows for a parameter: a path, or what fits a schema. Of a schema
// only the value decides, as soon as it is known.
func (s *Subject) permits(allowed any, name string, v *facts.Value) bool {
	expected, ok := allowed.(map[string]any)
	if !ok {
		return v.Expression == allowed && v.Path == facts.Step("", name) && len(v.Sources) == 1 &&
			v.Sources[0].Path == allowed
	}
	value, known := s.Values[name]
	if !known && (v.Path != facts.Step("", name) || v.Literal.Sum() != "" ||
		json.Unmarshal(v.Literal.Text, &value) != nil) {
		return len(expected) == 0 || s.Arrives
	}
	of := schema.New(expected, schema.Options{})
	return of.Compile() == nil && of.Accepts(value)
}
