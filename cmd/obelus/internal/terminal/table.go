package terminal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// shownRows is how many calls a table shows before somebody asks for more.
const shownRows = 20

// Table is several questions at once, in their order: of calls that share all but their
// values what they share stands above them, once. It tells how many values aren't shown
// whole; in full all are. At a terminal the first calls are shown alone, elsewhere all.
func (l *Sheet) Table(questions []*runtime.Question, full bool) (text string, hidden int) {
	p := &page{width: l.width()}
	ask := fmt.Sprintf("may these %d calls run?", len(questions))
	if len(questions) == 1 {
		ask = "may this call run?"
	}
	if !slices.ContainsFunc(questions, func(q *runtime.Question) bool { return !q.InFlight }) {
		ask = strings.TrimSuffix(ask, "?") + " again?"
	}
	p.line(2, l.style.Yellow("?")+" "+l.style.Bold(ask))
	rows := len(questions)
	if !full && l.more != "" {
		rows = shownRows
	}
	left := len(questions) - rows
	for rest := questions; len(rest) > 0; {
		n := 1
		for n < len(rest) && alike(rest[0], rest[n]) {
			n++
		}
		group := rest[:min(n, rows)]
		if rest, rows = rest[n:], rows-len(group); len(group) > 0 {
			hidden += l.group(p, group, full)
		}
	}
	if left > 0 {
		hidden += left
		p.gap()
		p.text(4, l.style.Faint, "and "+wording.Count(left, "more call")+l.more)
	}
	p.gap()
	return p.b.String(), hidden
}

// alike reports whether questions differ in nothing but whose call it is, its values and
// where its result goes.
func alike(a, b *runtime.Question) bool {
	return trustOf(a) == trustOf(b) && a.InFlight == b.InFlight && a.Wanted == b.Wanted && a.Doubt == b.Doubt &&
		a.Problem == b.Problem && a.Attempts == b.Attempts && a.Method == b.Method && a.Cost == b.Cost
}

// group shows calls that are alike.
func (l *Sheet) group(p *page, group []*runtime.Question, full bool) (hidden int) {
	q := group[0]
	p.gap()
	if q.Problem != "" {
		p.text(4, l.style.Red, "the answer before can't be taken: "+diag.Escape(q.Problem))
	}
	p.text(4, l.style.Bold, toolOf(q))
	words, paint := effectsInWords(q, l.style)
	p.text(4, paint, words)
	if q.InFlight {
		p.text(4, l.style.Yellow, "at work when the run broke off: retry runs it again, fail counts it as failed")
	}
	if q.Wanted {
		p.text(4, plainly, "the plan itself or a policy has a person asked about it")
	}
	if q.Doubt != "" {
		p.text(4, l.style.Yellow, diag.Escape(q.Doubt))
	}
	if q.Replaces != "" {
		p.text(4, l.style.Yellow, "in the place of a call of "+Quoted(q.Replaces))
	}
	same := !slices.ContainsFunc(group, func(other *runtime.Question) bool { return !slices.Equal(other.Runs.Argv, q.Runs.Argv) })
	if same {
		hidden += l.runs(p, q, full)
	}
	if !same || !l.rows(p, group) {
		for _, q := range group {
			p.gap()
			p.text(4, l.style.Bold, called(q)+":")
			if !same {
				hidden += l.runs(p, q, full)
			}
			hidden += l.params(p, q, full) + l.scopes(p, q, full)
			if words := account(q); words != "" {
				p.text(4, plainly, words)
			}
			if q.Reason != "" {
				p.text(4, plainly, "the model's words, which nobody has checked:")
				p.quote(4, q.Reason, shownLines)
			}
		}
	}
	if full {
		l.toolItself(p, q)
	}
	return hidden
}

// called is the name of a call as a line of a table begins with it.
func called(q *runtime.Question) string {
	name := diag.Escape(q.Path())
	if q.Instance != "" {
		name += " of " + Quoted(q.Instance)
	}
	return name
}

// rows shows calls in a line each, with a column for each parameter, if all of their
// values have room in it and there is nothing else to tell of one.
func (l *Sheet) rows(p *page, group []*runtime.Question) bool {
	params := map[string]any{}
	for _, q := range group {
		if q.Reason != "" || q.Scopes != nil || len(q.Context) > 0 {
			return false
		}
		maps.Copy(params, q.Params)
	}
	names := slices.Sorted(maps.Keys(params))
	header := []string{""}
	for _, name := range names {
		header = append(header, label(name))
	}
	writes := "writes"
	if how := group[0].Method; how != "" {
		writes += " (by " + diag.Escape(how) + ")"
	}
	if !slices.ContainsFunc(group, func(q *runtime.Question) bool { return len(q.Writes) > 0 }) {
		writes = ""
	}
	table := [][]string{append(header, writes)}
	for _, q := range group {
		row := []string{called(q)}
		for _, name := range names {
			cell := ""
			if value, there := q.Params[name]; there {
				cell = visibly(value, "")
			}
			row = append(row, cell)
		}
		table = append(table, append(row, diag.Escape(strings.Join(q.Writes, " || "))))
	}
	widths, total := make([]int, len(table[0])), 2
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], diag.Columns(cell))
		}
	}
	for _, w := range widths {
		total += w + 2
	}
	if total > p.width {
		return false
	}
	p.gap()
	for at, row := range table {
		line := ""
		for i, cell := range row {
			cell = Pad(cell, widths[i])
			if at == 0 || i == 0 {
				cell = l.style.Bold(cell)
			}
			line += cell + "  "
		}
		p.line(4, strings.TrimRight(line, " "))
	}
	for _, q := range group {
		l.lookTwice(p, 4, q.Params)
	}
	l.sharedOrigins(p, group)
	all := *group[0]
	if all.Writes = nil; account(&all) != "" {
		p.text(4, plainly, account(&all))
	}
	return true
}

// sharedOrigins says where the values of a table come from, each place once.
func (l *Sheet) sharedOrigins(p *page, group []*runtime.Question) {
	whose := map[string][]string{}
	var order []string
	for _, q := range group {
		for _, s := range q.Sources {
			words := inWords(s)
			if whose[words] == nil {
				order = append(order, words)
			}
			whose[words] = append(whose[words], called(q))
		}
	}
	for _, words := range order {
		if calls := whose[words]; len(calls) < len(group) {
			words += " (" + wording.And(calls) + ")"
		}
		p.text(4, l.style.Faint, words)
	}
}

// errOneByOne says that the person wants to be asked about each call by itself.
var errOneByOne = errors.New("one by one")

// together are the questions that are put at once with one whose turn has come: those
// that wait, are put for the first time, and aren't answered by an earlier answer.
func (d *Dialogue) together(first *place) []*place {
	var all []*place
	for _, p := range append([]*place{first}, d.line.others()...) {
		if q := p.asked; q.Problem == "" && q.Replaces == "" && !q.InFlight && len(q.Outside) == 0 && !d.trusted[trustOf(q)] && !d.apart[q] {
			all = append(all, p)
		} else if p == first {
			return nil
		}
	}
	return all
}

// openTable shows several questions, the first of which has its turn, and reads keys
// until one answers all of them.
func (d *Dialogue) openTable(ctx context.Context, all []*place) (decision runtime.Decision, err error) {
	c := d.console
	questions := make([]*runtime.Question, len(all))
	d.laid = map[*runtime.Question]bool{}
	for i, p := range all {
		questions[i], d.laid[p.asked] = p.asked, true
	}
	defer func() { d.laid = nil }()
	text, hidden := d.Table(questions, false)
	c.print("\n" + text)
	for _, p := range all {
		p.shown()
	}
	options := []option{{'y', "approve all"}, {'n', "reject all"}, {'o', "one by one"}, {'?', "more"}, {'q', "stop the run"}}
	for {
		key, err := d.key(ctx, options, &hidden, func(key rune) bool { return key == 'y' })
		if err != nil {
			d.takeBack(ctx, err)
			return decision, err
		}
		switch key {
		case '?':
			text, _ := d.Table(questions, true)
			c.print("\n" + text)
			continue
		case 'o':
			for _, q := range questions {
				d.apart[q] = true
			}
			return decision, errOneByOne
		case 'y':
			decision.Verdict = runtime.Approve
			c.say(c.style.Green("✓"), fmt.Sprintf("all %d approved", len(questions)))
			c.print("\n")
		default:
			decision, _, err = d.carryOut(ctx, questions[0], key)
		}
		switch {
		case errors.Is(err, errBack):
			continue
		case err != nil:
			d.takeBack(ctx, err)
			return decision, err
		}
		decision.By = d.who
		for _, q := range questions[1:] { // whose turns come
			d.decided[q] = decision
		}
		return decision, nil
	}
}
