package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// A chooser follows what models choose to the calls that destroy something, or may, or that
// pass something out: through expressions, and into plans that calls run and out of them.
type chooser struct {
	all   map[string]*Facts // by path, "" is the outermost
	plans map[string]*plan.Plan
	order []string // those that are run before those that run them
	// Of each plan, who has chosen what its calls give and its output: calls by their names,
	// and paths that were there when it began.
	calls  map[string][][]string
	output map[string][]string
	passed map[string]passed
}

// passed is what calls that run a plan pass to it, and who has chosen it: by kind and first key.
type passed map[string][]choice

type choice struct {
	path string
	by   []string
}

// selectedBy notes which models may have chosen the values of calls that destroy or pass something out.
func (f *Facts) selectedBy(p *plan.Plan, delegates map[string]*plan.Plan) {
	c := &chooser{map[string]*Facts{"": f}, map[string]*plan.Plan{"": p}, nil, map[string][][]string{}, map[string][]string{}, map[string]passed{"": {}}}
	for path, d := range delegates {
		c.all[path], c.plans[path], c.passed[path] = f.Delegates[path], d, passed{}
	}
	c.visit("")
	for _, path := range slices.Backward(c.order) {
		c.settle(path)
	}
}

// visit finds who has chosen what in a plan, and in those that it runs before.
func (c *chooser) visit(path string) {
	f := c.all[path]
	if _, seen := c.calls[path]; f == nil || seen {
		return
	}
	calls := make([][]string, len(f.Calls))
	c.calls[path] = calls
	for i := range f.Calls {
		if below := f.Calls[i].Runs.Plan; below != "" {
			c.visit(below)
		}
	}
	for _, i := range c.plans[path].Graph.Order() {
		switch call := &f.Calls[i]; call.Runs.Kind {
		case Model:
			calls[i] = []string{join(path, call.Name)}
		case "expr":
			for k := range call.Values {
				calls[i] = united(calls[i], c.of(path, call.Values[k].Sources))
			}
		case aPlan:
			var into passed
			for _, one := range c.output[call.Runs.Plan] {
				if !isPath(one) {
					calls[i] = united(calls[i], []string{one})
					continue
				}
				if into == nil {
					into = passed{}
					c.pass(into, path, call)
				}
				calls[i] = united(calls[i], into.by(one))
			}
		}
	}
	for k := range f.Output {
		c.output[path] = united(c.output[path], c.of(path, f.Output[k].Sources))
	}
	c.order = append(c.order, path)
}

// settle notes of a plan which models have chosen the values of its calls, when all that run
// it are known, and what it passes on.
func (c *chooser) settle(path string) {
	known := map[string][]string{} // by path that was there
	models := func(chosen []string) (all []string) {
		for _, one := range chosen {
			if !isPath(one) {
				all = united(all, []string{one})
				continue
			}
			by, ok := known[one]
			if !ok {
				by = c.passed[path].by(one)
				known[one] = by
			}
			all = united(all, by)
		}
		return all
	}
	f := c.all[path]
	for i := range f.Calls {
		call := &f.Calls[i]
		switch into := c.passed[call.Runs.Plan]; {
		case call.Runs.Plan != "":
			own := passed{}
			c.pass(own, path, call)
			for key, choices := range own {
				for _, one := range choices {
					if one.by = models(one.by); len(one.by) > 0 && into != nil { // nil for a plan that isn't there
						into.add(key, one)
					}
				}
			}
		case call.Runs.Kind != Model && (call.Leaves() || call.group() == destroying):
			for k := range call.Values {
				call.Values[k].Models = models(c.of(path, call.Values[k].Sources))
			}
		}
	}
}

// of is who has chosen what is read from some sources.
func (c *chooser) of(path string, sources []Source) (all []string) {
	for i := range sources {
		s := &sources[i]
		for _, w := range s.writers {
			all = united(all, c.calls[path][w])
		}
		if s.Start && path != "" {
			all = united(all, []string{s.Path})
		}
	}
	return all
}

// pass adds what a call passes to the plan that it runs.
func (c *chooser) pass(into passed, path string, call *Call) {
	for i := range call.Values {
		if v := &call.Values[i]; len(v.Sources) > 0 {
			at := "†input" + v.Path
			if !strings.HasPrefix(v.Path, "[") {
				at = "†input." + v.Path
			}
			into.add(firstOf(at), choice{at, c.of(path, v.Sources)})
		}
	}
	for i := range call.Context {
		if by := c.of(path, call.Context[i:i+1]); len(by) > 0 {
			at := call.Context[i].Path
			into.add(firstOf(at), choice{at, by})
		}
	}
}

func (h passed) add(key string, one choice) {
	if at := slices.IndexFunc(h[key], func(have choice) bool { return have.path == one.path }); at >= 0 {
		h[key][at].by = united(h[key][at].by, one.by)
	} else {
		h[key] = append(h[key], one)
	}
}

// by is who has chosen what stands at a path, above or below it.
func (h passed) by(path string) (all []string) {
	look := func(choices []choice) {
		for _, one := range choices {
			if overlaps(one.path, path) {
				all = united(all, one.by)
			}
		}
	}
	kind := kindOf(path)
	if look(h[kind]); firstOf(path) != kind {
		look(h[firstOf(path)])
		return all
	}
	for _, key := range slices.Sorted(maps.Keys(h)) { // all of a kind
		if key != kind && kindOf(key) == kind {
			look(h[key])
		}
	}
	return all
}

// firstOf is a path up to its first key.
func firstOf(path string) string {
	kind := kindOf(path)
	if rest := path[len(kind):]; len(rest) > 1 && rest[0] == '.' {
		if end := strings.IndexAny(rest[1:], ".["); end >= 0 {
			return path[:len(kind)+1+end]
		}
		return path
	}
	return kind // of a key in quotes
}

// isPath reports whether a choice is a path: its models are those of what
// writes there.
func isPath(one string) bool { return strings.HasPrefix(one, "†") && one != Anything }

// united are those of both, in the order in which they come. Where they are more than can be
// followed, and named, the paths among them are all of their kinds, or they are [Anything].
func united(all, more []string) []string {
	for _, one := range more {
		if len(all) > 0 && all[0] == Anything {
			return all
		}
		if one == Anything {
			return []string{Anything}
		}
		if slices.Contains(all, one) || isPath(one) && slices.Contains(all, kindOf(one)) {
			continue
		}
		if all = append(all[:len(all):len(all)], one); len(all) <= mostHeld {
			continue
		}
		kinds := all[:0:0]
		for _, one := range all {
			if isPath(one) {
				one = kindOf(one)
			}
			if !slices.Contains(kinds, one) {
				kinds = append(kinds, one)
			}
		}
		if all = kinds; len(all) > mostHeld {
			return []string{Anything}
		}
	}
	return all
}
