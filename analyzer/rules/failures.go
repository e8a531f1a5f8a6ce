package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// failureFields are what a failure record holds.
var failureFields = []string{"code", "message", "details"}

// TellsFailures reports whether a path of a route is one for failures by its name, or the state
// schema there names what a failure record holds, or has no room for one.
func TellsFailures(p *Pass, route plan.Route) bool {
	isFailure := func(word string) bool { return slices.Contains(shortFailureWords, word) || namesFailure(word) }
	return slices.ContainsFunc(route, func(path plan.Path) bool {
		segments := p.Plan.Paths.Segments(path.ID)
		switch {
		case slices.ContainsFunc(segments[1:],
			func(s expression.Segment) bool { return slices.ContainsFunc(wordsOf(s.Key), isFailure) }):
			return true
		case p.Plan.StateSchema == nil || segments[0].Key != "state":
			return false
		}
		at := p.Plan.StateSchema.At(segments[1:])
		return !at.Possible || at.Schema.Kinds() != 0 && at.Schema.Kinds()&schema.Object == 0 ||
			at.Named && slices.ContainsFunc(at.Schema.Properties(),
				func(name string) bool { return slices.Contains(failureFields, name) })
	})
}

// NamesFailures reports whether one of some paths of a plan is for failures and nothing else, by its name.
func NamesFailures(p *plan.Plan, paths ...plan.Path) bool {
	names := func(s expression.Segment) bool { return slices.ContainsFunc(wordsOf(s.Key), namesFailure) }
	return slices.ContainsFunc(paths, func(path plan.Path) bool {
		return slices.ContainsFunc(p.Paths.Segments(path.ID)[1:], names)
	})
}

// MayChoose reports whether what carries a call out can name the alternative that its result takes: not by a text.
func MayChoose(p *plan.Plan, call *plan.Call) bool {
	a := p.Activities[call.Activity]
	form := ""
	switch {
	case a == nil:
	case a.Expression != nil:
		t := a.Expression.CheckCode(func(name string) *expression.Type {
			if tool := call.Single(); tool != nil && tool.Parameters != nil {
				return flow.NewType(tool.Parameters.Part(name).Schema)
			}
			return nil
		}).Type
		if t == nil || t.Kinds == 0 {
			return true
		}
		_, names := t.Fields["_outputPath"]
		return t.Kinds&expression.Object != 0 && (names || t.Open || t.Fields == nil)
	case a.HTTP != nil:
		form = a.HTTP.Response
	default:
		form = a.Stdout
	}
	return form == "" || form == plan.StreamJSON || form == plan.ResponseFull
}

// ForFailures reports whether a path of a call's failure route is meant for the records of its
// failures: by its name, and since the state has no room there for a result that is left by the
// other alternatives. "rejected" may be a verdict as well.
func ForFailures(p *Pass, call *plan.Call, path plan.Path) bool {
	if !NamesFailures(p.Plan, path) {
		return false
	}
	own, tool := p.Flow.StateAt(path.ID).Schema, call.Single()
	if own == nil || call.Method != plan.Set || tool == nil || tool.Output == nil ||
		p.Flow.Contains(tool.Output, own).Relation == schema.Never {
		return true
	}
	return slices.ContainsFunc(call.Output[:call.FailureRoute()], func(route plan.Route) bool {
		return !slices.ContainsFunc(route, func(path plan.Path) bool {
			s := p.Flow.StateAt(path.ID).Schema
			return s != nil && p.Flow.Contains(tool.Output, s).Relation != schema.Fits
		})
	})
}

func namesFailure(word string) bool {
	return word == "err" ||
		slices.ContainsFunc(failureWords, func(known string) bool { return strings.HasPrefix(word, known) })
}

// failureWords begin words that people call failures by, and shortFailureWords are some.
var (
	failureWords = []string{
		"error", "fail", "fault", "problem", "trouble", "exception", "issue", "invalid", "broken", "wrong", "reject",
		"refus", "declin", "denied", "dead",
		"missed", "missing", "lost", "timeout", "unavail", "unable", "unhandled", "unknown", "abort", "crash", "retry",
		"manual", "escalat", "fallback", "timed", "bounce", "cancel", "outage", "unreach",
	}
	shortFailureWords = []string{"e", "bad", "ugly", "log", "no", "not", "none"}
)

// nameWords are the words of a name, which begin with a capital or after a separator.
var nameWords = regexp.MustCompile(`\p{Lu}[^\p{Lu}_\- ]*|[^\p{Lu}_\- ]+`)

func wordsOf(name string) []string {
	words := nameWords.FindAllString(name, -1)
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	return words
}
