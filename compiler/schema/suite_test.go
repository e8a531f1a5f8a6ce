package schema

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var suite = flag.String("suite", "", "a folder with JSON Schema's official test suite")

// LANGUAGE.md#tools: the official test suite, where there is one: the validator says
// what it wants, and so does containment of the one value. What isn't of this
// program's dialect (references to other documents, vocabularies of one's own) is
// left out.
func TestOfficialSuite(t *testing.T) {
	if *suite == "" {
		t.Skip("no -suite")
	}
	skipped, tested, unknown := map[string]int{}, 0, 0
	for _, folder := range []string{"draft2020-12"} {
		files, _ := filepath.Glob(filepath.Join(*suite, "tests", folder, "*.json"))
		more, _ := filepath.Glob(filepath.Join(*suite, "tests", folder, "optional", "*.json"))
		for _, file := range append(files, more...) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var groups []struct {
				Description string
				Schema      any
				Tests       []struct {
					Description string
					Data        any
					Valid       bool
				}
			}
			if err := json.Unmarshal(data, &groups); err != nil {
				t.Logf("%s: %v", file, err)
				continue
			}
			name := filepath.Base(file)
			for _, g := range groups {
				s := New(g.Schema, Options{})
				if err := s.Compile(); err != nil {
					skipped[folder+"/"+name+": "+err.Error()]++
					continue
				}
				for _, c := range g.Tests {
					tested++
					where := strings.Join([]string{folder, name, g.Description, c.Description}, " / ")
					if name == "zeroTerminatedFloats.json" {
						continue // 1.0 is an integer in every draft here
					}
					if s.Accepts(c.Data) != c.Valid {
						t.Errorf("%s: %v", where, !c.Valid)
						continue
					}
					v := Contains(Const(c.Data), s, Budget{})
					switch {
					case v.Alarm:
						t.Errorf("%s: alarm", where)
					case v.Relation == Unknown:
						unknown++
					case (v.Relation == Fits) != c.Valid:
						t.Errorf("%s: contains %v", where, v.Relation)
					}
				}
			}
		}
	}
	t.Logf("%d tests, containment unknown for %d", tested, unknown)
	for what, n := range skipped {
		t.Logf("left out, %d: %s", n, what)
	}
}
