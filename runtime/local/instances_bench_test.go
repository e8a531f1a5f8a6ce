package local_test

import (
	"fmt"

	"github.com/obelus-dev/obelus/runtime"
)

// madeUp are instances that are made as they are asked for.
type madeUp struct {
	n, of int
	whole func() // the last has been handed out
}

func (m *madeUp) Next(most int) (next []runtime.Instance, last bool, err error) {
	for ; len(next) < most && m.n < m.of; m.n++ {
		next = append(next, runtime.Instance{ID: fmt.Sprint("n", m.n), Input: map[string]any{"n": float64(m.n)}})
	}
	if m.n == m.of {
		m.whole()
	}
	return next, m.n == m.of, nil
}
