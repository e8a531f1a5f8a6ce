package schema

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// LANGUAGE.md#findings: what keywords say of how long lists are.
func TestLengths(t *testing.T) {
	for text, want := range map[string][2]int{
		`{"type":"array"}`:                                                       {0, -1},
		`{"type":"array","minItems":1,"maxItems":3}`:                             {1, 3},
		`{"maxItems":3}`:                                                         {0, 3},
		`{"type":["array","null"],"maxItems":3}`:                                 {0, 3},
		`{"const":[1,2]}`:                                                        {2, 2},
		`{"enum":["x",[],[1,2]]}`:                                                {0, 2},
		`{"type":"array","prefixItems":[true,true],"items":false}`:               {0, 2},
		`{"$ref":"#/$defs/l","minItems":1,"$defs":{"l":{"maxItems":4}}}`:         {1, 4},
		`{"allOf":[{"minItems":2},{"maxItems":5,"minItems":1}]}`:                 {2, 5},
		`{"anyOf":[{"type":"null"},{"type":"array","minItems":2,"maxItems":5}]}`: {2, 5},
		`{"type":"array","oneOf":[{"maxItems":1},{"minItems":4,"maxItems":6}]}`:  {0, 6},
		`{"type":"string"}`:                                                      {0, -1},
		`{"$ref":"#"}`:                                                           {0, -1},
	} {
		var raw any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		s := New(raw, Options{})
		least, most := s.Lengths()
		if least != want[0] || most != want[1] {
			t.Errorf("%s has %d to %d items, want %v", text, least, most, want)
		}
		for seed := range uint64(20) {
			if v, ok := s.Sample(rand.New(rand.NewPCG(seed, 0))); ok {
				if list, is := v.([]any); is && (len(list) < least || most >= 0 && len(list) > most) {
					t.Errorf("%s accepts %v", text, v)
				}
			}
		}
	}
}
