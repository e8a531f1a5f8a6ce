package main

import (
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/state"
)

// given are the flags for what a plan is given.
type given struct {
	Inputs []string `flag:"-i, --input KEY=VALUE: an input value, JSON or else text; @FILE has several"`
	States []string `flag:"--state KEY=VALUE: a value of the initial state, over the plan's own; @FILE has several"`

	input, state map[string]any // what they give
}

// withValues is the one plan that a command works on; the flags' input and state are read with it.
func (g *given) withValues(c *cli, r *project.Reader, name string) (*project.Program, error) {
	p, err := c.prepared(name, r)
	if err != nil {
		return nil, err
	}
	accepts := func(key string, value any) bool {
		if p.Plan.InputSchema == nil { // the plan's own value shows which type it has
			own, _ := p.Plan.Input.(map[string]any)
			_, isText := own[key].(string)
			_, is := value.(string)
			return isText && is
		}
		at := p.Plan.InputSchema.Part(key)
		return at.Possible && at.Schema != nil && at.Schema.Validate(value) == nil
	}
	for _, text := range g.Inputs {
		if g.input, err = c.set(r, g.input, "--input", text, accepts); err != nil {
			return nil, err
		}
	}
	for _, text := range g.States {
		if g.state, err = c.set(r, g.state, "--state", text, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// set puts KEY=VALUE or @FILE over other values. A value is text if it isn't JSON, or if only the text is accepted.
func (c *cli) set(
	r *project.Reader, values map[string]any, flag, text string, accepts func(key string, value any) bool,
) (map[string]any, error) {
	if strings.HasPrefix(text, "@") || strings.HasPrefix(text, "{") {
		read, err := c.object(r, flag, text)
		return state.Over(values, read), err
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return nil, usageErr("%s can't be %q: expected KEY=VALUE or @FILE", flag, text).
			Advise("for example %s city=Paris, or %s @values.json", flag, flag)
	}
	read, problem := terminal.ValueOf(value)
	if accepts != nil && accepts(key, value) && (problem != "" || !accepts(key, read)) {
		read, problem = value, ""
	}
	if problem != "" {
		quoted := terminal.JSON(key+"="+terminal.JSON(value, ""), "")
		return nil, usageErr("%s %s: %s", flag, key, problem).Advise("if it is text, quote it: %s %s", flag, quoted)
	}
	return state.Over(values, map[string]any{key: read}), nil
}

// object reads values by their names: those of @FILE, in YAML or JSON, or the text itself.
func (c *cli) object(r *project.Reader, flag, text string) (map[string]any, error) {
	file := source.NewFile("value.json", []byte(text))
	if name, ok := strings.CutPrefix(text, "@"); ok {
		read, err := r.Text(name)
		if err != nil {
			return nil, err
		}
		file = source.NewFile(name, read)
	}
	return terminal.ObjectOf(flag, file)
}
