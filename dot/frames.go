package dot

import (
	"slices"
	"strings"
)

// A frame is drawn around nodes and around other frames.
type frame struct {
	name   string
	inside int // the frame that it is in; the first frame is the drawing itself
}

// frames are those of the view, each after the one that it is in, and by node its innermost one. Those of one name
// inside the same frame are one.
func (v *View) frames() (all []frame, of []int) {
	all = []frame{{}}
	for _, n := range v.Nodes {
		at := 0
		for _, name := range n.Frames {
			one := frame{name, at}
			if at = slices.Index(all, one); at < 0 {
				at = len(all)
				all = append(all, one)
			}
		}
		of = append(of, at)
	}
	return all, of
}

// nested writes the nodes of the view, a line each, within their frames.
func (v *View) nested(b *strings.Builder, box func(*Node) string, begin func(number int, name string) string,
	end string) {
	all, of := v.frames()
	var write func(at int, indent string)
	write = func(at int, indent string) {
		for i := range v.Nodes {
			if of[i] == at {
				b.WriteString(indent + box(&v.Nodes[i]) + "\n")
			}
		}
		for number, f := range all {
			if number > 0 && f.inside == at {
				b.WriteString(indent + begin(number, f.name) + "\n")
				write(number, indent+"  ")
				b.WriteString(indent + end + "\n")
			}
		}
	}
	write(0, "  ")
}
