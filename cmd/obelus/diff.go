package main

import (
	"context"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
)

type differing struct {
	Format string `flag:"--format text|json|markdown|dot|mermaid|svg: text, or a drawing of the new plan"`
	outputFlag
}

func (o *differing) run(_ context.Context, c *cli, args []string) error {
	form, err := o.formOf(c, o.Format)
	if err != nil {
		return err
	}
	var plans [2]*plan.Plan
	var does [2]*facts.Facts
	reading := c.newReading()
	for i, name := range args {
		if i > 0 && c.second != nil {
			reading.Stdin = c.second
		}
		d, err := reading.One(name)
		if err != nil {
			return err
		}
		p := d.Compile()
		isPartial := diag.HasErrors(p.Findings) // a plan with errors that analysis finds can be compared
		if p.Analyze(); isPartial {
			return c.faultyPlan(p, form, statusError)
		}
		parts, err := p.Plan.Parts()
		if err != nil {
			return usageErr("%q can't be compared: %v", name, err)
		}
		plans[i], does[i] = p.Plan, facts.Of(p.Plan, facts.Options{Parts: parts})
	}
	differs := facts.Compare(does[0], does[1])
	text := ""
	switch form {
	case "json":
		text = differs.JSON()
	case "markdown":
		text = differs.Rows().Markdown()
	case "text":
		text = differs.Rows().Text(false)
	default:
		text = dot.Formats[form](dot.FromDiff(plans[1], plans[0], differs.Was, differs.Touched()))
	}
	if err := c.write(o.Output, []byte(text)); err != nil {
		return err
	}
	return endFound(!differs.Same())
}
