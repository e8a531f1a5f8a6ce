//go:build unix

package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// canAwaitInput reports whether a wait for input can be bounded on this system; else nobody is asked.
const canAwaitInput = true

// awaitInput waits for input, at most so long. It uses select, since poll doesn't support terminals everywhere.
func awaitInput(in *os.File, atMost time.Duration) (bool, error) {
	fd := int(in.Fd())
	if fd >= unix.FD_SETSIZE {
		return false, errors.New("too many files are open to wait for input")
	}
	var watched unix.FdSet
	watched.Set(fd)
	limit := unix.NsecToTimeval(atMost.Nanoseconds())
	n, err := unix.Select(fd+1, &watched, nil, nil, &limit)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}
