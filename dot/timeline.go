package dot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Timeline is when calls were at work, or would be.
type Timeline struct {
	Name  string
	Bars  []Bar // a row each
	Notes []string
}

// A Bar is one call of a timeline.
type Bar struct {
	Label    string
	Detail   string // said behind it
	From, To time.Duration
	Marks    []Mark // what became of it, and whether it is on the critical path
}

// maxBars bounds what is drawn of a timeline.
const maxBars = 300

// shown are the bars that are drawn, and a note for the others.
func (t *Timeline) shown() (bars []Bar, notes []string) {
	if more := len(t.Bars) - maxBars; more > 0 {
		return t.Bars[:maxBars], append(slices.Clone(t.Notes), "and "+wording.Count(more, "more call"))
	}
	return t.Bars, t.Notes
}

// end is when the last bar ends.
func (t *Timeline) end() (end time.Duration) {
	for _, b := range t.Bars {
		end = max(end, b.To)
	}
	return end
}

// sign is what a bar's label begins with.
func (b *Bar) sign() string {
	switch {
	case has(b.Marks, Failed, Error, Rejected, Cancelled):
		return "✗"
	case has(b.Marks, Skipped):
		return "–"
	case has(b.Marks, Warning):
		return "!"
	}
	return "✓"
}

// label is the bar's in one line. It begins with a sign, so that none is a word of a
// format's.
func (b *Bar) label() string { return b.sign() + " " + strings.Join(rows(b.Label, maxLabel), " ") }

// Gantt is the timeline as a Gantt chart of Mermaid's, in which time begins at 0. Calls on the
// critical path are tasks of the kind "crit", those that never started milestones.
func (t *Timeline) Gantt() string {
	bars, notes := t.shown()
	axis := "%S.%L s"
	switch end := t.end(); {
	case end >= 24*time.Hour:
		axis = "%j %H:%M"
	case end >= time.Minute:
		axis = "%H:%M:%S"
	}
	var out strings.Builder
	out.WriteString("gantt\n")
	if name := strings.Join(rows(t.Name, maxTitle), " "); name != "" {
		out.WriteString("  title " + escapeGantt(name) + "\n")
	}
	out.WriteString("  dateFormat YYYY-MM-DD HH:mm:ss.SSS\n  axisFormat " + axis + "\n")
	at := func(d time.Duration) string {
		return time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format("2006-01-02 15:04:05.000")
	}
	for i := range bars {
		b := &bars[i]
		kind := "active"
		switch {
		case b.To <= b.From && has(b.Marks, Skipped):
			kind = "milestone"
		case has(b.Marks, Critical):
			kind = "crit"
		case has(b.Marks, Done):
			kind = "done"
		}
		fmt.Fprintf(&out, "  %s :%s, b%d, %s, %s\n", escapeGantt(b.label()), kind, i, at(b.From), at(max(b.To, b.From+time.Millisecond)))
	}
	for _, note := range notes {
		out.WriteString("  %% " + escapeGantt(strings.Join(rows(note, maxNote), " ")) + "\n")
	}
	return out.String()
}

// escapeGantt makes text fit for a Gantt chart, whose texts are never read as markup.
func escapeGantt(s string) string { return strings.ReplaceAll(escapeMermaid(s), "<wbr/>", "") }

// SVG is the timeline as a picture like [View.SVG].
func (t *Timeline) SVG() string {
	const margin, row, plot = 24, 22, 640
	bars, notes := t.shown()
	d := svgDrawing{}
	head := heading(t.Name, notes)
	labels, details := make([]svgText, len(bars)), make([]svgText, len(bars))
	left := 0
	for i := range bars {
		labels[i].add(bars[i].label(), "name", smallText)
		if lines := rows(bars[i].Detail, maxDetail); len(lines) > 0 {
			details[i].add(lines[0], "detail", smallText)
		}
		left = max(left, labels[i].width)
	}
	top := margin + head.height + row
	begin := margin + left + margin/2
	end := max(1, t.end())
	x := func(at time.Duration) int { return begin + int(float64(at)/float64(end)*plot) }
	width, height := max(begin+plot+margin/2, margin+head.width)+margin, top+row*len(bars)+margin
	for i := range bars {
		width = max(width, x(bars[i].To)+margin/2+details[i].width+margin)
	}
	d.begin(cmp.Or(t.Name, "timeline"), width, height)
	d.text(head, margin, margin, "start")
	for at, step := time.Duration(0), tickOf(end); at <= end; at += step {
		fmt.Fprintf(&d.out, `<path class="way hour" d="M%d %dV%d"/>`, x(at), top-4, height-margin)
		var tick svgText
		tick.add(wording.Duration(at), "detail", smallText)
		d.text(tick, x(at), top-row, "middle")
		d.out.WriteString("\n")
	}
	for i := range bars {
		b, y := &bars[i], top+row*i
		marks := slices.DeleteFunc(slices.Clone(b.Marks), func(m Mark) bool { return m.Kind == Done }) // as most are
		fmt.Fprintf(&d.out, `<g class="%s" id="b%d">`, classes("node bar call", (&Node{Kind: Call, Marks: marks}).look(), marks), i)
		d.element("title", strings.Join(append(rows(b.Label, maxTip), wording.Duration(b.From)+" to "+wording.Duration(b.To)), "\n"))
		d.text(labels[i], margin+left, y+(row-labels[i].height)/2, "end")
		if from, to := x(b.From), x(b.To); to > from || !has(b.Marks, Skipped) {
			fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="2"/>`, from, y+4, max(2, to-from), row-8)
		}
		d.text(details[i], x(b.To)+6, y+(row-details[i].height)/2, "start")
		d.out.WriteString("</g>\n")
	}
	d.out.WriteString("</svg>\n")
	return d.out.String()
}

// tickOf is a round duration that divides the total into few ticks.
func tickOf(total time.Duration) time.Duration {
	step := time.Nanosecond
	for _, unit := range []time.Duration{time.Second, time.Minute, time.Hour} {
		if total > 4*unit {
			step = unit
		}
	}
	for i := 0; total/step > 8; i++ {
		step = step * []time.Duration{4, 5, 4}[i%3] / 2 // 1, 2, 5, 10
	}
	return step
}
