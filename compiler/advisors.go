package compiler

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Consult is the tool with which a model asks an advisor that speaks on demand.
const Consult = "ConsultAdvisor"

// An advisorReader reads advisors, and what they said.
type advisorReader struct{ *compilation }

// advisors reads the advisors of a plan file or an import.
func (c advisorReader) advisors(n *source.Node) {
	for _, one := range c.Items(n, "\"advisors\"", "a list of advisors, each with an \"id\"") {
		c.advisor(one, "an advisor", nil)
	}
}

// advisor reads one advisor, which may be in a message: that brings keys of
// its own. Of several with one id the last counts, as of tools.
func (c advisorReader) advisor(n *source.Node, what string, message map[string]func(source.Field)) {
	a := &plan.Advisor{Node: n, Plan: c.plan}
	handlers := map[string]func(source.Field){
		"schema": func(f source.Field) { a.Schema = c.ofOpinions(f.Value, "the schema of "+what) },
		"scopes": nil, // read once all kinds are known, see scopesOfAdvisors
	}
	if message != nil {
		handlers["said"] = func(f source.Field) { a.Said = f.Value.Items }
	}
	maps.Copy(handlers, message)
	switch {
	case !c.Mapping(n, what, a, handlers), a.IDNode == nil:
		return
	case a.IDNode.Kind != source.String || a.IDNode.Text == "":
		c.Expects(a.IDNode, "an advisor's \"id\"", "a name")
		return
	}
	a.ID = a.IDNode.Text
	c.plan.Advisors = append(slices.DeleteFunc(c.plan.Advisors, func(earlier *plan.Advisor) bool {
		return earlier.ID == a.ID
	}), a)
}

// ofOpinions reads the schema of what an advisor says, which is always a mapping. A fault of it is the advisor's.
func (c advisorReader) ofOpinions(n *source.Node, what string) *schema.Schema {
	before := len(c.Found)
	s := c.mappingSchema(n, nil, what)
	for i := range c.Found[before:] {
		if f := &c.Found[before+i]; f.Rule == diag.BadSchema && f.Span.File == n.File && n.Start <= f.Span.Start &&
			f.Span.End <= n.End {
			f.Rule = diag.BadAdvisor
		}
	}
	return s
}

// consultation makes the tool that asks the advisors which speak on demand. It takes the place of whatever else has its
// name: its answers are the advisors'.
func (c advisorReader) consultation() {
	advisors := slices.DeleteFunc(slices.Clone(c.plan.Advisors), func(a *plan.Advisor) bool { return a.On != "" })
	if len(advisors) == 0 {
		return
	}
	ids := make([]any, len(advisors))
	for i, a := range advisors {
		ids[i] = a.ID
	}
	choice, err := canonical.JSON(ids)
	if err != nil {
		panic(err) // it is of strings
	}
	text := `{"type": "object", "properties": {"advisor": {"enum": ` + string(choice) +
		`}, "question": {"type": "string"}}, "required": ["advisor", "question"], "additionalProperties": false}`
	n, _ := source.Parse(source.NewFile(Consult+".json", []byte(text)), source.DefaultLimits())
	tool := &plan.Tool{Name: Consult, Description: "asks an advisor, and gives what it says", Node: n, Builtin: true,
		Parameters: schema.New(n.Value(), schema.Options{})}
	if len(advisors) == 1 {
		tool.Output, tool.OutputNode = advisors[0].Schema, advisors[0].Node.Get("schema")
	}
	if own := c.tools[Consult]; own != nil {
		c.plan.Shadowed = append(c.plan.Shadowed, own)
	}
	c.tools[Consult] = tool
}

// consulted gives a call that asks one advisor by its id that advisor's schema for its result.
func (c *callReader) consulted() {
	if c.Tool == nil || !c.Tool.Builtin {
		return
	}
	at := slices.IndexFunc(c.Params.Fields, func(f plan.TemplateField) bool { return f.Key == "advisor" })
	if at < 0 {
		return
	}
	id, _ := c.Params.Fields[at].Value.Value.(string)
	if a := c.plan.Advisor(id); a != nil && a.Schema != c.Tool.Output {
		one := *c.Tool
		one.Output, one.OutputNode = a.Schema, a.Node.Get("schema")
		c.Tool = &one
	}
}

// judgeOpinions holds what was said against the advisors that there are. Those
// of a solution that is checked alone aren't known.
func (c advisorReader) judgeOpinions() {
	declared := map[[2]string]*source.Node{}
	const expected = "a list of opinions, each with the \"id\" of its advisor"
	for _, n := range c.Items(c.plan.Opinions, "\"advisors\"", expected) {
		if c.Fields(n, "an opinion", "a mapping"); n.Kind != source.Object || c.plan.Form == plan.Solution {
			continue
		}
		a := c.speaker(n)
		if a == nil {
			continue
		}
		opinion, fault := OpinionOf(a, n)
		key := [2]string{opinion.Advisor, opinion.Instance}
		if fault != nil {
			c.Found = append(c.Found, *fault)
		} else if first := declared[key]; first != nil {
			c.Report(diag.BadAdvisor, n.Span().Head(), "the advisor %q has two opinions", Shown(a.ID)).
				Note(first.Span().Head(), "the first is here").Advise("give one opinion of each advisor")
		} else {
			declared[key] = n
		}
	}
}

// speaker is whose opinion something is.
func (c advisorReader) speaker(n *source.Node) *plan.Advisor {
	id := n.Get("id")
	if id == nil || id.Kind != source.String {
		c.Report(diag.BadAdvisor, n.Span().Head(), "an opinion doesn't say whose it is").
			Advise("give it the \"id\" of its advisor")
		return nil
	}
	a := c.plan.Advisor(id.Text)
	if a != nil {
		return a
	}
	var ids []string
	for _, one := range c.plan.Advisors {
		ids = append(ids, one.ID)
	}
	f := c.Report(diag.BadAdvisor, id.Span(), "there is no advisor %q", Shown(id.Text, ids...))
	c.closest(f, id, naming.NewSuggester(ids), "the advisors are "+cmp.Or(quotedList(ids, fewListed), "none"))
	return nil
}

// RankOf puts votes together: a rank for each tool that somebody weighs, the highest first and then by name. Who leaves
// a tool out has no part in its rank. The order in which the opinions come makes no difference, and no weight is beyond
// what a float64 holds.
func RankOf(a plan.Advice, opinions []plan.Opinion) []plan.Rank {
	votes := map[string][]plan.Vote{}
	for _, o := range opinions {
		for tool, weight := range o.Votes {
			votes[tool] = append(votes[tool], plan.Vote{Advisor: o.Advisor, Instance: o.Instance, Weight: weight})
		}
	}
	ranking := make([]plan.Rank, 0, len(votes))
	for _, tool := range slices.Sorted(maps.Keys(votes)) {
		of := votes[tool]
		slices.SortStableFunc(of, func(x, y plan.Vote) int {
			return cmp.Or(cmp.Compare(x.Advisor, y.Advisor), cmp.Compare(x.Instance, y.Instance),
				cmp.Compare(x.Weight, y.Weight))
		})
		ranking = append(ranking, plan.Rank{Tool: tool, Weight: weight(a, of), Votes: of})
	}
	slices.SortStableFunc(ranking, func(x, y plan.Rank) int { return cmp.Compare(y.Weight, x.Weight) })
	return ranking
}

// weight is the aggregate of votes on one tool.
func weight(a plan.Advice, votes []plan.Vote) float64 {
	weights := make([]float64, len(votes))
	for i, v := range votes {
		weights[i] = v.Weight
	}
	slices.Sort(weights) // sums of floats depend on their order
	if a.Aggregate == "min" {
		return weights[0]
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if a.Aggregate != "sum" {
		sum /= float64(len(weights))
	}
	return max(-math.MaxFloat64, min(sum, math.MaxFloat64))
}
