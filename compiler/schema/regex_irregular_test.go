package schema

import (
	"strings"
	"testing"
)

// LANGUAGE.md#tools: a pattern that isn't regular is matched by our validator alone, and not reasoned
// about.
func TestIrregularPatterns(t *testing.T) {
	password := `{"type":"string","pattern":"^(?=.*[0-9])(?=.*[a-z]).{4,}$"}`
	s := parse(t, password)
	if !s.Accepts("abc1") || s.Accepts("abcd") || s.Accepts("a1") {
		t.Error("look-ahead")
	}
	if v := s.Validate("abcd"); v == nil || v.Keyword != "pattern" || !strings.Contains(v.Message, `(?=.*[0-9])`) {
		t.Error(v)
	}
	names := parse(t, `{"type":"object","patternProperties":{"^(?!x-)":{"type":"string"}},"additionalProperties":{"type":"null"}}`)
	if names.Accepts(decode(t, `{"a":null}`)) || !names.Accepts(decode(t, `{"a":"","x-a":null}`)) {
		t.Error("look-ahead in a name")
	}
	for _, c := range []struct {
		from, to string
		want     Relation
	}{
		{`{"enum":["abc1","1abc"]}`, password, Fits},
		{`{"enum":["abc1","a"]}`, password, MayNotFit},
		{`{"type":"string","minLength":1}`, password, MayNotFit},
		{`{"type":"integer"}`, password, Never},
		{password, password, Fits},
		{password, `{"minLength":4}`, Unknown},
		{password, `{"type":"string"}`, Fits},
		{`{"type":"string","pattern":"^[a-z]+[0-9]$","minLength":4}`, password, Unknown},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"patternProperties":{"^(?!x-)":{"type":"string"}}}`, Fits},
		{`{"type":"object","additionalProperties":{"type":"null"}}`, `{"patternProperties":{"^(?!x-)":{"type":"string"}}}`, MayNotFit},
		{`{"type":"string","pattern":"^(a|b)\\1$"}`, `{"enum":["aa","bb"]}`, Unknown},
	} {
		if v := Contains(parse(t, c.from), parse(t, c.to), Budget{}); v.Relation != c.want || v.Alarm || v.Relation == Unknown && v.Reason == "" {
			t.Errorf("%s\n%s\n got %+v, want %v", c.from, c.to, v, c.want)
		}
	}
	bad := parse(t, `{"items":{"pattern":"^(a+)+\\1$"}}`)
	long := strings.Repeat("a", 10_000) + "b"
	if v := bad.Validate([]any{long}); v == nil || v.Keyword != "limit" {
		t.Error(v)
	}
	if not := parse(t, `{"not":{"pattern":"^(a+)+\\1$"}}`); not.Accepts(long) {
		t.Error("what isn't decided isn't accepted")
	}
}
