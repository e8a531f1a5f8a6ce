package facts

import (
	"io"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// Text is the comparison for people: what destroys or leaves the machine otherwise than
// before comes first. Of what is long only the beginning is shown, and JSON has it all.
func (c *Comparison) Text() string { return c.write(&sheet{most: longest}) }

// Markdown is Text for a pull request.
func (c *Comparison) Markdown() string { return c.write(&sheet{markdown: true, most: longest}) }

// JSON writes an object a line (S19.1): each difference, and a summary.
func (c *Comparison) JSON(w io.Writer) error {
	counts := map[Change]int{}
	for i := range c.Differences {
		d := &c.Differences[i]
		counts[d.Change]++
		var call *Call
		if d.Of == ThingCall && d.What == "" && d.Change != Renamed {
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

// The sections of a comparison, in their order; a difference is in the first that it
// belongs to. Edges follow from where values come from, which is told.
var sections = []struct {
	heading string
	holds   func(*Difference) bool
}{
	{"Destroys what it didn't, or may", func(d *Difference) bool { return d.Risk == Destroys }},
	{"Leaves the machine otherwise than before", func(d *Difference) bool { return d.Risk == Leaves }},
	{"Calls", func(d *Difference) bool { return d.Of == ThingCall || len(d.Reaches) > 0 }},
	{"Paths", func(d *Difference) bool { return d.Of == ThingPath || d.Of == ThingOrder }},
	{"What carries calls out", func(d *Difference) bool { return d.Of == ThingActivity || d.Of == ThingProgram }},
	{"Tools", func(d *Difference) bool { return d.Of == ThingTool }},
	{"Output", func(d *Difference) bool { return d.Of == ThingOutput }},
	{"Settings", func(d *Difference) bool { return d.Of == ThingSetting }},
	{"At worst", func(d *Difference) bool { return d.Of == ThingWorst }},
}

func (c *Comparison) write(s *sheet) string {
	if c.Same() {
		s.WriteString("the plans mean the same\n")
		return s.String()
	}
	told := make([]bool, len(c.Differences))
	for _, section := range sections {
		begun, last := false, ""
		for i := range c.Differences {
			d := &c.Differences[i]
			if told[i] || !section.holds(d) {
				continue
			}
			if told[i] = true; !begun {
				begun = true
				s.heading(section.heading)
			}
			if d.Of == ThingWorst {
				s.item(0, s.code(d.Name)+": "+amount(d.Old)+" → "+amount(d.New))
				continue
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

// about is what a difference is of, as the line above all that differs there.
func (s *sheet) about(d *Difference) string {
	mark := map[Change]string{Added: "+ ", Removed: "− "}[d.Change]
	if mark == "" {
		mark = "~ "
	}
	words := mark + s.code(d.Name)
	if d.Of == ThingOutput {
		words = mark + "output"
	}
	if d.Was != "" && d.Of != ThingPath {
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
	words := d.What
	if d.Path != "" {
		if words != "" {
			words += " "
		}
		words += s.code(d.Path)
	}
	switch {
	case d.Of == ThingPath:
		s.item(1, "is what was "+s.code(d.Was))
	case d.Of == ThingOrder:
		s.item(1, "is written in the order "+s.side(d.New)+", before "+s.side(d.Old))
	case d.Change == Renamed:
		s.item(1, "has another name, and does what it did")
	case d.Of == ThingCall && d.What == "" && d.Change == Added:
		s.body(d.call)
	case d.Of == ThingCall && d.What == "" && d.Change == Removed:
		s.item(1, "isn't there any more; it ran "+s.runs(&d.call.Runs))
	case d.Of == ThingProgram:
		s.item(1, map[Change]string{Added: "the file is there now", Removed: "the file isn't there any more", Changed: "the file holds something else"}[d.Change])
	case d.Old == nil && d.New == nil:
	default:
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
	if v == nil {
		return "nothing"
	}
	words := ""
	if text := v.String(); text != "" {
		words = s.code(text)
	}
	if len(v.Sources) == 1 && v.Sources[0].Path == v.Expression {
		return s.source(v.Sources[0])
	}
	if words != "" && len(v.Sources) > 0 {
		words += " from "
	}
	return words + s.from(v.Sources)
}

// amount is a number, or the word that there is none.
func amount(v *Value) string { return strings.Trim(v.String(), `"`) }

// longest is how many characters of a text are shown.
const longest = 500

// Was is the name in the old plan of a call of the new one, "" of one that was added.
func (c *Comparison) Was(call string) string {
	if i := c.outermost.newTo[c.outermost.newAt[call]]; i >= 0 {
		return c.outermost.old.Calls[i].Name
	}
	return ""
}

// Touched are the calls of the new plan that differ, or run a plan in which something
// does, by name.
func (c *Comparison) Touched() map[string]bool {
	all, inside, activities := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range c.Differences {
		switch d := &c.Differences[i]; {
		case d.In != "":
			inside[d.In] = true
		case d.Of == ThingCall:
			all[d.Name] = true
		case d.Of == ThingActivity:
			activities[d.Name] = true
		}
	}
	f := c.outermost.new
	for i := range f.Calls {
		call := &f.Calls[i]
		if activities[call.Runs.Activity] || f.reaches(call.Runs.Plan, inside, map[string]bool{}) {
			all[call.Name] = true
		}
	}
	return all
}

// reaches reports whether a delegate is one of some, or runs one.
func (f *Facts) reaches(plan string, some, seen map[string]bool) bool {
	d := f.Delegates[plan]
	if d == nil || seen[plan] {
		return false
	}
	seen[plan] = true
	return some[plan] || slices.ContainsFunc(d.Calls, func(c Call) bool { return f.reaches(c.Runs.Plan, some, seen) })
}
