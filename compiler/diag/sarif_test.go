package diag

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// reportOfAll has something of everything that a finding may have.
func reportOfAll() Report {
	f := source.NewFile("plans/a b#1.yaml", []byte("calls:\n  - {_tool: †①x, b: †state.c}\n"))
	span := source.Span{File: f, Start: 18, End: 25}
	outside := source.Span{File: source.NewFile("obelus.yaml", []byte("ignore: []")), Start: 0, End: 6}
	bare := Diagnostic{Rule: Limit, Severity: Error, Message: "too \x1b[31m much [see](http://evil.example) ::error::x"}
	full := Diagnostic{
		Rule: WriteConflict, Severity: Warning, Span: span, Call: "a#1", Message: "two writes", Help: "order them",
		Related: []Note{{span, "one"}, {source.Span{}, "nowhere"}},
		Fixes:   []Fix{{"rename it", true, []Edit{{span, "x\n"}, {outside, "y"}}}, {"nothing", false, nil}},
		Witness: map[string]any{"schedules": []any{[]string{"a"}, []string{"b"}}},
	}
	return Report{
		Version: "1.2.3",
		Rules:   append(Shared(), WriteConflict),
		Page: func(code string) (string, bool) {
			return "# " + code + "\n\n## Problem\n\nIt `a.b: c` happens. Then more.\n", code != "OB101"
		},
		Findings:   []Diagnostic{bare, full, full},
		Suppressed: []Suppressed{{Diagnostic: full, Reason: "known", At: span}, {Diagnostic: bare, Reason: "x", At: outside, Outside: true}},
	}
}

func sarifLogOf(t testing.TB, r Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// LANGUAGE.md#findings: the log is valid against the schema that OASIS publishes, as a Go module
// carries it. Without a way to that module the test is skipped.
func TestSARIFIsValid(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", "github.com/securego/gosec/v2@v2.30.0").Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil || module.Dir == "" {
		t.Skipf("the module with the schema can't be had: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "report", "sarif", "testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("sarif.json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Report{{}, reportOfAll()} {
		var log any
		if err := json.Unmarshal(sarifLogOf(t, r), &log); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(log); err != nil {
			t.Errorf("%#v", err)
		}
	}
	if schema.Validate(map[string]any{"version": "2.1.0"}) == nil {
		t.Error("the schema accepts anything")
	}
}

func TestSARIFNames(t *testing.T) {
	for name, want := range map[string]string{
		"-": "stdin", "a.yaml": "a.yaml", "./x/../a.yaml": "a.yaml", "../a.yaml": "../a.yaml",
		"/tmp/a b.yaml": "file:///tmp/a%20b.yaml", "c:d.yaml": "./c:d.yaml", "": "unnamed", "ä?.yaml": "%C3%A4%3F.yaml",
	} {
		if got := artifactLocation(name)["uri"]; got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// LANGUAGE.md#findings: annotations carry place, title and help, and no text of a plan
// can begin a command or add a property.
func TestGitHub(t *testing.T) {
	f := source.NewFile("a,b:c%.yaml", []byte("x: |\n  y\n"))
	var b strings.Builder
	err := GitHub(&b, []Diagnostic{
		{Rule: Limit, Severity: Error, Span: source.Span{File: f, Start: 3, End: 4}, Message: "100% \"a\nb\"", Help: "do this"},
		{Rule: Latent, Severity: Info, Span: source.Span{File: f, Start: 0, End: 8}, Message: "\n::error::x"},
		{Rule: Limit, Severity: Warning, Span: source.Span{File: source.NewFile("-", nil)}, Message: "m"},
	}, strings.Clone)
	want := "::error file=a%2Cb%3Ac%25.yaml,line=1,endLine=1,col=4,endColumn=5,title=OB105 limit::100%25 \"a\\nb\"%0Ado this\n" +
		"::notice file=a%2Cb%3Ac%25.yaml,line=1,endLine=2,title=OB602 latent::\\n::error::x\n" +
		"::warning title=OB105 limit::m\n"
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := GitHub(&b, []Diagnostic{{Rule: Limit, Severity: Error, Span: source.Span{File: f, End: 1}, Message: "m"}}, strings.Clone); err != nil || !strings.Contains(b.String(), "file=a%2Cb%3Ac%25.yaml,") {
		t.Errorf("without a way to name files they are named as they are: %v\n%s", err, b.String())
	}
}

// LANGUAGE.md#tools: no finding, whatever its words, makes a line of its own or an escape
// sequence in what machines read.
func FuzzMachineFormats(f *testing.F) {
	f.Add("a.yaml", "x: y", "words", "help")
	f.Add("a\n::error::b", "†", "::add-mask::x\r\n::x", "[a](b) \x1b[0m")
	f.Fuzz(func(t *testing.T, name, text, message, help string) {
		file := source.NewFile(name, []byte(text))
		d := Diagnostic{Rule: Limit, Severity: Error, Span: source.Span{File: file, End: len(text)}, Call: help, Message: message, Help: help}
		d.Fixes = []Fix{{message, true, []Edit{{d.Span, help}}}}
		d.Related = []Note{{d.Span, message}}
		var annotations strings.Builder
		if err := GitHub(&annotations, []Diagnostic{d}, strings.Clone); err != nil {
			t.Fatal(err)
		}
		if out := annotations.String(); strings.Count(out, "\n") != 1 || strings.ContainsAny(out, "\r\x1b") || !strings.HasPrefix(out, "::error ") {
			t.Fatalf("%q", out)
		}
		log := sarifLogOf(t, Report{Findings: []Diagnostic{d}, Suppressed: []Suppressed{{Diagnostic: d, Reason: message, At: d.Span}}})
		if !json.Valid(log) || bytes.Count(log, []byte("\n")) != 1 || bytes.ContainsAny(log, "\r\x1b") {
			t.Fatalf("%q", log)
		}
	})
}
