package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Given is what a run or a rehearsal is handed besides its plan.
type given struct {
	input, state   map[string]any // that were read before
	inputs, states []string       // what flags lay over them
	parallel       int
	flags          *pflag.FlagSet
	texts          map[string]string // of inputs that were given by themselves, as they were written
	unfit          map[string]error  // why such a one can't be taken for JSON, and can only be text
}

func addGiven(cmd *cobra.Command) *given {
	g := addValues(cmd)
	cmd.Flags().IntVar(&g.parallel, "parallel", 0, "how many activities may run at once; by default the plan's own limit, or 64")
	stands(cmd, "parallel", "N")
	return g
}

// addValues adds the flags that give input and state.
func addValues(cmd *cobra.Command) *given {
	g := &given{texts: map[string]string{}, unfit: map[string]error{}}
	flags := cmd.Flags()
	flags.StringArrayVarP(&g.inputs, "input", "i", nil, "an input value, as JSON or else as text; @FILE gives several; may be repeated")
	stands(cmd, "input", "KEY=VALUE")
	flags.StringArrayVar(&g.states, "state", nil, "state to start from, over the plan's own, from a file of JSON or YAML; may be repeated")
	stands(cmd, "state", "@FILE")
	g.flags = flags
	return g
}

// values reads what was given for input and state of a plan, the later over the
// earlier.
func (g *given) values(c *cli, r *reading, plan string) (input, state map[string]any, err error) {
	if g.parallel < 0 || g.parallel == 0 && g.flags != nil && g.flags.Changed("parallel") {
		return nil, nil, usageErr("--parallel can't be %d: expected a whole number from 1", g.parallel)
	}
	in := 0
	for _, name := range slices.Concat([]string{plan}, r.Activities, r.Policies) {
		if name == "-" {
			in++
		}
	}
	for _, text := range slices.Concat(g.inputs, g.states) {
		if text == "@-" {
			in++
		}
	}
	if in > 1 {
		return nil, nil, usageErr("standard input can be read only once: %d things ask for it", in).Advise("give all but one of them as files")
	}
	input, state = g.input, g.state
	for _, text := range g.inputs {
		if input, err = g.take(c, r, input, "--input", text); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range g.states {
		if state, err = g.take(c, r, state, "--state", text); err != nil {
			return nil, nil, err
		}
	}
	return input, state, nil
}

// take lays one value of a flag over those before it.
func (g *given) take(c *cli, r *reading, before map[string]any, flag, text string) (map[string]any, error) {
	more := map[string]any{}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		read, err := c.mapping(r, flag, name)
		if err != nil {
			return nil, err
		}
		more = read
		maps.DeleteFunc(g.texts, func(key, _ string) bool { _, again := more[key]; return again && flag != "--state" })
	} else {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, usageErr("%s can't be %q: expected KEY=VALUE or @FILE", flag, text).
				Advise("for example %s city=Paris, or %s @values.json", flag, flag)
		}
		read, problem := terminal.ValueOf(value, r.Limits)
		if problem != "" {
			read = value
			err := usageErr("%s %s: %s", flag, key, problem).Advise("if it is text, quote it: %s %s", flag, terminal.JSON(key+"="+terminal.JSON(value, ""), ""))
			if flag != "--input" {
				return nil, err
			}
			g.unfit[key] = err
		} else {
			delete(g.unfit, key)
		}
		if flag != "--state" {
			g.texts[key] = value
		}
		more[key] = read
	}
	if before == nil {
		return more, nil
	}
	maps.Copy(before, more)
	return before, nil
}

// mapping reads a file of values, in YAML or JSON.
func (c *cli) mapping(r *reading, flag, name string) (map[string]any, error) {
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
			return nil, usageErr("%s: %q, line %d, column %d: %s", given, file.Name, at.Line, at.Column, p.Message).Advise("%s", p.Help)
		}
	}
	if node == nil || node.Kind != source.Object {
		return nil, usageErr("%s: %q doesn't hold a mapping from keys to values", given, file.Name)
	}
	return node.Value().(map[string]any), nil
}

// settle takes inputs for what the plan declares them to be: one that is to be a text is
// what was written, also where that is JSON of something else.
func (g *given) settle(p *plan.Plan, input map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(g.texts)) {
		takes := func(value any) bool {
			if p.InputSchema == nil {
				return false
			}
			place := p.InputSchema.At([]schema.Step{schema.Key(key)})
			return place.Possible && place.Schema != nil && place.Schema.Validate(value) == nil
		}
		unfit := g.unfit[key]
		switch text := g.texts[key]; {
		case takes(text) && (unfit != nil || !takes(input[key])):
			input[key] = text
		case unfit != nil:
			return unfit
		}
	}
	return nil
}

// errUnread is the trouble with an input that nothing reads.
var errUnread = errors.New("nothing reads the input")

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
				return nil // the whole input is read
			}
			known[read.Ref.Path[0].Key] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, key := range slices.Sorted(maps.Keys(input)) {
		if known[key] || p.InputSchema != nil && p.InputSchema.At([]schema.Step{schema.Key(key)}).Named {
			continue // a pattern or "additionalProperties" may declare it
		}
		err := diag.NewError(errUnread, "the plan doesn't read the input %q", key)
		switch near, ok := naming.Nearest(key, names); {
		case ok:
			return err.Advise("did you mean %q?", near).About(near)
		case len(names) == 0:
			return err.Advise("take it out: the plan reads no input")
		}
		return err.Advise("take it out, or give one of those that it reads: %s", strings.Join(names, ", "))
	}
	return nil
}
