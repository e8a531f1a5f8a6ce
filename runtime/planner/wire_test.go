package planner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"
)

// PLANNERS.md#models: exchanges with endpoints of several makers, written by hand from what their
// documentation and their users show. A file holds the planner's name; the answers of the
// endpoint, each with how it is asked for, its status and its type; and what comes of them.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			spec, want := "", ""
			var asked []string
			var turns []turn
			for _, f := range archive.Files {
				kind, rest, _ := strings.Cut(f.Name, " ")
				switch kind {
				case "planner":
					spec = strings.TrimSpace(string(f.Data))
				case "comes":
					want = string(f.Data)
				default: // asked STATUS TYPE
					words := strings.Fields(rest)
					status, _ := strconv.Atoi(words[0])
					asked = append(asked, kind)
					turns = append(turns, func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", words[1])
						w.WriteHeader(status)
						w.Write(f.Data)
					})
				}
			}
			p := protocols[strings.Split(spec, ":")[0]]
			p.spec = spec
			settings(t, p)
			synctest.Test(t, func(t *testing.T) {
				answer, usage, e, err := ask(t, p, greeting(), Options{}, turns...)
				got := fmt.Sprintf("answer %s\nusage %d %d\n", answer, usage.InputTokens, usage.OutputTokens)
				if err != nil {
					got = fmt.Sprintf("%serror %v\n", got, err)
				}
				if got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
				if len(e.bodies) != len(asked) {
					t.Fatalf("asked %d times, want %q", len(e.bodies), asked)
				}
				for i, body := range e.bodies {
					if form := formAsked(t, body); form != asked[i] {
						t.Errorf("request %d asks by %s, want %s: %s", i+1, form, asked[i], body)
					}
				}
			})
		})
	}
}

// formAsked is the form in which a request asks for an answer of a schema.
func formAsked(t *testing.T, body string) string {
	var r struct {
		Model          string
		Stream         bool
		ResponseFormat struct{ Type string } `json:"response_format"`
		Tools          []any
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil || !r.Stream || r.Model == "" {
		t.Errorf("%s: %v", body, err)
	}
	switch {
	case r.ResponseFormat.Type == "json_schema":
		return "schema"
	case len(r.Tools) > 0:
		return "tool"
	}
	return "text"
}
