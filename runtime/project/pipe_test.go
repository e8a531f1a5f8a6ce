//go:build unix

package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/runtime/project"
)

// LANGUAGE.md#findings: a configuration that can't be read isn't passed over.
func TestPipesAreNoConfigurations(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "plan.yaml"), []byte("calls: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "obelus.yaml"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := (&project.Reader{}).One(filepath.Join(folder, "plan.yaml")); !errors.Is(err, project.ErrRead) {
		t.Error(err)
	}
	if err := os.Rename(filepath.Join(folder, "obelus.yaml"), filepath.Join(folder, "signers")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "obelus.yaml"), []byte("signers: signers"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&project.Reader{}).One(filepath.Join(folder, "plan.yaml")); err != nil {
		t.Error(err)
	}
}
