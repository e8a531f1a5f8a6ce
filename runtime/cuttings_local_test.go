package runtime_test

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A cutter is a planner that writes at a certain speed.
type cutter struct {
	solutions []string
	speed     int
	order     *rand.Rand
}

func (c *cutter) Answer(ctx context.Context, r *runtime.Request, emit func(string)) (runtime.Usage, error) {
	text := c.solutions[r.Tick-1]
	for c.speed > 0 && len(text) > 0 {
		n := min(len(text), 1+c.order.IntN(100))
		emit(text[:n]) // which may end inside of a character
		text = text[n:]
		time.Sleep(time.Duration(c.order.IntN(4*c.speed)) / 2 * time.Millisecond)
	}
	emit(text)
	return runtime.Usage{}, nil
}
