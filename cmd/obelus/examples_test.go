package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/tools/txtar"
)

// trustExamples has the examples' word count.
func trustExamples(t *testing.T) {
	folder, err := filepath.Abs("examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OBELUS_TRUST", folder)
}

// LANGUAGE.md#trust: a folder that the environment trusts is the same wherever one stands.
func TestTrustedFoldersAreAbsolute(t *testing.T) {
	t.Setenv("OBELUS_TRUST", t.TempDir()+string(filepath.ListSeparator)+"examples")
	if _, stderr, status := obelus(strings.NewReader("calls: []"), "check", "-"); status != statusError || !strings.Contains(stderr, `"examples", which isn't an absolute path`) {
		t.Errorf("status %d\n%s", status, stderr)
	}
}

// LANGUAGE.md#documents: every example is checked, drawn, simulated and run, and check reports nothing about any of them,
// whether or not the folder is trusted.
func TestExamples(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	if said := printed(t, "check", "--min-severity", "info", "examples"); !strings.HasPrefix(said, "nothing to report in") {
		t.Errorf("the folder: %s", said)
	}
	trustExamples(t)
	plans := examplePlans(t)
	if said := printed(t, "check", "--min-severity", "info", "examples/nightly"); !strings.HasPrefix(said, "nothing to report in 3 files") {
		t.Errorf("the plans that nightly.yaml delegates to, and their tools: %s", said)
	}
	for _, plan := range plans {
		t.Run(filepath.Base(plan), func(t *testing.T) {
			if said := printed(t, "check", "--min-severity", "info", plan); !strings.HasPrefix(said, "nothing to report") {
				t.Errorf("check: %s", said)
			}
			for _, format := range []string{"dot", "mermaid"} {
				drawing := printed(t, "graph", "--format", format, plan)
				if begins := map[string]string{"dot": "digraph", "mermaid": "flowchart"}[format]; !strings.Contains("\n"+drawing, "\n"+begins) {
					t.Errorf("graph --format %s: %.100s", format, drawing)
				}
			}
			compiled := printed(t, "compile", plan)
			again, stderr, status := obelus(strings.NewReader(compiled), "compile", "--root", filepath.Dir(plan), "-")
			if status != statusOK || again != compiled {
				t.Errorf("compiling the compiled plan again: status %d, %s; the same bytes: %v", status, stderr, again == compiled)
			}
			simulation := printed(t, "simulate", "--seed", "7", "--schedules", "5", "--format", "json", plan)
			if simulation != printed(t, "simulate", "--seed", "7", "--schedules", "5", "--format", "json", plan) {
				t.Error("the same seed gives other bytes")
			}
			if last := lastLine(t, simulation); last["kind"] != "summary" || last["deterministic"] != true {
				t.Errorf("simulate ends with %v", last)
			}
			end := lastLine(t, printed(t, "run", "--format", "json", plan))
			if end["event"] != "end" || end["status"] != "done" || end["output"] == nil {
				t.Errorf("run ends with %v", end)
			}
		})
	}
}

// examplePlans are the plans among the examples, beside which their configuration
// and a catalogue of programs stand.
func examplePlans(t *testing.T) []string {
	t.Helper()
	plans, err := filepath.Glob("examples/*.yaml")
	plans = slices.DeleteFunc(plans, func(name string) bool {
		return slices.Contains([]string{"obelus.yaml", "programs.yaml"}, filepath.Base(name))
	})
	if err != nil || len(plans) < 6 {
		t.Fatalf("%d examples: %v", len(plans), err)
	}
	return plans
}

// EXECUTION.md#the-planning-loop: plans that a model writes as they run, with what it answered beside
// them. What such a run prints is in testdata/planned-examples (-update rewrites it).
func TestPlannedExamples(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "planned-examples", "printed.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", ".."))
	recordings, err := filepath.Glob("examples/planned/*.solutions.yaml")
	if err != nil || len(recordings) != len(shown.Files) {
		t.Fatalf("%d planned examples, and what %d print: %v", len(recordings), len(shown.Files), err)
	}
	if said := printed(t, "check", "examples/planned"); said != fmt.Sprintf("nothing to report in %s, %d skipped\n", wording.Count(len(recordings), "file"), len(recordings)+1) {
		t.Errorf("plans, and the recordings beside them: %s", said)
	}
	every := amount.Of(2, 1, 1)
	for i, recording := range recordings {
		if i%every != 0 && !strings.Contains(recording, "research") {
			continue
		}
		plan := strings.TrimSuffix(recording, ".solutions.yaml") + ".yaml"
		t.Run(filepath.Base(plan), func(t *testing.T) {
			if said := printed(t, "check", "--min-severity", "info", plan); !strings.HasPrefix(said, "nothing to report") {
				t.Errorf("check: %s", said)
			}
			printed(t, "graph", plan)
			printed(t, "simulate", plan)
			run := []string{"run", "--confirm", "never", plan}
			if list := strings.TrimSuffix(plan, "yaml") + "jsonl"; there(list) {
				run = append(run, "--instances", list)
			}
			talk := t.TempDir()
			text := timeless(printed(t, append(run, "--planner", "replay:"+recording, "--record", talk, "--no-journal")...))
			switch want := &shown.Files[i]; {
			case want.Name != filepath.Base(plan):
				t.Errorf("%s stands where %s should", want.Name, filepath.Base(plan))
			case anyOrder(text) == anyOrder(string(want.Data)): // what ends first hangs on the machine
			case *update:
				want.Data = []byte(text)
			default:
				t.Errorf("it prints (-update accepts it)\n%s\nand printed\n%s", text, want.Data)
			}
			fitTheirSchemas(t, talk)
			// What a run records can be run again, and comes to the same.
			runs := t.TempDir()
			end := lastLine(t, printed(t, append(run, "--planner", "replay:"+recording, "--runs", runs, "--format", "json")...))
			again := lastLine(t, printed(t, append(run, "--planner", "replay:"+filepath.Join(talk, "solutions.json"), "--format", "json")...))
			for _, key := range []string{"status", "output", "state", "instances", "ticks"} {
				if !reflect.DeepEqual(again[key], end[key]) {
					t.Errorf("played again, its %s is %v, and was %v", key, again[key], end[key])
				}
			}
			if filepath.Base(plan) == "research.yaml" {
				startsWhileWritten(t, runs)
			}
		})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(shown), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fitTheirSchemas shows that each recorded solution is one that its request asked for: a planner that keeps to the schema could have written it.
func fitTheirSchemas(t *testing.T, talk string) {
	ticks, err := filepath.Glob(filepath.Join(talk, "tick-*.json"))
	if err != nil || len(ticks) == 0 {
		t.Fatalf("no ticks in %s: %v", talk, err)
	}
	for _, tick := range ticks {
		var record struct {
			Schema   json.RawMessage
			Solution any
		}
		text, err := os.ReadFile(tick)
		if err == nil {
			err = json.Unmarshal(text, &record)
		}
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.CompileString("request.json", string(record.Schema))
		if err == nil {
			err = schema.Validate(record.Solution)
		}
		if err != nil {
			t.Errorf("%s: %#v", filepath.Base(tick), err)
		}
	}
}

// there tells whether a file exists.
func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// LANGUAGE.md#instances: the plan of many comments runs over each of them, and is done for
// all; what it wrote is where another run goes on, in which nothing is done again.
func TestExampleOfManyComments(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	run := []string{"run", "--format", "json", "--no-journal", "--parallel", "1", "examples/sentiment.yaml"}
	first, second := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "second.jsonl")
	end := lastLine(t, printed(t, append(run, "--instances", "examples/comments.jsonl", "--out", first)...))
	again := lastLine(t, printed(t, append(run, "--instances", first, "--continue", "--out", second)...))
	if len(end["instances"].(map[string]any)) != 8 || end["status"] != "done" {
		t.Errorf("the run ends with %v", end)
	}
	if !reflect.DeepEqual(again["instances"], end["instances"]) {
		t.Errorf("continued, it comes to %v, and was %v", again["instances"], end["instances"])
	}
	if calls := again["calls"].(map[string]any); calls["done"].(float64)+calls["skipped"].(float64) != 5 { // the answers that weren't wanted
		t.Errorf("continued, it runs %v", calls)
	}
}

// startsWhileWritten steps the journal of a run through a machine, and tells
// whether calls start before the solution is whole. No clock decides it:
// the pieces of the solution are events like any other.
func startsWhileWritten(t *testing.T, runs string) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(runs, "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("%d journals: %v", len(journals), err)
	}
	_, records, err := session.Read(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	started, closed := 0, time.Duration(0)
	for record, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		if e := record.Event; closed == 0 && e != nil && e.Kind == runtime.Closed {
			closed = e.At
		}
	}
	look, err := session.LookAt(journals[0], session.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range look.Commands {
		if c.Kind == runtime.Start && c.At < closed {
			started++
		}
	}
	if closed == 0 || started < 3 {
		t.Errorf("%d calls start before the solution is whole, and not the three searches; it came to its end: %v", started, closed)
	}
}

// anyOrder forgets the order of lines that follow each other: of calls that run
// side by side either may be done first.
func anyOrder(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		blocks[i] = comparable(block)
	}
	return strings.Join(blocks, "\n\n")
}

var tableCommand = regexp.MustCompile("(?m)\\| `(obelus run [^`]+)` \\|$")

// EXECUTION.md#events: the commands that the examples' page gives are there to be typed as they
// stand, one for every plan.
func TestExamplesPage(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	trustExamples(t)
	page, err := os.ReadFile("examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, row := range tableCommand.FindAllStringSubmatch(string(page), -1) {
		args := words(row[1])[1:]
		ran[args[1]] = true
		printed(t, args...)
	}
	plans := examplePlans(t)
	recordings, err := filepath.Glob("examples/planned/*.solutions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, recording := range recordings {
		plans = append(plans, strings.TrimSuffix(recording, ".solutions.yaml")+".yaml")
	}
	for _, plan := range plans {
		if !ran[plan] {
			t.Errorf("the page has no command that runs %s", plan)
		}
	}
}

// printed carries out a command that has to succeed without a complaint.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := obelus(strings.NewReader(""), args...)
	if status != statusOK || stderr != "" {
		t.Fatalf("obelus %s: status %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

func lastLine(t *testing.T, lines string) map[string]any {
	t.Helper()
	all := strings.Split(strings.TrimSpace(lines), "\n")
	var last map[string]any
	if err := json.Unmarshal([]byte(all[len(all)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return last
}
