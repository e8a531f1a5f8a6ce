package planner

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

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

// Answer gives the answer that was recorded for a request.
func (p *Replayed) Answer(ctx context.Context, r *request.Request, emit func(string)) (request.Usage, error) {
	a, err := p.find(r)
	if err != nil {
		return request.Usage{}, err
	}
	if !strings.HasPrefix(a.text, r.Received) {
		return a.Usage, fmt.Errorf("%w: what had arrived of it before the run was stopped isn't how the answer "+
			"recorded in %q begins", request.ErrCut, p.name)
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

func (p *Replayed) find(r *request.Request) (*answer, error) {
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
		return nil, p.lacks("it was asked for the solution of tick %d and holds %d", number, len(p.ticks))
	case tick.solution == nil:
		return nil, p.lacks("no solution was recorded for tick %d", number)
	}
	return tick.solution, nil
}

func (p *Replayed) lacks(why string, args ...any) *request.Unavailable {
	return &request.Unavailable{Planner: "replay:" + p.name, Why: fmt.Sprintf(why, args...),
		Remedy: "add what is missing to the file, which has an item for each tick (null stands for one that isn't " +
			"asked for), and resume the run"}
}

// findLatent is the result of a latent call: what is recorded under its name before what is recorded for its tool. The
// nth request for one call with the same parameters is given the nth result, and the last over and over.
func (p *Replayed) findLatent(tick recordedTick, r *request.Request) (*answer, error) {
	params := request.JSON(r.Call.Params)
	var fitting []*answer
	for _, name := range []string{r.Call.Name, r.Call.Tool} {
		for i := range tick.latent {
			if c := &tick.latent[i]; c.call == name && (c.params == nil || request.JSON(c.params) == params) {
				fitting = append(fitting, c)
			}
		}
		if len(fitting) > 0 {
			break
		}
	}
	if len(fitting) == 0 {
		return nil, p.lacks("no result was recorded for the call %q in tick %d", r.Call.Name, max(r.Tick, 1))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := asking{r.Tick, r.Call.Name, params}
	nth := p.asked[key]
	p.asked[key]++
	return fitting[min(nth, len(fitting)-1)], nil
}

// play hands out the text from a byte on, in its pieces, each after its delay.
func (a *answer) play(ctx context.Context, from int, emit func(string)) error {
	for rest := a.text[from:]; rest != ""; {
		if err := Pause(ctx, a.Delay); err != nil {
			return err
		}
		n := len(rest)
		if a.Chunks > 0 {
			n = min(n, a.Chunks)
		}
		for n > 0 && n < len(rest) && !utf8.RuneStart(rest[n]) {
			n--
		}
		if n == 0 { // a character is longer than a piece
			_, n = utf8.DecodeRuneInString(rest)
		}
		emit(rest[:n])
		rest = rest[n:]
	}
	return nil // it is whole, whether or not anybody wants more
}
