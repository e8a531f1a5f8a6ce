package analyzer

import (
	"reflect"

	"github.com/obelus-dev/obelus/analyzer/flow"
)

// A store holds what rules work out once: one value of each type, made when it is first asked for.
type store map[reflect.Type]any

// kept is the store's value of a type.
func kept[T any](s store) *T {
	return flow.Once(s, reflect.TypeFor[T](), func() any { return new(T) }).(*T)
}

// table is the store's map between two types.
func table[K comparable, V any](s store) map[K]V {
	return flow.Once(s, reflect.TypeFor[map[K]V](), func() any { return map[K]V{} }).(map[K]V)
}

// once is the entry of a key in such a map, made when it is first asked for.
func once[K comparable, V any](s store, key K, work func() V) V {
	return flow.Once(table[K, V](s), key, work)
}

func forget[T any](s store) { delete(s, reflect.TypeFor[T]()) }
