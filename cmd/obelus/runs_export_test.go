package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// EXECUTION.md#traces: a run that was is written as OpenTelemetry's spans, to a file or standard output and
// with the same ids each time; what it worked on isn't in them.
func TestRunsExport(t *testing.T) {
	folder := t.TempDir()
	plan, runs, file := filepath.Join(folder, "plan.yaml"), filepath.Join(folder, "runs"), filepath.Join(folder, "spans.json")
	text := "input: {word: hush}\ncalls: [{_tool: say, word: †input.word, _outputPath: †state.said}]\noutput: †state.said\ntools: {say: {properties: {word: {type: string}}}}\nactivities: {say: {expr: upper(word)}}\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, err strings.Builder
		if status := run(t.Context(), args, strings.NewReader(""), &out, &err); status != want {
			t.Fatalf("obelus %v: exit status %d\n%s", args, status, err.String())
		}
		return out.String(), err.String()
	}
	command(statusOK, "run", plan, "--runs", runs)
	command(statusOK, "runs", "export", "2", "--runs", runs, "--otlp", file)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if printed, _ := command(statusOK, "runs", "export", "2", "--runs", runs, "--otlp", "-"); printed != string(written) {
		t.Errorf("standard output has\n%s\nand the file\n%s", printed, written)
	}
	var otlp struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ Name, SpanID string }
			}
		}
	}
	if err := json.Unmarshal(written, &otlp); err != nil {
		t.Fatal(err)
	}
	if spans := otlp.ResourceSpans[0].ScopeSpans[0].Spans; len(spans) != 2 || spans[0].Name != "run" || spans[1].Name != "call say" {
		t.Errorf("the spans are %v", spans)
	}
	if lower := strings.ToLower(string(written)); strings.Contains(lower, "hush") {
		t.Error("a parameter or a result is in the spans")
	}
	if _, err := command(statusError, "runs", "export", "2", "--runs", runs); !strings.Contains(err, "--otlp") {
		t.Errorf("without a file it says %q", err)
	}
}
