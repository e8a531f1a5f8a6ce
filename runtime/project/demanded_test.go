package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// EXECUTION.md#signers: what makes runs stricter counts whoever may have written it, also where it can't
// be read as a configuration; but not in a folder where anybody may put files.
func TestDemanded(t *testing.T) {
	for _, test := range []struct {
		name, text   string
		file, folder os.FileMode
		asks         bool
	}{
		{"plain", "require-approval: true", 0o644, 0o755, true},
		{"none", "approvals: 2", 0o644, 0o755, false},
		{"withdrawn", "require-approval: false", 0o644, 0o755, false},
		{"written by others", "require-approval: true", 0o666, 0o755, true},
		{"in a folder that others write", "require-approval: true", 0o644, 0o777, true},
		{"in a folder like /tmp", "require-approval: true", 0o644, 0o777 | os.ModeSticky, false},
		{"broken", "require-approval: true\nx: [", 0o644, 0o755, true},
		{"a link to nothing", "", 0o644, 0o755, true},
		{"in other words", "require-approval: perhaps", 0o644, 0o755, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := t.TempDir()
			plans := filepath.Join(top, "plans", "team")
			if err := os.MkdirAll(plans, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"obelus.yaml": test.text, "plans/obelus.yaml": "require-approval: false"} {
				if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join(top, "obelus.yaml"), test.file); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(top, test.folder); err != nil {
				t.Fatal(err)
			}
			if test.name == "a link to nothing" {
				if err := errors.Join(os.Remove(filepath.Join(top, "obelus.yaml")), os.Symlink("nowhere", filepath.Join(top, "obelus.yaml"))); err != nil {
					t.Fatal(err)
				}
			}
			around, err := (&Reader{}).Around(filepath.Join(plans, "plan.yaml"))
			asks, approvals := err != nil, 0
			for _, config := range around {
				approvals = max(approvals, config.Analysis.Settings.Approvals)
				asks = asks || config.Analysis.Settings.RequireApproval || diag.HasErrors(config.Found)
			}
			if asks != test.asks || test.name == "none" && approvals != 2 {
				t.Errorf("an approval is asked for: %v, of %d people (%v); expected %v", asks, approvals, err, test.asks)
			}
		})
	}
}
