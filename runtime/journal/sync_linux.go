package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync waits for the disk as fsync does, but not for the time stamps of the
// file: nobody needs them. Its size counts as data.
func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
