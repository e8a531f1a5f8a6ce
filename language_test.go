package obelus_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	checkLine = regexp.MustCompile(`^# check: (clean|OB\d{3}(?:, OB\d{3})*)\n`)
	fileLine  = regexp.MustCompile(`^# file: (\S+)\n`)
)

// Each complete document in the reference has the errors and warnings that its first line lists. Documents that begin
// with "# file:" lie beside it. Programs and variables that this machine lacks (OB609) don't count, and package policy
// checks the policy.
func TestLanguageBlocks(t *testing.T) {
	folder := t.TempDir()
	blocks := yamlBlock.FindAllStringSubmatch(compiler.Reference, -1)
	for _, block := range blocks {
		if file := fileLine.FindStringSubmatch(block[1]); file != nil {
			if err := os.WriteFile(filepath.Join(folder, file[1]), []byte(block[1]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	checked := 0
	for _, block := range blocks {
		text := block[1]
		expected := checkLine.FindStringSubmatch(text)
		if expected == nil {
			if !fileLine.MatchString(text) && strings.Contains(text, "\ncalls:") {
				t.Errorf("a plan without \"# check:\":\n%s", text)
			}
			continue
		}
		if strings.Contains(text, "\npolicy:") {
			continue
		}
		plan, err := obelus.Parse(filepath.Join(folder, "plan.yaml"), []byte(text), obelus.LoadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		codes := []string{}
		for _, f := range plan.Findings() {
			if f.Severity > diag.Info && f.Rule.Code != "OB609" {
				codes = append(codes, f.Rule.Code)
			}
		}
		slices.Sort(codes)
		if found := strings.Join(slices.Compact(codes), ", "); found != strings.TrimPrefix(expected[1], "clean") {
			t.Errorf("check reports %q for\n%s", found, text)
		}
		checked++
	}
	if checked < 12 {
		t.Errorf("only %d plans were checked", checked)
	}
}

// Each section of the two references that code, tests or documents cite exists.
func TestCitedSections(t *testing.T) {
	heading, cited := regexp.MustCompile(`(?m)^##+ (.*)$`), regexp.MustCompile(`(LANGUAGE\.md|EXECUTION\.md|\]\()#([a-z-]+)`)
	sections := map[string][]string{}
	for name, text := range map[string]string{"LANGUAGE.md": compiler.Reference, "EXECUTION.md": runtime.Reference} {
		for _, h := range heading.FindAllStringSubmatch(text, -1) {
			sections[name] = append(sections[name], strings.ReplaceAll(strings.ToLower(h[1]), " ", "-"))
		}
	}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
				return fs.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, c := range cited.FindAllStringSubmatch(string(text), -1) {
			in, known := c[1], true
			if in == "](" {
				in = filepath.Base(name)
				_, known = sections[in]
			}
			if known && !slices.Contains(sections[in], c[2]) {
				t.Errorf("%s cites %s#%s, which doesn't exist", name, in, c[2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
