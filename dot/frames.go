package dot

import (
	"slices"
	"strings"
)

// frames are the names of the frames of the view, and by node which is its own; the first has no name and isn't drawn.
func (v *View) frames() (names []string, of []int) {
	names = []string{""}
	for _, n := range v.Nodes {
		at := slices.Index(names, n.Frame)
		if at < 0 {
			at = len(names)
			names = append(names, n.Frame)
		}
		of = append(of, at)
	}
	return names, of
}

// framed writes the nodes of the view, a line each, within their frames.
func (v *View) framed(b *strings.Builder, box func(*Node) string, begin func(number int, name string) string,
	end string) {
	names, of := v.frames()
	for number, name := range names {
		indent := "  "
		if number > 0 {
			b.WriteString(indent + begin(number, name) + "\n")
			indent = "    "
		}
		for i := range v.Nodes {
			if of[i] == number {
				b.WriteString(indent + box(&v.Nodes[i]) + "\n")
			}
		}
		if number > 0 {
			b.WriteString("  " + end + "\n")
		}
	}
}
