package facts

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// A part is one of those that calls and other items are compared by, and that people are shown of them.
type part struct {
	name string
	of   *tree
	weight
}

// A weight is what a call may do, what a change of a part has it do otherwise, and what such a change means.
type weight uint8

const (
	destroys weight = 1 << iota // something is destroyed, or may be
	leaves                      // what the call receives leaves the machine
	writes                      // something outside of the plan is written
	gives                       // the part decides what the call gives
	limit                       // to add the part, or to lower it, has the call do less
	grant                       // to remove the part has the call do less
	repeated                    // [Call.Conditions] has the part, too

	acts  = destroys | leaves // the part decides what the call does, to what, or how often
	acted = destroys | writes // something outside of the plan is another afterwards
)

func (w weight) risk() Risk {
	switch {
	case w&destroys != 0:
		return Destroys
	case w&leaves != 0:
		return Leaves
	}
	return ""
}

// parts are all parts of a call, in the order in which they are shown.
func (s side) parts(c *Call) []part {
	var list, context *Value
	var most *tree
	if c.Each != nil {
		list, most = &c.Each.List, leafOf(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = &Value{Sources: c.Context}
	}
	return []part{
		{"tool", leafOf(c.Tool), acts | gives},
		{"instance", leafOf(c.Instance), acts | repeated},
		{"effect", leafOf(c.Effect.Kind), destroys},
		{"effect that only the plan claims", leafOf(c.Effect.Claimed), 0},
		{"may reach beyond the machine", flag(c.Effect.OpenWorld || c.Runs.Kind == Model), leaves | grant},
		{"a second time does no more", flag(c.Effect.Idempotent), 0},
		{"runs the plan", s.place(c.Runs.Plan), acts | gives},
		{"carried out by", carrierOf(&c.Runs), acts | gives},
		{"value", s.tree(c.Values...), acts | gives},
		{"condition", s.optional(c.When), acts | gives | limit | repeated},
		{"goes on when an item failed", flag(c.Each != nil && c.Each.Collect), 0},
		{"most items", most, acts | gives | limit},
		{"each of", s.optional(list), acts | gives | repeated},
		{"context", s.optional(context), acts | gives},
		{"writes", writesOf(c), 0},
		{"method", leafOf(c.Method), 0},
		{"after", s.after(c), acts | limit | repeated},
		{"tries", leafOf(max(1, c.Tries)), acts | limit},
		{"backoff", leafOf(c.Backoff), 0},
		{"timeout", leafOf(c.Timeout), 0},
		{"a person is asked", flag(c.Confirm), acts | limit},
		{"result", literal(c.Produced), acts | gives},
		{"reasoning", leafOf(c.Reason), 0},
	}
}

// carrier are the parts of an activity.
func (s side) carrier(e *Execution) []part {
	return []part{{"definition", literal(e.Definition), acts | gives}, {"folder", s.place(e.Folder), acts | gives}}
}

// parts are those of a tool; one without a name doesn't exist.
func (t Tool) parts() []part {
	if t.Name == "" {
		return nil
	}
	return []part{{"description", leafOf(t.Description), 0}, {"parameters", literal(t.Parameters), 0},
		{"output", literal(t.Output), 0}, {"definition", literal(t.Definition), 0}}
}

func (s side) optional(v *Value) *tree {
	if v == nil {
		return nil
	}
	return s.tree(*v)
}

func flag(is bool) *tree {
	if !is {
		return nil
	}
	return leafOf("yes")
}

// place is where something lies: places are the same if they are the same from the workspaces' roots,
// or from the folders of the plans.
func (s side) place(path string) *tree {
	relative, err := filepath.Rel(filepath.FromSlash(s.folder), filepath.FromSlash(path))
	if path == "" || err != nil {
		return leafOf(path)
	}
	return meaning(path, filepath.ToSlash(relative))
}

// carrierOf is what carries a call out; a changed definition of its activity is another difference.
func carrierOf(e *Execution) *tree {
	if e.Activity == "" || e.Kind == aPlan {
		return meaning(e.Kind, e.Activity+"\x00"+e.Kind)
	}
	return meaning(e.Activity+": "+e.Destination(), e.Activity+"\x00")
}

// meaning is a text, with what is compared of it.
func meaning(shown, means string) *tree {
	return &tree{leaf: &Value{Literal: Literal{Text: Compact(shown)}}, means: means}
}

// writesOf is where results go: the order of alternatives counts, that of the paths of one doesn't.
func writesOf(c *Call) *tree {
	var routes []string
	for _, route := range c.Writes {
		paths := slices.Sorted(slices.Values(route))
		routes = append(routes, strings.Join(slices.Compact(paths), " && "))
	}
	return leafOf(strings.Join(routes, " || "))
}

// after is the set of calls that another comes after without reading from them.
func (s side) after(c *Call) (set *tree) {
	for _, a := range c.After {
		shown := a.String()
		a.Call = s.name(a.Call)
		set = set.with([]reference.Segment{{Key: "\x00" + a.String()}}, meaning(shown, a.String()))
	}
	return set
}

// String is which call, and what of it.
func (a After) String() string {
	switch {
	case a.Listed:
		return a.Call + " as listed"
	case a.Settled:
		return a.Call + " has ended"
	}
	return a.Call
}

// A namedBound is one of the worst case.
type namedBound struct {
	name string
	Bound
}

func (w *Worst) bounds() []namedBound {
	return []namedBound{{"calls", w.Calls}, {"tries", w.Tries}, {"ticks", w.Ticks}, {"cost", w.Cost},
		{"seconds", w.Time}}
}

func (b Bound) tree() *tree {
	if b.Most == nil {
		return leafOf("unbounded")
	}
	return leafOf(*b.Most)
}
