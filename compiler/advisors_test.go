package compiler

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

const council = `
tools: {deploy: {type: object}, delay: {type: object}}
advice: {aggregate: sum, threshold: 5.5, enforce: ask}
advisors:
  - {id: risk, role: weighs risks, description: careful, "on": request, schema: {type: object, properties: {thought: {type: string}}, required: [thought]}}
  - {id: each, role: r, "on": start, isInstanced: true}
  - {id: critic, role: finds faults, scopes: [state, †input.x]}
calls: []
`

func compiledPlan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, found := Compile(source.NewFile("plan.yaml", []byte(text)), Options{Name: "plan.yaml"})
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	return p
}

// LANGUAGE.md#advisors: advisors and advice as the document says them, and what holds
// where it doesn't.
func TestAdvisors(t *testing.T) {
	p := compiledPlan(t, council)
	var got []string
	for _, a := range p.Advisors {
		var scopes []string
		for _, s := range a.Scopes {
			scopes = append(scopes, s.Kind+" "+s.Ref.String())
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%v|%v|%v", a.ID, a.Role, a.Description, a.On, a.Schema != nil, a.Instanced, scopes))
	}
	want := []string{
		"risk|weighs risks|careful|request|true|false|[]", "each|r||start|false|true|[]", "critic|finds faults|||false|false|[state †state input †input.x]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if want := (plan.Advice{Aggregate: "sum", Threshold: 5.5, HasThreshold: true, Enforce: "ask"}); p.Advice != want {
		t.Errorf("advice is %+v", p.Advice)
	}
	if tool := p.Tool(Consult); tool == nil || !tool.Builtin || !tool.Latent {
		t.Errorf("the tool that consults is %+v", tool)
	}
	plain := compiledPlan(t, "tools: {a: {type: object}}\nadvisors: [{id: x, role: r, 'on': finish}]\ncalls: []")
	if want := (plan.Advice{Aggregate: "mean", Enforce: "off"}); plain.Advice != want || plain.Tool(Consult) != nil {
		t.Errorf("advice is %+v, the tool that consults %v", plain.Advice, plain.Tool(Consult))
	}
}

func parsed(t testing.TB, text string) *source.Node {
	t.Helper()
	n, problems := source.Parse(source.NewFile("solution.json", []byte(text)), source.DefaultLimits())
	if n == nil || len(problems) > 0 {
		t.Fatal(text, problems)
	}
	return n
}

// LANGUAGE.md#advisors: what an advisor may say, and what it can't, hostile votes among it.
func TestOpinions(t *testing.T) {
	p := compiledPlan(t, council)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		opinion string
		votes   map[string]float64
		fault   string
	}{
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": 10, \"delay\": -2.5}"}`, map[string]float64{"deploy": 10, "delay": -2.5}, ""},
		{`{"id": "risk", "thought": "t", "calls": {"deploy": 10}}`, map[string]float64{"deploy": 10}, ""},
		{`{"id": "risk", "thought": "t", "calls": "{\"ConsultAdvisor\": 1}"}`, map[string]float64{"ConsultAdvisor": 1}, ""},
		{`{"id": "risk", "thought": "t", "calls": "{}"}`, map[string]float64{}, ""},
		{`{"id": "risk", "thought": "t", "calls": ""}`, nil, ""},
		{`{"id": "risk", "thought": "t", "calls": null}`, nil, ""},
		{`{"id": "risk", "thought": "t"}`, nil, ""},
		{`{"id": "each", "_instance": "①", "calls": "{\"deploy\": 0}"}`, map[string]float64{"deploy": 0}, ""},
		{`{"id": "each", "calls": "{}"}`, nil, "for which instance"},
		{`{"id": "each", "_instance": 3}`, nil, "for which instance"},
		{`{"id": "risk", "thought": "t", "_instance": "①"}`, nil, "speaks for all instances"},
		{`{"id": "risk"}`, nil, `"thought" is missing`},
		{`{"id": "risk", "thought": 3}`, nil, "expected a string"},
		{`{"id": "risk", "thought": "t", "calls": "[1]"}`, nil, "a list, not an object"},
		{`{"id": "risk", "thought": "t", "calls": 3}`, nil, "a number, not an object"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": NaN}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": 1e999}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": Infinity}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": 1, \"deploy\": 2}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": 1} {}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": 1,}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": ` + deep + `}"}`, nil, "aren't JSON"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": \"1\"}"}`, nil, "a string, not a number"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deploy\": null}"}`, nil, "not a number"},
		{`{"id": "risk", "thought": "t", "calls": "{\"deplay\": 1}"}`, nil, "there is no such tool"},
	} {
		n := parsed(t, c.opinion)
		o, fault := OpinionOf(p.Advisor(n.Get("id").Text), n)
		switch {
		case c.fault == "" && fault != nil:
			t.Errorf("%s: %v", c.opinion, fault)
		case c.fault != "" && (fault == nil || !strings.Contains(fault.Message, c.fault) || fault.Help == ""):
			t.Errorf("%s: got %v, want %q", c.opinion, fault, c.fault)
		case fault == nil && (o.Advisor != n.Get("id").Text || len(o.Votes) != len(c.votes) || len(c.votes) > 0 && !reflect.DeepEqual(o.Votes, c.votes)):
			t.Errorf("%s: got %+v", c.opinion, o)
		}
	}
}

// LANGUAGE.md#advisors: whatever an advisor says is an opinion or a fault, and votes are finite.
func FuzzOpinion(f *testing.F) {
	p := compiledPlan(f, council)
	f.Add(`{"deploy": 1}`)
	f.Add(`{"deploy": 1e308, "delay": -1e308}`)
	f.Add("{\"\u202e\": NaN}")
	f.Add(`[[[[`)
	f.Fuzz(func(t *testing.T, votes string) {
		text, err := json.Marshal(map[string]any{"id": "risk", "thought": votes, "calls": votes})
		if err != nil {
			return
		}
		n, _ := source.Parse(source.NewFile("opinion.json", text), source.DefaultLimits())
		if n == nil || n.Get("calls") == nil {
			return
		}
		o, fault := OpinionOf(p.Advisor("risk"), n)
		if fault != nil {
			if fault.Message == "" || fault.Help == "" || !fault.Span.Known() {
				t.Fatalf("%q: %+v", votes, fault)
			}
			return
		}
		for _, r := range RankOf((plan.Advice{Aggregate: "sum"}), []plan.Opinion{o, o, o}) {
			if _, known := callable(p, r.Tool); !known || math.IsNaN(r.Weight) || math.IsInf(r.Weight, 0) {
				t.Fatalf("%q: %+v", votes, r)
			}
		}
	})
}

// LANGUAGE.md#advisors: the order of opinions makes no difference, who abstains has no part, a
// mean and a minimum lie between the votes, and nothing overflows.
func TestRankProperties(t *testing.T) {
	const seed = 20260113
	r := rand.New(rand.NewPCG(seed, 1))
	tools := []string{"a", "b", "c", "d"}
	weight := func() float64 {
		switch r.IntN(6) {
		case 0:
			return math.MaxFloat64 * float64(1-2*r.IntN(2))
		case 1:
			return math.SmallestNonzeroFloat64
		case 2:
			return math.Copysign(0, -1)
		}
		return float64(r.IntN(200)-100) / 7
	}
	for round := range 3000 {
		opinions := make([]plan.Opinion, r.IntN(7))
		for i := range opinions {
			opinions[i] = plan.Opinion{Advisor: fmt.Sprint("a", i%4), Instance: fmt.Sprint(i / 4), Votes: map[string]float64{}}
			for _, tool := range tools {
				if r.IntN(3) > 0 {
					opinions[i].Votes[tool] = weight()
				}
			}
		}
		for _, aggregate := range []string{"mean", "sum", "min"} {
			a := plan.Advice{Aggregate: aggregate}
			ranking := RankOf(a, opinions)
			shuffled := append(slices.Clone(opinions), plan.Opinion{Advisor: "silent"})
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if again := RankOf(a, shuffled); !reflect.DeepEqual(again, ranking) {
				t.Fatalf("seed %d, round %d: the order matters:\n%v\n%v", seed, round, ranking, again)
			}
			for i, one := range ranking {
				least, most := math.Inf(1), math.Inf(-1)
				for _, v := range one.Votes {
					least, most = min(least, v.Weight), max(most, v.Weight)
				}
				slack := 1e-12 * max(math.Abs(least), math.Abs(most))
				between := least-slack <= one.Weight && one.Weight <= most+slack
				if math.IsInf(one.Weight, 0) || math.IsNaN(one.Weight) || aggregate != "sum" && !between || aggregate == "min" && one.Weight != least {
					t.Fatalf("seed %d, round %d: %s of %v is %v", seed, round, aggregate, one.Votes, one.Weight)
				}
				if i > 0 && (one.Weight > ranking[i-1].Weight || one.Weight == ranking[i-1].Weight && one.Tool < ranking[i-1].Tool) {
					t.Fatalf("seed %d, round %d: out of order: %v", seed, round, ranking)
				}
			}
		}
	}
}

// LANGUAGE.md#advisors: a solution's opinions are held against the advisors of its setting, and
// what these are is carried along.
func TestOpinionsOfASolution(t *testing.T) {
	base := compiledPlan(t, council)
	solve := func(text string) (*plan.Plan, []diag.Diagnostic) {
		s := Setting{Plan: base, Paths: base.Paths.Clone()}
		return s.Solve(source.NewFile("tick.json", []byte(text)), Options{})
	}
	p, found := solve(`{"advisors": [{"id": "risk", "thought": "t", "calls": "{\"deploy\": 1}"}], "calls": [{"_tool": "deploy", "_when": "†advice.deploy > 3"}]}`)
	if diag.HasErrors(found) || p.Opinions == nil || len(p.Advisors) != 3 || p.Advice != base.Advice {
		t.Errorf("%v: %v", p.Advisors, found)
	}
	for text, want := range map[string]string{
		`{"advisors": [{"id": "rick", "thought": "t"}], "calls": []}`:                                     `there is no advisor "rick"`,
		`{"advisors": [{"id": "risk"}], "calls": []}`:                                                     `isn't what its schema asks for`,
		`{"advisors": [{"id": "risk", "thought": "a"}, {"id": "risk", "thought": "b"}], "calls": []}`:     `has two opinions`,
		`{"advisors": [{"id": "each", "_instance": "1"}, {"id": "each", "_instance": "1"}], "calls": []}`: `has two opinions`,
		`{"advisors": [{"id": "risk", "thought": "a", "calls": "{\"deplay\": 1}"}], "calls": []}`:         `there is no such tool`,
		`{"advisors": [{"thought": "a"}], "calls": []}`:                                                   `doesn't say whose it is`,
	} {
		_, found := solve(text)
		at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule == diag.BadAdvisor && strings.Contains(d.Message, want) })
		if at < 0 || len(found) != 1 {
			t.Errorf("%s: %v", text, found)
		}
	}
}
