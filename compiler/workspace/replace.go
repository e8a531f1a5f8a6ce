package workspace

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file in one step: readers see the old text or the new. It follows a link and keeps the
// permissions of a file that exists; only its owner may read a new one.
func Replace(name string, text []byte) error {
	mode := os.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(name); err == nil {
		if info, err := os.Stat(real); err == nil {
			name, mode = real, info.Mode().Perm()
		}
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), ".obelus-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // nothing to remove after the rename
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
