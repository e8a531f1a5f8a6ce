package compiler

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
)

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
