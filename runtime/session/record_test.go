package session

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// EXECUTION.md#journals: an event that is kept is read as what it was. Each field of one is filled at random,
// also one that is new.
func TestRecordsOfEvents(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 86))
		var e runtime.Event
		fill(r, reflect.ValueOf(&e).Elem())
		body, err := json.Marshal(Record{Event: &e})
		if err != nil {
			continue
		}
		back, err := readRecord(body)
		if err != nil {
			t.Fatalf("seed %d: %s is read as %v", seed, body, err)
		}
		again, err := json.Marshal(back) // what isn't UTF-8 has become so
		if err != nil {
			t.Fatal(err)
		}
		if same, err := readRecord(again); err != nil || !reflect.DeepEqual(same, back) {
			t.Fatalf("seed %d: %s is read as %+v and, written again, as %+v: %v", seed, body, back.Event, same.Event, err)
		}
	}
}

// fill puts something random into a value of any type that events consist of.
func fill(r *rand.Rand, v reflect.Value) {
	if r.IntN(3) == 0 {
		return // what is empty is mostly left out
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Interface:
		v.Set(reflect.ValueOf(anything(r, 4)))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key)
			fill(r, item)
			v.SetMapIndex(key, item)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(words(r))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(2000) - 1000)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(r.Uint64N(200))
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	default:
		panic("an event has a field of type " + v.Type().String())
	}
}

// anything is a random value that an activity may give back, and sometimes what it
// may not.
func anything(r *rand.Rand, deep int) any {
	kinds := 12
	if deep == 0 {
		kinds = 10
	}
	switch r.IntN(kinds) {
	case 0:
		return r.IntN(2) == 0
	case 1:
		return float64(r.Int64N(1<<54) - 1<<53)
	case 2:
		return math.Float64frombits(r.Uint64()) // NaN and the infinities among them
	case 3:
		return []float64{0, math.Copysign(0, -1), 1 << 53, -(1<<53 - 1), 1e21, 1e20, 1e-6, 1e-7, 0.1, math.Inf(1)}[r.IntN(10)]
	case 4:
		return r.NormFloat64()
	case 5:
		return []any{map[string]any(nil), []any(nil), 7, json.Number("7.0")}[r.IntN(4)]
	case 10:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = anything(r, deep-1)
		}
		return list
	case 11:
		object := map[string]any{}
		for range r.IntN(5) {
			object[words(r)] = anything(r, deep-1)
		}
		return object
	}
	return words(r)
}

func words(r *rand.Rand) string {
	var s strings.Builder
	for range r.IntN(4) {
		s.WriteString([]string{"word", "<b>", "&", `"`, `\`, "/", "'", "\n", "\x00", "\x1f", "\x7f", "\xff", "é", "†", "\u2028", "\U0001F600", " ", "~"}[r.IntN(18)])
	}
	return s.String()
}
