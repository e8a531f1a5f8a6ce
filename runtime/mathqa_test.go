package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/testdata/corpus"
)

// operations are MathQA's, as ../shared/corpus/README.md says what their names
// mean.
var operations = map[string]func(a ...float64) float64{
	"add": func(a ...float64) float64 { return a[0] + a[1] }, "subtract": func(a ...float64) float64 { return a[0] - a[1] },
	"multiply": func(a ...float64) float64 { return a[0] * a[1] }, "divide": func(a ...float64) float64 { return a[0] / a[1] },
	"power": func(a ...float64) float64 { return math.Pow(a[0], a[1]) }, "sqrt": func(a ...float64) float64 { return math.Sqrt(a[0]) },
	"max": func(a ...float64) float64 { return math.Max(a[0], a[1]) }, "min": func(a ...float64) float64 { return math.Min(a[0], a[1]) },
	"negate": func(a ...float64) float64 { return -a[0] }, "inverse": func(a ...float64) float64 { return 1 / a[0] },
	"floor": func(a ...float64) float64 { return math.Floor(a[0]) }, "log": func(a ...float64) float64 { return math.Log2(a[0]) },
	"reminder":    func(a ...float64) float64 { return a[0] - a[1]*math.Floor(a[0]/a[1]) },
	"factorial":   func(a ...float64) float64 { return product(1, a[0]) },
	"gcd":         func(a ...float64) float64 { return gcd(a[0], a[1]) },
	"lcm":         func(a ...float64) float64 { return a[0] / gcd(a[0], a[1]) * a[1] },
	"choose":      func(a ...float64) float64 { return product(a[0]-a[1]+1, a[0]) / product(1, a[1]) },
	"permutation": func(a ...float64) float64 { n, k := max(a[0], a[1]), min(a[0], a[1]); return product(n-k+1, n) },
	"sine":        func(a ...float64) float64 { return math.Sin(a[0]) }, "cosine": func(a ...float64) float64 { return math.Cos(a[0]) },
	"tangent":     func(a ...float64) float64 { return math.Tan(a[0]) },
	"circle_area": func(a ...float64) float64 { return math.Pi * a[0] * a[0] }, "circumface": func(a ...float64) float64 { return 2 * math.Pi * a[0] },
	"rectangle_area": func(a ...float64) float64 { return a[0] * a[1] }, "rectangle_perimeter": func(a ...float64) float64 { return 2 * (a[0] + a[1]) },
	"square_area": func(a ...float64) float64 { return a[0] * a[0] }, "square_perimeter": func(a ...float64) float64 { return 4 * a[0] },
	"square_edge_by_area": func(a ...float64) float64 { return math.Sqrt(a[0]) }, "square_edge_by_perimeter": func(a ...float64) float64 { return a[0] / 4 },
	"cube_edge_by_volume": func(a ...float64) float64 { return math.Cbrt(a[0]) }, "volume_cube": func(a ...float64) float64 { return a[0] * a[0] * a[0] },
	"surface_cube": func(a ...float64) float64 { return 6 * a[0] * a[0] }, "volume_rectangular_prism": func(a ...float64) float64 { return a[0] * a[1] * a[2] },
	"surface_rectangular_prism": func(a ...float64) float64 { return 2 * (a[0]*a[1] + a[0]*a[2] + a[1]*a[2]) },
	"volume_cylinder":           func(a ...float64) float64 { return math.Pi * a[0] * a[0] * a[1] },
	"surface_cylinder":          func(a ...float64) float64 { return 2 * math.Pi * a[0] * (a[0] + a[1]) },
	"volume_sphere":             func(a ...float64) float64 { return 4.0 / 3 * math.Pi * a[0] * a[0] * a[0] },
	"surface_sphere":            func(a ...float64) float64 { return 4 * math.Pi * a[0] * a[0] },
	"volume_cone":               func(a ...float64) float64 { return math.Pi * a[0] * a[0] * a[1] / 3 },
	"triangle_area":             func(a ...float64) float64 { return a[0] * a[1] / 2 }, "triangle_perimeter": func(a ...float64) float64 { return a[0] + a[1] + a[2] },
	"triangle_area_three_edges": func(a ...float64) float64 {
		s := (a[0] + a[1] + a[2]) / 2
		return math.Sqrt(max(0, s*(s-a[0])*(s-a[1])*(s-a[2])))
	},
	"rhombus_area": func(a ...float64) float64 { return a[0] * a[1] / 2 }, "rhombus_perimeter": func(a ...float64) float64 { return 4 * a[0] },
	"quadrilateral_area": func(a ...float64) float64 { return a[0] * (a[1] + a[2]) / 2 }, "diagonal": func(a ...float64) float64 { return math.Hypot(a[0], a[1]) },
	"side_by_diagonal": func(a ...float64) float64 { return math.Sqrt(a[0]*a[0] - a[1]*a[1]) },
	"speed":            func(a ...float64) float64 { return a[0] / a[1] }, "stream_speed": func(a ...float64) float64 { return (a[0] - a[1]) / 2 },
	"speed_in_still_water": func(a ...float64) float64 { return (a[0] + a[1]) / 2 }, "negate_prob": func(a ...float64) float64 { return 1 - a[0] },
	"p_after_gain":               func(a ...float64) float64 { return (1 + a[0]/100) * a[1] },
	"original_price_before_loss": func(a ...float64) float64 { return 100 * a[1] / (100 - a[0]) },
	"original_price_before_gain": func(a ...float64) float64 { return 100 * a[1] / (100 + a[0]) },
}

func product(from, to float64) float64 {
	p := 1.0
	for x := from; x <= to; x++ {
		p *= x
	}
	return p
}

func gcd(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return math.Abs(a)
}

// calculators are the operations as activities.
func calculators() map[string]activity.Func {
	funcs := map[string]activity.Func{}
	for name, op := range operations {
		funcs[name] = func(_ context.Context, r activity.Request) (any, error) {
			args := make([]float64, len(r.Params))
			for i := range args {
				args[i], _ = r.Params[fmt.Sprintf("arg_%d", i)].(float64)
			}
			return map[string]any{"result": op(args...)}, nil
		}
	}
	return funcs
}

type mathRow struct {
	ID       string          `json:"id"`
	Document json.RawMessage `json:"document"`
	Expected struct {
		State  map[string]any `json:"state"`
		Answer float64        `json:"answer"`
	} `json:"expected"`
}

// verified compiles a document that must have no error.
func verified(t testing.TB, name string, document []byte, functions ...string) *analyzer.Verified {
	t.Helper()
	plan, found := compiler.Compile(source.NewFile(name, document), compiler.Options{Functions: functions})
	analysis := analyzer.Analyze(plan, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s has errors: %s: %s", name, found[0].Rule.Code, found[0].Message)
	}
	return v
}

// Every plan of MathQA checks, runs, and gives every intermediate value and the
// answer.
func TestMathQA(t *testing.T) {
	t.Parallel()
	rows := corpus.Rows[mathRow](t, "mathqa.jsonl")
	funcs := calculators()
	names := slices.Sorted(maps.Keys(funcs))
	for _, row := range rows {
		v := verified(t, row.ID+".json", row.Document, names...)
		set, err := activity.Open(v.Plan().Activities, funcs, activity.Options{})
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := local.Run(t.Context(), v, local.Options{Activities: set})
		if err != nil {
			t.Fatalf("%s: %v", row.ID, err)
		}
		if err := set.Close(); err != nil {
			t.Fatal(err)
		}
		if outcome.Status != "done" {
			t.Errorf("%s: %s: %s", row.ID, outcome.Status, outcome.Reason)
			continue
		}
		if !near(outcome.State, any(row.Expected.State)) {
			t.Errorf("%s: state %v, expected %v", row.ID, outcome.State, row.Expected.State)
		}
		if !near(outcome.Output, map[string]any{"answer": row.Expected.Answer}) {
			t.Errorf("%s: output %v, expected answer %v", row.ID, outcome.Output, row.Expected.Answer)
		}
	}
}

// near compares values, numbers to a relative 1e-9.
func near(got, want any) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && (g == w || math.Abs(g-w) <= 1e-9*max(math.Abs(g), math.Abs(w)))
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for key := range w {
			if !near(g[key], w[key]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}
