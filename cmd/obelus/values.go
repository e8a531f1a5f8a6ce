package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// given are the flags for what a plan is given.
type given struct {
	Inputs []string `flag:"-i, --input KEY=VALUE: an input value, JSON or else text; @FILE has several"`
	States []string `flag:"--state @FILE: initial state over the plan's own, from a file of JSON or YAML"`

	texts map[string]string // of inputs that were given by themselves, as they were written
	unfit map[string]error  // why such a one can't be read as JSON, and can only be text
}

// concurrencyFlag bounds what runs at once.
type concurrencyFlag struct {
	Concurrency int `flag:"--concurrency N: activities that run at once [the plan's own limit, or 64]" was:"parallel"`
}

// check refuses a number that isn't one of activities.
func (o *concurrencyFlag) check(c *cli) error {
	if o.Concurrency < 0 || o.Concurrency == 0 && c.changed("concurrency") {
		return usageErr("--concurrency can't be %d: expected a whole number from 1", o.Concurrency)
	}
	return nil
}

// values reads what was given for input and state of a plan, the later over the earlier.
func (g *given) values(c *cli, r *project.Reader, plan string) (input, state map[string]any, err error) {
	files := slices.Concat([]string{plan}, r.Activities, r.Policies)
	for _, text := range slices.Concat(g.Inputs, g.States) {
		files = append(files, strings.TrimPrefix(text, "@"))
	}
	files = slices.DeleteFunc(files, func(name string) bool { return name != "-" })
	if len(files) > 1 {
		return nil, nil, usageErr("standard input can be read only once: %d things ask for it", len(files)).
			Advise("give all but one of them as files")
	}
	input, state = c.input, c.state
	for _, text := range g.Inputs {
		if input, err = g.add(c, r, input, "--input", text); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range g.States {
		if state, err = g.add(c, r, state, "--state", text); err != nil {
			return nil, nil, err
		}
	}
	return input, state, nil
}

// add puts the value of a flag over those before it.
func (g *given) add(c *cli, r *project.Reader, values map[string]any, flag, text string) (map[string]any, error) {
	if g.texts == nil {
		g.texts, g.unfit = map[string]string{}, map[string]error{}
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		read, err := c.mapping(r, flag, name)
		for key := range read {
			if flag != "--state" {
				delete(g.texts, key)
			}
		}
		return session.Over(values, read), err
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return nil, usageErr("%s can't be %q: expected KEY=VALUE or @FILE", flag, text).
			Advise("for example %s city=Paris, or %s @values.json", flag, flag)
	}
	read, problem := terminal.ValueOf(value, r.Limits)
	delete(g.unfit, key)
	if problem != "" {
		read = value
		quoted := terminal.JSON(key+"="+terminal.JSON(value, ""), "")
		err := usageErr("%s %s: %s", flag, key, problem).Advise("if it is text, quote it: %s %s", flag, quoted)
		if flag != "--input" {
			return nil, err
		}
		g.unfit[key] = err
	}
	if flag != "--state" {
		g.texts[key] = value
	}
	return session.Over(values, map[string]any{key: read}), nil
}

// mapping reads a file of values, in YAML or JSON.
func (c *cli) mapping(r *project.Reader, flag, name string) (map[string]any, error) {
	text, err := r.Text(name)
	if err != nil {
		return nil, err
	}
	return valuesOf(flag, source.NewFile(name, text), r.Limits)
}

// valuesOf reads values that are given under a name.
func valuesOf(given string, file *source.File, limits source.Limits) (map[string]any, error) {
	node, problems := source.Parse(file, limits)
	for _, p := range problems {
		if !p.Warning {
			at := p.Span.From()
			return nil, usageErr("%s: %q, line %d, column %d: %s", given, file.Name, at.Line, at.Column, p.Message).
				Advise("%s", p.Help)
		}
	}
	if node == nil || node.Kind != source.Object {
		return nil, usageErr("%s: %q doesn't hold a mapping from keys to values", given, file.Name)
	}
	return node.Value().(map[string]any), nil
}

// convert makes inputs fit what the plan declares: one that must be a text is what was written, even if that is JSON of
// something else.
func (g *given) convert(p *plan.Plan, input map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(g.texts)) {
		fits := func(value any) bool {
			if p.InputSchema == nil {
				return false
			}
			at := p.InputSchema.At([]schema.Step{schema.Key(key)})
			return at.Possible && at.Schema != nil && at.Schema.Validate(value) == nil
		}
		unfit := g.unfit[key]
		switch text := g.texts[key]; {
		case fits(text) && (unfit != nil || !fits(input[key])):
			input[key] = text
		case unfit != nil:
			return unfit
		}
	}
	return nil
}

// fit converts the inputs of a plan, and refuses those that nothing reads or its schemas don't allow.
// A planner reads all of them.
func (g *given) fit(p *plan.Plan, input, state map[string]any, planned bool) error {
	if err := g.convert(p, input); err != nil {
		return err
	}
	if !planned {
		if err := unreadInputs(p, input); err != nil {
			return err
		}
	}
	return session.Fits(p, input, state)
}

// unreadInputs refuses an input that nothing reads and no schema declares: most likely it
// is misspelt. A model that answers a call without scopes reads all of it.
func unreadInputs(p *plan.Plan, input map[string]any) error {
	if slices.ContainsFunc(p.Calls, func(c *plan.Call) bool {
		return c.Latent() && c.Produced == nil && c.Scopes == nil && c.Delegate != plan.Anonymous
	}) {
		return nil
	}
	known := map[string]bool{}
	if p.InputSchema != nil {
		for _, key := range p.InputSchema.Properties() {
			known[key] = true
		}
	}
	for _, read := range p.Reads {
		if read.Ref.Kind == "input" {
			if len(read.Ref.Path) == 0 {
				return nil // all of it is read
			}
			known[read.Ref.Path[0].Key] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, key := range slices.Sorted(maps.Keys(input)) {
		if known[key] || p.InputSchema != nil && p.InputSchema.At([]schema.Step{schema.Key(key)}).Named {
			continue // a pattern or "additionalProperties" may declare it
		}
		err := usageErr("the plan doesn't read the input %q", key)
		if len(names) == 0 {
			return err.Advise("take it out: the plan reads no input")
		}
		return err.Advise("take it out, or give one of those that it reads: %s", strings.Join(names, ", ")).Suggest(key,
			names)
	}
	return nil
}
