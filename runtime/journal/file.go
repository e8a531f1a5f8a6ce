package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// A File is the storage of one journal, as an operating system gives it. Tests put one
// in its place that loses what wasn't synced.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Seeker // to its end, for its size
	io.Closer
	// Truncate cuts off what lies behind a size.
	Truncate(size int64) error
	// Sync returns when all that was written is safe from a loss of power.
	Sync() error
	// Name is what messages call it.
	Name() string
}

// openRegular opens an ordinary file, and nothing else: no link that leads elsewhere, no pipe that keeps one waiting.
func openRegular(path string, flag int) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("the journal can't be opened: %w", err)
	}
	if !before.Mode().IsRegular() {
		return nil, &Fault{Path: path, Why: "it isn't a regular file", Do: "name the file of a run"}
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, fmt.Errorf("the journal can't be opened: %w", err)
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, &Fault{Path: path, Why: "another file has taken its place just now", Do: "try again"}
	}
	return f, nil
}

// makeFolder makes a folder and those above it, safe from a loss of power.
func makeFolder(folder string) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(folder)
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(above)
}

// syncFolder returns when the entries of a folder are safe from a loss of power. Some file
// systems, and Windows, keep them safe by themselves and know no such request.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// ErrLocked says that another process writes the journal.
var ErrLocked = errors.New("another process writes this journal: the run is still going on")

// patience is how long a lock is waited for. Somebody who just asks whether a journal is locked holds it for a moment;
// and of a process that was killed while it started a program the new process has its files, the lock with them, until
// it becomes that program or ends.
var patience = 2 * time.Second

func lock(f *os.File) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		switch err := tryLock(f, true); {
		case err == nil:
			return nil
		case !errors.Is(err, ErrLocked):
			return fmt.Errorf("%s can't be locked, and two processes must not write one journal; keep journals "+
				"where files can be locked: %w", f.Name(), err)
		case time.Now().After(end):
			return fmt.Errorf("%s: %w", f.Name(), ErrLocked)
		}
	}
}

func locked(f *os.File) bool {
	err := tryLock(f, false)
	if err == nil {
		unlock(f)
	}
	return errors.Is(err, ErrLocked)
}
