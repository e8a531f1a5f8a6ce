package facts_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/cputime"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the expected texts again")

// compiled compiles a plan among files, which may be delegates, imports, or a catalogue
// that counts (obelus-tools.yaml).
func compiled(t testing.TB, name, text string, files map[string]string) *plan.Plan {
	t.Helper()
	o := compiler.Options{Name: name, Limits: source.DefaultLimits(), Open: func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}}
	if own, ok := files["obelus-tools.yaml"]; ok {
		o.Trusted = true
		o.Catalogues = append(o.Catalogues, source.NewFile("obelus-tools.yaml", []byte(own)))
	}
	p, found := compiler.Compile(source.NewFile(name, []byte(text)), o)
	for _, f := range found {
		if f.Severity.String() == "error" {
			t.Fatalf("%s: %s", name, f.Message)
		}
	}
	return p
}

// The facts of a plan as people read them, with destroyers first, in text and in
// Markdown; and their JSON form, which reads back as the same.
func TestFacts(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range cases {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			f := facts.Of(compiled(t, "plan.yaml", files["plan.yaml"], files), facts.Options{Planned: strings.Contains(string(archive.Comment), "planned")})
			rows := append(f.Card("sha256:0", nil), f.Details()...)
			for i := range archive.Files {
				got := ""
				switch archive.Files[i].Name {
				case "text":
					got = rows.Text(false)
				case "markdown":
					got = rows.Markdown()
				default:
					continue
				}
				if *update {
					archive.Files[i].Data = []byte(got)
				} else if want := string(archive.Files[i].Data); got != want {
					t.Errorf("%s is\n%s\nwant\n%s", archive.Files[i].Name, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			once, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			var back facts.Facts
			if err := json.Unmarshal(once, &back); err != nil {
				t.Fatal(err)
			}
			if again, _ := json.Marshal(&back); string(again) != string(once) {
				t.Errorf("read back it is\n%s\nand was\n%s", again, once)
			}
			if back.Details().Text(false) != f.Details().Text(false) {
				t.Errorf("read back it reads\n%s", back.Details().Text(false))
			}
			if same := facts.Of(compiled(t, "plan.yaml", files["plan.yaml"], files), facts.Options{Planned: f.Planned}); !reflect.DeepEqual(same.Details(), f.Details()) {
				t.Error("a second time it is another text")
			}
		})
	}
}

// A tool that somebody vouches for speaks for its activity only where the values that it is
// given instead are surely such as the tool takes.
func TestEffectOfAnotherToolsActivity(t *testing.T) {
	files := map[string]string{"obelus-tools.yaml": "tools:\n  show: {type: object, properties: {file: {const: notes}}, required: [file], annotations: {readOnlyHint: true}}\nactivities:\n  show: {exec: {argv: [show, \"{file}\"]}}\n"}
	for values, want := range map[string]string{
		"_tool: show, file: notes":                      effects.ReadOnly,
		"_tool: show, file: †input.x":                   effects.ReadOnly, // else it doesn't start
		"_tool: other, _activity: show, file: notes":    effects.ReadOnly,
		"_tool: other, _activity: show, file: secrets":  effects.Unknown,
		"_tool: other, _activity: show, file: †input.x": effects.Unknown,
	} {
		p := compiled(t, "plan.yaml", "tools: {other: {properties: {file: {}}}}\ncalls: [{"+values+"}]", files)
		if got := facts.Of(p, facts.Options{}).Calls[0].Effect.Kind; got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
}

// large is a plan of so many calls.
func large(n int) string {
	var b strings.Builder
	b.WriteString("plan: large\ninput: {q: x}\ntools:\n  get: {properties: {a: {}, b: {}, _output: {type: string}}}\n  put: {properties: {a: {}, b: {}}, annotations: {destructiveHint: true}}\nactivities:\n  get: {exec: {argv: [get, \"{a}\"]}}\n  put: {exec: {argv: [put, \"{a}\"]}}\ncalls:\n")
	for i := range n {
		switch {
		case i == 0:
			b.WriteString("- {_tool: get, a: †input.q, b: 1, _outputPath: p0}\n")
		case i%5 == 4:
			fmt.Fprintf(&b, "- {_tool: put, a: †state.p%d, b: {text: \"†{state.p%d} and more\", to: [a, b]}, _when: \"†state.p%d != ''\", _outputPath: p%d}\n", i-1, i/2/5*5, i-2, i)
		default:
			fmt.Fprintf(&b, "- {_tool: get, a: †state.p%d, b: literal %d, _outputPath: p%d}\n", max(0, i-3)/5*5, i, i)
		}
	}
	return b.String()
}

// A plan of 1,000 calls is shown in well under 200 ms, compiling included.
func TestFactsAreQuick(t *testing.T) {
	text := large(1000)
	if took, soon := cputime.Within(200_000_000, func() {
		facts.Of(compiled(t, "plan.yaml", text, nil), facts.Options{}).Details().Text(false)
	}); !soon {
		t.Errorf("took %v", took)
	}
}

// EXECUTION.md#approval: no two programs with their arguments look the same, and what looks like a blank
// in an argument is spelled out.
func TestNoTwoProgramsLookAlike(t *testing.T) {
	parts := []string{"", "a", " ", `"`, "'", `\`, ";", "\u00a0", "\u3000", "\u2028", "\n"}
	var words []string
	for _, a := range parts {
		for _, b := range parts {
			words = append(words, a+b, a+"x"+b)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	seen := map[string][]string{}
	look := func(program ...string) {
		e := facts.Execution{Kind: "exec", Program: program}
		shown := e.Destination()
		if other, known := seen[shown]; known || strings.ContainsAny(shown, "\u00a0\u3000\u2028\n") {
			t.Errorf("%q and %q look like %s", other, program, shown)
		}
		seen[shown] = program
	}
	for _, a := range words {
		look("sh", a)
		for _, b := range words {
			look("sh", a, b)
		}
	}
}
