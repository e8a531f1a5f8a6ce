// Package crossings counts, for tests, where drawn edges cross: in drawings of ours and
// of the real Graphviz.
package crossings

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A Spot is a place of a drawing.
type Spot struct{ X, Y float64 }

// An Edge is a drawn edge: the nodes that it joins, and the points of its curve, of
// Bézier's: where it begins, then three for each cubic piece.
type Edge struct {
	From, To string
	Curve    []Spot
}

// Line is the curve as a line with corners.
func (e Edge) Line() []Spot {
	var out []Spot
	for i := 0; i+3 < len(e.Curve); i += 3 {
		p := e.Curve[i : i+4]
		for k := range 17 {
			t := float64(k) / 16
			s := 1 - t
			a, b, c, d := s*s*s, 3*s*s*t, 3*s*t*t, t*t*t
			out = append(out, Spot{a*p[0].X + b*p[1].X + c*p[2].X + d*p[3].X, a*p[0].Y + b*p[1].Y + c*p[2].Y + d*p[3].Y})
		}
	}
	return out
}

// Count is how often edges cross that have no node in common.
func Count(edges []Edge) int {
	type piece struct {
		edge int
		a, b Spot
	}
	const cell = 60.0
	cells := map[[2]int][]piece{}
	n := 0
	for i, e := range edges {
		line := e.Line()
		for k := 1; k < len(line); k++ {
			one := piece{i, line[k-1], line[k]}
			for x := math.Floor(min(one.a.X, one.b.X) / cell); x <= max(one.a.X, one.b.X)/cell; x++ {
				for y := math.Floor(min(one.a.Y, one.b.Y) / cell); y <= max(one.a.Y, one.b.Y)/cell; y++ {
					at := [2]int{int(x), int(y)}
					for _, other := range cells[at] {
						f := edges[other.edge]
						if e.From == f.From || e.To == f.To || e.From == f.To || e.To == f.From {
							continue
						}
						if p, ok := meet(one.a, one.b, other.a, other.b); ok && math.Floor(p.X/cell) == x && math.Floor(p.Y/cell) == y {
							n++
						}
					}
					cells[at] = append(cells[at], one)
				}
			}
		}
	}
	return n
}

// meet is where two pieces of lines cross.
func meet(a, b, c, d Spot) (Spot, bool) {
	side := func(p, q, r Spot) float64 { return (q.X-p.X)*(r.Y-p.Y) - (q.Y-p.Y)*(r.X-p.X) }
	s, t, u, v := side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
	if s*t >= 0 || u*v >= 0 {
		return Spot{}, false
	}
	f := u / (u - v)
	return Spot{a.X + f*(b.X-a.X), a.Y + f*(b.Y-a.Y)}, true
}

// Graphviz is the drawing that the real Graphviz makes of a text in its language.
func Graphviz(t testing.TB, text string) []Edge {
	t.Helper()
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz isn't installed: .ci/install installs it")
	}
	cmd := exec.Command("dot", "-Tplain")
	cmd.Stdin = strings.NewReader(text)
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	var edges []Edge
	for line := range strings.SplitSeq(string(out), "\n") {
		var e Edge
		n := 0
		if read, _ := fmt.Sscanf(line, "edge %s %s %d", &e.From, &e.To, &n); read < 3 {
			continue
		}
		for i, words := 0, strings.Fields(line); i < n; i++ {
			x, _ := strconv.ParseFloat(words[4+2*i], 64)
			y, _ := strconv.ParseFloat(words[5+2*i], 64)
			e.Curve = append(e.Curve, Spot{x * 72, y * 72})
		}
		edges = append(edges, e)
	}
	return edges
}
