package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// EXECUTION.md#limits: every question ends soon with a true statement, whatever the schemas are.
func TestContainmentIsBounded(t *testing.T) {
	product := func(n int, text func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = text(i)
		}
		return strings.Join(parts, ",")
	}
	anyOfs := `{"allOf":[` + product(24, func(i int) string {
		return fmt.Sprintf(`{"anyOf":[{"required":["a%d"]},{"required":["b%d"]}]}`, i, i)
	}) + `]}`
	ranges := `{"allOf":[` + product(24, func(i int) string {
		return fmt.Sprintf(`{"anyOf":[{"multipleOf":%d},{"maximum":%d}]}`, i+2, i-40)
	}) + `]}`
	union := func(n int, extra string) string {
		return `{"oneOf":[` + product(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"kind":{"const":"k%d"},"v%d":{"type":"string"}%s},"required":["kind"]}`, i, i, extra)
		}) + `]}`
	}
	enum := func(n int, format string) string {
		return `{"enum":[` + product(n, func(i int) string { return fmt.Sprintf(format, i) }) + `]}`
	}
	wide := func(n int, kind string) string {
		return `{"type":"object","properties":{` + product(n, func(i int) string { return fmt.Sprintf(`"p%d":{"type":%q}`, i, kind) }) +
			`},"required":[` + product(n, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]}`
	}
	required := func(n int) string {
		return `"required":[` + product(n, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]`
	}
	longTexts := `{"type":"object",` + required(300) + `,"properties":{` + product(300, func(i int) string {
		return fmt.Sprintf(`"p%d":{"type":"string","minLength":%d,"not":{"$ref":"#/$defs/e"}}`, i, 60_000+i)
	}) + `},"$defs":{"e":` + enum(1000, `"w%d"`) + `}}`
	lacking := `{"type":"object",` + required(1500) + `,"properties":{` +
		product(1500, func(i int) string { return fmt.Sprintf(`"q%d":false`, i) }) + `}}`
	tree := `{"type":"object","properties":{"l":{"$ref":"#"},"r":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}`
	strict := `{"type":"object","properties":{"l":{"$ref":"#"},"r":{"$ref":"#"},"v":{"type":"integer","minimum":0}},"required":["v"]}`
	for i, c := range []struct{ name, from, to, want string }{
		{"a 2^24 product of anyOfs", anyOfs, `{"type":"object"}`, "may-not-fit"},
		{"its parts among themselves", anyOfs, `{"anyOf":[{"minProperties":24},{"not":{"type":"object"}}]}`, "fits unknown"},
		{"a product of ranges", ranges, `{"type":"string"}`, "may-not-fit never"},
		{"a product of ranges against one more", ranges, `{"anyOf":[{"not":{"type":"number"}},{"multipleOf":720720},{"maximum":3}]}`, "fits may-not-fit unknown"},
		{"a union and itself in another order", union(40, ""), strings.Replace(union(41, ""), "oneOf", "anyOf", 1), "fits"},
		{"a union and a stricter one", union(40, ""), union(40, `,"x":{"type":"null"}`), "may-not-fit"},
		{"large enums", enum(3000, `"w%d"`), enum(3001, `"w%d"`), "fits"},
		{"large enums that differ", enum(3001, `"w%d"`), enum(3000, `"w%d"`), "may-not-fit"},
		{"large enums of objects", enum(300, `{"a":%d}`), `{"not":` + enum(300, `{"a":%d}`) + `}`, "never"},
		{"larger enums of objects", enum(1500, `{"a":%d}`), enum(1501, `{"a":%d}`), "fits"},
		{"all but a large enum", `{"type":"string","not":` + enum(2000, `"w%d"`) + `}`, `{"minLength":1}`, "may-not-fit"},
		{"all but many objects", `{"type":"object","not":` + enum(60, `{"a":%d}`) + `}`, `{"maxProperties":3}`, "may-not-fit unknown"},
		{"wide objects", wide(400, "string"), wide(400, "string"), "fits"},
		{"wide objects that differ at the end", wide(400, "integer"), strings.Replace(wide(400, "number"), `"p399":{"type":"number"}`, `"p399":{"type":"string"}`, 1), "never"},
		{"recursive trees", tree, strict, "may-not-fit"},
		{"recursive trees the other way", strict, tree, "fits"},
		{"a list that must go on for ever", `{"type":"array","minItems":1,"items":{"$ref":"#"}}`, `{"type":"string"}`, "fits"},
		{"exponential determinisation", `{"pattern":"^(a|b)*a(a|b){18}$","type":"string"}`, `{"pattern":"^(a|b)*b(a|b){18}$"}`, "may-not-fit unknown"},
		{"determinisation to a proof", `{"pattern":"^(a|b)*a(a|b){14}$","type":"string"}`, `{"pattern":"^[ab]*a[ab]{14}$"}`, "fits unknown"},
		{"letters of all scripts", `{"type":"string","pattern":"^\\p{L}+\\p{Nd}*$"}`, `{"pattern":"^[\\p{L}\\p{N}]+$"}`, "fits unknown"},
		{"many patterns for names", `{"type":"object","patternProperties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"string"},"f":{"type":"string"},"g":{"type":"string"},"h":{"type":"string"}}}`, `{"patternProperties":{"abc":{"type":"integer"}}}`, "may-not-fit unknown"},
		{"sixty thousand items", `{"type":"array","minItems":60000,"items":{"type":"array","minItems":50,"maxItems":50}}`, `{"items":{"items":{"type":"string"}}}`, "may-not-fit"},
		{"sixty thousand times sixty thousand items", `{"type":"array","minItems":60000,"items":{"type":"array","minItems":60000}}`, `{"items":{"items":{"type":"string"}}}`, "unknown"},
		{"sixty thousand different items", `{"type":"array","minItems":60000,"uniqueItems":true}`, `{"items":{"type":"string"}}`, "may-not-fit unknown"},
		{"far more than can be made", `{"type":"array","minItems":9007199254740992}`, `{"maxItems":3}`, "never unknown"},
		{"long strings", `{"type":"string","minLength":60000}`, `{"pattern":"b"}`, "may-not-fit unknown"},
		{"counts of several sorts", `{"type":"array","minItems":40,"allOf":[{"contains":{"minimum":1},"minContains":10},{"contains":{"maximum":5},"minContains":10},{"contains":{"multipleOf":2},"maxContains":3}]}`, `{"contains":{"type":"string"}}`, "may-not-fit unknown"},
		{"different items of few values", `{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"boolean"}}`, `{"type":"string"}`, "unknown"},
		{"incommensurable multiples", `{"type":"number","multipleOf":0.0000000001,"minimum":1e300}`, `{"multipleOf":1e-9}`, "may-not-fit fits unknown"},
		{"ten million properties", `{"type":"object","minProperties":10000000}`, `{"maxProperties":10}`, "never unknown"},
		{"names of a long pattern", `{"type":"object","minProperties":255,"propertyNames":{"pattern":"a{1000}"}}`, `{"maxProperties":10}`, "never unknown"},
		{"a long string of a word", `{"type":"string","pattern":"\\bfoo\\b","minLength":65536}`, `{"maxLength":10}`, "never unknown"},
		{"a hundred items of a long pattern", `{"type":"array","contains":{"pattern":"a{1000}"},"minContains":100}`, `{"items":{"type":"number"}}`, "never may-not-fit unknown"},
		{"properties of a starred pattern", `{"type":"object","minProperties":65536,"patternProperties":{"^(a|b)*$":{"type":"string"}}}`, `{"maxProperties":10}`, "never unknown"},
		{"letters of all scripts, many times", `{"type":"string","pattern":"^[\\p{L}\\p{N}]{0,200}$"}`, `{"pattern":"^\\p{L}{3}"}`, "may-not-fit unknown"},
		{"large objects in large objects", `{"type":"object","minProperties":200,"additionalProperties":{"type":"object","minProperties":200,"additionalProperties":{"type":"object","minProperties":200}}}`, `{"additionalProperties":{"additionalProperties":{"type":"string"}}}`, "never may-not-fit unknown"},
		{"long texts in many places", `{"type":"array","minItems":900,"uniqueItems":true,"items":{"type":"string","minLength":5000,"pattern":"(x|y)z"}}`, `{"maxItems":3}`, "never unknown"},
		{"long texts that many aren't", longTexts, `{"additionalProperties":{"type":"string"},"maxProperties":299}`, "never may-not-fit unknown"},
		{"parts against parts of other names", `{"type":"object",` + required(1800) + `}`, `{"anyOf":[` + product(1200, func(i int) string { return fmt.Sprintf(`{"properties":{"q%d":{"type":"integer"}}}`, i) }) + `]}`, "may-not-fit unknown"},
		{"required and lacking parts of many sizes", lacking, `{"anyOf":[` + product(990, func(i int) string { return fmt.Sprintf(`{"maxProperties":%d}`, i+10) }) + `]}`, "may-not-fit never unknown"},
		{"many things that a list contains", `{"type":"array","prefixItems":[` + product(1500, func(i int) string { return fmt.Sprintf(`{"type":"integer","multipleOf":%d}`, i+1) }) + `],"contains":{"type":"string"}}`, `{"minItems":3000,"allOf":[` + product(1500, func(i int) string { return fmt.Sprintf(`{"contains":{"const":%d}}`, i) }) + `]}`, "may-not-fit unknown"},
		{"conditions in conditions", strings.Repeat(`{"if":{"required":["a"]},"then":`, 30) + `{}` + strings.Repeat(`,"else":{"minProperties":1}}`, 30), `{"minProperties":1}`, "fits"},
	} {
		if i%amount.Of(5, 1, 1) > 0 {
			continue
		}
		from, to := parse(t, c.from), parse(t, c.to)
		from.Ordinary()
		to.Ordinary()
		var v Verdict
		best, soon := cputime.Within(100*time.Millisecond, func() { v = Contains(from, to, Budget{}) })
		t.Logf("%-45s %-12v %9v %6d steps %s %s", c.name, v.Relation, best.Round(time.Microsecond), v.Steps, v.Keyword, short(v.Witness)[:min(60, len(short(v.Witness)))])
		if v.Alarm || !strings.Contains(" "+c.want+" ", " "+v.Relation.String()+" ") {
			t.Errorf("%s: %v, want %s; alarm %v, witness %s", c.name, v.Relation, c.want, v.Alarm, short(v.Witness))
		}
		if !soon {
			t.Errorf("%s: took %v", c.name, best)
		}
	}
}

// randomly is a text of some letters.
func randomly(letters string, length int) string {
	r, text := rand.New(rand.NewPCG(18, 8)), make([]byte, length)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// EXECUTION.md#limits: a validation costs bounded work also by patterns, which count by what they may
// cost: a few large ones on a long text are refused, and a small one on a text of
// megabytes isn't.
func TestPatternsAreBounded(t *testing.T) {
	var large []string
	for i := range 10 {
		large = append(large, fmt.Sprintf(`{"pattern":"[ab]*a[ab]{600}c%d$"}`, i))
	}
	text := randomly("ab", 45_000)
	for name, c := range map[string]struct {
		schema string
		value  any
		want   string
	}{
		"one large":                   {`{"anyOf":[` + large[0] + `,{"type":"string"}]}`, text, ""},
		"ten large":                   {`{"anyOf":[` + strings.Join(large, ",") + `,{"type":"string"}]}`, text, "limit"},
		"ten large on a short one":    {`{"anyOf":[` + strings.Join(large, ",") + `,{"type":"string"}]}`, text[:1000], ""},
		"one large on many":           {`{"items":{"anyOf":[` + large[0] + `,{"type":"string"}]}}`, slices.Repeat([]any{text[:1000]}, 1000), "limit"},
		"a small one on megabytes":    {`{"pattern":"^data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/]*={0,2}$"}`, "data:image/png;base64," + strings.Repeat("ab", 4<<20), ""},
		"names":                       {`{"patternProperties":{` + strings.NewReplacer(`{"pattern":`, "", `$"}`, `$":{}`).Replace(strings.Join(large, ",")) + `}}`, map[string]any{text: 1.0}, "limit"},
		"a small one on many strings": {`{"items":{"pattern":"^[a-z]+$"}}`, slices.Repeat([]any{text[:100]}, 10_000), ""},
	} {
		if (len(name)+1)%amount.Of(6, 1, 1) > 0 { // with -thorough all are tried
			continue
		}
		s := parse(t, c.schema)
		got := ""
		spent := cputime.Spent(func() {
			if v := s.Validate(c.value); v != nil {
				got = v.Keyword
			}
		})
		if got != c.want || spent > time.Second {
			t.Errorf("%s: %q after %v, want %q", name, got, spent, c.want)
		}
	}
}
