package analyzer

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A share is what a call is to a check of a policy's order rule: it itself, or the calls
// of the plan that carries it out.
type share struct {
	call           *plan.Call
	subject, other bool
	uncertain      bool          // which calls of the plan that carries it out run isn't known
	some           bool          // once it is done at least one of its items is
	count          int           // AtMost: how often subjects start with it, at most one too many
	key            string        // what it counts under: see orderKey
	without        logic.Literal // it runs, and none of the others that it depends on is done
}

// shares are those of the calls that are anything to the check, in the order of the calls.
func (j *orderJudge) shares() (all []share) {
	for _, call := range j.Plan.Calls {
		if one := j.share(call); one.subject || one.other {
			all = append(all, one)
		}
	}
	return all
}

// share is that of a call, with all of its items.
func (j *orderJudge) share(call *plan.Call) share {
	one, most := j.shareOf(j.Plan, call), j.check.Most
	if one.some = true; !one.subject && !one.other {
		return one
	}
	one.key = orderKey(j.Pass, j.check.Per, call)
	if call.Each != nil {
		least, items := j.Flow.Lengths(call)
		one.some = least > 0 && !call.When.PerItem() && !call.Each.Collect
		if !strings.HasPrefix(one.key, eachItem) {
			one.count = min(one.count*min(items, most+2), most+1)
		}
	}
	return one
}

// shareOf is what one run of a call of some plan is to the check.
func (j *orderJudge) shareOf(in *plan.Plan, call *plan.Call) share {
	role, attempts := label.RoleOf(j.check, in, call), max(1, call.Retry.Attempts)
	one := share{call: call, subject: role&label.Subject != 0, other: role&label.Other != 0}
	if one.subject {
		if one.count = attempts; label.IsIdempotent(in, call) {
			one.count = 1
		}
	}
	if d := in.Delegates[call.Delegate]; d != nil {
		within := j.within(d)
		one.uncertain = within.subject || within.other
		one.subject, one.other = one.subject || within.subject, one.other || within.other
		one.count += attempts * within.count
	}
	one.count = min(one.count, j.check.Most+1)
	return one
}

// within is what the calls of a delegate are to the check, together.
func (j *orderJudge) within(d *plan.Plan) share {
	all, known := j.inner[d]
	if known {
		return all
	}
	j.inner[d] = all // one within itself is a finding of its own
	for _, call := range d.Calls {
		one := j.shareOf(d, call)
		all.subject, all.other = all.subject || one.subject, all.other || one.other
		all.count = min(all.count+one.count, j.check.Most+1)
	}
	if j.check.Kind == policy.OnlyAfter && all.other { // which of them comes first the run sees
		all.subject = false
	}
	j.inner[d] = all
	return all
}

// orderKey is what a call counts under for a parameter: two calls with the same key have the
// same value there. It is "" where that isn't known, or isn't one value.
func orderKey(p *Pass, parameter string, call *plan.Call) string {
	at := slices.IndexFunc(call.Params.Fields, func(f plan.TemplateField) bool { return f.Key == parameter })
	switch {
	case parameter == "" || at < 0 && call.Delegate == "":
		return "=null"
	case at < 0 || call.Delegate != "":
		return ""
	}
	t := call.Params.Fields[at].Value
	if t.PerItem() {
		if t.Expr == nil || !t.Expr.Plain() {
			return ""
		}
		r := &p.Plan.Reads[t.Reads[0]].Ref
		if r.Kind == "index" || len(r.Path) == 0 && surelyFits(p, call.Each.List, unrepeated) {
			return eachItem + call.Name
		}
		return ""
	}
	var b strings.Builder
	if !t.Live() {
		b.WriteByte('=')
	}
	rules.Fingerprint(p, &b, t)
	return b.String()
}

// eachItem begins the key of a call whose items count under different values: their positions, or items of a list
// without duplicates.
const eachItem = "each "

// unrepeated accepts lists without duplicates.
var unrepeated = schema.New(map[string]any{"uniqueItems": true}, schema.Options{})

// literal reports whether the value that a call counts under is written in the plan.
func (s *share) literal() bool { return strings.HasPrefix(s.key, "=") }

// same reports whether two shares count under the same value, and whether they may.
func (s *share) same(other *share) (is, may bool) {
	is = s.key != "" && s.key == other.key
	return is, is || !s.literal() || !other.literal()
}
