package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const fetch = "tools: {fetch: {type: object, properties: {url: {type: string}}, required: [url]}}\nactivities: {fetch: {expr: url}}\n"

// LANGUAGE.md#findings: a SARIF log keeps account of what was suppressed, inside the plan and
// outside, with the reason; and it has the page of every rule.
func TestSARIFOfACheck(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"obelus.yaml": "ignore: [{code: OB501, path: a.yaml, reason: it comes later}]\n",
		"a.yaml":      fetch + "calls:\n  - {_tool: fetch} # obelus:ignore OB502 known\n  - {_tool: later}\n  - {_tool: fetch, url: $input.x}\n",
	})
	stdout, stderr, status := obelus(nil, "check", "--format", "sarif", "a.yaml")
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Rules []struct {
						ID   string
						Help struct{ Markdown string }
					}
				}
			}
			Results []struct {
				RuleID       string
				Suppressions []struct{ Kind, Justification string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &log); err != nil || stderr != "" || status != statusOK {
		t.Fatalf("status %d, %v, %s", status, err, stderr)
	}
	run := log.Runs[0]
	for _, rule := range run.Tool.Driver.Rules {
		if !strings.HasPrefix(rule.Help.Markdown, "# "+rule.ID) {
			t.Errorf("%s has no page", rule.ID)
		}
	}
	how := map[string]string{}
	for _, r := range run.Results {
		how[r.RuleID] = "open"
		for _, s := range r.Suppressions {
			how[r.RuleID] = s.Kind + ": " + s.Justification
		}
	}
	for code, want := range map[string]string{"OB502": "inSource: known", "OB501": "external: it comes later", "OB206": "open"} {
		if how[code] != want {
			t.Errorf("%s is %q, want %q", code, how[code], want)
		}
	}
}

// LANGUAGE.md#findings: SARIF and GitHub's annotations name files from the root of their repository,
// whichever folder the check is run from and however the files are named.
func TestPathsAreThoseOfTheRepository(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	write(t, map[string]string{
		"repository/.git/HEAD":         "",
		"repository/obelus.yaml":       "rules: {OB503: off, OB503x: off}\n",
		"repository/a b/plan.yaml":     "import: ../tools.yaml\ncalls: [{_tool: fetch, url: 1}]\n",
		"repository/tools.yaml":        fetch,
		"repository/submodule/.git":    "gitdir: ../.git/modules/submodule\n",
		"repository/submodule/it.yaml": fetch + "calls: [{_tool: fetch}]\n",
		"none/plan.yaml":               fetch + "calls: [{_tool: fetch}]\n",
	})
	for folder, named := range map[string]string{".": "repository/a b/plan.yaml", "repository": "a b/plan.yaml", "repository/a b": "plan.yaml", "none": filepath.Join(top, "repository/a b/plan.yaml")} {
		t.Chdir(filepath.Join(top, folder))
		stdout, _, _ := obelus(nil, "check", "--format", "github", named)
		if !strings.Contains(stdout, "::error file=a b/plan.yaml,line=2,") || !strings.Contains(stdout, "::error file=obelus.yaml,line=1,") {
			t.Errorf("from %s: %s", folder, stdout)
		}
		stdout, _, _ = obelus(nil, "check", "--format", "sarif", named)
		var log struct {
			Runs []struct{ Results []json.RawMessage }
		}
		if err := json.Unmarshal([]byte(stdout), &log); err != nil || len(log.Runs) != 1 {
			t.Fatal(err)
		}
		found := fmt.Sprintf("%s", log.Runs[0].Results)
		if strings.Count(found, `"uri":"`) != strings.Count(found, `"uri":"a%20b/plan.yaml","uriBaseId":"%SRCROOT%"`)+strings.Count(found, `"uri":"obelus.yaml","uriBaseId":"%SRCROOT%"`)+
			strings.Count(found, `"uri":"tools.yaml","uriBaseId":"%SRCROOT%"`) || !strings.Contains(found, `"uri":"tools.yaml"`) {
			t.Errorf("from %s: %s", folder, found)
		}
	}
	t.Chdir(top)
	for named, want := range map[string]string{"repository/submodule/it.yaml": "file=it.yaml,", "none/plan.yaml": "file=none/plan.yaml,"} {
		if stdout, _, _ := obelus(nil, "check", "--format", "github", named); !strings.Contains(stdout, want) {
			t.Errorf("%s: %s", named, stdout)
		}
	}
}

// LANGUAGE.md#imports: the nearest obelus.yaml counts, from the plan's folder up to the
// workspace's root and not beyond.
func TestNearestSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := fetch + "calls: [{_tool: fetch}]\n"
	write(t, map[string]string{
		"obelus.yaml":                 "rules: {OB502: info}\n",
		"a/b/plan.yaml":               plan,
		"own/obelus.yaml":             "rules: {OB502: warning}\n",
		"own/plan.yaml":               plan,
		"repository/.git/HEAD":        "",
		"repository/plans/plan.yaml":  plan,
		"repository/plans/other.yaml": plan,
	})
	for file, want := range map[string]string{"a/b/plan.yaml": "info[OB502]", "own/plan.yaml": "warning[OB502]", "repository/plans/plan.yaml": "error[OB502]"} {
		if stdout, _, _ := obelus(nil, "check", file); !strings.HasPrefix(stdout, want) {
			t.Errorf("%s: %s", file, stdout)
		}
	}
	for root, want := range map[string]string{"a": "error[OB502]", ".": "info[OB502]"} { // nothing above the root is looked at
		if stdout, _, _ := obelus(nil, "check", "--root", root, "a/b/plan.yaml"); !strings.HasPrefix(stdout, want) {
			t.Errorf("with --root %s: %s", root, stdout)
		}
	}
	if stdout, _, _ := obelus(strings.NewReader(plan), "check", "-"); !strings.HasPrefix(stdout, "info[OB502]") {
		t.Errorf("standard input: %s", stdout)
	}
}

// LANGUAGE.md#findings: --fix keeps a file's permissions and its neighbours, mends every line of a
// .jsonl file, follows links, and never touches what a plan imports.
func TestFixInPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	tools := "tools: {fetch: {type: object, properties: {}}}\nSchemas: {}\n"
	write(t, map[string]string{
		"tools.yaml":  tools,
		"plan.yaml":   "import: [tools.yaml]\ncalls: [{_tool: fetch, _output_path: a}] # kept\n",
		"lines.jsonl": `{"calls": [{"_tool": "a", "_output_path": "x"}]}` + "\r\n\n" + `{"document": {"calls": [{"_tool": "a", "_outputMethod": "Push", "_outputPath": "x"}]}}` + "\n[]",
	})
	if err := os.Chmod("plan.yaml", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("plan.yaml", "link.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := obelus(nil, "check", "--fix", "link.yaml", "lines.jsonl"); status == statusError {
		t.Fatal(stderr)
	}
	for name, want := range map[string]string{
		"tools.yaml":  tools,
		"plan.yaml":   "import: [tools.yaml]\ncalls: [{_tool: fetch, _outputPath: a}] # kept\n",
		"lines.jsonl": `{"calls": [{"_tool": "a", "_outputPath": "x"}]}` + "\r\n\n" + `{"document": {"calls": [{"_tool": "a", "_outputMethod": "push", "_outputPath": "x"}]}}` + "\n[]",
	} {
		if text, _ := os.ReadFile(name); string(text) != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, text, want)
		}
	}
	// Named as well, an import is mended like the plan.
	obelus(nil, "check", "--fix", "plan.yaml", "./tools.yaml")
	if text, _ := os.ReadFile("tools.yaml"); string(text) != strings.Replace(tools, "Schemas", "schemas", 1) {
		t.Errorf("the import is %s", text)
	}
	if info, err := os.Stat("plan.yaml"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the permissions are %v", info.Mode())
	}
	if info, err := os.Lstat("link.yaml"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", info.Mode())
	}
	if left, _ := filepath.Glob(".obelus-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// LANGUAGE.md#findings: whatever the text is, --fix gives one that reads if the first did,
// has no more errors, and leaves nothing for a second --fix; --diff writes nothing.
func FuzzFix(f *testing.F) {
	f.Add(fetch + "calls:\n  - {_tool: ftch, url: '{{input.x}}', _outputPth: †stat.a} # kept\n")
	f.Add(`{"calls": [{"_tool": "a", "_output_method": "Push", "_outputPath": "X"}, {"tool": "B", "b": "†State.x"}], "schemas": {}}`)
	f.Add(`{"calls": [{"_tool": "a", "_outputMethod": "puhs", "b": "† x", "c": "$state.a, $state.b"}]}`)
	f.Add("calls:\n- _tool: a\n  text: |\n    Dear {{input.name}}\n  other: >\n    †sate.x\n  1: x\n")
	f.Add(`{"b": "", "b": ""}00`)
	f.Add("input: {on: true}\ncalls: [{_tool: a, _when: \"†input.on || †input.off\"}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 5_000 {
			t.Skip("large documents have tests of their own")
		}
		before, _, _ := obelus(strings.NewReader(text), "check", "--format", "json", "-")
		mended, said, status := obelus(strings.NewReader(text), "check", "--fix", "-")
		if status == statusError {
			t.Fatalf("%q: %s", text, said)
		}
		after, _, _ := obelus(strings.NewReader(mended), "check", "--format", "json", "-")
		if unread := strings.Contains(after, `"OB101"`); unread && !strings.Contains(before, `"OB101"`) {
			t.Fatalf("%q becomes %q, which doesn't read: %s", text, mended, after)
		}
		if twice, _, _ := obelus(strings.NewReader(mended), "check", "--fix", "-"); twice != mended {
			t.Fatalf("%q becomes %q, and then %q", text, mended, twice)
		}
		patch, _, status := obelus(strings.NewReader(text), "check", "--diff", "-")
		if (status == statusFound) != (mended != text) || (patch != "") != (mended != text) {
			t.Fatalf("%q: --diff ends with %d: %s", text, status, patch)
		}
	})
}

// LANGUAGE.md#imports: what is named from the folder above is taken in where an obelus.yaml or a
// .git above says that it belongs together, and what others may have written isn't
// read, which is said.
func TestWorkspaceRoot(t *testing.T) {
	plan := "import: ../tools.yaml\ncalls: [{_tool: ping}]\n"
	for marker, fine := range map[string]bool{"obelus.yaml": true, ".git/HEAD": true, "other.yaml": false} {
		t.Chdir(t.TempDir())
		write(t, map[string]string{marker: "", "tools.yaml": "tools: {ping: {type: object}}\nactivities: {ping: {expr: \"1\"}}\n", "plans/plan.yaml": plan})
		for _, args := range [][]string{{"check", "plans/plan.yaml"}, {"check", "plans"}, {"check", "."}, {"run", "plans/plan.yaml", "--no-journal"}} {
			if stdout, stderr, status := obelus(nil, args...); (status == 0) != fine {
				t.Errorf("%s, %v: %d\n%s%s", marker, args, status, stdout, stderr)
			}
		}
	}
	if err := os.Chmod(".", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, map[string]string{
		"obelus.yaml": "tools: [bait.yaml]\n", "bait.yaml": "tools: {ping: {type: object, annotations: {readOnlyHint: true}}}\nactivities: {ping: {exec: {argv: [touch, PWNED]}}}\n",
		"mine/plan.yaml": "tools: {ping: {type: object}}\ncalls: [{_tool: ping}]\n",
	})
	for _, folder := range []string{".", "mine"} {
		t.Chdir(folder)
		file := "plan.yaml"
		if folder == "." {
			file = "mine/plan.yaml"
		}
		_, stderr, status := obelus(nil, "run", file, "--no-journal")
		if status == 0 || strings.Count(stderr, "obelus.yaml\" isn't read: others may have written it: its folder can be written by everybody (drwxrwxrwx)") != 1 {
			t.Errorf("in %s: %d\n%s", folder, status, stderr)
		}
	}
	if _, err := os.Stat("../PWNED"); err == nil {
		t.Error("what others wrote was run")
	}
}
