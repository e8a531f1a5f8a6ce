package envelope_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// compiled compiles a plan among files, which may be delegates, imports, or a catalogue
// that counts (obelus-tools.yaml).
func compiled(t testing.TB, text string, files map[string]string) *compiler.Plan {
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

// The JSON form of the envelope of a plan reads back as the same envelope (S16.2).
func TestEnvelopeReadsBack(t *testing.T) {
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
	e := envelope.Of(facts.Of(p, facts.Options{}), parts)
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var back envelope.Envelope
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
