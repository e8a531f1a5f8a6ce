package decode

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

type sample struct {
	Name   string         `key:"name" need:"write name: x"`
	Kind   string         `key:"kind" words:"red,green" null:"allowed"`
	Degree uint8          `key:"degree" words:"low,high"`
	Many   int            `key:"many" from:"1" to:"9"`
	Share  *float64       `key:"share" above:"0"`
	Wait   time.Duration  `key:"wait"`
	Yes    bool           `key:"yes"`
	Files  []*source.Node `key:"files" of:"a list of files"`
	Raw    *source.Node   `key:"raw"`
	Inner  struct {
		Deep int `key:"deep"`
	} `key:"inner"`
	Ignored string
}

func read(t *testing.T, text string) (sample, diag.Findings) {
	t.Helper()
	root, problems := source.Parse(source.NewFile("a.yaml", []byte(text)), source.DefaultLimits())
	if root == nil {
		t.Fatal(problems)
	}
	var r Reader
	s := sample{Kind: "red"}
	r.Mapping(root, "a sample", &s, map[string]func(source.Field){"further": nil})
	return s, r.Found
}

// LANGUAGE.md#documents: what is right is read, and keys that begin with x- are ignored.
func TestMapping(t *testing.T) {
	s, found := read(t, "{name: a, kind: green, degree: high, many: 9, share: 0.5, wait: 90s, yes: true, files: b, raw: [1], inner: {deep: -2}, further: 1, x-y: 2}")
	if len(found) > 0 {
		t.Fatal(found)
	}
	if s.Name != "a" || s.Kind != "green" || s.Degree != 1 || s.Many != 9 || s.Share == nil || *s.Share != 0.5 || s.Wait != 90*time.Second || !s.Yes ||
		len(s.Files) != 1 || s.Files[0].Text != "b" || s.Raw.Kind != source.Array || s.Inner.Deep != -2 {
		t.Errorf("%+v", s)
	}
}

// LANGUAGE.md#documents: what is wrong is a finding at its place, and leaves the field as it was.
func TestMappingFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                            "OB104 a sample is a list; expected a mapping",
		"{}":                            `OB104 a sample has no "name"`,
		"{name: 3}":                     `OB104 "name" is a number; expected a string`,
		"{name: a, kind: gren}":         `OB104 "kind" must be one of red, green; did you mean "green"?`,
		"{name: a, kind: null}":         "",
		"{name: a, degree: 1}":          `OB104 "degree" must be one of low, high`,
		"{name: a, many: 0}":            `OB104 "many" must be a whole number from 1 to 9`,
		"{name: a, many: 1.5}":          `OB104 "many" must be a whole number from 1 to 9`,
		"{name: a, many: 10}":           `OB104 "many" must be a whole number from 1 to 9`,
		"{name: a, share: 0}":           `OB104 "share" must be a number above 0`,
		"{name: a, wait: 0s}":           `OB104 "wait" must be a duration above 0`,
		"{name: a, yes: 1}":             `OB104 "yes" is a number; expected true or false`,
		"{name: a, files: [b, ' ', 3]}": `OB104 "files" is a string; expected a list of files OB104 "files" is a number; expected a list of files`,
		"{name: a, inner: {dep: 1}}":    `OB102 "inner" has no key "dep"; did you mean "deep"?`,
		"{name: a, Many: 1}":            `OB102 a sample has no key "Many"; did you mean "many"?`,
		"{name: a, many: 1, Many: 1}":   `OB102 a sample has no key "Many"; "many" is there already: keep one of the two`,
		"{name: a, q: 1}":               `OB102 a sample has no key "q"; known keys are degree, files, further,`,
	} {
		s, found := read(t, text)
		var said []string
		for _, f := range found {
			said = append(said, f.Rule.Code+" "+f.Message+"; "+f.Help)
			if !f.Span.Known() {
				t.Errorf("%s: %s has no place", text, f.Message)
			}
		}
		parts := strings.Split(want, " OB104 ")
		if want == "" && len(said) > 0 || want != "" && len(said) != len(parts) || want != "" && !strings.HasPrefix(strings.TrimPrefix(said[0], "OB104 "), strings.TrimPrefix(parts[0], "OB104 ")) {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
		if s.Kind != "red" || s.Many > 1 || s.Share != nil || slices.Contains([]uint8{1}, s.Degree) {
			t.Errorf("%s: %+v", text, s)
		}
	}
}
