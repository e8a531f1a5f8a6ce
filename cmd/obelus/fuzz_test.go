package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/tools/txtar"
)

// FuzzDocument hands any text to every command that takes a document. None may
// panic or take long; findings are JSON with places inside the text;
// what is accepted fits the documents' schema and compiles to itself; simulations repeat themselves
// and depend on no schedule.
func FuzzDocument(f *testing.F) {
	n := 0
	add := func(text string) {
		if n++; n%amount.Of(10, 1, 1) == 0 {
			f.Add(text)
		}
	}
	for _, pattern := range []string{"../../examples/*.yaml", "testdata/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if filepath.Ext(name) == ".yaml" {
				add(string(text))
				continue
			}
			for _, file := range txtar.Parse(text).Files {
				if file.Name != "output" {
					add(string(file.Data))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			t.Skip("large documents have tests of their own")
		}
		begun := cputime.Used()
		give := func(args ...string) (string, int) {
			stdout, stderr, status := obelus(strings.NewReader(text), args...)
			if strings.Contains(stderr, "internal error") {
				t.Fatalf("obelus %s: %s", strings.Join(args, " "), stderr)
			}
			return stdout, status
		}
		lines, status := give("check", "--format", "json", "-")
		if status == statusError {
			t.Fatalf("check can't be in trouble over a text: %s", lines)
		}
		inspectFindings(t, lines, len(text))
		give("check", "-")
		file := source.NewFile("-", []byte(text))
		root, _ := source.Parse(file, source.DefaultLimits())
		if kind, _ := project.Identify(file, root); kind > project.Plan {
			return // what lies beside plans is checked, and compiles to nothing
		}
		give("graph", "-")
		give("approve", "--show", "-")
		give("graph", "--format", "mermaid", "--detail", "-")
		give("graph", "--format", "svg", "--detail", "-")
		give("graph", "--format", "text", "-")
		compiled, compiledStatus := give("compile", "-")
		suppressing := strings.Contains(text, "obelus")
		lacking := compiledStatus == statusOK && strings.Contains(lines, `"OB609"`)       // this machine lacks it, and the plan compiles
		if compiledStatus != status && !lacking && !(suppressing && status == statusOK) { // what is suppressed stays an error
			t.Fatalf("check ends with %d, compile with %d", status, compiledStatus)
		}
		if compiledStatus != statusOK {
			return
		}
		validate(t, text)
		if again, stderr, _ := obelus(strings.NewReader(compiled), "compile", "-"); again != compiled {
			t.Fatalf("the compiled plan doesn't compile to itself: %s\n%s\n%s", stderr, compiled, again)
		}
		old := filepath.Join(t.TempDir(), "compiled.json")
		if err := os.WriteFile(old, []byte(compiled), 0o600); err != nil {
			t.Fatal(err)
		}
		if differs, _ := give("diff", old, "-"); differs != "the plans mean the same\n" {
			t.Fatalf("the compiled plan is another:\n%s", differs)
		}
		first, _ := give("simulate", "--format", "json", "--schedules", "3", "-")
		second, _ := give("simulate", "--format", "json", "--schedules", "3", "-")
		if first != second {
			t.Fatalf("a simulation doesn't repeat itself:\n%s\n%s", first, second)
		}
		if strings.Contains(first, `"deterministic":false`) {
			t.Fatalf("a sound plan depends on the schedule:\n%s", first)
		}
		if spent := cputime.Used() - begun; spent > 20*time.Second {
			t.Fatalf("all commands together took %v", spent)
		}
	})
}

// validate checks a document that was accepted against the schema of documents.
func validate(t *testing.T, text string) {
	t.Helper()
	root, _ := source.Parse(source.NewFile("-", []byte(text)), source.DefaultLimits())
	if err := documentSchema().Validate(root.Value()); err != nil {
		t.Fatalf("an accepted document doesn't fit the schema: %#v\n%s", err, text)
	}
}

var documentSchema = sync.OnceValue(func() *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.json", bytes.NewReader(planschema.JSON())); err != nil {
		panic(err)
	}
	return c.MustCompile("plan.json")
})

func inspectFindings(t *testing.T, lines string, size int) {
	t.Helper()
	all := strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n")
	for i, line := range all {
		var found struct {
			Kind, Code, Severity, Message string
			Start, End                    *source.Position
		}
		if err := json.Unmarshal([]byte(line), &found); err != nil {
			t.Fatalf("line %d isn't JSON: %v\n%s", i+1, err, line)
		}
		if last := i == len(all)-1; last != (found.Kind == "summary") {
			t.Fatalf("line %d of %d is a %s", i+1, len(all), found.Kind)
		}
		if found.Kind == "summary" {
			continue
		}
		if found.Message == "" || found.Code == "" || found.Severity == "" {
			t.Fatalf("a finding lacks something: %s", line)
		}
		if found.Start != nil && (found.Start.Offset < 0 || found.End.Offset < found.Start.Offset || found.End.Offset > size || found.Start.Line < 1 || found.Start.Column < 1) {
			t.Fatalf("a finding lies outside the text of %d bytes: %s", size, line)
		}
	}
}

// FuzzValue: whatever is given as KEY=VALUE is a JSON value, and text stays
// text.
func FuzzValue(f *testing.F) {
	for _, text := range []string{"5", "true", "null", "Paris", `{"a": [1]}`, "[1,]", "†input.x", "1e999", `"quoted"`, "", "0777", "\xff", "9007199254740993", `{"id": -9007199254740993}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, problem := terminal.ValueOf(text)
		if problem != "" {
			if !json.Valid([]byte(text)) {
				t.Fatalf("%q isn't JSON, but %s", text, problem)
			}
			return
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("%q becomes %v: %v", text, value, err)
		}
		var plain any
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		if decoder.Decode(&plain) != nil {
			if value != text {
				t.Fatalf("%q isn't JSON, but becomes %s", text, encoded)
			}
		} else if _, isText := plain.(string); json.Valid([]byte(text)) && !isText && value == text {
			t.Fatalf("%q is JSON, but becomes text", text)
		}
	})
}
