package recording

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Replay makes a planner that gives recorded answers: a YAML or JSON list as PLANNERS.md
// describes it. Name is shown in errors, which name places.
func Replay(name string, text []byte) (*Replayed, error) {
	ticks, err := readRecording(name, text)
	if err != nil {
		return nil, err
	}
	return &Replayed{name: name, ticks: ticks, asked: map[asking]int{}}, nil
}

// Replayed is a planner whose answers were recorded.
type Replayed struct {
	name  string
	ticks []recordedTick
	mu    sync.Mutex
	asked map[asking]int // how often a latent call's result was asked for
}

type asking struct {
	tick         int
	call, params string
}

type recordedTick struct {
	solution answer
	latent   []recordedCall
}

type recordedCall struct {
	call   string // its name or its tool's
	params any    // what it was asked with; nil fits any
	answer answer
}

type answer struct {
	manner
	given bool // there is one
	text  string
}

// Answer gives the answer that was recorded for a request.
func (p *Replayed) Answer(ctx context.Context, r *request.Request, emit func(string)) (request.Usage, error) {
	a, err := p.find(r)
	if err != nil {
		return request.Usage{}, err
	}
	if !strings.HasPrefix(a.text, r.Received) {
		return a.Usage,
			fmt.Errorf(
				"%w: what had arrived of it before the run was stopped isn't how the answer recorded in %q begins",
				request.ErrCut, p.name)
	}
	if err := a.play(ctx, len(r.Received), emit); err != nil {
		return a.Usage, err
	}
	switch {
	case a.Refused != nil:
		return a.Usage, &request.Refused{Planner: "replay:" + p.name, Words: *a.Refused}
	case a.Cut:
		return a.Usage, fmt.Errorf("%w: so it was recorded, after %d bytes", request.ErrCut, len(a.text))
	}
	return a.Usage, nil
}

func (p *Replayed) find(r *request.Request) (answer, error) {
	number := max(r.Tick, 1)
	var tick recordedTick
	if number <= len(p.ticks) {
		tick = p.ticks[number-1]
	}
	if r.Call != nil {
		return p.findLatent(tick, r)
	}
	switch {
	case number > len(p.ticks):
		return answer{}, p.lacks(remedy, "it was asked for the solution of tick %d and holds %d", number, len(p.ticks))
	case !tick.solution.given:
		return answer{}, p.lacks(remedy, "no solution was recorded for tick %d", number)
	}
	return tick.solution, nil
}

const remedy = "add what is missing to the file, which has an item for each tick (null stands for one that isn't " +
	"asked for), and resume the run"

func (p *Replayed) lacks(remedy, why string, args ...any) *request.Unavailable {
	return &request.Unavailable{Planner: "replay:" + p.name, Why: fmt.Sprintf(why, args...), Remedy: remedy}
}

// findLatent is the result of a latent call: what is recorded under its name
// before what is recorded for its tool. The nth request for one call with the
// same parameters is given the nth result, and the last over and over.
func (p *Replayed) findLatent(tick recordedTick, r *request.Request) (answer, error) {
	params := request.JSON(r.Call.Params)
	var fitting []answer
	for _, name := range []string{r.Call.Name, r.Call.Tool} {
		for _, c := range tick.latent {
			if c.call == name && (c.params == nil || request.JSON(c.params) == params) {
				fitting = append(fitting, c.answer)
			}
		}
		if len(fitting) > 0 {
			break
		}
	}
	switch {
	case len(fitting) > 0:
	case r.Tick == 0: // of a plan that is run as it stands
		return answer{},
			p.lacks(fmt.Sprintf("add one to its first item, such as [{\"latent\": {%q: …}}], and resume the run",
				r.Call.Name), "no result is recorded for the call %q", r.Call.Name)
	default:
		return answer{}, p.lacks(remedy, "no result was recorded for the call %q in tick %d", r.Call.Name, r.Tick)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := asking{r.Tick, r.Call.Name, params}
	nth := p.asked[key]
	p.asked[key]++
	return fitting[min(nth, len(fitting)-1)], nil
}

// play hands out the text from a byte on, in its pieces, each after its delay.
func (a answer) play(ctx context.Context, from int, emit func(string)) error {
	for at, sent := from, from; at < len(a.text); {
		if err := endpoint.Pause(ctx, a.Delay); err != nil {
			return err
		}
		if a.Chunks == 0 {
			at = len(a.text)
		} else {
			at = min(len(a.text), (at/a.Chunks+1)*a.Chunks)
		}
		end := at
		for end < len(a.text) && end > sent && !utf8.RuneStart(a.text[end]) {
			end--
		}
		if end > sent {
			emit(a.text[sent:end])
			sent = end
		}
	}
	return nil // it is whole, whether or not anybody wants more
}
