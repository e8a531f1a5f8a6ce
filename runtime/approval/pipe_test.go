//go:build unix

package approval

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of an approval is refused, and not waited for.
func TestPipesAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.approval.json")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := ReadFile(name, 100); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Error(err)
	}
}
