package permit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/tools/txtar"
)

// compiled compiles a plan among files, which may be delegates, imports, or a catalogue
// that counts (obelus-tools.yaml).
func compiled(t testing.TB, text string, files map[string]string) *plan.Plan {
	t.Helper()
	o := compiler.Options{Name: "plan.yaml", Limits: source.DefaultLimits(), Open: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}}
	if own, ok := files["obelus-tools.yaml"]; ok {
		o.Trusted = true
		o.Catalogues = append(o.Catalogues, source.NewFile("obelus-tools.yaml", []byte(own)))
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), o)
	for _, f := range found {
		if f.Severity.String() == "error" {
			t.Fatalf("%s\n%s", f.Message, text)
		}
	}
	return p
}

// The JSON form of the envelope of a plan reads back as the same permit.
func TestPermitReadsBack(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("..", "facts", "testdata", "mails.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	p := compiled(t, files["plan.yaml"], files)
	parts, err := p.Parts()
	if err != nil {
		t.Fatal(err)
	}
	e := permit.Of(facts.Of(p, facts.Options{}), parts)
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var back permit.Permit
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.MarshalIndent(&back, "", "  ")
	if string(again) != string(text) {
		t.Errorf("it reads back as\n%s\nand was\n%s", again, text)
	}
	if !reflect.DeepEqual(back.Budget, e.Budget) || len(back.Calls) != len(e.Calls) {
		t.Error("something is lost")
	}
	if os.Getenv("SHOW") != "" {
		t.Log(string(text))
	}
}

// EXECUTION.md#permits: a permit is read as one thing only.
func TestPermitsAreReadStrictly(t *testing.T) {
	whole := `{"calls": [{"tool": "pay", "effect": "writes", "times": 1, "rows": [{"what": "parameter", "of": "to", "is": "ann"}]}], "budget": {"calls": 1}}`
	if _, err := permit.Read([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for old, in := range map[string]string{
		`"times": 1`:             `"times": 1, "times": 100`,
		`"budget": {"calls": 1}`: `"budget": {"calls": 1, "calls": 100}`,
		`"tool": "pay"`:          `"Tool": "pay"`,
		`"is": "ann"`:            `"is": "ann", "is": "eve"`,
		`"of": "to"`:             `"off": "to"`,
		`"calls": 1}}`:           `"calls": 1}} {}`,
	} {
		if text := strings.Replace(whole, old, in, 1); text == whole {
			t.Fatalf("nothing is changed by %s", in)
		} else if _, err := permit.Read([]byte(text)); err == nil {
			t.Errorf("it is read: %s", text)
		}
	}
}
