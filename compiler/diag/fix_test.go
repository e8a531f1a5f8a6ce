package diag

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

var testRule = &Rule{Code: "OB000", Name: "test", Default: Error}

func offers(edits ...Edit) Diagnostic {
	return Diagnostic{Rule: testRule, Fixes: []Fix{{Message: "change it", Safe: true, Edits: edits}}}
}

func read(t testing.TB, name, text string) (*source.File, *source.Node) {
	t.Helper()
	f := source.NewFile(name, []byte(text))
	root, problems := source.Parse(f, source.DefaultLimits())
	if root == nil || len(problems) > 0 {
		t.Fatalf("%q doesn't read: %v", text, problems)
	}
	return f, root
}

// LANGUAGE.md#findings: an edit takes on the style of the scalar that it goes into, so that the
// value is the one that was meant, in every style and context.
func TestEditScalar(t *testing.T) {
	for _, c := range []struct{ file, text, old, insert, want string }{
		{"a.yaml", "k: †state.nmae # why\n", "nmae", "name", "k: †state.name # why\n"},
		{"a.yaml", "k: '†it''s.nmae'\n", "nmae", "o'clock", "k: '†it''s.o''clock'\n"},
		{"a.yaml", `k: "†a\tnmae"`, "nmae", `x"y\`, `k: "†a\tx\"y\\"`},
		{"a.yaml", "{k: nmae, l: 1}\n", "nmae", "a, b", "{k: \"a, b\", l: 1}\n"},
		{"a.yaml", "{k: nmae, l: 1}\n", "nmae", "a]", "{k: \"a]\", l: 1}\n"},
		{"a.yaml", "k: a[0] nmae\n", "nmae", "b[1], c", "k: a[0] b[1], c\n"},
		{"a.yaml", "k: nmae\n", "nmae", "true", "k: \"true\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "12", "k: \"12\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "", "k: \"\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "a: b", "k: \"a: b\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "a #b", "k: \"a #b\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "- b", "k: \"- b\"\n"},
		{"a.yaml", "k: nmae\n", "nmae", "a\nb", "k: \"a\\nb\"\n"},
		{"a.yaml", "k: 'nmae'\n", "nmae", "a\nb", "k: \"a\\nb\"\n"},
		{"a.yaml", "k: |\n  one nmae\n  two\n", "nmae", "name", "k: |\n  one name\n  two\n"},
		{"a.yaml", "k: >-\n  one nmae\n  two\n", "nmae", "a: [b]", "k: >-\n  one a: [b]\n  two\n"},
		{"a.yaml", "k: one nmae\n  two\n", "nmae", "name", "k: \"one name two\"\n"},
		{"a.json", `{"k": "nmae"}`, "nmae", "a\"\n\u202e", `{"k": "a\"\n\u202e"}`},
	} {
		_, root := read(t, c.file, c.text)
		n := root.Fields[0].Value
		at := strings.Index(n.Text, c.old)
		edit, ok := EditScalar(n, at, at+len(c.old), c.insert)
		if !ok {
			t.Errorf("%q: there is no edit for %q", c.text, c.insert)
			continue
		}
		got := c.text[:edit.Span.Start] + edit.Text + c.text[edit.Span.End:]
		if got != c.want {
			t.Errorf("%q with %q becomes %q, want %q", c.text, c.insert, got, c.want)
		}
		_, after := read(t, c.file, got)
		if want := strings.Replace(n.Text, c.old, c.insert, 1); after.Fields[0].Value.Text != want {
			t.Errorf("%q with %q reads as %q, want %q", c.text, c.insert, after.Fields[0].Value.Text, want)
		}
	}
}

// LANGUAGE.md#findings: a value under an alias, and one of several parts, have no text of their own.
func TestEditScalarHasNoPlace(t *testing.T) {
	_, root := read(t, "a.yaml", "a: &x word\nb: *x\nc: [d]\n")
	for i, want := range []bool{true, false, false} {
		if _, ok := EditScalar(root.Fields[i].Value, 0, 1, "x"); ok != want {
			t.Errorf("field %d: %v, want %v", i, ok, want)
		}
	}
	if _, ok := EditScalar(nil, 0, 0, "x"); ok {
		t.Error("nothing has an edit")
	}
}

// LANGUAGE.md#findings: of overlapping fixes the first wins; unsafe ones, ones that reach into
// another file and ones that would break the text aren't made.
func TestApply(t *testing.T) {
	text := "# keep\na:   one   # this\nb: two\nc: &x three\nd: *x\n"
	f, _ := read(t, "a.yaml", text)
	other := source.NewFile("b.yaml", []byte(text))
	at := func(word string) source.Span {
		start := strings.Index(text, word)
		return source.Span{File: f, Start: start, End: start + len(word)}
	}
	elsewhere := at("two")
	elsewhere.File = other
	unsafe := offers(Edit{at("three"), "drei"})
	unsafe.Fixes[0].Safe = false
	got, made := Apply(f, []Diagnostic{
		offers(Edit{at("two"), "zwei"}),
		offers(Edit{at("one"), "eins"}),
		offers(Edit{at("one"), "uno"}),
		unsafe,
		offers(Edit{at("three"), "drei"}, Edit{elsewhere, "zwei"}),
		offers(Edit{at("*x"), "*y"}),
		offers(Edit{source.Span{File: f, Start: -1, End: 3}, "x"}),
		offers(),
	}, source.DefaultLimits(), nil)
	want := strings.NewReplacer("one", "eins", "two", "zwei").Replace(text)
	if string(got) != want || len(made) != 2 || made[0] != 1 || made[1] != 0 {
		t.Errorf("made %v:\n%s", made, got)
	}
	if string(f.Text) != text {
		t.Error("the file itself was changed")
	}
}

// LANGUAGE.md#findings: whatever the edits are, the result reads whenever the text did, and
// nothing outside the edits changes.
func FuzzApply(f *testing.F) {
	f.Add("calls:\n  - {_tool: a, b: †state.c} # x\n", "†(d || [e])", uint64(1))
	f.Add(`{"a": ["b", {"c": "d\n†"}]}`, "\"}", uint64(2))
	f.Add("a: >\n  folded\n  text\nb: 'x'\n", "#: -", uint64(3))
	f.Add("a: &x b\nc: *x\n? d\n: e", "\n- ", uint64(4))
	f.Fuzz(func(t *testing.T, text, insert string, seed uint64) {
		if len(text) > 2000 || len(insert) > 200 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		for _, name := range []string{"a.yaml", "a.json"} {
			file := source.NewFile(name, []byte(text))
			root, problems := source.Parse(file, source.DefaultLimits())
			var findings []Diagnostic
			var scalars []*source.Node
			var collect func(n *source.Node)
			collect = func(n *source.Node) {
				if n == nil || n.Alias {
					return
				}
				if n.Kind < source.Array {
					scalars = append(scalars, n)
				}
				for _, item := range n.Items {
					collect(item)
				}
				for _, field := range n.Fields {
					collect(field.Key)
					collect(field.Value)
				}
			}
			collect(root)
			for _, n := range scalars {
				if n.Kind != source.String || random.IntN(2) == 0 {
					continue
				}
				from := random.IntN(len(n.Text) + 1)
				to := from + random.IntN(len(n.Text)-from+1)
				edit, ok := EditScalar(n, from, to, insert)
				if !ok {
					continue
				}
				one := offers(edit)
				alone, made := Apply(file, []Diagnostic{one}, source.DefaultLimits(), nil)
				if len(made) == 1 && root != nil && len(problems) == 0 {
					after := source.NewFile(name, alone)
					again, _ := source.Parse(after, source.DefaultLimits())
					if again == nil {
						t.Fatalf("%q no longer reads: %q", text, alone)
					}
				}
				findings = append(findings, one)
			}
			for range 3 { // edits that mean no harm to style or structure, and some that do
				start := random.IntN(len(text) + 1)
				end := start + random.IntN(min(10, len(text)-start)+1)
				findings = append(findings, offers(Edit{source.Span{File: file, Start: start, End: end}, insert}))
			}
			result, made := Apply(file, findings, source.DefaultLimits(), nil)
			if len(made) == 0 {
				if !bytes.Equal(result, file.Text) {
					t.Fatalf("no fix was made, but %q became %q", text, result)
				}
				continue
			}
			again, left := source.Parse(source.NewFile(name, result), source.DefaultLimits())
			// What couldn't be read at all shows its further problems once it can.
			if root != nil && (again == nil || len(left) > len(problems)) {
				t.Fatalf("%q became %q, which has problems: %v", text, result, left)
			}
			var edits []Edit
			for _, i := range made {
				edits = append(edits, findings[i].Fixes[0].Edits...)
			}
			ordered, ok := merged(nil, edits)
			if !ok {
				t.Fatalf("edits overlap: %v", edits)
			}
			at := 0
			rest := string(result)
			for _, e := range ordered {
				unchanged := text[at:e.Span.Start] + e.Text
				var found bool
				if rest, found = strings.CutPrefix(rest, unchanged); !found {
					t.Fatalf("something beside the edits changed in %q", result)
				}
				at = e.Span.End
			}
			if rest != text[at:] {
				t.Fatalf("something behind the edits changed in %q", result)
			}
		}
	})
}

// LANGUAGE.md#findings: what --diff prints is a patch that leads from one text to the other.
func TestDiffIsAPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch program to hold the differences against")
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	text := func() string {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(string(rune('a'+random.IntN(4))) + "\n")
		}
		if random.IntN(3) == 0 {
			b.WriteString("end")
		}
		return b.String()
	}
	for range 60 {
		before, after := text(), text()
		if before == "" || after == "" { // patch removes files that become empty
			continue
		}
		file := filepath.Join(dir, "x.yaml")
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		var diff bytes.Buffer
		if err := Diff(&diff, "x.yaml", []byte(before), []byte(after), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff.Len() == 0 {
			if before != after {
				t.Errorf("no difference between %q and %q", before, after)
			}
			continue
		}
		cmd := exec.Command(patch, "--quiet", "--fuzz=0", file)
		cmd.Stdin = bytes.NewReader(diff.Bytes())
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s: from %q to %q:\n%s", err, said, before, after, &diff)
		}
		if got, _ := os.ReadFile(file); string(got) != after {
			t.Fatalf("patched %q is %q, want %q:\n%s", before, got, after, &diff)
		}
	}
}

// EXECUTION.md#limits: which of thousands of fixes hold is found out by reading the text again a
// bounded number of times, also where none of them does; where all do, all are made.
func TestApplyMany(t *testing.T) {
	const many = 4_000
	var b strings.Builder
	for range many {
		b.WriteString("- nmae of somebody\n")
	}
	file, root := read(t, "a.yaml", b.String())
	var found []Diagnostic
	for _, n := range root.Items {
		edit, _ := EditScalar(n, 0, 4, "name")
		found = append(found, offers(edit))
	}
	for name, c := range map[string]struct {
		holds bool
		made  int
	}{"none holds": {false, 0}, "all hold": {true, many}} {
		asked := 0
		spent := cputime.Spent(func() {
			if _, made := Apply(file, found, source.DefaultLimits(), func([]byte) bool { asked++; return c.holds }); len(made) != c.made {
				t.Errorf("%s: %d were made", name, len(made))
			}
		})
		if asked > 100 || spent > 2*time.Second {
			t.Errorf("%s: it was read %d times, which took %v", name, asked, spent)
		}
	}
}
