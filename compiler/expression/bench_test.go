package expression

import "testing"

func benchmarkParse(b *testing.B, text string) {
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseFallback(b *testing.B) {
	benchmarkParse(b, "†state.user.name || †input.name || 10")
}
func benchmarkEval(b *testing.B, text string, value any) {
	e := parseOK(b, text)
	look := func(int) (any, Presence) { return value, There }
	b.ReportAllocs()
	for b.Loop() {
		if _, p, err := e.Eval(look, nil); err != nil || p != There {
			b.Fatal(p, err)
		}
	}
}

func BenchmarkEvalFilter(b *testing.B) {
	benchmarkEval(b, "†state.items | filter(.price > 10)", small["†state.items"])
}
