package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync waits for the disk as fsync does, but not for the time stamps of the
// file: nobody needs them. Its size counts as data.
func datasync(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			if failed = unix.Fdatasync(int(fd)); failed != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("fdatasync", failed)
}
