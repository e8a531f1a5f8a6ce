package dot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/obelus-dev/obelus/testdata/crossings"
)

// Every example is drawn, with and without its details.
func TestExamples(t *testing.T) {
	files, _ := filepath.Glob("../examples/*.yaml")
	if len(files) == 0 {
		t.Skip("there are no examples beside this room")
	}
	var jobs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, found := compile(t, file, string(text))
		for _, detail := range []bool{false, true} {
			v := FromPlan(p, found, Options{Detail: detail})
			if len(v.Nodes) < len(p.Calls) {
				t.Errorf("%s: %d nodes for %d calls", file, len(v.Nodes), len(p.Calls))
			}
			jobs = append(jobs, v.Mermaid())
			svg := v.SVG()
			noneOverlap(t, v, readSVG(t, svg))
			legible(t, file, svg)
			if page := parseSVG(t, graphviz(t, v.DOT())); len(page.nodes) != len(v.Nodes) {
				t.Errorf("%s: %d of %d nodes drawn", file, len(page.nodes), len(v.Nodes))
			}
		}
	}
	jobs = jobs[:len(jobs)/amount.Of(8, 2, 1)] // it takes a while to draw them all
	for i, d := range mermaid(t, jobs...) {
		if d.Error != "" {
			t.Errorf("%s: %s", files[i/2], d.Error)
		}
	}
}

// Plans that people and models wrote, many of them faulty, are drawn by the
// real tools: every call is there.
func TestCorpus(t *testing.T) {
	var jobs, names []string
	for _, name := range corpus.Plans {
		for i, row := range strings.Split(strings.TrimSpace(string(corpus.Text(t, name))), "\n") {
			file := source.NewFile(name+".json", []byte(row))
			file.Row = i + 1
			p, found := compiler.Compile(file, compiler.Options{})
			v := FromPlan(p, found, Options{})
			calls := 0
			for _, n := range v.Nodes {
				calls += n.Count
			}
			if calls != len(p.Calls) || calls == 0 {
				t.Errorf("%s:%d: %d of %d calls are drawn", name, i+1, calls, len(p.Calls))
			}
			if i%amount.Of(151, 60, 7) == 0 {
				names = append(names, fmt.Sprint(name, ":", i+1))
				jobs = append(jobs, v.Mermaid())
				noneOverlap(t, v, readSVG(t, v.SVG()))
				if page := parseSVG(t, graphviz(t, v.DOT())); len(page.nodes) != len(v.Nodes) {
					t.Errorf("%s:%d: %d of %d nodes are drawn", name, i+1, len(page.nodes), len(v.Nodes))
				}
			}
		}
	}
	for i, d := range mermaid(t, jobs...) {
		if d.Error != "" {
			t.Errorf("%s: %s", names[i], d.Error)
		}
	}
}

// EXECUTION.md#approval: over the corpus edges cross at most 1.3 times as often as in Graphviz's drawings,
// which are asked for only where ours cross, and nothing lies over a text.
func TestCorpusIsLegible(t *testing.T) {
	plans, ours, theirs := 0, 0, 0
	for _, name := range corpus.Plans {
		for i, row := range strings.Split(strings.TrimSpace(string(corpus.Text(t, name))), "\n") {
			if i%amount.Of(1, 4, 1) > 0 {
				continue
			}
			file := source.NewFile(name+".json", []byte(row))
			file.Row = i + 1
			p, found := compiler.Compile(file, compiler.Options{})
			v := FromPlan(p, found, Options{})
			svg := v.SVG()
			plans++
			legible(t, fmt.Sprint(name, ":", i+1), svg)
			if n := crossings.Count(drawnEdges(t, svg)); n > 0 {
				ours += n
				theirs += crossings.Count(crossings.Graphviz(t, v.DOT()))
			}
		}
	}
	t.Logf("%d plans: %d crossings, Graphviz %d in those of ours that have some", plans, ours, theirs)
	if ours*10 > theirs*13 {
		t.Errorf("edges cross %d times, and %d times in Graphviz's drawings", ours, theirs)
	}
}
