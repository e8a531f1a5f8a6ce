package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// What a picture of branches has room for.
const (
	pictureNodes    = 300
	pictureProblems = 12
)

// picture draws the branches that go wrong: the plan once for each, with what became of
// every call there, and above them how much was played.
func (r *rehearsal) picture(found *simulate.Exploration) error {
	if r.form == "html" {
		view := dot.FromPlan(r.plan, r.findings, dot.Options{MaxNodes: pageNodes, MaxEdges: pageEdges})
		view.Notes = append(view.Notes, extent(found))
		one := pageOfPlan(r.plan, r.findings, view)
		if err := rehearsed(one, found); err != nil {
			return err
		}
		return r.writePage(one, r.output)
	}
	whole := dot.FromPlan(r.plan, nil, dot.Options{})
	var views []dot.View
	for _, of := range problemTitles {
		for i := range found.Problems {
			p := &found.Problems[i]
			if p.Kind != of.kind || len(views) == pictureProblems || len(views) > 0 && (len(views)+1)*len(whole.Nodes) > pictureNodes {
				continue
			}
			v := r.wrong(p, of.short)
			way := strings.Join(inWords(p.Path), "\n")
			v.Name = diag.Escape(fmt.Sprintf("%d: %s", len(views)+1, of.title)) + "\n" + way + fmt.Sprintf("\nin %d of %d", p.Seen, found.Played)
			views = append(views, v)
		}
	}
	v := dot.Beside("branches of "+diag.Escape(r.title()), views)
	if len(views) == 0 {
		v = whole
		v.Notes = append(v.Notes, "no branch that was played gets stuck, ends without output or with a failure that nothing handles")
	}
	v.Notes = append([]string{extent(found)}, v.Notes...)
	if more := len(found.Problems) - len(views) + found.Untold; more > 0 {
		v.Notes = append(v.Notes, wording.Count(more, "more problem")+" had no room here: --format json has those that were followed")
	}
	if found.Cut {
		v.Notes = append(v.Notes, "some combinations were stopped: "+simulate.TooLong)
	}
	return r.draw(v, r.form, r.output)
}

// wrong draws a branch, and where it goes wrong.
func (r *rehearsal) wrong(p *simulate.Problem, title string) dot.View {
	v := dot.FromPlan(r.plan, nil, dot.Options{})
	happened := newCourse()
	happened.took(p.Scenario)
	happened.mark(&v)
	mark := dot.Mark{Kind: dot.Wrong, Code: ": " + title, Text: diag.Escape(p.Message)}
	root, _, _ := strings.Cut(p.Call, "/") // a delegate that isn't drawn call by call
	if v.Mark(p.Call, mark) || v.Mark(root, mark) {
		return v
	}
	if at := slices.IndexFunc(v.Nodes, func(n dot.Node) bool { return n.Kind == dot.Output }); at >= 0 && p.Call == "" {
		v.Nodes[at].Marks, v.Nodes[at].Detail = append(v.Nodes[at].Marks, mark), strings.ReplaceAll(diag.Escape(p.Message), "; ", "\n")
	}
	return v
}
