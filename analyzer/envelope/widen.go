package envelope

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Widen lets an envelope hold what a person says besides what the plan does, as EXECUTION.md#approval describes for
// --allow. The facts are those of the plan.
func (e *Envelope) Widen(f *facts.Facts, said map[string]any) error {
	for _, key := range sorted(said) {
		var err error
		switch key {
		case "allow":
			err = e.allow(f, said[key])
		case "budget":
			err = e.Budget.set(said[key])
		case "models":
			e.Models, err = textsOf(said[key])
		default:
			err = unknown("what an approval allows besides", key, []string{"allow", "budget", "models"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unknown(what, key string, known []string) error {
	err := fmt.Errorf("%s has no %q", what, key)
	if near, ok := naming.Nearest(key, known); ok {
		return fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return err
}

func textsOf(v any) ([]string, error) {
	if one, ok := v.(string); ok {
		return []string{one}, nil
	}
	list, ok := v.([]any)
	all := []string{}
	for _, item := range list {
		text, isText := item.(string)
		ok = ok && isText
		all = append(all, text)
	}
	if !ok {
		return nil, fmt.Errorf("expected texts, and got %s", short(v))
	}
	return all, nil
}

func short(v any) string { return wording.Cut(string(facts.Compact(v)), 60) }

func (e *Envelope) allow(f *facts.Facts, said any) error {
	rules, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("\"allow\" is a mapping from tools to what their calls may be given; got %s", short(said))
	}
	var names []string
	for _, t := range f.Tools {
		names = append(names, t.Name)
	}
	for _, name := range sorted(rules) {
		at := slices.Index(names, name)
		if at < 0 {
			return unknown("the plan", name, names)
		}
		t := &f.Tools[at]
		a := Allowance{Tool: name, Effect: t.Effect.Kind, OpenWorld: t.Effect.OpenWorld, Each: &Values{Any: true}, Below: []string{"†state", "†data"}, Times: mostTimes}
		if t.Runs.Kind == facts.Model {
			a.Context = []string{Any}
		}
		if d := f.Delegates[t.Runs.Plan]; d != nil {
			e.add(map[string]int{}, d, t.Runs.Plan, f, mostTimes)
		}
		if err := a.read(f, rules[name]); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		e.Calls = append(e.Calls, a)
	}
	return nil
}

// writers are the tools of the plan's own calls that write what stands at a path.
func writers(f *facts.Facts, at string) []string {
	tools := map[string]bool{}
	for i := range f.Calls {
		for _, path := range slices.Concat(f.Calls[i].Writes...) {
			if atOrBelow(path, at) || atOrBelow(at, path) {
				tools[f.Calls[i].Tool] = true
			}
		}
	}
	return sorted(tools)
}

// read reads the rule for the calls of a tool.
func (a *Allowance) read(f *facts.Facts, said any) (err error) {
	rule, ok := said.(map[string]any)
	if !ok && said != nil {
		return fmt.Errorf("expected parameters with what they may be, or {}; got %s", short(said))
	}
	for _, key := range sorted(rule) {
		v := rule[key]
		switch {
		case key == "_times":
			n, isNumber := v.(float64)
			if !isNumber || n < 1 || n != float64(int(n)) {
				return fmt.Errorf("\"_times\" is a whole number from 1; got %s", short(v))
			}
			a.Times = int(n)
		case key == "_outputPath":
			if a.Below, err = textsOf(v); err != nil {
				return fmt.Errorf("\"_outputPath\": %w", err)
			}
		case strings.HasPrefix(key, "_"):
			return unknown("a call", key, []string{"_times", "_outputPath"})
		default:
			values, err := valuesSaid(f, v)
			if err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
			if a.Parameters == nil {
				a.Parameters = map[string]Values{}
			}
			a.Parameters[key] = values
		}
	}
	if a.Parameters == nil {
		a.Parameters = map[string]Values{Any: {Any: true}}
	}
	return nil
}

// valuesSaid is what a person says that a value may be.
func valuesSaid(f *facts.Facts, v any) (values Values, err error) {
	switch said := v.(type) {
	case map[string]any:
		if len(said) == 0 {
			return Values{Any: true}, nil
		}
		s := schema.New(said, schema.Options{})
		if err := s.Compile(); err != nil {
			return values, fmt.Errorf("it isn't a JSON Schema: %w", err)
		}
		values.Schema = facts.Compact(said)
	case []any:
		for _, one := range said {
			values.Literals = append(values.Literals, Literal{Is: facts.Compact(one)})
		}
	default:
		if text, ok := v.(string); ok && strings.HasPrefix(text, "†") {
			values.Leaves = []Leaf{{Expression: text, Sources: []Source{{Path: text, Tools: writers(f, text), Start: true}}}}
		} else {
			values.Literals = []Literal{{Is: facts.Compact(v)}}
		}
	}
	return values, nil
}

func (b *Budget) set(said any) error {
	parts, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("a budget has numbers for calls, cost, ticks and time; got %s", short(said))
	}
	of := map[string]**float64{"calls": &b.Calls, "cost": &b.Cost, "ticks": &b.Ticks, "time": &b.Time}
	for _, key := range sorted(parts) {
		at := of[key]
		if at == nil {
			return unknown("a budget", key, slices.Sorted(maps.Keys(of)))
		}
		n, isNumber := parts[key].(float64)
		if text, ok := parts[key].(string); ok && key == "time" {
			if d, err := time.ParseDuration(text); err == nil {
				n, isNumber = d.Seconds(), true
			}
		}
		if !isNumber || n < 0 {
			return fmt.Errorf("the %s of a budget is a number from 0; got %s", key, short(parts[key]))
		}
		*at = &n
	}
	return nil
}

// Read reads an envelope that was written as JSON, and that can mean one thing only: it
// holds nothing twice, nothing unknown, and nothing behind it.
func Read(text []byte) (*Envelope, error) {
	e := &Envelope{}
	if err := diag.ReadStrictly(text, e); err != nil {
		return nil, err
	}
	return e, e.Check()
}

// Check reports what in an envelope nobody can have meant, or nil.
func (e *Envelope) Check() error {
	for i := range e.Calls {
		a := &e.Calls[i]
		switch {
		case a.Tool == "":
			return fmt.Errorf("call %d of the envelope names no tool", i+1)
		case compiler.Risk(a.Effect) < 0:
			return fmt.Errorf("call %d of the envelope, of %q, has no effect: expected %s", i+1, a.Tool, wording.Or(compiler.Effects))
		case a.Times < 1:
			return fmt.Errorf("call %d of the envelope, of %q, may not run at all: expected times from 1", i+1, a.Tool)
		}
	}
	return nil
}

// String is a call that may be made, in one line.
func (a *Allowance) String() string {
	text := fmt.Sprintf("calls of %q", a.Tool)
	if a.In != "" {
		text += fmt.Sprintf(" in %q", a.In)
	}
	text += " that are at worst " + a.Effect
	for i, key := range sorted(a.Parameters) {
		values := a.Parameters[key]
		text += []string{", with ", ", "}[min(i, 1)]
		if key == Any {
			text += "whatever parameters"
		} else {
			text += key + ": " + values.String()
		}
	}
	if len(a.Below) > 0 {
		text += ", writing anywhere at or below " + listed(a.Below)
	}
	if a.OpenWorld {
		text += ", what it is given may leave the machine"
	}
	return text + ", " + timesOf(a.Times)
}

// Lines are what a budget bounds, in words.
func (b *Budget) Lines() (all []string) {
	for _, one := range b.bounds() {
		if one.most != nil {
			all = append(all, one.what+": "+number(*one.most))
		}
	}
	return all
}
