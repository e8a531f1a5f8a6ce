package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// branchFacts is what must be known of a plan before its branches are judged.
const branchFacts = diag.Writes | diag.Reads | diag.Order | diag.State

// hasBranches reports whether anything in the plan decides what runs.
func (p *Pass) hasBranches() bool {
	known := &p.branching
	if !known.yes {
		more := p.Plan.Calls[known.upTo:]
		known.yes = p.Plan.Writes == compiler.Once || slices.ContainsFunc(more, func(c *compiler.Call) bool { return len(c.Output) > 1 || c.When != nil })
		known.upTo += len(more)
	}
	return known.yes
}

// noteWriters shows where alternatives write what some expressions read; nil is none.
func (p *Pass) noteWriters(f *diag.Diagnostic, templates ...*compiler.Template) {
	noted := map[source.Span]bool{}
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, r := range t.Reads {
			read := &p.Plan.Reads[r]
			for _, w := range read.Writers {
				call := p.Plan.Calls[w]
				if path, ok := p.outputOver(call, read.Path); ok && len(noted) < maxShown && !noted[path.Span()] {
					noted[path.Span()] = true
					f.Note(path.Span(), "%q may write %q here", call.Name, p.path(path.ID))
				}
			}
		}
	}
}
