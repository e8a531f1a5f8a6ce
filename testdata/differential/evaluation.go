package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// evaluation compares expressions with expr's own machine over random programs: tests of this tree do that.
func evaluation(old, changed program, m *material) (outcome, error) {
	result := outcome{}
	for _, t := range []struct{ name, amount string }{
		{"TestAgainstTheLibrary", "-long"},
		{"TestFallbacksAndGatesAgainstTheContract", "-thorough"},
		{"TestTextsAgainstAPlainReading", "-thorough"},
	} {
		cmd := exec.Command(
			"go", "test", "./compiler/expression", "-count", "1", "-v", "-timeout", "20m", "-run",
			"^"+t.name+"$", t.amount,
		)
		cmd.Env = os.Environ()
		text, err := cmd.CombinedOutput()
		result.cases = append(result.cases, t.name)
		if err != nil || !strings.Contains(string(text), "--- PASS: "+t.name+" ") {
			result.differences = append(
				result.differences, difference{name: t.name, what: "fails", changed: string(text)},
			)
		}
		if _, rest, ok := strings.Cut(string(text), " agreed"); ok && t.amount == "-long" {
			before := strings.Fields(strings.TrimSuffix(string(text), rest))
			if n, err := strconv.Atoi(before[len(before)-2]); err == nil {
				result.note = fmt.Sprintf("%d random programs as expr computes them", n)
			}
		}
	}
	return result, nil
}
