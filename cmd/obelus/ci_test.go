package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/source"
)

func readYAML(t *testing.T, name string) *source.Node {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := source.Parse(source.NewFile(name, text), source.DefaultLimits())
	if root == nil {
		t.Fatalf("%s doesn't read", name)
	}
	return root
}

// LANGUAGE.md#findings: the hooks have what pre-commit requires, find plans and nothing else,
// and call commands that exist.
func TestPreCommitHooks(t *testing.T) {
	ids := map[string]bool{}
	for _, hook := range readYAML(t, ".pre-commit-hooks.yaml").Items {
		for _, key := range []string{"id", "name", "entry", "language", "files"} {
			if n := hook.Get(key); n == nil || n.Text == "" {
				t.Fatalf("a hook has no %q", key)
			}
		}
		ids[hook.Get("id").Text] = true
		files, err := regexp.Compile(hook.Get("files").Text)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"plans/a.yaml": true, "x/plans/y/a.json": true, "a.plan.yml": true, "plan.yaml": false, "docs/a.yaml": false, "plans/a.md": false} {
			if files.MatchString(name) != want {
				t.Errorf("%s takes %s: %v", hook.Get("id").Text, name, !want)
			}
		}
		commandExists(t, hook.Get("entry").Text)
	}
	for _, repo := range readYAML(t, "examples/ci/pre-commit-config.yaml").Get("repos").Items {
		for _, hook := range repo.Get("hooks").Items {
			if !ids[hook.Get("id").Text] {
				t.Errorf("there is no hook %q", hook.Get("id").Text)
			}
			command := "obelus check"
			for _, arg := range hook.Get("args").Items {
				command += " " + arg.Text
			}
			commandExists(t, command)
		}
	}
}

// LANGUAGE.md#findings: the workflow calls commands that exist.
func TestWorkflow(t *testing.T) {
	commands := 0
	for _, job := range readYAML(t, "examples/ci/github-actions.yml").Get("jobs").Fields {
		for _, step := range job.Value.Get("steps").Items {
			run := step.Get("run")
			if run == nil {
				continue
			}
			for line := range strings.Lines(run.Text) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "obelus ") {
					command, _, _ := strings.Cut(line, " > ")
					commandExists(t, command)
					commands++
				}
			}
		}
	}
	if commands != 4 {
		t.Errorf("the workflow has %d commands", commands)
	}
}

// LANGUAGE.md#findings: the job that comments shows the plans of a branch, and passes over the files beside them.
func TestWorkflowShowsPlans(t *testing.T) {
	script := ""
	for _, step := range readYAML(t, "examples/ci/github-actions.yml").Get("jobs").Get("review").Get("steps").Items {
		if run := step.Get("run"); run != nil {
			script = run.Text
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := put(t, map[string]string{
		"plans/refund.yaml": goodPlan, "plans/refund.allow.yaml": "allow: {refund: {_times: 3}}\n",
		"plans/shop.tools.yaml": "tools: {note: {properties: {text: {type: string}}}}\n", "plans/obelus.yaml": "hosts: []\n",
		"bin/obelus": fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asCommand, program), "bin/gh": "#!/bin/sh\n",
	})
	for _, name := range []string{"obelus", "gh"} {
		if err := os.Chmod(filepath.Join(root, "bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	begin := "git init -q -b main && git config user.email a@example.com && git config user.name a && " +
		"git commit -q --allow-empty -m one && git update-ref refs/remotes/origin/main main && git add plans && git commit -q -m two\n"
	job := exec.Command("bash", "-e", "-o", "pipefail", "-c", begin+script)
	job.Dir = root
	job.Env = append(os.Environ(), "GITHUB_BASE_REF=main", "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	if said, err := job.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	card, err := os.ReadFile(filepath.Join(root, "card.md"))
	if err != nil || !strings.Contains(string(card), "fetch") || strings.Contains(string(card), "error") {
		t.Errorf("%v: %s", err, card)
	}
}

// commandExists asks for a command's help behind its own flags, each of which is
// then read first.
func commandExists(t *testing.T, command string) {
	t.Helper()
	args := append(strings.Fields(command)[1:], "--help")
	if stdout, stderr, status := obelus(strings.NewReader(""), args...); status != statusOK || stdout == "" {
		t.Errorf("%s: %s", command, stderr)
	}
}

// LANGUAGE.md#findings: the example of a configuration has nothing wrong.
func TestExampleSettings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", "obelus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	settings, found := analyzer.ReadSettings(source.NewFile("obelus.yaml", text))
	if len(found) > 0 || len(settings.Rules) != 2 || len(settings.Ignores) != 1 {
		t.Errorf("%+v: %v", settings, found)
	}
}
