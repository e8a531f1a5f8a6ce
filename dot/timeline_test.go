package dot

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func timelineOf(texts []string) *Timeline {
	t := &Timeline{Name: texts[0], Notes: texts[:1]}
	for i, s := range texts {
		marks := []Mark{{Kind: []MarkKind{Done, Failed, Skipped}[i%3]}}
		if i%2 == 0 {
			marks = append(marks, Mark{Kind: Critical})
		}
		from := time.Duration(i) * 100 * time.Millisecond
		t.Bars = append(t.Bars, Bar{Label: s, Detail: s, From: from, To: from + time.Duration(i%3)*time.Second, Marks: marks})
	}
	return t
}

// EXECUTION.md#simulation: whatever calls are called, the real Mermaid draws a task for each, with its
// name.
func TestGanttsAreDrawn(t *testing.T) {
	t.Parallel()
	for _, batch := range batches(append(slices.Clone(hostile), randomTexts(30)...)) {
		line := timelineOf(batch)
		d := mermaid(t, line.Gantt())[0]
		if d.Error != "" || len(d.Frames) != len(batch) {
			t.Errorf("%s: %d tasks of %d\n%s", d.Error, len(d.Frames), len(batch), line.Gantt())
			continue
		}
		for i := range batch {
			if got, want := squeeze(d.Frames[i]), squeeze(line.Bars[i].label()); got != want {
				t.Errorf("%q is drawn as %q", want, got)
			}
		}
	}
}

// EXECUTION.md#simulation: a timeline's SVG is well-formed and has each call's name, as text, once as its
// label; the critical path is told from the rest.
func TestTimelinesAreDrawn(t *testing.T) {
	for _, batch := range batches(append(append(slices.Clone(hostile), strings.Repeat("8 kB ]]>", 1000)), randomTexts(30)...)) {
		line := timelineOf(batch)
		text := line.SVG()
		var page struct {
			Bars []struct {
				Class string   `xml:"class,attr"`
				Texts []string `xml:"text"`
			} `xml:"g"`
		}
		if err := xml.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(page.Bars) != len(batch) {
			t.Fatalf("%d bars of %d", len(page.Bars), len(batch))
		}
		for i, bar := range page.Bars {
			if squeeze(bar.Texts[0]) != squeeze(line.Bars[i].label()) || strings.Contains(bar.Class, "critical") != (i%2 == 0) {
				t.Errorf("%q is drawn as %q, %s", line.Bars[i].label(), bar.Texts[0], bar.Class)
			}
		}
	}
}

// EXECUTION.md#simulation: a timeline is as wide as what stands in it: what is said behind an early bar has its room within the plot.
func TestTimelinesAreNoWiderThanWhatTheySay(t *testing.T) {
	width := func(at time.Duration) (width int) {
		line := &Timeline{Name: "x", Bars: []Bar{{Label: "a", To: 10 * time.Second}, {Label: "b", Detail: strings.Repeat("why ", 20), From: at, To: at}}}
		if _, err := fmt.Sscanf(line.SVG()[strings.Index(line.SVG(), "viewBox"):], `viewBox="0 0 %d`, &width); err != nil {
			t.Fatal(err)
		}
		return width
	}
	if early, late := width(0), width(10*time.Second); early > 800 || late < early+200 {
		t.Errorf("a timeline is %d wide with a text at its beginning, and %d with it at its end", early, late)
	}
}

func TestTicksAreFewAndRound(t *testing.T) {
	for d := time.Duration(1); d < 1<<61; d = d*3 + 1 {
		tick, unit := tickOf(d), time.Nanosecond
		for _, one := range []time.Duration{time.Second, time.Minute, time.Hour} {
			if tick >= one {
				unit = one
			}
		}
		first := strings.TrimRight(fmt.Sprint(int64(tick/unit)), "0")
		if n := d / tick; n > 8 || d > 10 && n < 3 || tick%unit != 0 || first != "1" && first != "2" && first != "5" {
			t.Errorf("%v has %d ticks of %v", d, n, tick)
		}
	}
}
