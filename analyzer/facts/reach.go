package facts

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/workspace"
)

// mostReached is how many of the calls are named that a setting reaches.
const mostReached = 20

// ofInstance is the path of a value in the input or the state of one instance.
var ofInstance = regexp.MustCompile(`^(?:[^.\[]+|\["(?:[^"\\]|\\.)*"\])\.(input|state)(.*)$`)

// begins is the path at which plans read what a setting says, for those that say what is
// there from the start: all that lies below is meant. "" is none.
func (d *Difference) begins() string {
	switch d.Name {
	case "input", "state":
		if d.Path == "" || d.Path[0] == '[' {
			return "†" + d.Name + d.Path
		}
		return "†" + d.Name + "." + d.Path
	case "data":
		return "†" + d.Path
	case "instances":
		if found := ofInstance.FindStringSubmatch(d.Path); found != nil {
			return "†" + found[1] + found[2]
		}
		return "†"
	}
	return ""
}

// A reached is the calls that are given something, the first of
// them by name, and the harm that all of them do.
type reached struct {
	calls []string
	harm  harm
}

// mostFollowed is how many paths are followed by themselves.
const mostFollowed = 50

// reach finds which calls are given what a setting says, themselves or by way of others
// that are given it. Where following it takes too long it is all that may be.
func (c *comparison) reach(d *Difference) {
	from := d.begins()
	if from == "" {
		return
	}
	if len(c.reached) >= mostFollowed {
		from = kindOf(from)
	}
	r, known := c.reached[from]
	if !known {
		r = c.follow(from, nil)
		c.reached[from] = r
	}
	d.Reaches, d.harm = r.calls, r.harm
}

// resultOf are the parts of a call on which hangs what it gives.
var resultOf = []string{"tool", "carried out by", "runs the plan", "in a context of its own", "value", "context", "condition", "each of", "most items", "result"}

// pass finds which calls are given what comes of those that a difference is about, where
// these do more harm than the calls themselves.
func (c *comparison) pass(d *Difference) {
	if d.call == nil || d.What == "condition" && d.Old == nil || d.Of != ThingActivity && (d.Of != ThingCall || !slices.Contains(resultOf, d.What)) {
		return
	}
	var own harm
	from, calls := map[int]bool{}, c.matching.new.Calls
	if d.Of == ThingActivity {
		for i := range calls {
			from[i] = calls[i].Runs.Activity == d.Name
		}
	} else if i, is := c.newAt[d.call.Name]; is && &calls[i] == d.call {
		from[i] = true
	}
	maps.DeleteFunc(from, func(_ int, is bool) bool { return !is })
	for i := range from {
		own, d.harm = own.and(c.harms(&calls[i])), d.harm.and(c.below()[i])
	}
	inside := d.harm
	if len(from) > 0 {
		d.harm = d.harm.and(c.beyond)
	}
	if d.harm.risk().rank() >= own.risk().rank() {
		d.harm = harm{}
		return
	}
	if c.passed++; c.passed <= mostFollowed {
		d.Reaches = c.follow("", from).calls
	}
	if inside != d.harm {
		d.Reaches = append(d.Reaches, c.by)
	}
}

// below is, by call of the new plan, the harm done by those that are given what comes of it.
func (c *comparison) below() []harm {
	f := c.matching.new
	if c.harmsBelow != nil {
		return c.harmsBelow
	}
	c.harmsBelow = make([]harm, len(f.Calls))
	gives, told := c.gives(), map[flowKey]harm{}
	for more := true; more; {
		more = false
		for i := len(f.Calls) - 1; i >= 0; i-- {
			h := c.harms(&f.Calls[i]).and(c.harmsBelow[i])
			for _, s := range gives[i] {
				if len(s.writers) > 0 {
					key := flowKey{old: &s.writers[0], oldLen: len(s.writers)}
					if told[key].and(h) == told[key] {
						continue
					}
					told[key] = told[key].and(h)
				}
				eachWriter(s, c.newAt, func(w int) {
					if was := c.harmsBelow[w]; was.and(h) != was {
						c.harmsBelow[w], more = was.and(h), true
					}
				})
			}
		}
	}
	return c.harmsBelow
}

// gives is, by call of the new plan, where what it is given comes from.
func (c *comparison) gives() [][]*Source {
	if calls := c.matching.new.Calls; c.given == nil {
		c.given = make([][]*Source, len(calls))
		for i := range calls {
			c.given[i] = calls[i].reads()
		}
	}
	return c.given
}

// follow finds the calls that are given what stands at a path from the start, or what some
// calls give.
func (c *comparison) follow(from string, calls map[int]bool) (r reached) {
	f := c.matching.new
	given, left := make([]bool, len(f.Calls)), mostSpread
	gives := c.gives()
	for i := range calls {
		given[i] = true
	}
	holds := func(s *Source) bool {
		if left -= len(s.writers) + len(s.Calls) + 1; left < 0 || s.Start && from != "" && overlaps(s.Path, from) {
			return true
		}
		hit := false
		eachWriter(s, c.newAt, func(w int) { hit = hit || given[w] })
		return hit
	}
	for more := true; more; {
		more = false
		for i := range f.Calls {
			if !given[i] && slices.ContainsFunc(gives[i], holds) {
				given[i], more = true, true
			}
		}
	}
	for i := range f.Calls {
		if call := &f.Calls[i]; given[i] && !calls[i] {
			r.harm = r.harm.and(c.harms(call))
			if len(r.calls) < mostReached {
				r.calls = append(r.calls, call.Name)
			}
		}
	}
	return r
}

// overlaps reports whether one of two paths is the other or lies below it.
func overlaps(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "†" || strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '.' || b[len(a)] == '[')
}

// names reports whether calls of a plan may run a file, by its path from the plan's folder,
// and the harm that they do: those whose program has its name, or whose patterns match it.
func (c *comparison) names(f *Facts, file string) (of harm, named bool) {
	base := path.Base(file)
	for _, p := range f.plans() {
		for i := range p.facts.Calls {
			call := &p.facts.Calls[i]
			holds := func(text string) bool { return strings.Contains(text, base) }
			matches := func(pattern string) bool { return workspace.Pattern(path.Base(pattern)).MatchString(base) }
			if slices.ContainsFunc(call.Runs.Program, holds) || slices.ContainsFunc(call.Runs.Files, matches) {
				of, named = of.and(c.harms(call)), true
			}
		}
	}
	return of, named
}
