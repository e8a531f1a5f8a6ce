package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
)

type opinionKey struct{ advisor, instance string }

// speakers are the advisors who may speak in the tick. Those of the start speak until they have been heard.
func (l *loop) speakers() []*plan.Advisor {
	return slices.DeleteFunc(slices.Clone(l.base.Advisors), func(a *plan.Advisor) bool {
		return a.On == "" || a.On == "start" && l.greeted
	})
}

// takeOpinions takes the opinions of a solution, and reports whether its calls may start:
// not while one is missing or isn't valid.
func (l *loop) takeOpinions(plan *plan.Plan, found []diag.Diagnostic) bool {
	if l.heard {
		return true
	}
	sound := l.noteOpinions(plan.Opinions)
	if !sound || slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == diag.BadAdvisor }) ||
		len(l.silent(false)) > 0 {
		return false
	}
	l.heard, l.greeted = true, true
	maps.Copy(l.said, l.tickOpinions)
	l.giveAdvice()
	return true
}

// noteOpinions notes who has spoken, and reports whether what they said can be taken.
// An invalid opinion isn't silence: it has a finding.
func (l *loop) noteOpinions(opinions *source.Node) bool {
	l.tickOpinions = map[opinionKey]plan.Opinion{}
	if opinions == nil {
		return true
	}
	sound := true
	for _, n := range opinions.Items {
		a := l.base.Advisor(n.Get("id").AsText())
		if a == nil {
			sound = false
			continue
		}
		o, fault := compiler.OpinionOf(a, n)
		if fault != nil {
			sound, o.Advisor, o.Instance = false, a.ID, n.Get("_instance").AsText()
		}
		l.tickOpinions[opinionKey{o.Advisor, o.Instance}] = o
	}
	return sound
}

// silent are the advisors who must have spoken in the tick and haven't: those of
// the start and of every request, and where the run is to end those of the end.
func (l *loop) silent(ending bool) []CallError {
	var missing []CallError
	for _, a := range l.speakers() {
		if a.On == "finish" && !ending {
			continue
		}
		of := []string{""}
		if a.Instanced && l.instances != nil {
			of = nil
			for _, f := range l.roots() {
				of = append(of, f.site.Instance)
			}
		}
		for _, instance := range of {
			if _, yes := l.tickOpinions[opinionKey{a.ID, instance}]; !yes {
				missing = append(missing,
					CallError{Code: diag.BadAdvisor.Name, Message: mustSpeak(a, instance), Instance: instance})
			}
		}
	}
	return missing
}

func mustSpeak(a *plan.Advisor, instance string) string {
	about := ""
	if instance != "" {
		about = fmt.Sprintf(" about the instance %q", instance)
	}
	if a.On == "finish" {
		return fmt.Sprintf("the advisor %q hasn't said%s whether the run is to end", a.ID, about)
	}
	return fmt.Sprintf("the advisor %q hasn't spoken%s: its opinion comes first, under \"advisors\"", a.ID, about)
}

func (l *loop) giveAdvice() {
	said := slices.SortedFunc(maps.Keys(l.said), opinionKey.compare)
	apart := slices.ContainsFunc(said, func(key opinionKey) bool { return key.instance != "" })
	var ranking []plan.Rank
	for at, f := range l.roots() {
		if at == 0 || apart {
			var opinions []plan.Opinion
			for _, key := range said {
				if key.instance == "" || key.instance == f.site.Instance {
					opinions = append(opinions, l.said[key])
				}
			}
			ranking = compiler.RankOf(l.base.Advice, opinions)
			c := l.emitRun(Advise)
			c.Frame, c.Ranking = f.number, ranking
			if apart {
				c.Site = &f.site
			}
		}
		f.ranking = ranking
		weights := make(map[string]any, len(ranking))
		for _, r := range ranking {
			weights[r.Tool] = r.Weight
		}
		f.log.Give("advice", weights)
	}
}

func uncertainty(f *frame, call *plan.Call) string {
	return guard.Uncertainty(&f.machine.base().Advice, f.root().ranking, call)
}

func (f *frame) root() *frame {
	for f.parent != nil {
		f = f.parent
	}
	return f
}

func (l *loop) hear() {
	for _, a := range l.base.Advisors {
		for _, n := range a.Said {
			if o, fault := compiler.OpinionOf(a, n); fault == nil {
				l.said[opinionKey{o.Advisor, o.Instance}] = o
			}
		}
	}
	l.greeted = len(l.said) > 0
}

// opinions are what advisors have said last, as a record holds it: by advisor.
func (l *loop) opinions() map[string][]any {
	all := map[string][]any{}
	for _, key := range slices.SortedFunc(maps.Keys(l.said), opinionKey.compare) {
		o := l.said[key]
		said := request.Object{{Key: "id", Value: o.Advisor}}
		if o.Instance != "" {
			said = said.With("_instance", o.Instance)
		}
		for _, name := range slices.Sorted(maps.Keys(o.Said)) {
			said = said.With(name, o.Said[name])
		}
		if len(o.Votes) > 0 {
			votes := request.Object{}
			for _, tool := range slices.Sorted(maps.Keys(o.Votes)) {
				votes = votes.With(tool, o.Votes[tool])
			}
			said = said.With("calls", request.JSON(votes))
		}
		all[o.Advisor] = append(all[o.Advisor], said)
	}
	return all
}

func (a opinionKey) compare(b opinionKey) int {
	return cmp.Or(cmp.Compare(a.advisor, b.advisor), cmp.Compare(a.instance, b.instance))
}
