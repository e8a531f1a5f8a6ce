package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// A part is one of the facts of an item: people are shown them, and two items are compared by them.
type part struct {
	name   string
	values []Value
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
	asks                        // the part has a person decide

	acts  = destroys | leaves // the part decides what the call does, to what, or how often
	acted = destroys | writes // something outside of the plan is another afterwards
)

func (w weight) risk() Risk {
	switch {
	case w&destroys != 0:
		return Destroys
	case w&leaves != 0:
		return Leaves
	case w&asks != 0:
		return Unasked
	}
	return ""
}

// A side is how one of two plans names calls and places; the zero one is of what is compared with nothing.
type side struct {
	folder string            // that the plan lies in
	plan   string            // the one of them whose calls are named
	names  map[string]string // of the old plan, by name of a call and its plan: its name in the new one
}

// gone begins the name of a call that the new plan lacks, as that of no call does.
const gone = "\x00"

func (s side) name(call string) string {
	if s.names == nil {
		return call
	}
	return cmp.Or(s.names[join(s.plan, call)], gone+call)
}

// place is where something lies, from the plan's folder.
func (s side) place(path string) string {
	relative, err := filepath.Rel(filepath.FromSlash(s.folder), filepath.FromSlash(path))
	if path == "" || err != nil {
		return path
	}
	return filepath.ToSlash(relative)
}

// parts are all parts of a call, in the order in which they are shown.
func (s side) parts(c *Call) []part {
	var when, list, most, context, after []Value
	if c.When != nil {
		when = []Value{*c.When}
	}
	if c.Each != nil {
		list, most = []Value{c.Each.List}, literals(c.Each.Most)
	}
	if len(c.Context) > 0 {
		context = []Value{{Sources: c.Context}}
	}
	for _, a := range c.After {
		how := literals(map[bool]string{false: "is done", true: "has ended"}[a.Settled])
		if a.Listed {
			how = literals("as listed")
		}
		how[0].Path = Step("", s.name(a.Call))
		after = append(after, how...)
	}
	return []part{
		{"tool", literals(c.Tool), acts | gives},
		{"instance", literals(c.Instance), acts | repeated},
		{"effect", literals(c.Effect.Kind), destroys},
		{"effect that only the plan claims", literals(c.Effect.Claimed), 0},
		{"may reach beyond the machine", literals(c.Effect.OpenWorld || c.Runs.Kind == Model), leaves | grant},
		{"a second time does no more", literals(c.Effect.Idempotent), 0},
		{"runs the plan", literals(s.place(c.Runs.Plan)), acts | gives},
		{"carried out by", literals(strings.TrimSpace(c.Runs.Kind + " " + c.Runs.Activity)), acts | gives},
		{"value", c.Values, acts | gives},
		{"condition", when, acts | gives | limit | repeated},
		{"goes on when an item failed", literals(c.Each != nil && c.Each.Collect), 0},
		{"most items", most, acts | gives | limit},
		{"each of", list, acts | gives | repeated},
		{"context", context, acts | gives},
		{"writes", literals(c.written()), 0},
		{"method", literals(c.Method), 0},
		{"after", after, acts | limit | repeated},
		{"tries", literals(max(1, c.Tries)), acts | limit},
		{"backoff", literals(c.Backoff), 0},
		{"timeout", literals(c.Timeout), 0},
		{"a person is asked", literals(c.Confirm), acts | asks | limit},
		{"result", literals(c.Produced), acts | gives},
		{"reasoning", literals(c.Reason), 0},
	}
}

// carrier are the parts of an activity.
func (s side) carrier(e *Execution) []part {
	return []part{{"definition", literals(e.Definition), acts | gives},
		{"folder", literals(s.place(e.Folder)), acts | gives}}
}

// parts are those of a tool; one without a name doesn't exist.
func (t Tool) parts() []part {
	if t.Name == "" {
		return nil
	}
	return []part{{"description", literals(t.Description), 0}, {"parameters", literals(t.Parameters), 0},
		{"output", literals(t.Output), 0}, {"definition", literals(t.Definition), 0}}
}

// literals is a JSON value as a list of values; "", false and no literal are none.
func literals(v any) []Value {
	l, is := v.(Literal)
	if !is && v != "" && v != false {
		l.Text = Compact(v)
	}
	if l.IsZero() {
		return nil
	}
	return []Value{{Literal: l}}
}

// written is where results go: the order of alternatives counts, that of the paths of one doesn't.
func (c *Call) written() string {
	routes := make([]string, len(c.Writes))
	for i, route := range c.Writes {
		routes[i] = strings.Join(slices.Compact(slices.Sorted(slices.Values(route))), " && ")
	}
	return strings.Join(routes, " || ")
}

// meaning is an expression, and where it has its values from, with the names of the new plan.
func (s side) meaning(v *Value) string {
	if !v.Literal.IsZero() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q", v.Expression)
	for _, one := range v.Sources {
		calls := make([]string, len(one.Calls))
		for i, name := range one.Calls {
			calls[i] = s.name(name)
		}
		slices.Sort(calls)
		fmt.Fprintf(&b, "%s %v %d %q\n", one.Path, one.Start, one.More, calls)
	}
	return b.String()
}

// A leaf is what is compared at a path: an expression, or of a literal a scalar or that there is an object or a list.
type leaf struct {
	value  *Value // nil for what only has expressions below it
	means  string
	secret string // what the value leaves out
}

// leaves are all leaves of some values, by their paths.
func (s side) leaves(values []Value) map[string]leaf {
	all := map[string]leaf{}
	for _, v := range values {
		at := v.Path
		if ref, _, err := reference.Read(below("_", at), 0); err == nil {
			for i, next := range ref.Path {
				all[inside(ref.Path[:i])] = leaf{means: map[bool]string{false: "{", true: "["}[next.IsIndex]}
			}
		}
		if v.Path = ""; v.Literal.IsZero() {
			all[at] = leaf{&v, s.meaning(&v), ""}
			continue
		}
		addLeaves(all, at, v.Literal.value())
		top := all[at]
		top.secret = v.Literal.secret
		all[at] = top
	}
	return all
}

func inside(path []reference.Segment) string {
	return strings.TrimPrefix(reference.Below("", path), ".")
}

// addLeaves adds those of a value, which is no expression.
func addLeaves(all map[string]leaf, at string, v any) {
	value := Value{Literal: Literal{Text: Compact(v)}}
	one := leaf{value: &value, means: string(value.Literal.Text)}
	switch v := v.(type) {
	case map[string]any:
		one.means = "{"
		for key, field := range v {
			addLeaves(all, Step(at, key), field)
		}
	case []any:
		one.means = "["
		for i, item := range v {
			addLeaves(all, at+"["+strconv.Itoa(i)+"]", item)
		}
	}
	all[at] = one
}

// value is the value itself, less its secrets.
func (l Literal) value() (v any) {
	d := json.NewDecoder(bytes.NewReader(l.Text))
	d.UseNumber()
	_ = d.Decode(&v) // it was made of a value
	return v
}
