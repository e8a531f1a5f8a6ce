package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/examples/library/service"
)

// LANGUAGE.md#imported-services: the example over a service runs, its catalogue and lock are what import makes of
// the document, and nothing has drifted.
func TestLibrary(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join("..", "..", "examples", "library"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	t.Chdir(t.TempDir())
	there := strings.TrimPrefix(server.URL, "http://")
	for _, name := range []string{"openapi.yaml", "obelus.yaml", "borrow.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "127.0.0.1:8424", there)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	printed(t, "tools", "import", "openapi.yaml", "-o", "library.tools.yaml")
	text, _ := os.ReadFile("library.tools.yaml")
	made, _, _ := strings.Cut(string(text), "x-source:") // whose digest depends on the address
	text, _ = os.ReadFile(filepath.Join(folder, "library.tools.yaml"))
	kept, _, _ := strings.Cut(string(text), "x-source:")
	if strings.ReplaceAll(made, there, "127.0.0.1:8424") != kept {
		t.Errorf("the example's catalogue isn't what import makes; it makes\n%s", made)
	}
	if said := printed(t, "tools", "--check", folder); !strings.HasSuffix(said, "openapi.yaml: as it was\n") {
		t.Errorf("the example's source: %s", said)
	}
	if said := printed(t, "check", "--min-severity", "info", "--trust", "borrow.yaml"); !strings.HasPrefix(said, "nothing to report") {
		t.Errorf("check: %s", said)
	}
	for words, want := range map[string]string{`["whale"]`: `{"place":null,"title":"The Whale","until":"2027-02-28"}`, `["time","machine"]`: `{"place":1,"title":"The Time Machine","until":null}`} {
		out, stderr, status := obelus(strings.NewReader(""), "run", "borrow.yaml", "--trust", "--confirm", "never", "--format", "json", "--input", "words="+words)
		if status != statusOK && words == `["whale"]` || !strings.Contains(out, `"output":`+want) {
			t.Errorf("%s: status %d: %s\n%s", words, status, out, stderr)
		}
	}
	// A GET is said to only read, where the word counts; the rest is asked about.
	if out, _, status := obelus(strings.NewReader(""), "run", "borrow.yaml", "--trust", "--format", "json"); status != statusStopped || !strings.Contains(out, `"call":"findBooks#1","tool":"findBooks","status":"done"`) {
		t.Errorf("without --confirm never: status %d: %s", status, out)
	}
}
