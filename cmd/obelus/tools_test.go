//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// LANGUAGE.md#programs: tools of the command line run as they are, without a script that wraps them.
// Each file holds a plan, what lies beside it, and the output that it is to have; what
// isn't installed is skipped.
func TestToolsWithoutGlue(t *testing.T) {
	const secret = "the-key-of-a-service-1"
	t.Setenv("OBELUS_TEST_SERVICE", secret)
	files, err := filepath.Glob("testdata/tools/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d plans: %v", len(files), err)
	}
	service := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(service.Close)
	for _, file := range files {
		session, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			needs := regexp.MustCompile(`(?m)^needs: (.*)$`).FindStringSubmatch(string(session.Comment))
			for _, program := range strings.Split(needs[1], ", ") {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s isn't installed", program)
				}
			}
			t.Chdir(t.TempDir())
			var want any
			for _, f := range session.Files {
				if f.Name == "want.json" {
					if err := json.Unmarshal(f.Data, &want); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			withoutGlue(t, strings.Split(needs[1], ", "))
			args := []string{"run", "plan.yaml", "--confirm", "never", "--format", "json", "--runs", "runs"}
			if strings.Contains(string(session.Comment), "service") {
				args = append(args, "--input", "base="+service.URL)
			}
			stdout, stderr, status := obelus(strings.NewReader(""), args...)
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			var end struct {
				Status string
				Output any
			}
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || status != 0 || end.Status != "done" {
				t.Fatalf("exit status %d, %v\n%s%s", status, err, stdout, stderr)
			}
			if !reflect.DeepEqual(end.Output, want) {
				got, _ := json.Marshal(end.Output)
				t.Errorf("got %s", got)
			}
			journals, _ := filepath.Glob("runs/*")
			for _, name := range journals {
				text, _ := os.ReadFile(name)
				stdout += string(text)
			}
			if strings.Contains(stdout+stderr, secret) || len(journals) == 0 {
				t.Errorf("the secret is in the events or in one of the %d files of the run", len(journals))
			}
		})
	}
}

// withoutGlue sees to it that a plan names the programs themselves, and no shell.
func withoutGlue(t *testing.T, needs []string) {
	t.Helper()
	stdout, stderr, _ := obelus(strings.NewReader(""), "compile", "plan.yaml")
	var plan struct {
		Activities map[string]struct{ Exec struct{ Argv []any } }
	}
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || len(plan.Activities) == 0 {
		t.Fatal(err, stdout, stderr)
	}
	for name, a := range plan.Activities {
		if program, _ := a.Exec.Argv[0].(string); !slices.Contains(needs, program) {
			t.Errorf("the activity %q runs %q", name, program)
		}
	}
}

// answer says what it was asked.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/items" {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "body": string(body), "authorization": r.Header.Get("Authorization"), "tags": r.Header["X-Tag"]})
}
