package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Opinions are what the advisors of a planned run have said: in the tick, and last in all ticks.
type Opinions struct {
	Heard        bool     // the tick's are there, or none is wanted
	Instances    []string // of the run; nil for a plan that has one state
	plan         *plan.Plan
	greeted      bool // those of the start have been heard
	ofTick, last map[opinionKey]plan.Opinion
}

type opinionKey struct{ advisor, instance string }

// OpinionsOf begins with those that a document holds.
func OpinionsOf(p *plan.Plan) *Opinions {
	o := &Opinions{plan: p, last: map[opinionKey]plan.Opinion{}}
	for _, a := range p.Advisors {
		for _, n := range a.Said {
			if one, fault := compiler.OpinionOf(a, n); fault == nil {
				o.last[opinionKey{one.Advisor, one.Instance}] = one
			}
		}
	}
	o.greeted = len(o.last) > 0
	return o
}

// NextTick begins a tick in which nobody has voted.
func (o *Opinions) NextTick() { o.Heard, o.ofTick = len(o.Speakers()) == 0, nil }

// Speakers are the advisors who may speak in the tick. Those of the start speak until they have been heard.
func (o *Opinions) Speakers() []*plan.Advisor {
	return slices.DeleteFunc(slices.Clone(o.plan.Advisors), func(a *plan.Advisor) bool {
		return a.On == "" || a.On == "start" && o.greeted
	})
}

// Take takes the opinions of a solution with the findings about it, and reports whether its calls may start: not while
// one is missing or isn't valid. An invalid opinion isn't silence: it has a finding.
func (o *Opinions) Take(opinions *source.Node, found []diag.Diagnostic) bool {
	o.ofTick = map[opinionKey]plan.Opinion{}
	isValid := !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == diag.BadAdvisor })
	for _, n := range cmp.Or(opinions, &source.Node{}).Items {
		a := o.plan.Advisor(n.Get("id").AsText())
		if a == nil {
			isValid = false
			continue
		}
		one, fault := compiler.OpinionOf(a, n)
		if fault != nil {
			isValid, one.Advisor, one.Instance = false, a.ID, n.Get("_instance").AsText()
		}
		o.ofTick[opinionKey{one.Advisor, one.Instance}] = one
	}
	if isValid && len(o.Silent(false)) == 0 {
		o.Heard, o.greeted = true, true
		maps.Copy(o.last, o.ofTick)
	}
	return o.Heard
}

// A Silence is an opinion that is missing, about an instance or, "", all.
type Silence struct{ Message, Instance string }

// Silent are the opinions that are missing of advisors who must have voted in the tick: those of the start and of
// every request, and where the run is to end those of the end.
func (o *Opinions) Silent(ending bool) (missing []Silence) {
	for _, a := range o.Speakers() {
		if a.On == "finish" && !ending {
			continue
		}
		of := o.Instances
		if !a.Instanced || len(of) == 0 {
			of = []string{""}
		}
		for _, instance := range of {
			about := ""
			if instance != "" {
				about = fmt.Sprintf(" about the instance %q", instance)
			}
			why := fmt.Sprintf("the advisor %q hasn't voted%s: its opinion comes first, under \"advisors\"",
				a.ID, about)
			if a.On == "finish" {
				why = fmt.Sprintf("the advisor %q hasn't said%s whether the run is to end", a.ID, about)
			}
			if _, voted := o.ofTick[opinionKey{a.ID, instance}]; !voted {
				missing = append(missing, Silence{why, instance})
			}
		}
	}
	return missing
}

// Ranking is what the last of all advisors make of the tools, for an instance, and whether they tell instances apart.
func (o *Opinions) Ranking(instance string) (ranking []plan.Rank, apart bool) {
	var opinions []plan.Opinion
	for _, key := range o.keys() {
		if apart = apart || key.instance != ""; key.instance == "" || key.instance == instance {
			opinions = append(opinions, o.last[key])
		}
	}
	return compiler.RankOf(o.plan.Advice, opinions), apart
}

func (o *Opinions) keys() []opinionKey {
	return slices.SortedStableFunc(maps.Keys(o.last), func(a, b opinionKey) int {
		return cmp.Or(cmp.Compare(a.advisor, b.advisor), cmp.Compare(a.instance, b.instance))
	})
}

// Recorded are the last of all advisors as a record holds them: by advisor.
func (o *Opinions) Recorded() map[string][]any {
	all := map[string][]any{}
	for _, key := range o.keys() {
		one := o.last[key]
		said := request.Object{{Key: "id", Value: one.Advisor}}.WithText("_instance", one.Instance).WithAll(one.Said)
		if len(one.Votes) > 0 {
			said = said.With("calls", request.JSON(one.Votes))
		}
		all[one.Advisor] = append(all[one.Advisor], said)
	}
	return all
}

// Uncertainty says that the advisors rate the tool or the activity of a call below the threshold; or nothing.
func Uncertainty(a *plan.Advice, ranking []plan.Rank, call *plan.Call) string {
	if !a.HasThreshold || a.Enforce == "off" {
		return ""
	}
	for _, r := range ranking {
		if (r.Tool == call.ToolName || r.Tool == call.Activity) && r.Weight < a.Threshold {
			return fmt.Sprintf("the advisors rate %q %v, below the threshold of %v", r.Tool, r.Weight, a.Threshold)
		}
	}
	return ""
}
