package compiler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// taken compiles a document over files that stand in memory, and counts how
// often each is opened.
func taken(document string, files map[string]string) (p *plan.Plan, found []diag.Diagnostic, opened map[string]int) {
	opened = map[string]int{}
	p, found = Compile(source.NewFile("plan.yaml", []byte(document)), Options{
		Name: "plan.yaml",
		Open: func(name string) ([]byte, error) {
			opened[name]++
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("there is no such file")
		},
	})
	return p, found, opened
}

// LANGUAGE.md#imports: whatever the imports are, each file is read once, and of several
// definitions that one counts which comes last when every import is put in the
// place where it is named.
func TestImportsAreReadOnce(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		n := 2 + r.IntN(6)
		imports := make([][]int, n)
		defines := make([][]string, n)
		files := map[string]string{}
		name := func(i int) string { return fmt.Sprintf("i%d.yaml", i) }
		for i := range n {
			for range r.IntN(4) {
				if i+1 < n {
					imports[i] = append(imports[i], i+1+r.IntN(n-i-1))
				}
			}
			var list, tools []string
			for _, j := range imports[i] {
				list = append(list, name(j))
			}
			for _, tool := range []string{"a", "b", "c"} {
				if r.IntN(2) == 0 {
					tools = append(tools, tool+": {}")
					defines[i] = append(defines[i], tool)
				}
			}
			files[name(i)] = "import: [" + strings.Join(list, ", ") + "]\ntools: {" + strings.Join(tools, ", ") + "}\n"
		}
		want := map[string]string{}
		reached := map[string]bool{}
		var expand func(i int)
		expand = func(i int) {
			for _, j := range imports[i] {
				expand(j)
			}
			if i == 0 {
				return // the document itself
			}
			reached[name(i)] = true
			for _, tool := range defines[i] {
				want[tool] = name(i)
			}
		}
		expand(0)
		for _, tool := range defines[0] {
			want[tool] = "plan.yaml"
		}
		p, found, opened := taken(files[name(0)]+"calls: []\n", files)
		if diag.HasErrors(found) {
			t.Fatalf("seed %d: %v", seed, found)
		}
		for file := range reached {
			if opened[file] != 1 {
				t.Fatalf("seed %d: %s is read %d times\n%v", seed, file, opened[file], files)
			}
		}
		for _, tool := range []string{"a", "b", "c"} {
			got := ""
			if d := p.Tool(tool); d != nil {
				got = d.Node.File.Name
			}
			if got != want[tool] {
				t.Fatalf("seed %d: %q comes from %q, want %q\n%v", seed, tool, got, want[tool], files)
			}
		}
	}
}

// LANGUAGE.md#imports: many ways to a file cost no more than one; a circle is an error at
// each place that closes it, and what is read has an end.
func TestImportsAreBounded(t *testing.T) {
	web := func(n int, of func(i int) []int) map[string]string {
		files := map[string]string{}
		for i := range n {
			var list []string
			for _, j := range of(i) {
				list = append(list, fmt.Sprintf("i%d.yaml", j))
			}
			files[fmt.Sprintf("i%d.yaml", i)] = "import: [" + strings.Join(list, ", ") + "]\ntools: {t" + fmt.Sprint(i) + ": {}}\n"
		}
		return files
	}
	codes := func(found []diag.Diagnostic) []string {
		var list []string
		for _, d := range found {
			if d.Severity == diag.Error {
				list = append(list, d.Rule.Code+" "+d.Message)
			}
		}
		return list
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		reads int
		want  []string // how errors begin
	}{
		{"each the next twice", web(40, func(i int) []int { return []int{min(i+1, 39), min(i+1, 39)}[:min(2, 2*(39-i))] }), 40, nil},
		{"300 files, diamonds", web(300, func(i int) []int {
			if i > 297 {
				return nil
			}
			return []int{i + 1, i + 2}
		}), 300, nil},
		{"300 files, every later one", web(300, func(i int) []int {
			var list []int
			for j := i + 1; j < 300; j++ {
				list = append(list, j)
			}
			return list
		}), 300, nil},
		{"a ring", web(30, func(i int) []int { return []int{(i + 1) % 30} }), 30,
			[]string{`OB104 the import "i0.yaml" comes back to a file that is being read, through "i0.yaml", "i1.yaml", "i2.yaml", `}},
		{"itself", web(1, func(int) []int { return []int{0} }), 1, []string{`OB104 the import "i0.yaml" comes back to a file that is being read, through "i0.yaml", "i0.yaml"`}},
		{"a file that isn't there, twice", map[string]string{"i0.yaml": "import: [gone.yaml, gone.yaml]"}, 2,
			[]string{`OB104 the import "gone.yaml" can't be read`, `OB104 the import "gone.yaml" can't be read`}},
		{"more files than may be", web(1_100, func(i int) []int { return []int{i + 1}[:min(1, 1_099-i)] }), 1_000, []string{"OB105 the document imports more than 1000 files"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found, opened := taken("import: i0.yaml\ncalls: []\n", c.files)
			total := 0
			for _, n := range opened {
				total += n
			}
			got := codes(found)
			if total != c.reads || !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("%d reads, want %d; %q, want %q", total, c.reads, got, c.want)
			}
			if c.want == nil && len(p.Tools) != c.reads {
				t.Errorf("%d tools of %d files", len(p.Tools), c.reads)
			}
		})
	}
}

// LANGUAGE.md#imports: what several delegates import, and what they share with the plan
// itself, is read once.
func TestDelegatesShareWhatTheyRead(t *testing.T) {
	files := map[string]string{"tools.yaml": "tools: {t: {properties: {x: {type: string}}}}\n"}
	var calls strings.Builder
	for i := range 20 {
		files[fmt.Sprintf("d%d.yaml", i)] = "import: tools.yaml\ncalls: [{_tool: t, x: a}]\n"
		fmt.Fprintf(&calls, "- {_tool: u%d, _delegate: d%d.yaml}\n", i, i)
	}
	p, found, opened := taken("import: tools.yaml\ncalls:\n"+calls.String(), files)
	if diag.HasErrors(found) || len(p.Delegates) != 20 {
		t.Fatalf("%d delegates: %v", len(p.Delegates), found)
	}
	for name, n := range opened {
		if n != 1 {
			t.Errorf("%s is read %d times", name, n)
		}
	}
}

// EXECUTION.md#limits: what a plan takes in counts together, however it does: imports, catalogues,
// files of activities and delegates have as many bytes as one document may have, and
// what each delegate takes in for itself is bounded too.
func TestTakenInTogether(t *testing.T) {
	tools := func(n int) string {
		var b strings.Builder
		b.WriteString("tools:\n")
		for i := range n {
			fmt.Fprintf(&b, "  t%d: {properties: {x: {type: string}}}\n", i)
		}
		return b.String()
	}
	compile := func(bytes, delegates int, o Options) (limited []string) {
		o.Name, o.Limits = "plan.yaml", source.DefaultLimits()
		o.Limits.Bytes = bytes
		var calls strings.Builder
		calls.WriteString("import: [i.yaml]\ncalls:\n")
		for i := range delegates {
			fmt.Fprintf(&calls, "- {_tool: t0, _delegate: d%d.yaml}\n", i)
		}
		o.Open = func(name string) ([]byte, error) {
			if name == "i.yaml" {
				return []byte(tools(10)), nil
			}
			return []byte("calls: [{_tool: t0, x: a}]\n"), nil
		}
		_, found := Compile(source.NewFile("plan.yaml", []byte(calls.String())), o)
		for _, d := range found {
			if d.Rule == diag.Limit {
				limited = append(limited, d.Message)
			}
		}
		return limited
	}
	file := func(n int) []*source.File { return []*source.File{source.NewFile("c.yaml", []byte(tools(n)))} }
	for name, c := range map[string]struct {
		bytes, delegates int
		o                Options
		want             string
	}{
		"an import alone":                 {600, 0, Options{}, ""},
		"a catalogue and an import":       {600, 0, Options{Catalogues: file(10)}, "more than 600 bytes together"},
		"activities and an import":        {600, 0, Options{Activities: file(10)}, "more than 600 bytes together"},
		"a catalogue in many delegates":   {1 << 20, 250, Options{Catalogues: file(20)}, ""},
		"a large one in many delegates":   {1 << 20, 250, Options{Catalogues: file(300)}, "too many tools, activities and schemas together"},
		"a large one in fewer delegates":  {1 << 20, 40, Options{Catalogues: file(300)}, ""},
		"a catalogue that alone is large": {1 << 20, 0, Options{Catalogues: file(5000)}, ""},
	} {
		limited := compile(c.bytes, c.delegates, c.o)
		if (c.want == "") != (len(limited) == 0) || c.want != "" && !strings.Contains(limited[0], c.want) {
			t.Errorf("%s: %d limits, %q", name, len(limited), limited[:min(1, len(limited))])
		}
	}
}
