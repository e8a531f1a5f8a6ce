package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// EXECUTION.md#process-records: the programs of a record start where they started for the plan that it tells
// of, those of its delegates included, wherever the record lies and in whatever folder it is
// run: in the plan's workspace or out of it, with a marked root or without.
func TestRecordsRunWhereThePlanDid(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, root := range []string{"", "obelus.yaml", "plans/obelus.yaml"} {
		for _, record := range []string{"record", "plans/record", "plans/below/record", "plans", "../elsewhere"} {
			for _, from := range []string{".", "plans", "../elsewhere"} {
				top := filepath.Join(t.TempDir(), "top")
				put := func(name, text string, mode os.FileMode) {
					name = filepath.Join(top, name)
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, []byte(text), mode); err != nil {
						t.Fatal(err)
					}
				}
				if root != "" {
					put(root, "", 0o600)
				}
				put("../elsewhere/solutions.yaml", "- calls: [{_tool: t, _outputPath: a}, {_tool: d, _outputPath: b}]\n  output: †state\n", 0o600)
				put("plans/plan.yaml", "tools: {t: {properties: {}}, d: {properties: {}, _delegate: below/d.yaml}}\nactivities: {t: {exec: {argv: [./t.sh], stdout: text}}}\ncalls: []\n", 0o600)
				put("plans/t.sh", "#!/bin/sh\npwd\n", 0o700)
				put("plans/below/d.yaml", "tools: {u: {properties: {}}}\nactivities: {u: {exec: {argv: [../t.sh], cwd: deep, stdout: text}}}\ncalls: [{_tool: u, _outputPath: r}]\noutput: †state.r\n", 0o600)
				put("plans/below/deep/nothing", "", 0o600)
				put("plans/below/t.sh", "#!/bin/sh\npwd\n", 0o700)
				run := func(args ...string) string {
					t.Helper()
					out, trouble, status := obelus(nil, append(append([]string{"run"}, args...), "--confirm", "never", "--no-journal")...)
					if status != statusOK {
						t.Fatalf("root %q, recorded in %q, run in %q: %v ends with %d\n%s%s", root, record, from, args, status, out, trouble)
					}
					return out[strings.Index(out, "{"):strings.LastIndex(out, "}")]
				}
				t.Chdir(top)
				want := run("plans/plan.yaml", "--planner", "replay:../elsewhere/solutions.yaml", "--record", record)
				if !strings.Contains(want, `"b": "`+filepath.Join(top, "plans/below/deep")) {
					t.Fatalf("the plan itself runs in %s", want)
				}
				tick, err := filepath.Rel(filepath.Join(top, from), filepath.Join(top, record, "tick-1.json"))
				if err != nil {
					t.Fatal(err)
				}
				t.Chdir(from)
				if got := run(tick); got != want {
					t.Errorf("root %q, recorded in %q, run in %q: it runs in\n%s\nnot in\n%s", root, record, from, got, want)
				}
			}
		}
	}
}

// EXECUTION.md#process-records: a recording that couldn't be written to its end is trouble, as other files are
// that were asked for, however the run ended; that is told once.
func TestRecordingIsntWhole(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for name, ends := range map[string]string{"done": "mv kept gone", "failed": "mv kept gone; exit 1"} {
		t.Chdir(t.TempDir())
		write(t, map[string]string{
			"plan.yaml":      "tools: {t: {properties: {}}}\nactivities: {t: {exec: {argv: [sh, -c, '" + ends + "']}}}\nlimits: {ticks: 2}\ncalls: []\n",
			"solutions.yaml": "- calls: [{_tool: t}]\n- calls: []\n  output: 1\n",
		})
		stdout, stderr, status := obelus(nil, "run", "plan.yaml", "--planner", "replay:solutions.yaml", "--confirm", "never", "--record", "kept", "--format", "json")
		if status != statusError || strings.Count(stderr, "isn't whole: ") != 1 || !strings.Contains(stdout, `{"event":"end","status":"done"`) {
			t.Errorf("%s: status %d\n%s%s", name, status, stdout, stderr)
		}
	}
}

// A run that is named by its journal's file, outside of the folder of journals, is named so in the commands that
// continue it.
func TestCommandsNameAJournal(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	write(t, map[string]string{"a.yaml": "tools: {say: {}}\nactivities: {say: {expr: '1'}}\n" +
		"calls: [{_tool: say, _confirm: true, _outputPath: said}]\noutput: †state.said\n"})
	if _, stderr, _ := obelus(strings.NewReader(""), "run", "a.yaml", "--runs", "runs"); !strings.Contains(stderr, " --runs runs") {
		t.Error(stderr)
	}
	journals, _ := filepath.Glob("runs/*.jsonl")
	_, stderr, _ := obelus(strings.NewReader(""), "resume", journals[0])
	for _, command := range []string{"decide " + journals[0] + " 'say#1' approve", "resume " + journals[0]} {
		if !strings.Contains(stderr, "obelus "+command+"  #") {
			t.Errorf("%q isn't in %s", command, stderr)
		}
	}
}
