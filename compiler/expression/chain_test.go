package expression

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// sameAsParser tells what the short way reads, and fails if the long way reads
// anything else.
func sameAsParser(t *testing.T, text string, limits Limits) *Expr {
	t.Helper()
	short := parseChain(text, limits)
	if short == nil {
		return nil
	}
	long, err := parse(text, limits, false)
	if err != nil {
		t.Fatalf("%q is a chain, and the parser refuses it: %s", text, err)
	}
	if !reflect.DeepEqual(short, long) {
		t.Fatalf("%q: the short way gives\n%+v %s\nand the parser\n%+v %s", text, short, short, long, long)
	}
	return short
}

// LANGUAGE.md#references-and-expressions: chains of references and literals are read the short way, and as the
// parser reads them; what isn't one is left to it.
func TestChains(t *testing.T) {
	limits := DefaultLimits()
	for _, text := range []string{
		"†state.a || 0", "†state.a||†state.b", "†state.a ?? †state.b || \"none\"", "†state.a && †state.b", "†state.a?.b || -1.5", "†state.a\n|| null",
		"†state[\"①\"] || 'x' || true", "†state.a || -0", "†state.a && nil && †input.b ", "†state.a || 999999999999999",
	} {
		if sameAsParser(t, text, limits) == nil {
			t.Errorf("%q isn't read the short way", text)
		}
	}
	for _, text := range []string{
		"†state.a || †state.b && 1", "†state.a || 1e5", "†state.a || 007", "†state.a || 1.", "†state.a || 1 2", "†state.a || \"\\n\"", "†state.a || x",
		"†state.a ||", "†state.a || (1)", "†state.a | len()", "†state.a || 1234567890123456", "†state.a || †", "†state.a || trues", "†state.a || /* */ 1", "†state.a || 0x1F",
		"†state.a || \"", "†state.a || .5", "†state.a || - 1", "†state.a || 1_0", "†(†state.a || 1)", "†state.a || \xff", "†state.a || \"\xff\"", "†state.a. || 1",
	} {
		if parseChain(text, limits) != nil {
			t.Errorf("%q is read the short way", text)
		}
	}
	pieces := []string{
		"†state.a", "†state.a", "†input.b[0]", "†data?.x", "†state[\"k \\\" k\"]", "†state.①", "||", "||", "||", "&&", "??", " ", " ", "\n", "\t", "0", "12.50", "-3", "-", ".", "1e3",
		"\"text\"", "'t'", "\"\\t\"", "null", "true", "nil", "falsely", "(", ")", "|", "?", "#", "+", "\u00a0", "†", "[0]", "a",
	}
	r := rand.New(rand.NewPCG(4, 3))
	chains := 0
	for range 200_000 {
		var b strings.Builder
		b.WriteString("†state.a")
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if sameAsParser(t, b.String(), limits) != nil {
			chains++
		}
	}
	if chains < 1_000 {
		t.Errorf("only %d of the random texts are chains", chains)
	}
}

// LANGUAGE.md#references-and-expressions: the limits hold for chains as they do for everything else.
func TestChainsKeepToTheLimits(t *testing.T) {
	for nodes := range 12 {
		limits := Limits{Nodes: nodes + 1, Depth: 50}.orDefault()
		for operands := 2; operands < 12; operands++ {
			text := "†state.a" + strings.Repeat(" || †state.b", operands-1)
			_, err := parse(text, limits, false)
			if e := sameAsParser(t, text, limits); (e == nil) != (err != nil) {
				t.Errorf("%d operands within %d nodes: the short way gives %v, the parser says %v", operands, nodes+1, e, err)
			}
		}
	}
	if e := parseChain("†state.a || 1", Limits{Nodes: 10, Depth: 1}); e != nil {
		t.Error("a chain is two levels deep")
	}
}
