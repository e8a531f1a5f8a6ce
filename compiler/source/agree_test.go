package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	yamlv4 "go.yaml.in/yaml/v4"
)

// asJSON turns a value of any decoder into the types that JSON decodes to.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func parse(format Format, text string) (*Node, []Problem) {
	return Parse(&File{Name: "test", Format: format, Text: []byte(text)}, DefaultLimits())
}

// TestAgreesWithGoccy reads random YAML, of the kinds that goccy's parser gets
// right, with both readers. What it gets wrong is left out by the
// generator: a key that follows an empty item at the item's column, text of
// several lines inside brackets, |-2, and aliases inside of anchored nodes.
func TestAgreesWithGoccy(t *testing.T) {
	for seed := range uint64(3000) {
		text, _ := generate(seed, true)
		n, problems := parse(YAML, text)
		if len(problems) > 0 {
			t.Fatalf("%v in\n%s", problems, text)
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("goccy refuses\n%s\n%v", text, err)
		}
		if theirs := asJSON(t, v); !reflect.DeepEqual(theirs, n.Value()) {
			t.Fatalf("goccy reads %v, we read %v, in\n%s", theirs, n.Value(), text)
		}
	}
}

// TestAgreesWithYAMLv4 reads random YAML, all that the generator knows, with both
// readers. The other refuses one thing: the pairs of escapes by which JSON
// writes what is beyond U+FFFF.
func TestAgreesWithYAMLv4(t *testing.T) {
	for seed := range uint64(1500) {
		text, _ := generate(seed, seed%2 == 0)
		if strings.Contains(text, `\ud83d`) {
			continue
		}
		n, problems := parse(YAML, text)
		if len(problems) > 0 {
			t.Fatalf("%v in\n%s", problems, text)
		}
		var v any
		if err := yamlv4.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("seed %d: it refuses\n%s\n%v", seed, text, err)
		}
		if theirs := asJSON(t, v); !reflect.DeepEqual(theirs, n.Value()) {
			t.Fatalf("seed %d: it reads %v, we read %v, in\n%s", seed, theirs, n.Value(), text)
		}
	}
}

// Where the reader and the YAML test suite part, and why.
var suiteDifferences = map[string]string{
	"flow-collections-over-many-lines/00": "lines inside brackets may be indented anyhow",
	"wrong-indented-flow-sequence":        "lines inside brackets may be indented anyhow",
	"tabs-in-various-contexts/000":        "a line of tabs alone is an empty line",
	"trailing-line-of-spaces/01":          "a last line without line break ends without one",
	"trailing-whitespace-in-streams/02":   "a last line without line break ends without one",
}

// Messages of what LANGUAGE.md#yaml-and-json forbids and YAML allows.
var forbidden = []string{
	"second document", "directive", "a key that is", "before the colon", "a key is text", "a tag; values",
	"merge key", "a NUL character", "expected a key", "a question mark", "an item of a list",
	"an anchor in the place of a key", "an anchor can't stand", "a second anchor",
}

// A suiteCase is a folder of the YAML test suite.
type suiteCase struct {
	Name   string
	InYAML []byte
	InJSON []any
	Error  bool
}

// yamlSuite reads the copy of the suite that goccy's module carries, where the go
// command says the module is: its own reader goes by the path of its source, which a
// build with -trimpath doesn't know.
func yamlSuite(t testing.TB) []suiteCase {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/goccy/go-yaml").Output()
	if err != nil {
		t.Skipf("the go command doesn't say where the suite is: %v", err)
	}
	var cases []suiteCase
	top := filepath.Join(strings.TrimSpace(string(dir)), "testdata", "yaml-test-suite")
	err = filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "in.yaml" {
			return err
		}
		folder := filepath.Dir(path)
		name, _ := filepath.Rel(top, folder)
		c := suiteCase{Name: filepath.ToSlash(name)}
		if c.InYAML, err = os.ReadFile(path); err != nil {
			return err
		}
		_, missing := os.Stat(filepath.Join(folder, "error"))
		c.Error = missing == nil
		if text, err := os.ReadFile(filepath.Join(folder, "in.json")); err == nil {
			for values := json.NewDecoder(bytes.NewReader(text)); values.More(); {
				var v any
				if err := values.Decode(&v); err != nil {
					return err
				}
				c.InJSON = append(c.InJSON, v)
			}
		}
		cases = append(cases, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestSuite reads the YAML test suite: what is YAML is read as it says,
// unless LANGUAGE.md#yaml-and-json forbids it, and what isn't is refused.
func TestSuite(t *testing.T) {
	read := 0
	for _, c := range yamlSuite(t) {
		n, problems := parse(YAML, string(c.InYAML))
		refused := ""
		for _, p := range problems {
			if !p.Warning {
				refused += p.Message + "; "
			}
		}
		var fault string
		switch {
		case c.Error && refused == "":
			fault = "is no YAML and was read"
		case c.Error:
		case refused != "":
			fault = "was refused: " + refused
			for _, f := range forbidden {
				if strings.Contains(refused, f) {
					fault = ""
				}
			}
		case len(c.InJSON) == 1:
			read++
			if !reflect.DeepEqual(asJSON(t, c.InJSON[0]), n.Value()) {
				fault = fmt.Sprintf("was read as %v, not %v", n.Value(), c.InJSON[0])
			}
		}
		if _, known := suiteDifferences[c.Name]; known != (fault != "") {
			t.Errorf("%s: %s\n%s", c.Name, fault, c.InYAML)
		}
	}
	if read < 190 {
		t.Errorf("only %d documents of the suite were read", read)
	}
}

// FuzzJSON holds the JSON reader against jsontext, which is strict as well: both read the same texts and give the same values. What only we
// refuse is listed.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -0.5e+3, true, null, "x\u2020\ud83d\ude00\n"], "b": {}}`, `[1,]`, `{"a":1,"\u0061":2}`, `"\ud800"`, `01`, `1 2`,
		`{"a" 1}`, `[1 2]`, `nul`, `"a` + "\n" + `"`, `// x`, `-`, `1.`, `1e`, `[`, `{"a":`, "\xff", `"\x41"`, ``, ` `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, problems := parse(JSON, string(text))
		checkPlaces(t, n, problems, len(text))
		theirs := refusedByJSONText(text)
		ours := len(problems) > 0
		for _, p := range problems {
			if p.Code == codeLimit || strings.Contains(p.Message, "NUL") || strings.Contains(p.Message, "beyond") {
				return
			}
		}
		if ours != (theirs != nil) {
			t.Fatalf("%q: our problems %v, theirs %v", text, problems, theirs)
		}
		if !ours {
			var want any
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(n.Value(), want) {
				t.Fatalf("%q is %v, expected %v", text, n.Value(), want)
			}
		}
	})
}

func refusedByJSONText(text []byte) error {
	d := jsontext.NewDecoder(bufio.NewReader(bytes.NewReader(text)))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return fmt.Errorf("something follows: %v", err)
	}
	return nil
}

// FuzzParse shows that no text makes the reader panic, leave the file with its
// places, or make a tree beyond the limits.
func FuzzParse(f *testing.F) {
	for seed := range uint64(60) {
		text, _ := generate(seed, false)
		f.Add([]byte(text), false)
	}
	for _, c := range faults {
		f.Add([]byte(c.text), c.format == JSON)
	}
	for _, c := range yamlSuite(f) {
		f.Add(c.InYAML, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, isJSON bool) {
		format := YAML
		if isJSON {
			format = JSON
		}
		file := &File{Name: "fuzz", Format: format, Text: text}
		limits := Limits{Depth: 20, AliasNodes: 1000, Scalar: 1000}
		n, problems := Parse(file, limits)
		checkPlaces(t, n, problems, len(text))
		if depth, aliased := extent(n, false); depth > limits.Depth || aliased > limits.AliasNodes {
			t.Fatalf("%d deep, %d nodes under aliases", depth, aliased)
		}
		for _, c := range file.Comments() {
			if text[c.Span.Start] != '#' || c.Span.End > len(text) {
				t.Fatalf("a comment at %v", c.Span)
			}
		}
		n.Value()
	})
}

// extent is how deep a tree is, aliases followed, and how many nodes a walk over
// it comes across under aliases.
func extent(n *Node, aliased bool) (depth, nodes int) {
	if n == nil {
		return 0, 0
	}
	aliased = aliased || n.Alias
	if aliased {
		nodes++
	}
	below := func(child *Node) {
		d, k := extent(child, aliased)
		depth, nodes = max(depth, d), nodes+k
	}
	for _, item := range n.Items {
		below(item)
	}
	for _, f := range n.Fields {
		below(f.Key)
		below(f.Value)
	}
	if n.Kind >= Array {
		depth++
	}
	return depth, nodes
}

// checkPlaces holds every place to the file, and children to their parents.
func checkPlaces(t *testing.T, n *Node, problems []Problem, size int) {
	for i, p := range problems {
		if p.Span.Start < 0 || p.Span.End < p.Span.Start || p.Span.End > size || p.Message == "" || p.Code == "" {
			t.Fatalf("problem %+v in %d bytes", p, size)
		}
		if i > 0 && p.Span.Start < problems[i-1].Span.Start {
			t.Fatalf("problems out of order: %v", problems)
		}
		p.Span.From()
		p.Span.To()
	}
	if n == nil {
		if len(problems) == 0 {
			t.Fatal("neither a tree nor a problem")
		}
		return
	}
	checkTree(t, n, 0, size)
}

func checkTree(t *testing.T, n *Node, from, to int) {
	if n.Start < from || n.End < n.Start || n.End > to {
		t.Fatalf("a node at %d-%d, in one at %d-%d", n.Start, n.End, from, to)
	}
	at := n.Within(0, len(n.Text))
	if at.Start < n.Start || at.End > n.End {
		t.Fatalf("the text of the node at %d-%d is at %v", n.Start, n.End, at)
	}
	if n.Alias {
		return
	}
	last := n.Start
	for _, item := range n.Items {
		checkTree(t, item, last, n.End)
		last = item.End
	}
	for _, f := range n.Fields {
		checkTree(t, f.Key, last, n.End)
		checkTree(t, f.Value, f.Key.End, n.End)
		last = f.Value.End
	}
}
