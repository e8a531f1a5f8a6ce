package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

type pair struct {
	Name, Dialect, Expect, Audit string
	Tags                         []string
	Sub, Super                   any
	Witness                      any
}

func (p pair) schemas() (sub, super *Schema) {
	return New(inDialect(p.Sub, p.Dialect), Options{}), New(inDialect(p.Super, p.Dialect), Options{})
}

// inDialect is a schema that names its draft.
func inDialect(raw any, name string) any {
	if m, ok := raw.(map[string]any); ok && m["$schema"] == nil {
		m = maps.Clone(m)
		m["$schema"] = metaURL[map[string]dialect{"draft4": draft4, "draft6": draft6, "draft7": draft7}[name]]
		return m
	}
	return raw
}

// core reports whether a row is in the part that has to be decided.
func (p pair) core() bool {
	for _, tag := range p.Tags {
		switch tag {
		case "format", "content", "unevaluated", "dynamic", "recursive":
			return false
		}
	}
	return true
}

// LANGUAGE.md#findings: OB505, OB506: the verdicts on schema pairs that others wrote and judged.
func TestCorpus(t *testing.T) {
	for _, file := range corpus.SchemaPairs {
		t.Run(file, func(t *testing.T) {
			var took []time.Duration
			core, decided, wrong, refuted := 0, 0, 0, 0
			undecided := map[string]int{}
			for _, p := range corpus.Rows[pair](t, file) {
				a, b := p.schemas()
				a.Ordinary() // what it costs to compile is another matter
				b.Ordinary()
				text, err := json.Marshal([]any{p.Sub, p.Super})
				if err != nil {
					t.Fatal(err)
				}
				var v Verdict
				best, soon := cputime.Within(50*time.Millisecond, func() {
					var read [2]any
					json.Unmarshal(text, &read)
					fresh := p
					fresh.Sub, fresh.Super = read[0], read[1]
					x, y := fresh.schemas()
					x.Compile()
					y.Compile()
					v = Contains(a, b, Budget{})
				})
				took = append(took, best)
				if !soon {
					t.Errorf("%s took %v and %d steps", p.Name, best, v.Steps)
				}
				if p.core() {
					core++
					if v.Relation != Unknown {
						decided++
					}
				}
				if v.Alarm {
					t.Errorf("%s: alarm\n%v\n%v", p.Name, short(p.Sub), short(p.Super))
				}
				want := p.Expect == "subset"
				switch {
				case v.Relation == Unknown:
					undecided[v.Keyword]++
					if p.core() || testing.Verbose() {
						t.Logf("%s: unknown, %s\n\t%v\n\t%v", p.Name, v.Keyword, short(p.Sub), short(p.Super))
					}
				case (v.Relation == Fits) != want:
					if p.Audit == "unconfirmed" || refutes(t, p, v) {
						refuted++
						t.Logf("%s: %v, not %s, and here is why: %v", p.Name, v.Relation, p.Expect, short(v.Witness))
						continue
					}
					wrong++
					t.Errorf("%s: %v, but %s\n\t%v\n\t%v", p.Name, v.Relation, p.Expect, short(p.Sub), short(p.Super))
				}
			}
			slices.Sort(took)
			t.Logf("%d rows; core %d, decided %d (%.1f %%), wrong %d, refuted %d; undecided %v; median %v, 95th %v, longest %v", len(took), core, decided,
				100*float64(decided)/float64(core), wrong, refuted, undecided, took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
			if float64(decided) < 0.98*float64(core) {
				t.Errorf("fewer than 98 %% of the core were decided")
			}
		})
	}
}

// refutes reports whether the witness shows that nobody could have confirmed a
// row's expectation: the ordinary validator, given both texts as they stand,
// accepts it under the one and refuses it under the other. So it is with rows
// that take "." to match a line feed, and with one that calls a recursive
// schema unsatisfiable that isn't.
func refutes(t *testing.T, p pair, v Verdict) bool {
	if p.Audit == "witnessed" || v.Witness == nil {
		return false
	}
	accepts := func(raw any) bool {
		s, err := compileRaw(t, inDialect(raw, p.Dialect))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v.Witness) == nil
	}
	return accepts(p.Sub) && !accepts(p.Super)
}

func short(v any) string {
	text, _ := json.Marshal(v)
	if len(text) > 300 {
		return string(text[:300]) + "…"
	}
	return string(text)
}
