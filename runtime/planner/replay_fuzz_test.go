package planner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
)

// PLANNERS.md#recorded-solutions: whatever a recording holds, it is refused in words, or what it gives is what it
// holds, however it is cut.
func FuzzReplay(f *testing.F) {
	for _, seed := range []string{
		"- calls: []", "- {solution: 'x', chunks: 1, delay: 1ns}", "- {latent: {a: 1}}", "- {latent: [{call: a, params: {}, raw: x, cut: true}]}",
		`[{"solution": {"a": "\u00e9†"}, "usage": {"cost": 1e3}}, null]`, "- &a {output: 1}\n- *a\n", "- {refused: x, usage: {inputTokens: 9007199254740992}}",
	} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, chunks int) {
		for _, name := range []string{"s.yaml", "s.json"} {
			p, err := Replay(name, []byte(text))
			if err != nil {
				if p != nil || !utf8.ValidString(err.Error()) {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			r := p
			for i, tick := range r.ticks {
				a := tick.solution
				if a == nil {
					continue
				}
				a.Delay = 0
				a.Chunks = max(chunks, 0)%64 + 1
				var b strings.Builder
				if err := a.play(t.Context(), 0, func(piece string) {
					if !utf8.ValidString(piece) {
						t.Fatalf("the piece %q", piece)
					}
					b.WriteString(piece)
				}); err != nil || b.String() != a.text {
					t.Fatalf("tick %d: %q, %v", i+1, b.String(), err)
				}
				// A solution by itself is JSON again, with the same value.
				checkSolution(t, name, text, i, a.text)
			}
		}
	})
}

func checkSolution(t *testing.T, name, text string, i int, got string) {
	root, _ := source.Parse(source.NewFile(name, []byte(text)), source.Limits{})
	item := root.Items[i]
	if item.Kind != source.Object || slices.ContainsFunc(itemKeys, func(key string) bool { return item.Get(key) != nil }) {
		return
	}
	again, problems := source.Parse(source.NewFile("solution.json", []byte(got)), source.Limits{Bytes: 1 << 30, Scalar: 1 << 30, Depth: 1_000})
	if len(problems) > 0 {
		t.Fatalf("%q: %v", got, problems)
	}
	if a, b := fmt.Sprint(item.Value()), fmt.Sprint(again.Value()); a != b {
		t.Fatalf("%s became %s", a, b)
	}
}
