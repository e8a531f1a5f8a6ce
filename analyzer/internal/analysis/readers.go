package analysis

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/pathtree"
)

// A binding lists, by call, the reads that may see what it writes.
type binding struct {
	reads [][]int32
	known bool
}

// maxBound bounds how many pairs of a call and a read are listed.
const maxBound = 4_000_000

// Bound lists, by call, the reads that may see what it writes; nil where there are too many of them.
func Bound(p *Pass) [][]int32 {
	b := Kept[binding](p.Store)
	if b.known {
		return b.reads
	}
	b.known = true
	pairs := 0
	for i := range p.Plan.Reads {
		pairs += len(p.Plan.Reads[i].Writers)
	}
	if pairs > maxBound {
		p.Found.Report(NotAnalysed, p.Plan.CallsNode.Span().Head(), "what reads the values that calls write is not "+
			"analysed: calls and reads of one value make %d pairs", pairs).
			Advise("split the plan, or write to more paths")
		return nil
	}
	b.reads = make([][]int32, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		for _, w := range p.Plan.Reads[i].Writers {
			b.reads[w] = append(b.reads[w], int32(i))
		}
	}
	return b.reads
}

// writtenBelow lists, by path, the paths one segment down at which, or below which, some call writes.
func writtenBelow(p *Pass) [][]pathtree.ID {
	below, paths := Kept[writtenPaths](p.Store), p.Plan.Paths
	if *below != nil {
		return *below
	}
	*below = make(writtenPaths, paths.Len())
	noted := make([]bool, paths.Len())
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			for id := path.ID; id > pathtree.Root && !noted[id]; id = paths.Parent(id) {
				noted[id] = true
				up := paths.Parent(id)
				(*below)[up] = append((*below)[up], id)
			}
		}
	}
	return *below
}

type writtenPaths [][]pathtree.ID // by path

// SortedKeys are the keys of an object; none of any other value.
func SortedKeys(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}
