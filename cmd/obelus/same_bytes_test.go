package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#simulation: what a command says of a file is the same every time. Go goes over maps in
// another order each time, so repeating it within one process shows what hangs on one.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for n, file := range append(files, "../../examples/comments.jsonl") {
		commands := map[string]int{
			"graph": 12, "graph --format mermaid --detail": 3, "graph --depth 2 --delegates 3": 3,
			"graph --format svg --detail": 3, "graph --format text --detail": 3,
			"compile": 3, "approve --show": 2, "check --format json": 3, "check --format sarif": 3, "check --explain": 2, "simulate --schedules 2 --format json": 2, "simulate": 2,
			"simulate --branches --format json": 2, "simulate --branches": 2, "simulate --seeds 3": 2, "simulate --format svg": 2, "simulate --format mermaid": 2,
			"diff --format json ../../examples/refund.yaml": 3, "diff ../../examples/refund.yaml --format mermaid": 2,
		}
		for k, command := range slices.Sorted(maps.Keys(commands)) {
			times := commands[command]
			if every := amount.Of(14, 2, 1); (n+k)%every != 0 {
				continue
			}
			first, firstSaid, _ := obelus(strings.NewReader(""), append(strings.Fields(command), file)...)
			for range times - 1 {
				if again, said, _ := obelus(strings.NewReader(""), append(strings.Fields(command), file)...); again != first || said != firstSaid {
					t.Errorf("obelus %s %s gives\n%s%s\nand then\n%s%s", command, file, first, firstSaid, again, said)
					break
				}
			}
		}
	}
}
