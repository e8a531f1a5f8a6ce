//go:build !unix

package terminal

import (
	"errors"
	"os"
	"time"
)

// canAwaitInput is false: a wait for input can't be bounded here, so nobody is asked.
const canAwaitInput = false

func awaitInput(*os.File, time.Duration) (bool, error) {
	return false, errors.New("input can't be awaited on this system")
}

func inForeground(int) bool { return true }
