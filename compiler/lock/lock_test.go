package lock

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// Whatever a server says of its tools is written so that it reads back as what it was, and
// the same lock is the same bytes, in whatever order it came.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	for seed := range uint64(amount.Of(300, 3_000, 30_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := &Lock{}
		for range 1 + r.IntN(2) {
			s := Server{Name: text(r), Choice: Choice{Only: []string{text(r), text(r)}, Names: []string{text(r)}}}
			for range r.IntN(4) {
				s.Tools = append(s.Tools, tool(r))
			}
			slices.SortFunc(s.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
			s.Tools = slices.CompactFunc(s.Tools, func(a, b Tool) bool { return a.Name == b.Name })
			l.SetServer(s)
		}
		if r.IntN(2) == 0 {
			l.SetFile(File{Path: text(r), Choice: Choice{Tags: []string{text(r)}}, Digest: Digest(text(r)), Operations: []Tool{tool(r)}, Schemas: map[string]any{text(r): value(r, 3)}})
		}
		out, err := l.Text()
		if err != nil {
			t.Fatalf("seed %d: %v\n%#v", seed, err, l)
		}
		back, found := Read(source.NewFile(Name, out), source.DefaultLimits())
		if diag.HasErrors(found) {
			t.Fatalf("seed %d: %v\n%s", seed, found, out)
		}
		if again, err := back.Text(); err != nil || string(again) != string(out) {
			t.Fatalf("seed %d: %v: written again it is\n%s\ninstead of\n%s", seed, err, again, out)
		}
	}
}

// What isn't as it must be is told with its place, and isn't passed over.
func TestLocksAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[]", `1:1 the lock file must be a mapping, not a list`},
		{"servers: {docs: {}}", `1:17 the server "docs" has no "tools"`},
		{"servers: {docs: {tool: {}}}", `1:17 the server "docs" has no "tools"; 1:18 the server "docs" has no key "tool"`},
		{"servers: {docs: {tools: {a: {inputSchema: 1}}}}", `1:43 the "inputSchema" of the tool "a" must be a JSON Schema (a mapping), not a number`},
		{"servers: {docs: {tools: {a: {annotations: {readOnly: true}}}}}", `1:44 the "annotations" of the tool "a" has no key "readOnly"`},
		{"servers: {docs: {tools: {a: {annotations: {readOnlyHint: 1}}}}}", `1:58 "readOnlyHint" must be true or false, not a number`},
		{"openapi: {a.yaml: {digest: sha256:ab, operations: {}}}", `1:28 "digest" must be a digest, sha256: and 64 hexadecimal digits`},
		{"servers: {a: {tools: {}}, a: {tools: {}}}", `1:27 the key "a" is given twice in one mapping`},
		{"servers: {a: {tools: {}}}\nx-mine: 1", ""},
		{"{}", ""},
	} {
		var said []string
		_, found := Read(source.NewFile(Name, []byte(c.text)), source.DefaultLimits())
		for _, d := range found {
			at := d.Span.File.Position(d.Span.Start)
			said = append(said, fmt.Sprintf("%d:%d %s", at.Line, at.Column, d.Message))
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("%s\nsays  %s\nwants %s", c.text, got, c.want)
		}
	}
}

// How a tool has changed is harmless where every value that did still does, in the
// direction in which it goes: parameters to the tool, results from it.
func TestDriftIsToldByContainment(t *testing.T) {
	object := func(required ...any) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}, "n": map[string]any{"type": "integer"}}, "required": required}
	}
	base := Tool{Name: "search", Input: object("q"), Output: object("q"), Annotations: map[string]bool{"readOnlyHint": true}, Description: Digest("x")}
	for _, c := range []struct {
		name   string
		change func(*Tool)
		want   string
	}{
		{"nothing", func(t *Tool) {}, ""},
		{"the order of keys", func(t *Tool) { t.Input = maps.Clone(t.Input.(map[string]any)) }, ""},
		{"another parameter is required", func(t *Tool) { t.Input = object("q", "n") }, `breaks: its parameters may not be {"q":""} any more: "n" is missing`},
		{"another parameter may be passed", func(t *Tool) {
			t.Input = object("q")
			t.Input.(map[string]any)["properties"].(map[string]any)["new"] = map[string]any{"type": "string"}
		}, "harmless: its parameters have changed, and whatever was sound is"},
		{"less is required", func(t *Tool) { t.Input = object() }, "harmless: its parameters have changed, and whatever was sound is"},
		{"a result has less", func(t *Tool) { t.Output = object() }, `breaks: its result may now be {}, which was ruled out: "q" is missing`},
		{"a result has more", func(t *Tool) { t.Output = object("q", "n") }, "harmless: its result has changed, and whatever was sound is"},
		{"a result without schema", func(t *Tool) { t.Output = nil }, `breaks: its result may now be null, which was ruled out: expected an object, got null`},
		{"it writes", func(t *Tool) { t.Annotations = nil }, "breaks: its readOnlyHint is false, and was true"},
		{"it destroys nothing", func(t *Tool) {
			t.Annotations = map[string]bool{"readOnlyHint": true, "destructiveHint": false}
		}, "harmless: its destructiveHint is false, and was true"},
		{"other words", func(t *Tool) { t.Description = Digest("y") }, "harmless: it describes itself otherwise"},
	} {
		is := base
		c.change(&is)
		if got := told(Compare([]Tool{base}, []Tool{is})); got != c.want {
			t.Errorf("%s: %s, instead of %s", c.name, got, c.want)
		}
	}
	if got, want := told(Compare([]Tool{base}, []Tool{{Name: "find"}})), "harmless: it is new; breaks: it isn't there any more"; got != want {
		t.Errorf("a renamed tool: %s, instead of %s", got, want)
	}
}

func told(drifts []Drift) string {
	var said []string
	for _, d := range drifts {
		said = append(said, map[bool]string{true: "breaks: ", false: "harmless: "}[d.Breaks]+d.What)
	}
	return strings.Join(said, "; ")
}

var odd = []string{"", "a", "q", "yes", "null", "~", "0777", "1e3", "12", "-", "- a", "a: b", "a #b", "#", "'", "\"", "\n", "a\nb\n", "  a", "a ", "\t", "†state.x", "😀",
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

func tool(r *rand.Rand) Tool {
	t := Tool{Name: text(r), Input: map[string]any{"type": "object", "x": value(r, 3)}}
	if r.IntN(2) == 0 {
		t.Output = map[string]any{text(r): value(r, 3)}
		t.Request = map[string]any{text(r): value(r, 2)}
		t.Description = Digest(text(r))
		t.Annotations = map[string]bool{"readOnlyHint": r.IntN(2) == 0}
	}
	return t
}
