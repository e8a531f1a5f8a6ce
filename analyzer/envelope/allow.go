package envelope

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Widen adds to an envelope what a person allows besides what the plan does, as EXECUTION.md#permits describes for
// --allow. The facts are those of the plan.
func (e *Envelope) Widen(f *facts.Facts, said map[string]any) error {
	if budget, ok := said["budget"].(map[string]any); ok {
		text, _ := budget["time"].(string)
		if d, err := time.ParseDuration(text); err == nil {
			budget["time"] = d.Seconds()
		}
	}
	var file struct {
		Allow  map[string]map[string]any `json:"allow"`
		Budget Budget                    `json:"budget"`
		Models []string                  `json:"models"`
	}
	if err := diag.ReadStrictly(facts.Compact(said), &file); err != nil {
		return err
	}
	for _, name := range sorted(file.Allow) {
		if err := e.allow(f, name, file.Allow[name]); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	for _, one := range file.Budget.bounds() {
		if one.most != nil && *one.most < 0 {
			return fmt.Errorf("the %s of a budget is a number from 0; got %s", one.what, number(*one.most))
		}
	}
	b := &e.Budget
	b.Calls, b.Ticks = cmp.Or(file.Budget.Calls, b.Calls), cmp.Or(file.Budget.Ticks, b.Ticks)
	b.Cost, b.Time = cmp.Or(file.Budget.Cost, b.Cost), cmp.Or(file.Budget.Time, b.Time)
	if file.Models != nil {
		e.Models = file.Models
	}
	return nil
}

// allow adds what the calls of a tool may be given.
func (e *Envelope) allow(f *facts.Facts, name string, rule map[string]any) error {
	var names []string
	for _, t := range f.Tools {
		names = append(names, t.Name)
	}
	at := slices.Index(names, name)
	if at < 0 {
		if near, ok := naming.Nearest(name, names); ok {
			return fmt.Errorf("the plan has no such tool; did you mean %q?", near)
		}
		return errors.New("the plan has no such tool")
	}
	t := &f.Tools[at]
	one := Entry{
		Tool: name, Effect: t.Effect.Kind, OpenWorld: t.Effect.OpenWorld, Context: t.Runs.Kind == facts.Model,
		Allow: map[string]any{}, Reads: map[string][]string{}, Below: []string{"†state", "†data"}, Times: mostTimes,
	}
	if d := f.Delegates[t.Runs.Plan]; d != nil {
		e.add(map[[2]string]int{}, d, t.Runs.Plan, f, mostTimes)
	}
	for _, key := range sorted(rule) {
		v := rule[key]
		switch text, isText := v.(string); {
		case key == "_times":
			if diag.ReadStrictly(facts.Compact(v), &one.Times) != nil || one.Times < 1 {
				return fmt.Errorf("\"_times\" is a whole number from 1; got %s", short(v))
			}
		case key == "_outputPath":
			if isText {
				v = []any{text}
			}
			if err := diag.ReadStrictly(facts.Compact(v), &one.Below); err != nil {
				return fmt.Errorf("\"_outputPath\": %w", err)
			}
		case strings.HasPrefix(key, "_"):
			return fmt.Errorf("there is no %q: expected \"_times\" or \"_outputPath\"", key)
		default:
			if s, ok := v.(map[string]any); ok {
				if err := schema.New(s, schema.Options{}).Compile(); err != nil {
					return fmt.Errorf("%q: it isn't a JSON Schema: %w", key, err)
				}
			}
			if one.Allow[key] = v; strings.HasPrefix(text, "†") {
				one.Reads[text] = append([]string{start}, writersOf(f, text)...)
			}
		}
	}
	e.Calls = append(e.Calls, one)
	return nil
}

func short(v any) string { return wording.Cut(string(facts.Compact(v)), 60) }

// writersOf are the tools of the plan's own calls that write what is at a path.
func writersOf(f *facts.Facts, at string) (tools []string) {
	for i := range f.Calls {
		for _, path := range slices.Concat(f.Calls[i].Writes...) {
			if atOrBelow(path, at) || atOrBelow(at, path) {
				tools = append(tools, f.Calls[i].Tool)
			}
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}

// atOrBelow reports whether a path is another one, or below it.
func atOrBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// allowed compares the call with an entry that a person added.
func (j *judge) allowed(e *Entry) {
	c, named := j.call, 0
	for _, name := range sorted(e.Allow) {
		leaves := parameter(c, name)
		if named += len(leaves); len(leaves) == 0 {
			j.differs(Row{Parameter, name, "nothing"}, short(e.Allow[name]))
		}
		value, known := j.given.Values[name]
		if !j.permits(e.Allow[name], name, leaves, value, known) {
			for i := range leaves {
				j.differs(Row{Parameter, leaves[i].Path, text(&leaves[i])}, short(e.Allow[name]))
			}
		}
	}
	if len(e.Allow) > 0 && named < len(c.Values) {
		j.differs(Row{Parameter, "", "others"}, listed(sorted(e.Allow)))
	}
	for _, path := range slices.Concat(c.Writes...) {
		if !slices.ContainsFunc(e.Below, func(above string) bool { return atOrBelow(path, above) }) {
			j.differs(Row{Path, "", path}, listed(e.Below))
		}
	}
	if !e.Context && (len(c.Context) > 0 || c.Runs.Kind == facts.Produced) {
		j.differs(Row{Context, "", given}, "nothing")
	}
}

// parameter are the leaves of a parameter.
func parameter(c *facts.Call, name string) (leaves []facts.Value) {
	for _, v := range c.Values {
		if atOrBelow(v.Path, facts.Step("", name)) {
			leaves = append(leaves, v)
		}
	}
	return leaves
}

// permits reports whether a parameter is what a person allows: what fits a schema, one of several values, a path or a
// value. Of a schema only the value decides, as soon as it is known.
func (j *judge) permits(allowed any, name string, leaves []facts.Value, value any, known bool) bool {
	first := facts.Value{}
	if len(leaves) == 1 && leaves[0].Path == facts.Step("", name) && leaves[0].Literal.Sum() == "" {
		first = leaves[0]
	}
	equals := func(v any) bool { return string(first.Literal.Text) == string(facts.Compact(v)) }
	switch allowed := allowed.(type) {
	case map[string]any:
		if !known && json.Unmarshal(first.Literal.Text, &value) != nil {
			return len(allowed) == 0 || j.given.Live && j.given.Writers == nil
		}
		s := schema.New(allowed, schema.Options{})
		return s.Compile() == nil && s.Accepts(value)
	case []any:
		return slices.ContainsFunc(allowed, equals)
	case string:
		if strings.HasPrefix(allowed, "†") {
			return first.Expression == allowed && len(first.Sources) == 1 && first.Sources[0].Path == allowed
		}
	}
	return equals(allowed)
}
