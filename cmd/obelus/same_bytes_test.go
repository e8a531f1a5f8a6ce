package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
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
			if every := amount.Of(8, 2, 1); (n+k)%every != 0 {
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

// A process of its own goes over its maps in orders of its own, too: several of them say
// the same, of the examples and, with -long, of plans of the corpus.
func TestFreshProcessesSayTheSame(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../examples/*.yaml")
	files = files[:len(files)/amount.Of(6, 2, 1)]
	folder := t.TempDir()
	for _, name := range corpus.Plans[:amount.Of(0, 0, len(corpus.Plans))] {
		for i, row := range corpus.Rows[corpus.Plan](t, name) {
			if i%40 == 0 {
				file := filepath.Join(folder, fmt.Sprintf("%s-%d.json", name, i))
				if err := os.WriteFile(file, row.Document, 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
		}
	}
	commands := []string{"graph --format svg", "graph", "graph --format mermaid --detail", "graph --format text", "check --format json", "compile", "approve --show", "simulate --format json",
		"simulate --branches --format json", "graph --format html", "simulate --schedules 5", "simulate --seeds 5 --format json", "simulate --format svg"}
	for _, command := range commands[:amount.Of(1, len(commands), len(commands))] {
		for _, file := range files {
			said := map[string]int{}
			for range amount.Of(4, 4, 12) {
				cmd := exec.Command(os.Args[0], append(strings.Fields(command), file)...)
				cmd.Env = append(os.Environ(), asCommand+"=1")
				out, _ := cmd.CombinedOutput() // faults that it finds are what it says
				said[string(out)]++
			}
			if len(said) > 1 {
				t.Errorf("obelus %s %s says %d different things", command, file, len(said))
			}
		}
	}
}
