package catalogue

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// Whatever a service says of its tools is written so that it reads back as what it was, and
// the same catalogue is the same bytes.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	for seed := range uint64(amount.Of(300, 3_000, 30_000)) {
		for range 3 {
			r := rand.New(rand.NewPCG(seed, 1))
			all := map[string]any{text(r): value(r, 4), "tools": value(r, 3), text(r): value(r, 4)}
			out, err := YAML("# test\n", all)
			if err != nil {
				t.Fatalf("seed %d: %v\n%#v", seed, err, all)
			}
			if bytes.ContainsFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Fatalf("seed %d: something isn't seen in\n%q", seed, out)
			}
			if again, err := YAML("# test\n", all); err != nil || string(again) != string(out) {
				t.Fatalf("seed %d: %v: written again it is\n%s\ninstead of\n%s", seed, err, again, out)
			}
		}
	}
}

// A catalogue is added to a configuration in place: comments, order and blank lines stay.
func TestAddTo(t *testing.T) {
	for before, want := range map[string]string{
		"# ours\ntools: [a.yaml] # first\n\nhosts: [x]\n": "# ours\ntools: [a.yaml, b.yaml] # first\n\nhosts: [x]\n",
		"tools:\n  # one\n  - a.yaml # a\n\nhosts: [x]\n": "tools:\n  # one\n  - a.yaml # a\n  - b.yaml\n\nhosts: [x]\n",
		"hosts: [x] # where\n":                            "hosts: [x] # where\ntools:\n- b.yaml\n",
		"tools: a.yaml # one\n":                           "tools:\n- a.yaml\n- b.yaml\n",
		"tools: [b.yaml]\n":                               "",
	} {
		got, err := AddTo(source.NewFile("obelus.yaml", []byte(before)), "tools", "b.yaml")
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecomes (%v)\n%s\nand not\n%s", before, err, got, want)
		}
	}
	for _, bad := range []string{"", "- a\n", "tools: [\n"} {
		if got, err := AddTo(source.NewFile("obelus.yaml", []byte(bad)), "tools", "b.yaml"); err == nil {
			t.Errorf("%q becomes %q", bad, got)
		}
	}
}

// What a server declares has one digest: another description, hint or schema has another one.
func TestDigests(t *testing.T) {
	declared := func(change func(*Tool)) string {
		tool := Tool{Name: "a", Description: "x", Hints: map[string]bool{"readOnlyHint": true}, Input: map[string]any{"type": "object", "minProperties": 1.0}, Output: true}
		change(&tool)
		tool.SetDigest()
		return tool.Digest
	}
	is := declared(func(*Tool) {})
	for name, change := range map[string]func(*Tool){
		"description": func(t *Tool) { t.Description = "y" },
		"hints":       func(t *Tool) { t.Hints = nil },
		"input":       func(t *Tool) { t.Input = map[string]any{"type": "object"} },
		"output":      func(t *Tool) { t.Output = nil },
	} {
		if declared(change) == is {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

var odd = []string{"\u202e", "\x7f", "\u2028", "", "a", "q", "yes", "null", "~", "0777", "1e3", "12", "-", "- a", "a: b", "a #b", "#", "'", "\"", "\n", "a\nb\n", "  a", "a ", "\t", "†state.x", "😀",
	"{", "[", "&a", "*a", "!", "%", "|", ">", "@", "`", "? ", "<<", "\r\n", "\u2028", "\u0085", "\x1b[31m", "\ufeff", "a\\b", "x-y", "true", ".inf", ":", "a:", ",", "---", "...", "a\n\nb", "\n a", "é", "long line of words that goes on and on, far beyond what fits on a line of eighty characters: it does"}

func text(r *rand.Rand) string {
	s := ""
	for range 1 + r.IntN(3) {
		s += odd[r.IntN(len(odd))]
	}
	return s
}

func value(r *rand.Rand, depth int) any {
	switch k := r.IntN(7); {
	case k == 0:
		return r.IntN(2) == 0
	case k == 1:
		return []float64{0, 1, -3, 0.5, 1e300, 9223372036854775807, 1e-7, 123456789012}[r.IntN(8)]
	case k == 2:
		return nil
	case k == 3 && depth > 0:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, value(r, depth-1))
		}
		return list
	case k >= 4 && depth > 0:
		m := map[string]any{}
		for range r.IntN(4) {
			m[text(r)] = value(r, depth-1)
		}
		return m
	}
	return text(r)
}
