package planner

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/runtime/request"
)

var (
	//go:embed prompt/instructions.md
	instructions string
	//go:embed prompt/instructions_lazy.md
	instructionsLazy string
	//go:embed prompt/instructions_calls.md
	instructionsCalls string
	//go:embed prompt/instructions_latent.md
	instructionsLatent string
)

// A prompt is a request in the words in which a model is asked.
type prompt struct {
	system string // how to answer
	user   string // what is known: headings and JSON
}

// render puts a request into words. Whatever comes from outside stands as JSON in a fence, a message a line, so that
// none of it can pass for a heading.
func render(r *request.Request) prompt {
	user, answer := "", ""
	if c := r.Call; c != nil {
		call := request.Object{{Key: "name", Value: c.Name}, {Key: "tool", Value: c.Tool},
			{Key: "params", Value: c.Params}}
		if len(c.Paths) > 0 {
			call = call.With("paths", c.Paths)
		}
		user, answer = section("Call", call), "Write the result of the call."
	} else {
		answer = fmt.Sprintf("Write the solution of tick %d.", r.Tick)
	}
	user += section("Context", r.Messages...) + "# Your answer\n\n" + answer + "\n"
	if r.Call != nil {
		return prompt{instructionsLatent, user}
	}
	system := instructions
	if r.UntilNoCalls {
		system += instructionsCalls
	}
	if r.Lazy {
		system += instructionsLazy
	}
	return prompt{system, user}
}

// withSchema adds the schema to a prompt, for endpoints that can't be given one.
func (p prompt) withSchema(schema string) prompt {
	p.user += "\nIt has to be valid against this JSON Schema, its properties in the order of the schema:\n" +
		fence(schema)
	return p
}

func section(title string, objects ...request.Object) string {
	lines := make([]string, len(objects))
	for i, object := range objects {
		lines[i] = request.JSON(object)
	}
	return "# " + title + "\n\n" + fence(lines...) + "\n"
}

// fence encloses lines of JSON. None of them begins with a back-tick, so none can end the fence.
func fence(lines ...string) string {
	return "```json\n" + strings.Join(lines, "\n") + "\n```\n"
}
