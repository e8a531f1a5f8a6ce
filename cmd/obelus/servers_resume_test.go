package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// EXECUTION.md#resuming: a run whose plan names a server of which nothing is locked is gone on with.
func TestRunsWithServersAreResumed(t *testing.T) {
	folder := t.TempDir()
	plan := filepath.Join(folder, "plan.yaml")
	text := "servers: {docs: {command: [cat]}}\nactivities: {search: {mcp: {server: docs, tool: search}}}\ntools: {search: {properties: {}}}\ncalls: [{_tool: search}]\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(folder, "runs")
	if _, stderr, status := obelus(strings.NewReader(""), "run", "--runs", runs, plan); status != statusStopped {
		t.Fatalf("a run that has nobody to ask: status %d\n%s", status, stderr)
	}
	journals, err := filepath.Glob(filepath.Join(runs, "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("%d journals, %v", len(journals), err)
	}
	if _, stderr, status := obelus(strings.NewReader(""), "resume", journals[0]); status != statusStopped || strings.Contains(stderr, "isn't sound") {
		t.Errorf("resumed: status %d\n%s", status, stderr)
	}
}
