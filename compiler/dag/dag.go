// Package dag holds dependency graphs that should have no cycles, and find theirs:
// order, components, shortest cycles, and who depends on whom at any distance. Its
// nodes are numbers from 0. Nothing in it recurses, so a graph's depth is no danger.
package dag

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/heap"
)

// A Graph says which node depends on which, as compressed adjacency: all edges
// in one slice, those of a node side by side.
type Graph struct {
	deps, users adjacency
	order       []int32 // see Order
	rank        []int32 // see Rank
	component   []int32 // number of the strongly connected component of each node
	components  int
	self        []int32 // see SelfCycles
}

type adjacency struct {
	start []int32 // edges of i: to[start[i]:start[i+1]]
	to    []int32
}

func (a adjacency) of(i int) []int32 { return a.to[a.start[i]:a.start[i+1]] }

// A Builder collects the edges of a graph, node by node.
type Builder struct{ deps adjacency }

// NewBuilder has room for so many nodes and edges, and takes more.
func NewBuilder(nodes, edges int) *Builder {
	return &Builder{adjacency{start: make([]int32, 1, nodes+1), to: make([]int32, 0, edges)}}
}

// Add says what the node at hand depends on, in any order; repetitions count once.
func (b *Builder) Add(deps ...int32) { b.deps.to = append(b.deps.to, deps...) }

// Next ends the node at hand, and continues to the next.
func (b *Builder) Next() {
	a := &b.deps
	from := a.start[len(a.start)-1]
	slices.Sort(a.to[from:])
	a.to = a.to[:int(from)+len(slices.Compact(a.to[from:]))]
	a.start = append(a.start, int32(len(a.to)))
}

// Graph is the graph of the nodes so far. Those that depend on themselves are passed
// apart, ascending: they have no edge.
func (b *Builder) Graph(self []int32) Graph {
	g := Graph{deps: b.deps, self: self}
	g.users = g.deps.reversed()
	g.sort()
	g.connect()
	return g
}

// Of is the graph of nodes by what each depends on.
func Of(deps [][]int32) Graph {
	b := NewBuilder(len(deps), 0)
	for _, one := range deps {
		b.Add(one...)
		b.Next()
	}
	return b.Graph(nil)
}

func (a adjacency) reversed() adjacency {
	n := len(a.start) - 1
	r := adjacency{start: make([]int32, n+1), to: make([]int32, len(a.to))}
	for _, t := range a.to {
		r.start[t+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	next := slices.Clone(r.start[:n])
	for i := range n {
		for _, t := range a.of(i) {
			r.to[next[t]] = int32(i)
			next[t]++
		}
	}
	return r
}

// Len is the number of nodes.
func (g *Graph) Len() int { return max(0, len(g.deps.start)-1) }

// Edges is the number of dependencies.
func (g *Graph) Edges() int { return len(g.deps.to) }

// Deps are the nodes that node i depends on directly, ascending. The slice is
// the graph's own.
func (g *Graph) Deps(i int) []int32 { return g.deps.of(i) }

// Users are the nodes that depend on node i directly, ascending. The slice is
// the graph's own.
func (g *Graph) Users(i int) []int32 { return g.users.of(i) }

// SelfCycles are the nodes that depend on themselves, ascending.
func (g *Graph) SelfCycles() []int32 { return g.self }

// Order is the topological order that takes the first ready node first. Nodes
// on a cycle, and what depends on them, are left out.
func (g *Graph) Order() []int32 { return g.order }

// Rank is a node's place in Order. Those that are left out come behind it, a node that
// depends on a cycle behind the whole of the cycle: they must have an order too.
func (g *Graph) Rank(i int) int { return int(g.rank[i]) }

// Acyclic reports whether every node has its place in Order, and none depends on itself.
func (g *Graph) Acyclic() bool { return len(g.order) == g.Len() && len(g.self) == 0 }

// sort is Kahn's algorithm with a heap of the ready nodes.
func (g *Graph) sort() {
	n := g.Len()
	waiting := make([]int32, n)
	var ready []int32
	for i := range n {
		waiting[i] = int32(len(g.Deps(i)))
		if waiting[i] == 0 {
			ready = append(ready, int32(i)) // ascending, hence a heap already
		}
	}
	g.order = make([]int32, 0, n)
	g.rank = make([]int32, n)
	for i := range g.rank {
		g.rank[i] = -1
	}
	for len(ready) > 0 {
		i := heap.Pop(&ready, cmp.Less[int32])
		g.rank[i] = int32(len(g.order))
		g.order = append(g.order, i)
		for _, u := range g.Users(int(i)) {
			if waiting[u]--; waiting[u] == 0 {
				heap.Push(&ready, u, cmp.Less[int32])
			}
		}
	}
}

// connect numbers the strongly connected components, those that others depend on first: the nodes of the order by
// their ranks, and the rest by Kosaraju's algorithm. It gives the rest their ranks, component by component.
func (g *Graph) connect() {
	n := g.Len()
	g.component, g.components = slices.Clone(g.rank), len(g.order)
	seen := make([]bool, n)
	var finished, stack, rest []int32
	for i := range int32(n) {
		root := int32(n) - 1 - i // so that of two the first comes first, unless it depends on the other
		if g.rank[root] >= 0 {
			continue
		}
		rest = append(rest, root)
		for stack = append(stack, root); len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if v < 0 { // all its users were visited
				finished = append(finished, ^v)
			} else if !seen[v] {
				seen[v] = true
				stack = append(append(stack, ^v), g.Users(int(v))...)
			}
		}
	}
	for _, root := range slices.Backward(finished) {
		if g.component[root] >= 0 {
			continue
		}
		for stack = append(stack, root); len(stack) > 0; {
			v := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; g.component[v] < 0 {
				g.component[v] = int32(g.components)
				stack = append(stack, g.Deps(int(v))...)
			}
		}
		g.components++
	}
	slices.SortFunc(rest, func(a, b int32) int { return cmp.Or(int(g.component[a]-g.component[b]), int(a-b)) })
	for at, i := range rest {
		g.rank[i] = int32(len(g.order) + at)
	}
}

// Components is how many strongly connected components there are: one for each node, but for those on cycles.
func (g *Graph) Components() int { return g.components }

// Component numbers the strongly connected component that a node belongs to.
func (g *Graph) Component(i int) int { return int(g.component[i]) }

// Cycles gives of each strongly connected component of more than one node a shortest cycle through its first node,
// ordered by that. A cycle is a list of nodes; each depends on the next, and the last on the first.
func (g *Graph) Cycles() (cycles [][]int32) {
	if len(g.order) == g.Len() {
		return nil
	}
	parent := make([]int32, g.Len()) // and 1; 0 of a node that wasn't met
	visited := make([]bool, g.components)
	for from := range int32(g.Len()) {
		if c := g.component[from]; !visited[c] {
			visited[c] = true
			if cycle := g.cycleThrough(from, parent); cycle != nil {
				cycles = append(cycles, cycle)
			}
		}
	}
	return cycles
}

// cycleThrough searches breadth first for the shortest cycle through a node.
func (g *Graph) cycleThrough(from int32, parent []int32) []int32 {
	for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, w := range g.Deps(int(v)) {
			if w == from {
				back := []int32{}
				for ; v != from; v = parent[v] - 1 {
					back = append(back, v)
				}
				back = append(back, from)
				slices.Reverse(back)
				return back
			}
			if g.component[w] == g.component[from] && parent[w] == 0 {
				parent[w] = v + 1
				queue = append(queue, w)
			}
		}
	}
	return nil
}

// A Trace finds out what single nodes of one graph depend on, at any distance.
type Trace struct {
	met   []int32 // by node: when it was last met
	now   int32
	stack []int32
}

// Follow goes from a node against the edges to all nodes.
func (t *Trace) Follow(g *Graph, from int32) {
	t.met = append(t.met, make([]int32, g.Len()-len(t.met))...)
	t.now++
	t.stack = append(t.stack[:0], from)
	for len(t.stack) > 0 {
		i := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		for _, d := range g.Deps(int(i)) {
			if t.met[d] != t.now {
				t.met[d] = t.now
				t.stack = append(t.stack, d)
			}
		}
	}
}

// Met reports whether the last way led to a node.
func (t *Trace) Met(i int32) bool { return t.met[i] == t.now }

// Block is how many nodes are followed through the graph at once: eight
// words a node.
const Block = 512

// Reach calls f(i, from, set) for every node i in of (ascending), block by block: set
// says for each of of[from:from+Block] whether i depends on it, directly or not. The
// nodes outside Order reach nothing. It makes len(of)/512 passes over the graph
// and keeps 64 bytes a node.
func (g *Graph) Reach(of []int32, f func(i int32, from int, set *Set)) {
	sets := make([]Set, g.Len())
	place := make([]int32, g.Len())
	for i := range place {
		place[i] = -1
	}
	for at, i := range of {
		place[i] = int32(at)
	}
	for from := 0; from < len(of); from += Block {
		for _, i := range g.order {
			set := &sets[i]
			*set = Set{}
			for _, d := range g.Deps(int(i)) {
				for w, bits := range sets[d] {
					set[w] |= bits
				}
				if at := int(place[d]) - from; place[d] >= 0 && at >= 0 && at < Block {
					set[at/64] |= 1 << (at % 64)
				}
			}
			if place[i] >= 0 {
				f(i, from, set)
			}
		}
	}
}

// A Set holds some nodes of a block, by their places in the list that Reach is given.
type Set [Block / 64]uint64

// Has reports whether the node at a place of the list is in the block, which begins at
// from, and in the set.
func (s *Set) Has(from, at int) bool {
	at -= from
	return at >= 0 && at < Block && s[at/64]&(1<<(at%64)) != 0
}
