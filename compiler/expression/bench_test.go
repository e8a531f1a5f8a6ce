package expression

import "testing"

func BenchmarkParsePlain(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("†state.user.name"); err != nil {
			b.Fatal(err)
		}
	}
}

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
func BenchmarkParseFilter(b *testing.B) { benchmarkParse(b, "†state.items | filter(.price > 10)") }

func benchmarkEval(b *testing.B, text string, value any) {
	e := parseOK(b, text)
	look := func(int) (any, Presence) { return value, There }
	b.ReportAllocs()
	for b.Loop() {
		if _, p, err := e.Eval(look); err != nil || p != There {
			b.Fatal(p, err)
		}
	}
}

func BenchmarkEvalPlain(b *testing.B)    { benchmarkEval(b, "†state.user.name", "Jo") }
func BenchmarkEvalFallback(b *testing.B) { benchmarkEval(b, "†state.a || †state.b || 10", 1.0) }
func BenchmarkEvalSum(b *testing.B)      { benchmarkEval(b, "†state.a * 2 + †state.b", 3.0) }
func BenchmarkEvalFilter(b *testing.B) {
	benchmarkEval(b, "†state.items | filter(.price > 10)", small["†state.items"])
}
func BenchmarkEvalFilter10000(b *testing.B) {
	items := make([]any, 10_000)
	for i := range items {
		items[i] = object{"price": float64(i % 20), "name": "x"}
	}
	benchmarkEval(b, "†state.items | filter(.price > 10)", items)
}

func BenchmarkEvalCode(b *testing.B) {
	e, err := ParseCode("{\"result\": arg_0 + arg_1}")
	if err != nil {
		b.Fatal(err)
	}
	params := object{"arg_0": 1.0, "arg_1": 2.0}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.EvalCode(params, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckFilter(b *testing.B) {
	e := parseOK(b, "†state.items | filter(.price > 10)")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Check(e.knownTypes()); err != nil {
			b.Fatal(err)
		}
	}
}
