// Package planner asks for solutions, and for the results of latent calls: models behind two wire formats, and a file
// of recorded answers that needs no model. A [Recorder] stands before any of them and keeps what it answers.
// PLANNERS.md beside this file tells people how to use them.
//
// A planner hands out text as it comes and judges none of it; what a solution may do is decided by those who read it.
// It restarts an answer only as long as nothing of it was handed out. Whatever is secret about a request is kept out of
// text and errors, and a key is sent to the configured address and nowhere else.
package planner

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A Planner answers requests. Answer hands out the text of one answer through emit, piece by piece and in order, each
// piece valid UTF-8, from the goroutine of its caller, and returns when the answer is whole. It returns soon after ctx
// is done. Its error is
//
//   - [request.ErrCut], wrapped, when the answer broke off after something of it
//     was handed out;
//   - a [*request.Refused] when the model declined;
//   - an [*request.Unavailable] when no answer is to be had: the run stops, and can be
//     resumed;
//   - that of ctx, wrapped.
//
// The usage is what was spent, also where there is an error. Answer may be called from many goroutines at once.
type Planner interface {
	Answer(ctx context.Context, r *request.Request, emit func(text string)) (request.Usage, error)
}

const forms = "replay:FILE, openai:MODEL or anthropic:MODEL"

// Open makes the planner that a person names: replay:FILE, openai:MODEL or anthropic:MODEL. Base URLs and keys come
// from the variables that the makers' own libraries read: OPENAI_BASE_URL and OPENAI_API_KEY, ANTHROPIC_BASE_URL and
// ANTHROPIC_API_KEY. No request is made yet. The error says what is wrong with the spec, the file (with places) or the
// settings.
func Open(spec string, o Options) (Planner, error) {
	kind, name, colon := strings.Cut(spec, ":")
	if !colon || name == "" {
		return nil, fmt.Errorf("%q names no planner: write %s", diag.Escape(spec), forms)
	}
	if kind == "replay" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("the recorded solutions can't be read: %w", err)
		}
		return Replay(name, text)
	}
	if f := formats[kind]; f != nil {
		return open(spec, name, f, o)
	}
	return nil, fmt.Errorf("there is no planner %q: write %s", diag.Escape(kind), forms)
}
