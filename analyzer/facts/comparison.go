package facts

import (
	"io"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// longest is how many characters of a text are shown.
const longest = 500

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

// headings are those of the risks, with their signs.
var (
	headings = map[Risk]string{
		Destroys: "May destroy what it didn't", Leaves: "Changes what leaves the machine", "": "Other differences",
	}
	signs = map[Risk]string{Destroys: "▲", Leaves: "↗"}
)

// Rows are the comparison for people: what destroys or leaves the machine otherwise than before comes first. Long
// texts are cut; JSON has all of them.
func (c *Comparison) Rows() (all Rows) {
	if c.Same() {
		return Rows{{Text: "the plans mean the same"}}
	}
	s := &sheet{longest}
	for i := range c.Differences {
		d := &c.Differences[i]
		if i == 0 || d.Risk != c.Differences[i-1].Risk {
			all = append(all, Row{Sign: signs[d.Risk], Text: headings[d.Risk], section: true})
		}
		section := &all[len(all)-1]
		if head := s.about(d); len(section.Rows) == 0 || section.Rows[len(section.Rows)-1].Text != head {
			section.Rows = append(section.Rows, Row{Text: head})
		}
		row := &section.Rows[len(section.Rows)-1]
		row.Rows = append(row.Rows, s.difference(d)...)
	}
	return all
}

// about is the line above all differences of one item.
func (s *sheet) about(d *Difference) string {
	words := map[Change]string{Added: "+ ", Removed: "− ", Changed: "~ ", Renamed: "~ "}[d.Change]
	words += strings.TrimSpace(string(d.Of) + " " + s.code(d.Name))
	if d.Was != "" {
		words += ", before " + s.code(d.Was)
	}
	words += s.at(d.At)
	if d.In != "" {
		words += " in " + s.code(d.In) + ", which " + s.code(d.by) + " runs"
	}
	return words
}

// difference is what differs there.
func (s *sheet) difference(d *Difference) (all Rows) {
	switch {
	case d.Change == Renamed:
		all = Rows{{Text: "renamed"}}
	case d.Old != nil || d.New != nil:
		all = Rows{s.row(d.What, d.Path, s.side(d.Old)+" → "+s.side(d.New))}
	case d.Of == ItemCall:
		all = s.body(d.call)
	}
	if len(d.Reaches) > 0 {
		all = append(all, s.row("reaches", "", s.codes(d.Reaches)))
	}
	return all
}
