// Package planner asks for solutions, and for the results of latent calls:
// models behind two wire formats, and a file of recorded answers that needs no
// model. PLANNERS.md beside this file tells people how to use them.
//
// A planner hands out text as it comes and judges none of it; what a solution
// may do is decided by those who read it. It restarts an answer only as
// long as nothing of it was handed out.
package planner

import (
	"fmt"
	"os"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/planner/anthropic"
	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/openai"
	"github.com/obelus-dev/obelus/runtime/planner/recording"
)

// A Planner answers requests.
type Planner = recording.Planner

// Options are what planners take from outside. The zero value is ready for use.
type Options = endpoint.Options

// Prices are what a million tokens cost, in the currency of "limits.cost".
type Prices = endpoint.Prices

const forms = "replay:FILE, openai:MODEL or anthropic:MODEL"

// Open makes the planner that a person names: replay:FILE, openai:MODEL or
// anthropic:MODEL. Base URLs and keys come from the variables that the
// makers' own libraries read: OPENAI_BASE_URL and OPENAI_API_KEY, ANTHROPIC_BASE_URL and
// ANTHROPIC_API_KEY. No request is made yet. The error says what is wrong with
// the spec, the file (with places) or the settings.
func Open(spec string, o Options) (Planner, error) {
	kind, name, colon := strings.Cut(spec, ":")
	switch {
	case !colon || name == "":
		return nil, fmt.Errorf("%q names no planner: write %s", diag.Escape(spec), forms)
	case kind == "replay":
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("the recorded solutions can't be read: %w", err)
		}
		return recording.Replay(name, text)
	case kind == "openai":
		return endpoint.Open(spec, name, &openai.Format, o)
	case kind == "anthropic":
		return endpoint.Open(spec, name, &anthropic.Format, o)
	}
	return nil, fmt.Errorf("there is no planner %q: write %s", diag.Escape(kind), forms)
}
