package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
	"github.com/obelus-dev/obelus/testdata/crossings"
)

// random is a graph without cycles of so many nodes and about half as many edges
// more, most of them between nodes that come soon after each other.
func random(chance *rand.Rand, nodes int, labels bool) Graph {
	g := Graph{Clusters: []Cluster{{}}}
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

// clustered puts runs of nodes into clusters.
func clustered(chance *rand.Rand, g Graph) Graph {
	g.Clusters = []Cluster{{}}
	for i := 0; i < len(g.Nodes); {
		run := 2 + chance.IntN(6)
		if chance.IntN(3) == 0 {
			c := Cluster{TitleWidth: 40 + chance.IntN(200), TitleHeight: 14}
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
		for _, at := range r.drawn(e.From, e.To).Line() {
			for c := 1; c < len(g.Clusters); c++ {
				box, title := p.Clusters[c], g.Clusters[c]
				over := at.X > float64(box.X) && at.X < float64(box.X+inset+title.TitleWidth) && at.Y > float64(box.Y) && at.Y < float64(box.Y+title.TitleHeight)
				if over {
					t.Fatalf("edge %d, %v, passes through the title of cluster %d at %v", i, e, c, at)
				}
			}
			for k, n := range p.Nodes {
				inside := at.X > float64(n.X)+.5 && at.X < float64(n.X+n.Width)-.5 && at.Y > float64(n.Y)+.5 && at.Y < float64(n.Y+n.Height)-.5
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
		for c := 1; c < len(g.Clusters); c++ {
			if box := p.Clusters[c]; c == n.Cluster && !within(p.Nodes[i], box) || c != n.Cluster && !apart(p.Nodes[i], box) {
				t.Fatalf("node %d of cluster %d stands at %v, and cluster %d at %v", i, n.Cluster, p.Nodes[i], c, box)
			}
		}
	}
}

// drawn is an edge with its curve.
func (r Route) drawn(from, to int) crossings.Edge {
	e := crossings.Edge{From: fmt.Sprint(from), To: fmt.Sprint(to)}
	for _, p := range r.Curve {
		e.Curve = append(e.Curve, crossings.Spot{X: float64(p.X), Y: float64(p.Y)})
	}
	return e
}

func (p Placed) crossed(g Graph) int {
	var edges []crossings.Edge
	for i, r := range p.Edges {
		edges = append(edges, r.drawn(g.Edges[i].From, g.Edges[i].To))
	}
	return crossings.Count(edges)
}

func TestNothingOverlaps(t *testing.T) {
	for seed := range uint64(amount.Of(60, 200, 5000)) {
		chance := rand.New(rand.NewPCG(seed, 1))
		g := random(chance, 1+chance.IntN(40), chance.IntN(2) == 0)
		if chance.IntN(2) == 0 {
			g = clustered(chance, g)
		}
		for range chance.IntN(4) { // back
			e := Edge{From: chance.IntN(len(g.Nodes)), To: chance.IntN(len(g.Nodes))}
			if chance.IntN(2) == 0 {
				e.LabelWidth, e.LabelHeight = 30, 12
			}
			if e.From != e.To {
				g.Edges = append(g.Edges, e)
			}
		}
		sound(t, g, Place(g))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Ten thousand nodes are placed within a minute, and a thousand within a second, also
// where they are all alone, in a chain, or all joined to one.
func TestManyNodes(t *testing.T) {
	shapes := map[string]func(i int) int{
		"alone": func(int) int { return -1 }, "chain": func(i int) int { return i - 1 }, "star": func(int) int { return 0 }, "tree": func(i int) int { return (i - 1) / 2 },
	}
	for name, before := range shapes {
		g := Graph{Clusters: []Cluster{{}}}
		for i := range amount.Of(1000, 10_000, 10_000) {
			g.Nodes = append(g.Nodes, Node{Width: 80, Height: 30})
			if from := before(i); from >= 0 && i > 0 {
				g.Edges = append(g.Edges, Edge{From: from, To: i})
			}
		}
		var p Placed
		if took, soon := cputime.Within(time.Duration(amount.Of(1, 60, 60))*time.Second, func() { p = Place(g) }); !soon {
			t.Errorf("%s: %d nodes take %v", name, len(g.Nodes), took)
		}
		if len(g.Nodes) > 1000 {
			continue // to count crossings takes longer
		}
		if n := p.crossed(g); n > 0 {
			t.Errorf("%s: %d crossings", name, n)
		}
	}
	if amount.Long() {
		g := random(rand.New(rand.NewPCG(3, 2)), 10_000, true)
		if took, soon := cputime.Within(time.Minute, func() { Place(g) }); !soon {
			t.Errorf("%d nodes and %d edges take %v", len(g.Nodes), len(g.Edges), took)
		} else {
			t.Logf("%d nodes and %d edges take %v", len(g.Nodes), len(g.Edges), took)
		}
	}
}
