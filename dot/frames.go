package dot

import "slices"

// A frame is drawn around nodes and around other frames.
type frame struct {
	name   string
	number int // 0 is the drawing itself, the others count from 1
	nodes  []int
	inside []*frame
}

// frames is the drawing as a frame: in each the nodes and the frames are in the
// order of the view. Frames of one name inside the same frame are one.
func (v View) frames() *frame {
	root := &frame{}
	frames := 0
	for i, n := range v.Nodes {
		at := root
		for _, name := range n.Frames {
			if name == "" {
				continue
			}
			inner := slices.IndexFunc(at.inside, func(f *frame) bool { return f.name == name })
			if inner < 0 {
				frames++
				inner = len(at.inside)
				at.inside = append(at.inside, &frame{name: name, number: frames})
			}
			at = at.inside[inner]
		}
		at.nodes = append(at.nodes, i)
	}
	return root
}
