package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// EXECUTION.md#journals: what a run keeps is its user's alone.
func TestPrivateFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"plan.yaml":      "calls: [{_tool: a, _outputPath: x}]\nactivities: {a: {expr: \"1\"}}\n",
		"planned.yaml":   "calls: []\ntools: {a: {}}\nactivities: {a: {expr: \"1\"}}\n",
		"solutions.yaml": "- {calls: [{_tool: a, _outputPath: x}], output: 1}\n",
		"people.jsonl":   "{\"id\":\"a\"}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "plan.yaml", "--runs", "new/runs", "--instances", "people.jsonl", "--out", "results.jsonl"},
		{"run", "planned.yaml", "--runs", "new/runs", "--planner", "replay:solutions.yaml", "--record", "kept/talk"},
	} {
		var out bytes.Buffer
		if status := run(context.Background(), args, strings.NewReader(""), &out, &out); status != 0 {
			t.Fatalf("%v: %d\n%s", args, status, out.String())
		}
	}
	for _, root := range []string{"new", "kept", "results.jsonl"} {
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is %v: others may look into it", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
