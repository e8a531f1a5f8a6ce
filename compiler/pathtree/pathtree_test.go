package pathtree

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// LANGUAGE.md#the-graph: a table gives every path one number, whatever else it holds, and knows an
// index from a key that is written alike.
func TestTree(t *testing.T) {
	type step struct {
		parent ID
		key    string
		index  bool
	}
	r := rand.New(rand.NewPCG(6, 1))
	table, model := New(), map[step]ID{}
	segment := func() reference.Segment {
		n := r.IntN(40)
		if r.IntN(4) == 0 {
			return reference.Segment{Key: strconv.Itoa(n), Index: n, IsIndex: true}
		}
		return reference.Segment{Key: []string{"", "k", "ключ"}[r.IntN(3)] + strconv.Itoa(n)}
	}
	for range 20_000 {
		parent, s := ID(r.IntN(min(table.Len(), 500))), segment()
		at := step{parent, s.Key, s.IsIndex}
		known, is := model[at]
		if id, ok := table.Lookup(parent, s); ok != is || ok && id != known {
			t.Fatalf("%+v below %d is looked up as %d, %v; want %d, %v", s, parent, id, ok, known, is)
		}
		id := table.Intern(parent, s)
		if is && id != known || !is && int(id) != table.Len()-1 {
			t.Fatalf("%+v below %d is number %d of %d; want %d", s, parent, id, table.Len(), known)
		}
		model[at] = id
		if table.Parent(id) != parent || table.Segment(id) != s || table.Depth(id) != table.Depth(parent)+1 {
			t.Fatalf("%+v below %d comes back as %+v below %d", s, parent, table.Segment(id), table.Parent(id))
		}
	}
	clone, length := table.Clone(), table.Len()
	clone.Intern(Root, reference.Segment{Key: "only in the clone"})
	if _, ok := table.Lookup(Root, reference.Segment{Key: "only in the clone"}); ok || table.Len() != length || clone.Len() != length+1 {
		t.Error("a clone grows by itself")
	}
	for at, id := range model {
		if got, ok := clone.Lookup(at.parent, reference.Segment{Key: at.key, IsIndex: at.index}); !ok || got != id {
			t.Fatalf("the clone has %+v as %d, %v; want %d", at, got, ok, id)
		}
	}
}

// LANGUAGE.md#output-paths-and-state: what stands at a path is found step by step, whichever way it is asked.
func TestWalk(t *testing.T) {
	table := New()
	value := map[string]any{"a": []any{map[string]any{"b": nil}, "x"}, "0": 1.0}
	for _, text := range []string{"†state", "†state.a", "†state.a[0]", "†state.a[0].b", "†state.a[0].b.c", "†state.a[1].b", "†state.a[2]", "†state[\"0\"]", "†state[0]", "†state.b.c"} {
		ref, err := reference.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		id := table.Intern(Root, reference.Segment{Key: ref.Kind})
		for _, s := range ref.Path {
			id = table.Intern(id, s)
		}
		want, there := Walk(any(value), ref.Path)
		got, ok := table.Walk(value, id)
		if ok != there || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, %v; want %v, %v", text, got, ok, want, there)
		}
	}
}
