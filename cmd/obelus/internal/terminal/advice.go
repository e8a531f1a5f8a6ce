package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// shownRanks is how many tools of a ranking are shown before somebody asks for
// more.
const shownRanks = 5

// rated is a weight as people read it.
func rated(weight float64) string { return strconv.FormatFloat(weight, 'g', 4, 64) }

// advice lists how the advisors rate the tools, the best first, with a mark at
// the one that is asked about.
func (l *Sheet) advice(p *page, q *runtime.Question, full bool) {
	if len(q.Advice) == 0 {
		return
	}
	s := l.style
	p.gap()
	p.text(4, plainly, "how the advisors rate the tools:")
	shown, left := q.Advice, 0
	if !full && len(shown) > shownRanks {
		shown, left = shownWith(q.Advice, q.Tool), len(q.Advice)-shownRanks
	}
	names, weights := make([]string, len(shown)), 0
	for i, r := range shown {
		names[i] = r.Tool
		weights = max(weights, len(rated(r.Weight)))
	}
	column := nameColumn(p, names) - 1
	indent := 6 + column + 2 + weights + 2
	for _, r := range shown {
		mark, paint := " ", plainly
		if r.Tool == q.Tool {
			mark, paint = "→", s.Bold
		}
		name, weight := Cut(diag.Escape(r.Tool), column), rated(r.Weight)
		line := paint(name) + strings.Repeat(" ", column-diag.Columns(name)+2+weights-len(weight)) + paint(weight)
		votes := Fold(inVotes(r.Votes), p.width-indent)
		if !full && len(votes) > 1 {
			votes = []string{Cut(votes[0]+" …", p.width-indent)}
		}
		if votes[0] != "" {
			line += "  " + s.Faint(votes[0])
		}
		p.line(4, mark+" "+line)
		for _, more := range votes[1:] {
			p.line(indent, s.Faint(more))
		}
	}
	if left > 0 {
		p.text(4, s.Faint, fmt.Sprintf("and %s; ? shows all", wording.Count(left, "more tool")))
	}
	p.gap()
}

// shownWith is the best of a ranking, and in the last place the tool that is
// asked about if it isn't among them.
func shownWith(ranking []compiler.Rank, tool string) []compiler.Rank {
	best := slices.Clone(ranking[:shownRanks])
	if at := slices.IndexFunc(ranking, func(r compiler.Rank) bool { return r.Tool == tool }); at >= shownRanks {
		best[shownRanks-1] = ranking[at]
	}
	return best
}

// inVotes says who gave a tool which weight.
func inVotes(votes []compiler.Vote) string {
	words := make([]string, len(votes))
	for i, v := range votes {
		words[i] = diag.Escape(v.Advisor) + " " + rated(v.Weight)
		if v.Instance != "" {
			words[i] = diag.Escape(v.Advisor) + " of " + diag.Escape(v.Instance) + " " + rated(v.Weight)
		}
	}
	return strings.Join(words, ", ")
}

// advised is a ranking in a line.
func advised(instance string, ranking []compiler.Rank) string {
	words := make([]string, len(ranking))
	for i, r := range ranking {
		words[i] = diag.Escape(r.Tool) + " " + rated(r.Weight)
	}
	line := "advice"
	if instance != "" {
		line += " for " + diag.Escape(instance)
	}
	if len(words) == 0 {
		return line + ": nobody votes"
	}
	return line + ": " + strings.Join(words, ", ")
}
