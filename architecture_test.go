package obelus_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files, folders and tests that ARCHITECTURE.md names exist, and so do the types that doc.go names.
func TestArchitectureNamesWhatExists(t *testing.T) {
	files, declared := map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != "." {
			return fs.SkipDir
		}
		if files[name], files[path.Base(name)] = true, true; err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)|^(?:type|func) (\w+)`).FindAllStringSubmatch(string(text), -1) {
			declared[found[1]], declared[path.Dir(name)+"."+found[2]] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, pattern := range map[string]string{
		"ARCHITECTURE.md": "`(Test[A-Z]\\w*|[\\w/]+\\.go|(?:analyzer|cmd|compiler|dot|runtime)/[\\w/]+)`",
		"doc.go":          `\[((?:analyzer|compiler|dot|runtime)[\w/]*\.[A-Z]\w*)\]`,
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
		if len(all) < 10 {
			t.Errorf("%s names only %d things", name, len(all))
		}
		for _, one := range all {
			if one := one[1]; !files[one] && !declared[one] && !strings.Contains(one, "NNN") {
				t.Errorf("%s names %q, which doesn't exist", name, one)
			}
		}
	}
}
