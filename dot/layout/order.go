package layout

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// An ordering is the search for an order in the layers with few crossings.
type ordering struct {
	*layering
	rank []int // by cluster: where it stands, as a part of its layers
	key  []int // by vertex: where it would stand best, as a part of its layer
	work int
	flip bool // those that would stand equally well change places
	// What is made anew again and again is in these.
	buffers [2][]int
}

// How fine keys are, and how often the search continues without having found better.
const (
	fine     = 1 << 12
	patience = 8
	sweeps   = 48
	starts   = 60 // the first two always, the others where that costs little
)

// arrange orders the vertices of each layer: from orders that follow the
// edges, sweeps down and up put each vertex where those that it is joined to are
// on average, and neighbours change places where that
// saves crossings. The best order wins. What is in a cluster stays together, and
// clusters are in one order in all layers.
func (d *layering) arrange() {
	o := &ordering{layering: d, rank: make([]int, len(d.Clusters)), key: make([]int, len(d.vertices)), work: crossingWork}
	d.at = make([]int, len(d.vertices))
	best := make([][]int, len(d.layers))
	least := -1
	for start := 0; least != 0 && (start < 2 || start < starts && o.work > crossingWork*7/8); start++ {
		o.begin(start)
		for sweep, idle, here := 0, 0, 0; sweep < sweeps && idle < patience && o.work > 0 && least != 0; sweep++ {
			o.agree()
			if o.flip = sweep%4 >= 2; sweep > 0 {
				o.sweep(sweep%2 == 1)
			}
			o.transpose()
			n := o.crossings()
			if n < here || sweep == 0 {
				here, idle = n, 0
			} else {
				idle++
			}
			if least < 0 || n < least {
				least = n
				for i, layer := range d.layers {
					best[i] = append(best[i][:0], layer...)
				}
			}
		}
	}
	for i, layer := range best {
		o.put(i, layer)
	}
}

// begin orders the layers as a search depth first comes along: downwards or
// upwards, and further starts in other orders of those that are joined.
func (o *ordering) begin(start int) {
	downwards := start%2 == 0
	chance := rand.New(rand.NewPCG(uint64(start), 0)) // the same every time
	for i := range o.layers {
		o.layers[i] = nil
	}
	seen := make([]bool, len(o.vertices))
	next, back := o.down, o.up
	if !downwards {
		next, back = o.up, o.down
	}
	var visit func(v int)
	visit = func(v int) {
		seen[v] = true
		layer := o.vertices[v].layer
		o.layers[layer] = append(o.layers[layer], v)
		joined := next[v]
		if start > 1 {
			joined = slices.Clone(joined)
			chance.Shuffle(len(joined), func(i, k int) { joined[i], joined[k] = joined[k], joined[i] })
		}
		for _, w := range joined {
			if !seen[w] {
				visit(w)
			}
		}
	}
	for _, ends := range []bool{true, false} { // first from those that nothing leads to
		for root := range o.vertices {
			if !seen[root] && (len(back[root]) == 0 || !ends) {
				visit(root)
			}
		}
	}
	for i, layer := range o.layers {
		o.put(i, layer)
	}
}

func (o *ordering) put(layer int, order []int) {
	o.layers[layer] = order
	for i, v := range order {
		o.at[v] = i
	}
}

// agree gives clusters one order, by where they stand on the whole, and orders
// all layers accordingly.
func (o *ordering) agree() {
	if len(o.Clusters) == 1 {
		return
	}
	sum, n := make([]int, len(o.Clusters)), make([]int, len(o.Clusters))
	for v, one := range o.vertices {
		o.key[v] = (2*o.at[v] + 1) * fine / (2 * len(o.layers[one.layer]))
		for c := one.cluster; c > 0; c = o.Clusters[c].Inside {
			sum[c] += o.key[v]
			n[c]++
		}
	}
	for c := 1; c < len(o.Clusters); c++ {
		o.rank[c] = sum[c] / n[c]
	}
	for i := range o.layers {
		o.sort(i)
	}
}

// sweep orders each layer by the one before it.
func (o *ordering) sweep(downwards bool) {
	for i := 1; i < len(o.layers); i++ {
		layer, before, joined := i, i-1, o.up
		if !downwards {
			layer, joined = len(o.layers)-1-i, o.down
			before = layer + 1
		}
		for at, v := range o.layers[layer] {
			if len(joined[v]) > 0 {
				o.key[v] = (2*o.mean(joined[v]) + fine) / (2 * len(o.layers[before]))
			} else {
				o.key[v] = (2*at + 1) * fine / (2 * len(o.layers[layer]))
			}
		}
		o.sort(layer)
	}
}

// mean is where a vertex stands best by those that it is joined to.
func (o *ordering) mean(joined []int) int {
	o.work -= len(joined)
	sum := 0
	for _, w := range joined {
		sum += o.at[w]
	}
	return sum * fine / len(joined)
}

// sort orders a layer by the keys of its vertices, and of the clusters that they are in, which stay together.
func (o *ordering) sort(layer int) {
	order := o.layers[layer]
	o.work -= 8 * len(order)
	if o.flip {
		slices.Reverse(order)
	}
	slices.SortStableFunc(order, func(v, w int) int {
		a, b := o.vertices[v].cluster, o.vertices[w].cluster
		p, q, left, right := o.key[v], o.key[w], 0, 0
		for a != b { // up to what stands beside each other in one cluster: clusters or vertices
			if o.depth[a] >= o.depth[b] {
				p, left, a = o.rank[a], a, o.Clusters[a].Inside
			} else {
				q, right, b = o.rank[b], b, o.Clusters[b].Inside
			}
		}
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(left, right))
	})
	o.put(layer, order)
}

// transpose lets neighbours change places as long as that saves crossings.
func (o *ordering) transpose() {
	again := make([]bool, len(o.layers))
	for i := range again {
		again[i] = true
	}
	for improved := true; improved && o.work > 0; {
		improved = false
		for i, layer := range o.layers {
			if !again[i] {
				continue
			}
			again[i] = false
			up, down := o.places(layer, o.up, 0), o.places(layer, o.down, 1)
			for at := 0; at+1 < len(layer); at++ {
				v, w := layer[at], layer[at+1]
				if o.vertices[v].cluster != o.vertices[w].cluster {
					continue
				}
				saved := inversions(up[at], up[at+1]) - inversions(up[at+1], up[at]) + inversions(down[at], down[at+1]) - inversions(down[at+1], down[at])
				o.work -= len(up[at]) + len(up[at+1]) + len(down[at]) + len(down[at+1])
				if saved > 0 || saved == 0 && o.flip && (len(up[at])+len(down[at]) > 0) {
					layer[at], layer[at+1] = w, v
					up[at], up[at+1], down[at], down[at+1] = up[at+1], up[at], down[at+1], down[at]
				}
				if saved > 0 {
					improved = true
					for near := max(0, i-1); near <= min(i+1, len(again)-1); near++ {
						again[near] = true
					}
				}
			}
			o.put(i, layer)
		}
		o.flip = false // those that are equal change places once
	}
}

// places are, for each vertex of a layer, the places of those that it is joined
// to on one side, in order; they are good until the next call for that side.
func (o *ordering) places(layer []int, joined [][]int, side int) [][]int {
	places := make([][]int, len(layer))
	n := 0
	for _, v := range layer {
		n += len(joined[v])
	}
	o.work -= n
	all := slices.Grow(o.buffers[side][:0], n) // of one layer at a time
	for i, v := range layer {
		from := len(all)
		for _, w := range joined[v] {
			all = append(all, o.at[w])
		}
		places[i] = all[from:]
		slices.Sort(places[i])
	}
	o.buffers[side] = all
	return places
}

// inversions counts the pairs whose value from a is greater.
func inversions(a, b []int) int {
	n, less := 0, 0
	for _, x := range a {
		for less < len(b) && b[less] < x {
			less++
		}
		n += less
	}
	return n
}

// crossings counts the pairs of edges that cross, between each two layers.
func (o *ordering) crossings() int {
	total := 0
	for _, layer := range o.layers {
		below := o.places(layer, o.down, 1)
		for i := range below {
			for _, right := range below[i+1:] {
				total += inversions(below[i], right)
			}
		}
		o.work -= len(layer) * len(layer)
	}
	return total
}
