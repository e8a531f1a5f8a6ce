package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/project"
)

// EXECUTION.md#instances: any file of instances is read to its end or to a line that is named,
// and no two instances come of it that share an id. Read again with these as the
// ones that had joined, it gives none of them a second time, and ends alike.
func FuzzInstances(f *testing.F) {
	for _, text := range []string{
		`{"id":"①","state":{"a":1}}` + "\n\n" + `{"id":"②","input":{}}`, `{"id":"a"}` + "\r\n" + `{"id":"a"}`, `{"id":"a","id":"b"}`, `{"id":1}`, "{}", "[]", "null", "\xff", `{"id":"a"} {}`,
		`{"id":"a\u0000"}`, `{"id":"` + strings.Repeat("a", 300) + `"}`, `{"id":"a","state":null}`, `{"id":"a","status":"done","output":[1],"errors":[]}`,
	} {
		f.Add([]byte(text), 3)
	}
	name := filepath.Join(f.TempDir(), "people.jsonl")
	f.Fuzz(func(t *testing.T, text []byte, most int) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		most = 1 + most&7
		ids, problem := allInstances(t, name, nil, most)
		seen := map[string]bool{}
		for _, id := range ids {
			if id == "" || seen[id] {
				t.Fatalf("the id %q comes of %q again", id, text)
			}
			seen[id] = true
		}
		if problem != "" && !strings.HasPrefix(problem, "people.jsonl:") {
			t.Fatalf("no place is named: %s", problem)
		}
		more, again := allInstances(t, name, ids, most)
		if len(more) > 0 || again != problem {
			t.Fatalf("of %q comes %q, then %q and %v", text, problem, again, more)
		}
	})
}

// allInstances reads a file to its end; the problem is what ended it before.
func allInstances(t *testing.T, name string, joined []string, most int) (ids []string, problem string) {
	t.Helper()
	run := &Session{Program: &project.Program{Judgement: analyzer.Judgement{Plan: &plan.Plan{}}}, Options: Options{Instances: filepath.Base(name)},
		Replay: &Replay{Joined: joined}, manifest: &Manifest{Source: Source{Folder: filepath.Dir(name)}}}
	file, err := run.openInstances()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for {
		next, last, err := file.Next(most)
		if err != nil {
			return ids, err.Error()
		}
		if len(next) > most || !last && len(next) == 0 {
			t.Fatalf("%d instances, and %d were asked for", len(next), most)
		}
		for _, one := range next {
			ids = append(ids, one.ID)
		}
		if last {
			return ids, ""
		}
	}
}
