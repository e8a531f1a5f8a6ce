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

// How fine keys are, and how often the search goes up and down.
const (
	fine   = 1 << 12
	sweeps = 9
	starts = 200 // the first two always, the others where that costs little
)

// arrange orders the vertices of each layer: from several orders, sweeps down and up put each vertex where those that
// it is joined to are on average. The best order wins. What is in a cluster stays together, and clusters are in one
// order in all layers.
func (d *layering) arrange() {
	o := &ordering{layering: d, rank: make([]int, len(d.Clusters)), key: make([]int, len(d.vertices)),
		work: crossingWork}
	d.at = make([]int, len(d.vertices))
	best := make([][]int, len(d.layers))
	least := -1
	for start := 0; least != 0 && (start < 2 || start < starts && o.work > crossingWork*7/8); start++ {
		o.begin(start)
		for sweep := 0; sweep < sweeps && o.work > 0 && least != 0; sweep++ {
			o.agree()
			if sweep > 0 {
				o.sweep(sweep%2 == 1)
			}
			if n := o.crossings(); least < 0 || n < least {
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
		below := make([][]int, len(layer)) // by vertex: the places of those that it is joined to
		for i, v := range layer {
			for _, w := range o.down[v] {
				below[i] = append(below[i], o.at[w])
			}
			slices.Sort(below[i])
			for _, left := range below[:i] {
				total += inversions(left, below[i])
			}
			o.work -= len(layer) + len(o.down[v])
		}
	}
	return total
}
