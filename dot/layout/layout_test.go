package layout

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// random is a graph without cycles of so many nodes and about half as many edges
// more, most of them between nodes that come soon after each other.
func random(chance *rand.Rand, nodes int, labels bool) Graph {
	var g Graph
	for i := range nodes {
		g.Nodes = append(g.Nodes, Node{Width: 60 + chance.IntN(100), Height: 30 + chance.IntN(3)*14})
		for range 1 + chance.IntN(2) {
			if i == 0 {
				break
			}
			e := Edge{From: max(0, i-1-int(chance.ExpFloat64()*float64(nodes)/10)), To: i}
			if labels && chance.IntN(2) == 0 {
				e.LabelWidth, e.LabelHeight = 20+chance.IntN(80), 12
			}
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

// clustered puts runs of nodes into clusters, some inside others.
func clustered(chance *rand.Rand, g Graph) Graph {
	g.Clusters = []Cluster{{}}
	for i := 0; i < len(g.Nodes); {
		run := 2 + chance.IntN(6)
		if chance.IntN(3) == 0 {
			c := Cluster{TitleWidth: 40 + chance.IntN(200), TitleHeight: 14}
			if n := len(g.Clusters); n > 1 && chance.IntN(3) == 0 {
				c.Inside = n - 1
			}
			g.Clusters = append(g.Clusters, c)
			for at := i; at < min(len(g.Nodes), i+run); at++ {
				g.Nodes[at].Cluster = len(g.Clusters) - 1
			}
		}
		i += run
	}
	return g
}

// sound checks that nothing stands in the way of anything else.
func sound(t *testing.T, g Graph, p Placed) {
	t.Helper()
	apart := func(a, b Box) bool {
		return a.X+a.Width <= b.X || b.X+b.Width <= a.X || a.Y+a.Height <= b.Y || b.Y+b.Height <= a.Y
	}
	within := func(a, b Box) bool {
		return a.X >= b.X && a.Y >= b.Y && a.X+a.Width <= b.X+b.Width && a.Y+a.Height <= b.Y+b.Height
	}
	whole := Box{0, 0, p.Width, p.Height}
	boxes := append([]Box{}, p.Nodes...)
	for i, n := range p.Nodes {
		if n.Width != g.Nodes[i].Width || n.Height != g.Nodes[i].Height || !within(n, whole) {
			t.Fatalf("node %d of %v is placed as %v in %v", i, g.Nodes[i], n, whole)
		}
	}
	for i, r := range p.Edges {
		e := g.Edges[i]
		if e.LabelWidth > 0 {
			boxes = append(boxes, r.Label)
		}
		ends := []Point{r.Curve[0], r.Curve[len(r.Curve)-1]}
		for k, n := range []Box{p.Nodes[e.From], p.Nodes[e.To]} {
			onBorder := ends[k].X >= n.X && ends[k].X <= n.X+n.Width && (ends[k].Y == n.Y || ends[k].Y == n.Y+n.Height) ||
				ends[k].X == n.X+n.Width && ends[k].Y > n.Y && ends[k].Y < n.Y+n.Height
			if !onBorder {
				t.Fatalf("edge %d, %v, ends at %v, and its node is %v", i, e, ends[k], n)
			}
		}
		for _, at := range sampled(r) {
			for k, n := range p.Nodes {
				inside := at.x > float64(n.X)+.5 && at.x < float64(n.X+n.Width)-.5 && at.y > float64(n.Y)+.5 && at.y < float64(n.Y+n.Height)-.5
				if inside {
					t.Fatalf("edge %d, %v, passes through node %d at %v", i, e, k, at)
				}
			}
		}
	}
	for i := range boxes {
		for k := range boxes[:i] {
			if !apart(boxes[i], boxes[k]) {
				t.Fatalf("boxes %d and %d of %d nodes overlap: %v, %v", k, i, len(p.Nodes), boxes[k], boxes[i])
			}
		}
	}
	for i, n := range g.Nodes {
		inside := map[int]bool{}
		for c := n.Cluster; c > 0; c = g.Clusters[c].Inside {
			inside[c] = true
		}
		for c := 1; c < len(g.Clusters); c++ {
			if box := p.Clusters[c]; inside[c] && !within(p.Nodes[i], box) || !inside[c] && !apart(p.Nodes[i], box) {
				t.Fatalf("node %d of cluster %d stands at %v, and cluster %d at %v", i, n.Cluster, p.Nodes[i], c, box)
			}
		}
	}
}

type spot struct{ x, y float64 }

// sampled is a curve as a line with corners.
func sampled(r Route) []spot {
	var out []spot
	for i := 0; i+3 < len(r.Curve); i += 3 {
		p := r.Curve[i : i+4]
		for k := range 17 {
			t := float64(k) / 16
			s := 1 - t
			a, b, c, d := s*s*s, 3*s*s*t, 3*s*t*t, t*t*t
			out = append(out, spot{
				a*float64(p[0].X) + b*float64(p[1].X) + c*float64(p[2].X) + d*float64(p[3].X),
				a*float64(p[0].Y) + b*float64(p[1].Y) + c*float64(p[2].Y) + d*float64(p[3].Y),
			})
		}
	}
	return out
}

// crossed counts where drawn edges cross that have no node in common.
func crossed(edges []Edge, lines [][]spot) int {
	type piece struct {
		edge int
		a, b spot
	}
	const cell = 60.0
	cells := map[[2]int][]piece{}
	n := 0
	for i, line := range lines {
		for k := 1; k < len(line); k++ {
			one := piece{i, line[k-1], line[k]}
			for x := math.Floor(min(one.a.x, one.b.x) / cell); x <= max(one.a.x, one.b.x)/cell; x++ {
				for y := math.Floor(min(one.a.y, one.b.y) / cell); y <= max(one.a.y, one.b.y)/cell; y++ {
					at := [2]int{int(x), int(y)}
					for _, other := range cells[at] {
						e, f := edges[i], edges[other.edge]
						if e.From == f.From || e.To == f.To || e.From == f.To || e.To == f.From {
							continue
						}
						if p, ok := meet(one.a, one.b, other.a, other.b); ok && math.Floor(p.x/cell) == x && math.Floor(p.y/cell) == y {
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
func meet(a, b, c, d spot) (spot, bool) {
	side := func(p, q, r spot) float64 { return (q.x-p.x)*(r.y-p.y) - (q.y-p.y)*(r.x-p.x) }
	s, t, u, v := side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
	if s*t >= 0 || u*v >= 0 {
		return spot{}, false
	}
	f := u / (u - v)
	return spot{a.x + f*(b.x-a.x), a.y + f*(b.y-a.y)}, true
}

func (p Placed) crossed(g Graph) int {
	lines := make([][]spot, len(p.Edges))
	for i, r := range p.Edges {
		lines[i] = sampled(r)
	}
	return crossed(g.Edges, lines)
}

// graphviz counts what the real Graphviz crosses in the same graph.
func graphviz(t *testing.T, g Graph) int {
	t.Helper()
	var b strings.Builder
	b.WriteString("digraph { node [shape=box, fixedsize=true, label=\"\"]; nodesep=0.39; ranksep=0.6;\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "n%d [width=%f, height=%f]\n", i, float64(n.Width)/72, float64(n.Height)/72)
	}
	for i, e := range g.Edges {
		label := ""
		if e.LabelWidth > 0 {
			label = fmt.Sprintf(", label=<<TABLE BORDER=\"0\" FIXEDSIZE=\"TRUE\" WIDTH=\"%d\" HEIGHT=\"%d\"><TR><TD></TD></TR></TABLE>>", e.LabelWidth, e.LabelHeight)
		}
		fmt.Fprintf(&b, "n%d -> n%d [class=e%d%s]\n", e.From, e.To, i, label)
	}
	b.WriteString("}\n")
	cmd := exec.Command("dot", "-Tplain")
	cmd.Stdin = strings.NewReader(b.String())
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	var edges []Edge
	var lines [][]spot
	for _, line := range strings.Split(string(out), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "edge" {
			continue
		}
		from, _ := strconv.Atoi(words[1][1:])
		to, _ := strconv.Atoi(words[2][1:])
		n, _ := strconv.Atoi(words[3])
		var r Route
		for i := range n {
			x, _ := strconv.ParseFloat(words[4+2*i], 64)
			y, _ := strconv.ParseFloat(words[5+2*i], 64)
			r.Curve = append(r.Curve, Point{int(x * 7200), int(y * 7200)})
		}
		edges = append(edges, Edge{From: from, To: to})
		points := sampled(r)
		for i := range points {
			points[i].x, points[i].y = points[i].x/100, points[i].y/100
		}
		lines = append(lines, points)
	}
	return crossed(edges, lines)
}

func TestNothingOverlaps(t *testing.T) {
	for seed := range uint64(amount.Of(60, 600, 5000)) {
		chance := rand.New(rand.NewPCG(seed, 1))
		g := random(chance, 1+chance.IntN(40), chance.IntN(2) == 0)
		if chance.IntN(2) == 0 {
			g = clustered(chance, g)
		}
		for range chance.IntN(4) { // back, and from one to itself
			e := Edge{From: chance.IntN(len(g.Nodes)), To: chance.IntN(len(g.Nodes))}
			if chance.IntN(2) == 0 {
				e.To = e.From
			}
			if chance.IntN(2) == 0 {
				e.LabelWidth, e.LabelHeight = 30, 12
			}
			g.Edges = append(g.Edges, e)
		}
		sound(t, g, Place(g))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestCrossings(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz isn't installed: .ci/install installs it")
	}
	for _, c := range []struct{ nodes, graphs int }{{20, amount.Of(10, 40, 200)}, {100, amount.Of(2, 10, 20)}, {1000, amount.Of(0, 0, 3)}} {
		for _, labels := range []bool{false, true} {
			ours, theirs := 0, 0
			start := time.Now()
			var took time.Duration
			for seed := range c.graphs {
				g := random(rand.New(rand.NewPCG(uint64(seed), 2)), c.nodes, labels)
				one, _ := cputime.Within(time.Second, func() { ours += Place(g).crossed(g) })
				took += one
				theirs += graphviz(t, g)
			}
			t.Logf("%d graphs of %d nodes, labels %v: %d crossings, Graphviz %d; %v of %v", c.graphs, c.nodes, labels, ours, theirs, took, time.Since(start))
			if ours*10 > theirs*13 {
				t.Errorf("%d nodes: %d crossings, and %d of Graphviz", c.nodes, ours, theirs)
			}
		}
	}
}
