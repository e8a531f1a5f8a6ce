package runtime

import "maps"

// edges collects pairs, to be listed by their first element.
type edges struct{ from, to []int32 }

func (e *edges) add(from, to int32) {
	e.from = append(e.from, from)
	e.to = append(e.to, to)
}

type adjacency struct{ start, to []int32 }

func (a adjacency) of(i int32) []int32 { return a.to[a.start[i]:a.start[i+1]] }

// list brings the pairs into compressed adjacency, each list in the order in
// which its pairs were added.
func (e *edges) list(n int) adjacency {
	a := adjacency{start: make([]int32, n+1), to: make([]int32, len(e.to))}
	for _, from := range e.from {
		a.start[from+1]++
	}
	for i := range n {
		a.start[i+1] += a.start[i]
	}
	next := make([]int32, n)
	copy(next, a.start)
	for i, from := range e.from {
		a.to[next[from]] = e.to[i]
		next[from]++
	}
	return a
}

// over lays one object over another, key by key at the top.
func over(under any, on map[string]any) map[string]any {
	out := map[string]any{}
	base, _ := under.(map[string]any)
	maps.Copy(out, base)
	maps.Copy(out, on)
	return out
}
