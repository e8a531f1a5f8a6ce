package facts

import (
	"path"
	"regexp"
	"slices"
	"strings"
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

// A reached is the calls that are given what stands at a path from the start, the first of
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
		r = c.follow(from)
		c.reached[from] = r
	}
	d.Reaches, d.harm = r.calls, r.harm
}

func (c *comparison) follow(from string) (r reached) {
	f := c.matching.new
	given, left := make([]bool, len(f.Calls)), mostSpread
	waits := make([][]*Source, len(f.Calls))
	for i := range f.Calls {
		one := f.Calls[i]
		one.After = nil // from those nothing comes
		waits[i] = one.waits()
	}
	holds := func(s *Source) bool {
		if left -= len(s.writers) + len(s.Calls) + 1; left < 0 || s.Start && overlaps(s.Path, from) {
			return true
		}
		hit := false
		eachWriter(s, c.newAt, func(w int) { hit = hit || given[w] })
		return hit
	}
	for more := true; more; {
		more = false
		for i := range f.Calls {
			if !given[i] && slices.ContainsFunc(waits[i], holds) {
				given[i], more = true, true
			}
		}
	}
	for i := range f.Calls {
		if call := &f.Calls[i]; given[i] {
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
// and the harm that they do: those whose program or literals hold its name.
func (c *comparison) names(f *Facts, file string) (of harm, named bool) {
	base := path.Base(file)
	for _, p := range f.plans() {
		for i := range p.facts.Calls {
			call := &p.facts.Calls[i]
			holds := func(text string) bool { return strings.Contains(text, base) }
			if slices.ContainsFunc(call.Runs.Program, holds) || len(call.Runs.Program) > 0 && slices.ContainsFunc(call.Values, func(v Value) bool { return holds(string(v.Literal.Text)) }) {
				of, named = of.and(c.harms(call)), true
			}
		}
	}
	return of, named
}
