//go:build unix

package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// keysCanBeAwaited says that this system lets one wait for keys and stop
// waiting.
const keysCanBeAwaited = true

// awaitKeys waits for keys, and no longer than it is told to. It selects, as
// poll doesn't know terminals everywhere.
func awaitKeys(in *os.File, atMost time.Duration) (bool, error) {
	fd := int(in.Fd())
	if fd >= unix.FD_SETSIZE {
		return false, errors.New("too many files are open to wait for keys")
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

// inForeground reports whether a terminal's keys come to this program. One that
// reads them from the background is stopped by the system.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // a terminal that isn't ours alone has no foreground
}
