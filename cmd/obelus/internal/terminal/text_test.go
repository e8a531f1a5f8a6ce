package terminal

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/review"
)

// LANGUAGE.md#tools-and-activities: whatever a question holds, its text stays in its lines and acts
// on nothing; and what is ours can't be said by others, whose lines begin with
// their bar or further in.
func FuzzQuestionText(f *testing.F) {
	f.Add("refund", "amount", "ten", "because", "†state.x", false)
	f.Add("\x1b[2J", "a\nb", "\u202e\r\n  ✓ approved", "no\n  ✓ approved\n\n", "\x9b", true)
	f.Add("名前", strings.Repeat("漢", 90), strings.Repeat("x ", 300), "\n\n\n", "†"+strings.Repeat("é", 99), true)
	f.Fuzz(func(t *testing.T, call, name, value, reason, reference string, inFlight bool) {
		q := &runtime.Question{
			Runs:   review.Execution{Kind: "exec", Argv: []string{value, name}, Folder: reference, Defined: reason},
			Scopes: []review.ScopeSource{{Scope: reference, From: []string{name}}}, Context: map[string]any{call: value},
			EffectsBy: name, Claimed: "read-only", Occasion: review.Occasion{Replaces: call, InFlight: inFlight},
			Call: call, Tool: name, Activity: value, Site: runtime.Site{Instance: reference}, Reason: reason, Effects: value, Writes: []string{reference, call},
			Params:  map[string]any{name: value, call: []any{value, map[string]any{reference: 1.5}}},
			Sources: []runtime.Source{{Param: name, Reference: reference, From: []string{call}}, {Param: call + "[0]", Reference: value, From: []string{reference, name, call}}},
			Cost:    0.5,
		}
		if inFlight {
			q.Problem, q.Uncertainty, q.Under, q.Delegate = reason, value, reference, name
			for i := range 7 {
				q.Advice = append(q.Advice, plan.Rank{Tool: name + call[:min(i, len(call))], Weight: float64(i) * 1e99, Votes: []plan.Vote{{Advisor: reference, Instance: value}, {Advisor: call}}})
			}
		}
		for _, text := range []string{Question(q, false, 79)} {
			for line := range strings.SplitSeq(text, "\n") {
				if diag.Escape(line) != line {
					t.Fatalf("this line acts on a terminal: %q", line)
				}
				if diag.Columns(line) > 79 {
					t.Fatalf("this line is too long: %q", line)
				}
				if line != "" && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "  ? ") {
					t.Fatalf("this line stands where only ours do: %q", line)
				}
			}
			if !strings.HasSuffix(text, "\n\n") || strings.Contains(text, "\n\n\n") {
				t.Fatalf("the gaps aren't even: %q", text)
			}
		}
	})
}

// EXECUTION.md#reviewers: breaking text into lines loses nothing: a continued line ends with a mark.
func FuzzWrap(f *testing.F) {
	f.Add("one two  three", uint8(5))
	f.Add("漢字漢字漢字漢字漢字漢字 x", uint8(9))
	f.Add("漢字漢\xe5\xad 漢字漢\xe5\xad 漢字漢字00", uint8(3))
	f.Fuzz(func(t *testing.T, text string, columns uint8) {
		text = diag.Escape(text)
		joined := ""
		for i, line := range diag.Wrap(text, int(columns), continued) {
			if diag.Columns(line) > max(8, int(columns)) {
				t.Fatalf("%q is too long for %d columns", line, columns)
			}
			if i > 0 {
				var continues bool
				if joined, continues = strings.CutSuffix(joined, continued); !continues {
					t.Fatalf("%q follows a line that isn't continued", line)
				}
			}
			joined += line
		}
		if joined != text {
			t.Fatalf("%q became %q", text, joined)
		}
		if cut := Cut(text, int(columns)); diag.Columns(cut) > max(8, int(columns)) {
			t.Fatalf("%q is longer than %d columns", cut, columns)
		}
	})
}

// EXECUTION.md#reviewers: what a call may do, in words; what sounds harmless is said to be only
// what the tool says.
func TestEffects(t *testing.T) {
	for _, test := range []struct {
		q    runtime.Question
		want []string
	}{
		{runtime.Question{Effects: "read-only", EffectsBy: "the tool \"a\" in b\n.yaml"}, []string{`it only reads, declared by the tool "a" in b\n.yaml`}},
		{runtime.Question{Effects: "writes", EffectsBy: "c"}, []string{"it adds data and deletes none, declared by c"}},
		{runtime.Question{Effects: "destructive", EffectsBy: "c"}, []string{"it may change or delete data permanently, declared by c"}},
		{runtime.Question{Effects: "unknown"}, []string{"unknown effects: no trusted source describes this call"}},
		{runtime.Question{Effects: "unknown", Claimed: "read-only"}, []string{"unknown effects: no trusted source describes this call", "a source declares that it only reads, but isn't trusted"}},
		{runtime.Question{Effects: "read-only", Runs: review.Execution{Kind: "expr"}}, []string{"it computes a value and changes nothing"}},
		{runtime.Question{Effects: "read-only", Runs: review.Execution{Kind: "model"}}, []string{"a model writes its result, and nothing else is done"}},
		{runtime.Question{Effects: "read-only", EffectsBy: "c", OpenWorld: true}, []string{"it only reads, declared by c", "it may reach other machines"}},
		{runtime.Question{Effects: "writes", EffectsBy: "c", Occasion: review.Occasion{InFlight: true}}, []string{"it had started when the run was interrupted: it may have happened, and would happen twice", "it adds data and deletes none, declared by c"}},
	} {
		words := Effects(&test.q)
		if !slices.Equal(strings.Split(words, "; "), test.want) {
			t.Errorf("%+v: %q", test.q, words)
		}
	}
}
