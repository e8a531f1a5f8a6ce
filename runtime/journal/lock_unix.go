//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package journal

import (
	"os"
	"syscall"
)

// tryLock takes the lock of a file, for oneself or shared, if that is possible at
// once. The lock belongs to this opening of the file and ends with it.
func tryLock(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	return flock(f, how|syscall.LOCK_NB)
}

func unlock(f *os.File) { flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			if failed = syscall.Flock(int(fd), how); failed != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case err != nil:
		return err
	case failed == syscall.EWOULDBLOCK:
		return ErrLocked
	}
	return os.NewSyscallError("flock", failed)
}
