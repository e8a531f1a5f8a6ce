package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
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
			by, approvals, err := (&Reader{}).Demanded(filepath.Join(plans, "plan.yaml"))
			if err != nil || (by != "") != test.asks || test.name == "none" && approvals != 2 {
				t.Errorf("%q asks for an approval, and for %d people (%v); expected %v", by, approvals, err, test.asks)
			}
		})
	}
}

// EXECUTION.md#signers: the nearest obelus.yaml above the plan's folder says whose approval counts, also
// where the repository, and with it the workspace, ends below; others' folders don't count.
func TestSignersAreFoundAboveTheRepository(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"obelus.yaml": "require-approval: true\nsigners: service/signers\n", "service/signers": "", "repository/.git/HEAD": "",
		"repository/plans/refund/obelus.yaml": "strict: true\n", "shared/obelus.yaml": "signers: evil\n", "shared/repository/.git/HEAD": "", "shared/repository/plans/x/y": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(top, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(top, "shared"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"repository/plans/refund/plan.yaml", "repository/plans/plan.yaml", "repository/plan.yaml", "shared/repository/plans/x/plan.yaml"} {
		above, _, err := (&Reader{}).Above(filepath.Join(top, plan))
		if err != nil || above == nil || above.File == nil {
			t.Errorf("%s: %+v, %v", plan, above, err)
		} else if name, err := filepath.Abs(above.File.Name); err != nil || name != filepath.Join(top, "obelus.yaml") {
			t.Errorf("%s: %s, %v", plan, name, err)
		}
	}
}
