package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// An answered pair is a line of what compat says with --format json.
type answered struct {
	Kind, Name, Verdict string
	Witness             any
	Keyword, Reason     *string
}

// EXECUTION.md#events: pairs that others wrote and judged, put through the command: a
// line is answered by a line, in order and by name; no verdict is wrong; and of
// the core no more than one in a hundred stays undecided.
func TestCompatOnTheCorpus(t *testing.T) {
	drafts := map[string]string{"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#", "draft7": "http://json-schema.org/draft-07/schema#"}
	for _, name := range corpus.SchemaPairs {
		t.Run(name, func(t *testing.T) {
			type row struct {
				Name, Dialect, Expect, Audit string
				Tags                         []string
				Sub, Super                   any
			}
			rows := corpus.Rows[row](t, name)
			var asked bytes.Buffer
			for _, row := range rows {
				for _, side := range []any{row.Sub, row.Super} {
					if s, ok := side.(map[string]any); ok && s["$schema"] == nil && drafts[row.Dialect] != "" {
						s["$schema"] = drafts[row.Dialect]
					}
				}
				if err := diag.JSONLine(&asked, map[string]any{"name": row.Name, "sub": row.Sub, "super": row.Super}); err != nil {
					t.Fatal(err)
				}
			}
			stdout, stderr, status := obelus(&asked, "compat", "--batch", "-")
			if status != statusOK || stderr != "" {
				t.Errorf("exit status %d, and on standard error %s", status, stderr)
			}
			answers := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if len(answers) != len(rows) {
				t.Fatalf("%d answers to %d lines", len(answers), len(rows))
			}
			core, decided := 0, 0
			for i, row := range rows {
				var a answered
				if err := json.Unmarshal([]byte(answers[i]), &a); err != nil {
					t.Fatal(err)
				}
				if a.Kind != "verdict" || a.Name != row.Name {
					t.Errorf("line %d is about %q and answered by %s", i+1, row.Name, answers[i])
				}
				if inCore(row.Tags) {
					core++
					if a.Verdict != "unknown" {
						decided++
					}
				}
				if a.Verdict == "unknown" && (a.Reason == nil || *a.Reason == "") {
					t.Errorf("%s: unknown, and nothing says why", row.Name)
				}
				fits := a.Verdict == "fits"
				if a.Verdict == "unknown" || fits == (row.Expect == "subset") || row.Audit == "unconfirmed" {
					continue
				}
				// A value that a validator sees on one side only settles the matter.
				if fits || !ordinarily(t, schema.New(row.Sub, schema.Options{}), a.Witness) || ordinarily(t, schema.New(row.Super, schema.Options{}), a.Witness) {
					t.Errorf("%s: %s, but %s", row.Name, a.Verdict, row.Expect)
				}
			}
			t.Logf("%d of %d in the core decided", decided, core)
			if decided*100 < core*98 {
				t.Errorf("only %d of %d in the core are decided", decided, core)
			}
		})
	}
}

// ordinarily asks the ordinary validator.
func ordinarily(t *testing.T, s *schema.Schema, value any) bool {
	t.Helper()
	validator, err := s.Ordinary()
	if err != nil {
		t.Fatal(err)
	}
	return validator.Validate(value) == nil
}

func inCore(tags []string) bool {
	for _, tag := range tags {
		switch tag {
		case "format", "content", "unevaluated", "dynamic", "recursive":
			return false
		}
	}
	return true
}

// EXECUTION.md#events: a pair is answered before the next one is there, so that a program can
// ask, wait for the answer, and ask again.
func TestCompatAnswersAtOnce(t *testing.T) {
	questions, ask := io.Pipe()
	hear, answers := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(t.Context(), []string{"compat", "--batch", "-"}, questions, answers, io.Discard)
		answers.Close()
	}()
	lines := bufio.NewScanner(hear)
	for _, step := range [][2]string{{`{"sub": true, "super": {}}`, "fits"}, {`{"sub": {}, "super": false}`, "never"}, {`{"sub": {}}`, "unknown"}} {
		if _, err := io.WriteString(ask, step[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		var a answered
		if !lines.Scan() {
			t.Fatal("there is no answer")
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil || a.Verdict != step[1] {
			t.Errorf("%s is answered by %s (%v)", step[0], lines.Text(), err)
		}
	}
	ask.Close()
	if status := <-ended; status != statusError {
		t.Errorf("exit status %d", status)
	}
}

// EXECUTION.md#limits: the line after one beyond the limit is answered as ever.
func TestCompatLeavesEndlessLines(t *testing.T) {
	endless := io.MultiReader(
		strings.NewReader(`{"sub": "`), strings.NewReader(strings.Repeat("x", 65<<20)),
		strings.NewReader("\n{\"sub\": {}, \"super\": {}}\n"))
	stdout, _, status := obelus(endless, "compat", "--batch", "-")
	if lines := strings.Split(stdout, "\n"); status != statusError || len(lines) != 3 ||
		!strings.Contains(lines[0], `"unknown"`) || !strings.Contains(lines[0], "limit") || !strings.Contains(lines[1], `"fits"`) {
		t.Errorf("exit status %d\n%.200s", status, stdout)
	}
}

// FuzzCompat hands any text to the command as a line: there is one answer for
// each line that isn't blank, it is JSON, it repeats itself, it says why where
// it says unknown, and none takes long.
func FuzzCompat(f *testing.F) {
	for _, seed := range []string{
		`{"sub": {"type": "integer"}, "super": {"minimum": 0}}`,
		`{"name": "n", "sub": {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}, "super": {"not": {"enum": [1, null]}}}`,
		`{"sub": {"const": "\u0000"}, "super": {"const": 9007199254740992}}`,
		`{"sub": {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, "super": {"type": "array"}}`,
		`{"sub": {"pattern": "^(a|b)*$"}, "super": {"maxLength": 3}}` + "\n\n[1]\r\n{",
		`{"sub": {"const": 1e400}, "super": {"const": "\ud800"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 5_000 {
			t.Skip("large texts have tests of their own")
		}
		begun := cputime.Used()
		stdout, stderr, status := obelus(strings.NewReader(text), "compat", "--batch", "-")
		if strings.Contains(stderr, "internal error") {
			t.Fatal(stderr)
		}
		want, got := 0, 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				want++
			}
		}
		for line := range strings.Lines(stdout) {
			got++
			var a map[string]any
			if err := json.Unmarshal([]byte(line), &a); err != nil || a["kind"] != "verdict" {
				t.Fatalf("%q isn't a verdict: %v", line, err)
			}
			if (a["verdict"] == "unknown") != (a["reason"] != nil) {
				t.Fatalf("a reason belongs to unknown, and to it alone: %s", line)
			}
		}
		if got != want || (status == statusError) != (stderr != "") {
			t.Fatalf("%d answers to %d lines, exit status %d, and %q", got, want, status, stderr)
		}
		if again, _, _ := obelus(strings.NewReader(text), "compat", "--batch", "-"); again != stdout {
			t.Fatalf("the answers don't repeat themselves:\n%s\n%s", stdout, again)
		}
		if took := cputime.Used() - begun; took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
