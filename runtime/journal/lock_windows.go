package journal

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Windows keeps others from reading what is locked, so one byte is that no journal reaches.
var lockedByte = windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}

// tryLock takes the lock of a file, for oneself or shared, if that is possible at
// once. The lock belongs to this opening of the file and ends with it.
func tryLock(f *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := lockedByte
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

func unlock(f *os.File) {
	at := lockedByte
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
