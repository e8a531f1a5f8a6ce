package layout

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// An ordering is the search for an order in the layers with few crossings.
type ordering struct {
	*layering
	rank  []int // by cluster: its place among those beside it, in all layers
	key   []int // by vertex: where it would stand best; below 0 anywhere
	work  int
	flip  bool // those that would stand equally well change places
	count []int
	// What is made anew again and again is in these.
	buffers [2][]int
	median  []int
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
// (their mean and their median by turns), and neighbours change places where that
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
				o.sweep(sweep%2 == 1, sweep/4%2 == 0)
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
		for c := one.cluster; c > 0; c = o.Clusters[c].Inside {
			sum[c] += (2*o.at[v] + 1) * fine / (2 * len(o.layers[one.layer]))
			n[c]++
		}
	}
	for c := 1; c < len(o.Clusters); c++ {
		o.rank[c] = sum[c] / n[c]
	}
	for i, layer := range o.layers {
		for at, v := range layer {
			o.key[v] = at * fine
		}
		o.put(i, o.sorted(0, layer, nil))
	}
}

// sweep orders each layer by the one before it.
func (o *ordering) sweep(downwards, median bool) {
	for i := 1; i < len(o.layers); i++ {
		layer, before, joined := i, i-1, o.up
		if !downwards {
			layer, joined = len(o.layers)-1-i, o.down
			before = layer + 1
		}
		for _, v := range o.layers[layer] {
			o.key[v] = o.measure(joined[v], median)
		}
		var clusters map[int][2]int // where clusters are in the layer before: sum, number
		if len(o.Clusters) > 1 {
			clusters = map[int][2]int{}
			for _, v := range o.layers[before] {
				for c := o.vertices[v].cluster; c > 0; c = o.Clusters[c].Inside {
					clusters[c] = [2]int{clusters[c][0] + o.at[v]*fine, clusters[c][1] + 1}
				}
			}
		}
		o.put(layer, o.sorted(0, o.layers[layer], clusters))
	}
}

// measure is where a vertex stands best by those that it is joined to.
func (o *ordering) measure(joined []int, median bool) int {
	n := len(joined)
	o.work -= n
	if n == 0 {
		return -1
	}
	sum := 0
	if !median || n < 3 {
		for _, w := range joined {
			sum += o.at[w]
		}
		return sum * fine / n
	}
	o.median = o.median[:0]
	for _, w := range joined {
		o.median = append(o.median, o.at[w])
	}
	at := o.median
	slices.Sort(at)
	if n%2 == 1 {
		return at[n/2] * fine
	}
	// Between the two in the middle, nearer to where the others are closer together.
	left, right := at[n/2-1]-at[0], at[n-1]-at[n/2]
	if left+right == 0 {
		return (at[n/2-1] + at[n/2]) * fine / 2
	}
	return (at[n/2-1]*right + at[n/2]*left) * fine / (left + right)
}

// An item is what is ordered inside a cluster: a vertex, or a cluster with what
// the layer has of it.
type item struct {
	vertices []int
	cluster  int // 0 for a vertex
	key      int
}

// sorted orders those vertices of a layer that are in a cluster by their keys.
// Those without one keep their places.
func (o *ordering) sorted(cluster int, vertices []int, before map[int][2]int) []int {
	o.work -= 8 * len(vertices)
	items := o.items(cluster, vertices, before)
	slots, keyed := make([]int, 0, len(items)), make([]item, 0, len(items))
	for i, one := range items {
		if one.key >= 0 {
			slots, keyed = append(slots, i), append(keyed, one)
		}
	}
	if o.flip {
		slices.Reverse(keyed)
	}
	slices.SortStableFunc(keyed, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	for i, slot := range slots {
		items[slot] = keyed[i]
	}
	slots, keyed = slots[:0], keyed[:0]
	for i, one := range items {
		if one.cluster > 0 {
			slots, keyed = append(slots, i), append(keyed, one)
		}
	}
	slices.SortFunc(keyed, func(a, b item) int {
		return cmp.Or(cmp.Compare(o.rank[a.cluster], o.rank[b.cluster]), cmp.Compare(a.cluster, b.cluster))
	})
	for i, slot := range slots {
		items[slot] = keyed[i]
	}
	out := make([]int, 0, len(vertices))
	for _, one := range items {
		if one.cluster > 0 {
			one.vertices = o.sorted(one.cluster, one.vertices, before)
		}
		out = append(out, one.vertices...)
	}
	return out
}

func (o *ordering) items(cluster int, vertices []int, before map[int][2]int) []item {
	items := make([]item, 0, len(vertices))
	var known map[int]int // by cluster: its item
	for i, v := range vertices {
		c := o.vertices[v].cluster
		if c == cluster {
			items = append(items, item{vertices: vertices[i : i+1], key: o.key[v]})
			continue
		}
		for o.Clusters[c].Inside != cluster {
			c = o.Clusters[c].Inside
		}
		at, ok := known[c]
		if !ok {
			if at = len(items); known == nil {
				known = map[int]int{}
			}
			known[c] = at
			items = append(items, item{cluster: c})
		}
		items[at].vertices = append(items[at].vertices, v)
	}
	for i := range items {
		if one := &items[i]; one.cluster > 0 {
			sum, n := 0, 0
			for _, v := range one.vertices {
				if o.key[v] >= 0 {
					sum, n = sum+o.key[v], n+1
				}
			}
			if there := before[one.cluster]; there[1] > 0 {
				sum, n = sum+there[0]/there[1], n+1
			}
			if one.key = -1; n > 0 {
				one.key = sum / n
			}
		}
	}
	return items
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

// crossings counts the pairs of edges that cross, between each two layers by
// the method of Barth, Jünger and Mutzel, Simple and Efficient Bilayer Cross
// Counting (2002).
func (o *ordering) crossings() int {
	total := 0
	for i := 1; i < len(o.layers); i++ {
		size := 1
		for size < len(o.layers[i]) {
			size *= 2
		}
		o.count = slices.Grow(o.count[:0], 2*size)[:2*size]
		clear(o.count)
		for _, lower := range o.places(o.layers[i-1], o.down, 1) {
			for _, place := range lower {
				for leaf := place + size; leaf > 1; leaf /= 2 {
					if leaf%2 == 0 {
						total += o.count[leaf+1]
					}
					o.count[leaf]++
				}
			}
		}
	}
	return total
}
