package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
)

// EXECUTION.md#instances: any file of instances is read, or a line of it is named, and no two instances
// come of it that share an id. Read again with these as the ones that had joined, it gives none of them a second time.
func FuzzInstances(f *testing.F) {
	for _, text := range []string{
		`{"id":"①","state":{"a":1}}` + "\n\n" + `{"id":"②","input":{}}`, `{"id":"a"}` + "\r\n" + `{"id":"a"}`, `{"id":"a","id":"b"}`, `{"id":1}`, "{}", "[]", "null", "\xff", `{"id":"a"} {}`,
		`{"id":"a\u0000"}`, `{"id":"` + strings.Repeat("a", 300) + `"}`, `{"id":"a","state":null}`, `{"id":"a","status":"done","output":[1],"errors":[]}`,
	} {
		f.Add([]byte(text))
	}
	name := filepath.Join(f.TempDir(), "people.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		ids, problem := allInstances(t, name, nil)
		seen := map[string]bool{}
		for _, id := range ids {
			if id == "" || seen[id] {
				t.Fatalf("the id %q comes of %q again", id, text)
			}
			seen[id] = true
		}
		if problem != "" {
			if !strings.HasPrefix(problem, "people.jsonl:") {
				t.Fatalf("no place is named: %s", problem)
			}
			return
		}
		if more, again := allInstances(t, name, ids); len(more) > 0 || again != "" {
			t.Fatalf("of %q comes %v again, %s", text, more, again)
		}
	})
}

// allInstances reads a file; the problem is what is wrong with it.
func allInstances(t *testing.T, name string, joined []string) (ids []string, problem string) {
	t.Helper()
	run := &Session{Look: &Look{Program: &project.Program{Judgement: analyzer.Judgement{Plan: &plan.Plan{}}}, Joined: joined,
		Manifest: &Manifest{Source: Source{Folder: filepath.Dir(name)}, Instances: filepath.Base(name), Options: runtime.Options{Planned: true}}}}
	if err := run.readInstances(); err != nil {
		return nil, err.Error()
	}
	for _, one := range run.Joining {
		ids = append(ids, one.ID)
	}
	return ids, ""
}
