//go:build !linux

package journal

import "os"

// datasync waits for the disk. On Darwin that includes the disk's own memory.
func datasync(f *os.File) error { return f.Sync() }
