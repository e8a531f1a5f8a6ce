package schema

import "testing"

const smallObject = `{"type":"object","properties":{"userName":{"type":"string"},"amount":{"type":"number","minimum":0},"currency":{"enum":["EUR","USD","GBP"]},"urgent":{"type":"boolean"}},"required":["userName","amount"],"additionalProperties":false}`

// The machine validates the parameters and the result of every call.
func BenchmarkValidateSmallObject(b *testing.B) {
	s := parse(b, smallObject)
	v := decode(b, `{"userName":"jane","amount":12.5,"currency":"USD"}`)
	b.ReportAllocs()
	for b.Loop() {
		if s.Validate(v) != nil {
			b.Fatal("refused")
		}
	}
}

// One question of the analyzer: does this result fit that parameter?
func BenchmarkContains(b *testing.B) {
	user := `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","age"]}`
	for _, c := range []struct{ name, from, to string }{
		{"SameKind", `{"type":"string"}`, `{"type":"string","description":"a name"}`},
		{"Enum", `{"enum":["a","b"]}`, `{"enum":["a","b","c"]}`},
		{"Object", user, `{"type":"object","properties":{"name":{"type":"string","minLength":0},"age":{"type":"number"},"tags":{"type":"array"}},"required":["name"]}`},
		{"ObjectMayNotFit", user, `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","maximum":150}},"required":["name"]}`},
		{"ObjectNever", user, `{"type":"object","properties":{"name":{"type":"integer"}},"required":["name"]}`},
		{"Pattern", `{"type":"string","pattern":"^[A-Z]{2}-\\d{4}$"}`, `{"pattern":"^[A-Z]{2}-\\d{4}$","maxLength":20}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			from, to := parse(b, c.from), parse(b, c.to)
			from.Ordinary()
			to.Ordinary()
			b.ReportAllocs()
			for b.Loop() {
				if v := Contains(from, to, Budget{}); v.Relation == Unknown {
					b.Fatal(v)
				}
			}
		})
	}
}
