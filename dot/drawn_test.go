package dot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/obelus-dev/obelus/testdata/crossings"
)

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
