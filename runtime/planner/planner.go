// Package planner asks for solutions, and for the results of latent calls:
// models behind two wire formats, and a file of recorded answers that needs no
// model (S11.6). PLANNERS.md beside this file tells people how to use them.
//
// A planner hands out text as it comes and judges none of it; what a solution
// may do is decided by those who read it (S11.4). It restarts an answer only as
// long as nothing of it was handed out.
package planner

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// A Planner answers requests. Answer hands out the text of one answer through
// emit, piece by piece and in order, each piece valid UTF-8, from the goroutine
// of its caller, and returns when the answer is whole. It returns soon after ctx
// is done. Its error is
//
//   - [runtime.ErrCut], wrapped, when the answer broke off after something of it
//     was handed out;
//   - a [*Refused] when the model declined;
//   - an [*Unavailable] when no answer is to be had: the run stops, and can be
//     resumed;
//   - that of ctx, wrapped.
//
// The usage is what was spent, also where there is an error. Answer may be
// called from many goroutines at once.
type Planner interface {
	Answer(ctx context.Context, r *runtime.Request, emit func(text string)) (runtime.Usage, error)
}

// Options are what planners take from outside. The zero value is ready for use.
type Options struct {
	// Prices make costs of tokens. Without them a model costs nothing.
	Prices Prices
	// MaxTokens bounds what a model may write in one answer, its reasoning
	// included. 0 leaves it to the endpoint, where that has a bound of its own, and
	// is 32,000 for Anthropic's, which has none.
	MaxTokens int
	// Patience is how long one answer may wait for an endpoint that is busy, all
	// waits together. 0 is five minutes.
	Patience time.Duration
	// Silence is how long an endpoint may send nothing at all. 0 is ten minutes.
	Silence time.Duration
	// Client carries requests to endpoints. Nil is one of our own, with the proxy
	// that the environment names. Redirects are never followed.
	Client *http.Client
	// Open reads the file of a replay planner. Nil is os.ReadFile.
	Open func(name string) ([]byte, error)
}

// Prices are what a million tokens cost, in the currency of "limits.cost".
type Prices struct{ InputPerMillion, OutputPerMillion float64 }

func (p Prices) cost(u runtime.Usage) float64 {
	return float64(u.InputTokens)/1e6*p.InputPerMillion + float64(u.OutputTokens)/1e6*p.OutputPerMillion
}

var kinds = []string{"replay", "openai", "anthropic"}

// Open makes the planner that a person names: replay:FILE, openai:MODEL or
// anthropic:MODEL. Base URLs and keys come from the variables that the
// makers' own libraries read: OPENAI_BASE_URL and OPENAI_API_KEY, ANTHROPIC_BASE_URL and
// ANTHROPIC_API_KEY. No request is made yet. The error says what is wrong with
// the spec, the file (with places) or the settings.
func Open(spec string, o Options) (Planner, error) {
	kind, name, colon := strings.Cut(spec, ":")
	switch {
	case !colon || name == "":
		return nil, fmt.Errorf("%q names no planner: write replay:FILE, openai:MODEL or anthropic:MODEL", diag.Escape(spec))
	case kind == "replay":
		return openReplay(name, o)
	case kind == "openai":
		return openOpenAI(name, o)
	case kind == "anthropic":
		return openAnthropic(name, o)
	}
	near, ok := compiler.Nearest(kind, kinds)
	if !ok {
		return nil, fmt.Errorf("there is no planner %q: write replay:FILE, openai:MODEL or anthropic:MODEL", diag.Escape(kind))
	}
	return nil, fmt.Errorf("there is no planner %q; did you mean %s:%s?", diag.Escape(kind), near, diag.Escape(name))
}

func openReplay(name string, o Options) (Planner, error) {
	read := o.Open
	if read == nil {
		read = os.ReadFile
	}
	text, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("the recorded solutions can't be read: %w", err)
	}
	return Replay(name, text)
}

// Unavailable says that a planner gives no answer, and none is to be expected
// before somebody does something about it.
type Unavailable struct {
	Planner string // as in a spec: "openai:gpt-5"
	Why     string // what is wrong, in one line
	Remedy  string // what to do about it
}

func (u *Unavailable) Error() string {
	return fmt.Sprintf("the planner %s gives no answer: %s; %s", diag.Escape(u.Planner), u.Why, u.Remedy)
}

// Refused says that a model declined to answer.
type Refused struct {
	Planner string
	Words   string // the model's own; "" where it gave none
}

func (r *Refused) Error() string {
	if r.Words == "" {
		return fmt.Sprintf("%s declined to answer", diag.Escape(r.Planner))
	}
	return fmt.Sprintf("%s declined to answer: %q", diag.Escape(r.Planner), diag.Escape(r.Words))
}

// Refusal is what the model said, or that it said nothing.
func (r *Refused) Refusal() string {
	if r.Words == "" {
		return "the model declined to answer and gave no reason"
	}
	return r.Words
}
