package wording

import (
	"strings"
	"testing"
)

func TestPhrases(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "call"): "1 call", Count(0, "call"): "0 calls", Counted(2, "fix", "fixes"): "2 fixes",
		Or(nil): "", Or(strings.Fields("a")): "a", Or(strings.Fields("a b c")): "a, b or c", And(strings.Fields("a b")): "a and b",
		Names(nil, 2): "", Names(strings.Fields("a b"), 2): `"a", "b"`, Names(strings.Fields("a b c"), 2): `"a", "b", …`,
		Cut("†a.b", 4): "†a.b", Cut("†a.bc", 4): "†a.b…", Cut("", 0): "", Cut("ab", 0): "…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
