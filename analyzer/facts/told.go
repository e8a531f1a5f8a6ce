package facts

import (
	"io"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// longest is how many characters of a text are shown.
const longest = 500

// Text is the comparison for people: what destroys or leaves the machine otherwise than
// before comes first. Long texts are cut; JSON has all of them.
func (c *Comparison) Text() string { return c.write(&sheet{most: longest}) }

// Markdown is Text for a pull request.
func (c *Comparison) Markdown() string { return c.write(&sheet{markdown: true, most: longest}) }

// JSON writes an object a line: each difference, and a summary.
func (c *Comparison) JSON(w io.Writer) error {
	counts := map[Change]int{}
	for i := range c.Differences {
		d := &c.Differences[i]
		counts[d.Change]++
		var call *Call
		if d.Of == ItemCall && d.What == "" && d.Change != Renamed {
			call = d.call
		}
		if err := diag.JSONLine(w, struct {
			Kind string `json:"kind"`
			*Difference
			Facts *Call `json:"facts,omitempty"` // of a call that was added or removed
		}{"difference", d, call}); err != nil {
			return err
		}
	}
	return diag.JSONLine(w, struct {
		Kind    string `json:"kind"`
		Same    bool   `json:"same"`
		Added   int    `json:"added"`
		Removed int    `json:"removed"`
		Renamed int    `json:"renamed"`
		Changed int    `json:"changed"`
	}{"summary", c.Same(), counts[Added], counts[Removed], counts[Renamed], counts[Changed]})
}

// headings are those of the sections of a comparison, in their order, with the things that each shows.
// Edges follow from where values come from, which is shown.
var headings = []struct {
	risk    Risk
	heading string
	items   []Item
}{
	{Destroys, "May destroy what it didn't", nil},
	{Leaves, "Changes what leaves the machine", nil},
	{"", "Calls", []Item{ItemCall}},
	{"", "Paths", []Item{ItemOrder}},
	{"", "Activities and programs", []Item{ItemActivity, ItemProgram}},
	{"", "Tools", []Item{ItemTool}},
	{"", "Output", []Item{ItemOutput}},
	{"", "Settings", []Item{ItemSetting}},
	{"", "At worst", []Item{ItemWorst}},
}

func (c *Comparison) write(s *sheet) string {
	if c.Same() {
		return "the plans mean the same\n"
	}
	for _, section := range headings {
		started, last := false, ""
		for i := range c.Differences {
			d := &c.Differences[i]
			if d.Risk != section.risk || d.Risk == "" && !slices.Contains(section.items, d.Of) {
				continue
			}
			if !started {
				started = true
				s.heading(section.heading)
			}
			if head := s.about(d); head != last {
				s.item(0, head)
				last = head
			}
			s.difference(d)
		}
	}
	return s.String()
}

// about is the line above all differences of one thing.
func (s *sheet) about(d *Difference) string {
	words := map[Change]string{Added: "+ ", Removed: "− ", Changed: "~ ", Renamed: "~ "}[d.Change]
	if d.Of == ItemOutput {
		words += "output"
	} else {
		words += s.code(d.Name)
	}
	if d.Was != "" {
		words += ", before " + s.code(d.Was)
	}
	if d.At != nil {
		words += s.at(d.At)
	}
	if d.In != "" {
		words += " in " + s.code(d.In) + ", which " + s.code(d.by) + " runs"
	}
	return words
}

// difference is what differs there.
func (s *sheet) difference(d *Difference) {
	switch {
	case d.Of == ItemCall && d.Change == Added:
		s.body(d.call)
	case d.Of == ItemCall && d.Change == Removed:
		s.item(1, "ran "+s.runs(&d.call.Runs))
	case d.Change == Renamed:
		s.item(1, "renamed")
	case d.Of == ItemProgram:
		s.item(1, "file "+string(d.Change))
	case d.Old != nil || d.New != nil:
		words := strings.TrimSpace(d.What + " " + s.code(d.Path))
		if words != "" {
			words += ": "
		}
		s.item(1, words+s.side(d.Old)+" → "+s.side(d.New))
	}
	if len(d.Reaches) > 0 {
		s.item(1, "this reaches "+s.codes(d.Reaches))
	}
}

// side is a value of one of the plans.
func (s *sheet) side(v *Value) string {
	switch {
	case v == nil:
		return "nothing"
	case len(v.Sources) == 0:
		return s.code(v.String())
	case len(v.Sources) == 1 && v.Sources[0].Path == v.Expression:
		return s.source(v.Sources[0])
	case v.Expression == "":
		return s.from(v.Sources)
	}
	return s.code(v.Expression) + " from " + s.from(v.Sources)
}
