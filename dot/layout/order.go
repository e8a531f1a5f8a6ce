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
}

// How fine keys are, and how often the search continues without having found better.
const (
	fine     = 1 << 12
	patience = 3
	sweeps   = 48
	starts   = 150 // the first two always, the others where that costs little
)

// arrange orders the vertices of each layer: from several orders, sweeps down and up put each vertex where those that
// it is joined to are on average, and neighbours change places where that saves crossings. The best order wins. What is
// in a cluster stays together, and clusters are in one order in all layers.
func (d *layering) arrange() {
	o := &ordering{layering: d, rank: make([]int, len(d.Clusters)), key: make([]int, len(d.vertices)),
		work: crossingWork}
	d.at = make([]int, len(d.vertices))
	best := make([][]int, len(d.layers))
	least := -1
	for start := 0; least != 0 && (start < 2 || start < starts && o.work > crossingWork*7/8); start++ {
		o.begin(start)
		for sweep, idle, here := 0, 0, 0; sweep < sweeps && idle < patience && o.work > 0 && least != 0; sweep++ {
			o.agree()
			if sweep > 0 {
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

// begin orders the layers as the vertices come, or by chance, which is the same every time.
func (o *ordering) begin(start int) {
	order := rand.New(rand.NewPCG(uint64(start), 0)).Perm(len(o.vertices))
	if start == 0 {
		slices.Sort(order)
	}
	for i := range o.layers {
		o.layers[i] = nil
	}
	for _, v := range order {
		layer := o.vertices[v].layer
		o.at[v] = len(o.layers[layer])
		o.layers[layer] = append(o.layers[layer], v)
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
		sum[one.cluster] += o.key[v]
		n[one.cluster]++
	}
	for c := range o.Clusters {
		o.rank[c] = sum[c] / max(1, n[c])
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
			o.key[v] = (2*at + 1) * fine / (2 * len(o.layers[layer]))
			sum, n := 0, len(joined[v])
			for _, w := range joined[v] {
				sum += o.at[w]
			}
			if o.work -= n; n > 0 { // where they stand on average
				o.key[v] = (2*sum + n) * fine / (2 * n * len(o.layers[before]))
			}
		}
		o.sort(layer)
	}
}

// sort orders a layer by the keys of its vertices, or of the clusters that they are in, which stay together.
func (o *ordering) sort(layer int) {
	order := o.layers[layer]
	o.work -= 8 * len(order)
	slices.SortStableFunc(order, func(v, w int) int {
		a, b := o.vertices[v].cluster, o.vertices[w].cluster
		p, q := o.key[v], o.key[w]
		if a != b && a > 0 {
			p = o.rank[a]
		}
		if a != b && b > 0 {
			q = o.rank[b]
		}
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(a, b))
	})
	o.put(layer, order)
}

// transpose lets neighbours change places as long as that saves crossings.
func (o *ordering) transpose() {
	for improved := true; improved && o.work > 0; {
		improved = false
		for i, layer := range o.layers {
			up, down := o.places(layer, o.up), o.places(layer, o.down)
			for at := range len(layer) - 1 {
				v, w := layer[at], layer[at+1]
				saved := inversions(up[at], up[at+1]) - inversions(up[at+1], up[at]) +
					inversions(down[at], down[at+1]) - inversions(down[at+1], down[at])
				o.work -= len(up[at]) + len(up[at+1]) + len(down[at]) + len(down[at+1])
				if saved > 0 && o.vertices[v].cluster == o.vertices[w].cluster {
					layer[at], layer[at+1] = w, v
					up[at], up[at+1], down[at], down[at+1] = up[at+1], up[at], down[at+1], down[at]
					improved = true
				}
			}
			o.put(i, layer)
		}
	}
}

// places are, for each vertex of a layer, the places of those that it is joined to on one side, in order.
func (o *ordering) places(layer []int, joined [][]int) [][]int {
	places := make([][]int, len(layer))
	for i, v := range layer {
		o.work -= len(joined[v])
		places[i] = make([]int, len(joined[v]))
		for k, w := range joined[v] {
			places[i][k] = o.at[w]
		}
		slices.Sort(places[i])
	}
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
		below := o.places(layer, o.down)
		for i := range below {
			for _, right := range below[i+1:] {
				total += inversions(below[i], right)
			}
		}
		o.work -= len(layer) * len(layer)
	}
	return total
}
