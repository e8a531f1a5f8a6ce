//go:build !unix

package terminal

import (
	"errors"
	"os"
	"time"
)

// keysCanBeAwaited says that there is no waiting for keys that can be ended,
// and therefore nobody to ask.
const keysCanBeAwaited = false

func awaitKeys(*os.File, time.Duration) (bool, error) {
	return false, errors.New("keys can't be awaited on this system")
}

func inForeground(int) bool { return true }
