package facts

import (
	"io"
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

// headings are those of the risks.
var headings = map[Risk]string{
	Destroys: "May destroy what it didn't", Leaves: "Changes what leaves the machine", "": "Other differences",
}

func (c *Comparison) write(s *sheet) string {
	if c.Same() {
		return "the plans mean the same\n"
	}
	last := ""
	for i := range c.Differences {
		d := &c.Differences[i]
		if i == 0 || d.Risk != c.Differences[i-1].Risk {
			s.heading(headings[d.Risk])
			last = ""
		}
		if head := s.about(d); head != last {
			s.item(0, head)
			last = head
		}
		s.difference(d)
	}
	return s.String()
}

// about is the line above all differences of one thing.
func (s *sheet) about(d *Difference) string {
	words := map[Change]string{Added: "+ ", Removed: "− ", Changed: "~ ", Renamed: "~ "}[d.Change]
	words += strings.TrimSpace(string(d.Of) + " " + s.code(d.Name))
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
	case d.Change == Renamed:
		s.item(1, "renamed")
	case d.Old != nil || d.New != nil:
		s.row(1, d.What, d.Path, s.side(d.Old)+" → "+s.side(d.New))
	case d.Of == ItemCall:
		s.body(d.call, d.In)
	}
	if len(d.Reaches) > 0 {
		s.row(1, "reaches", "", s.codes(d.Reaches))
	}
}
