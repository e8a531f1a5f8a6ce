package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime/project"
)

// EXECUTION.md#signers: the nearest obelus.yaml above the plan's folder says whose approval counts, also where the
// repository, and with it the workspace, ends below; others' folders don't count.
func TestSignersAreFoundAboveTheRepository(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"obelus.yaml": "signers: service/signers\n", "service/signers": "", "repository/.git/HEAD": "",
		"repository/plans/refund/obelus.yaml": "signers: evil\n", "shared/obelus.yaml": "signers: evil\n", "shared/repository/plans/x/y": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(top, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(top, "shared"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	for _, plan := range []string{"repository/plans/refund/plan.yaml", "repository/plans/plan.yaml", "repository/plan.yaml", "shared/repository/plans/x/plan.yaml"} {
		_, _, err := (&approvers{}).judge([]string{plan}, &project.Reader{})
		if err == nil || !strings.Contains(err.Error(), `"obelus.yaml" says whose approval counts, and isn't trusted`) {
			t.Errorf("%s: %v", plan, err)
		}
	}
}
