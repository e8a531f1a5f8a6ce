package permit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A drawn value is a literal number, or what stands at a path, or that with something
// added to it.
type drawnValue struct {
	literal int // 0 is none
	path    string
	adds    bool
}

func (v drawnValue) String() string {
	switch {
	case v.literal > 0:
		return fmt.Sprint(v.literal)
	case v.adds:
		return fmt.Sprintf(`"†(†state.%s + 1)"`, v.path)
	}
	return "†state." + v.path
}

// A drawnCall is a call of a small plan, as its author would say it.
type drawnCall struct {
	tool   string
	params map[string]drawnValue
	writes string // "" is nowhere
	tries  int
	items  int // how long the list is that it runs for; 0 is none
	when   []drawnCondition
	after  int // the call of the same plan that must be done before, from 1; 0 is none
	asks   bool
}

// A drawnCondition is a comparison; what a call has of them must all hold.
type drawnCondition struct {
	path, op string
	than     int
}

func (c drawnCondition) String() string {
	return fmt.Sprintf("†state.%s %s %d", c.path, c.op, c.than)
}

func (c drawnCondition) holds(n int) bool {
	switch c.op {
	case "==":
		return n == c.than
	case "!=":
		return n != c.than
	case ">":
		return n > c.than
	}
	return n <= c.than
}

func drawConditions(r *rand.Rand) (all []drawnCondition) {
	for _, path := range drawnPaths {
		if r.IntN(4) == 0 {
			all = append(all, drawnCondition{path, []string{"==", "!=", ">", "<="}[r.IntN(4)], 1 + r.IntN(2)})
		}
	}
	return all
}

func (c drawnCall) String() string {
	text := "{_tool: " + c.tool
	if len(c.when) > 0 {
		var all []string
		for _, one := range c.when {
			all = append(all, one.String())
		}
		text += `, _when: "†(` + strings.Join(all, " and ") + `)"`
	}
	if c.after > 0 {
		text += fmt.Sprintf(", _after: [c%d]", c.after)
	}
	if c.asks {
		text += ", _confirm: true"
	}
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		text += ", " + name + ": " + c.params[name].String()
	}
	if c.writes != "" {
		text += ", _outputPath: " + c.writes
	}
	if c.tries > 1 {
		text += fmt.Sprintf(", _retry: {attempts: %d}", c.tries)
	}
	if c.items > 0 {
		text += ", _each: [" + strings.TrimSuffix(strings.Repeat("0, ", c.items), ", ") + "]"
	}
	return text + "}"
}

var drawnPaths = []string{"a", "b"}

func drawCall(r *rand.Rand) drawnCall {
	c := drawnCall{tool: []string{"t", "u", "v"}[r.IntN(3)], params: map[string]drawnValue{}, tries: 1 + r.IntN(8)/7, items: max(0, r.IntN(12)-9), when: drawConditions(r), asks: r.IntN(10) == 0}
	for _, name := range []string{"p", "q"}[:1+r.IntN(2)] {
		c.params[name] = drawValue(r)
	}
	if r.IntN(3) > 0 {
		c.writes = drawnPaths[r.IntN(len(drawnPaths))]
	}
	return c
}

func drawValue(r *rand.Rand) drawnValue {
	if r.IntN(2) == 0 {
		return drawnValue{literal: 1 + r.IntN(3)}
	}
	return drawnValue{path: drawnPaths[r.IntN(len(drawnPaths))], adds: r.IntN(4) == 0}
}

// replanned is a plan that is more or less another one.
func replanned(r *rand.Rand, plan []drawnCall) []drawnCall {
	all := slices.Clone(plan)
	for at := len(all) - 1; at >= 0; at-- {
		if r.IntN(4) == 0 {
			all = without(all, at)
		}
	}
	for range r.IntN(3) {
		c := drawCall(r)
		if r.IntN(3) > 0 {
			c = plan[r.IntN(len(plan))]
			c.params = maps.Clone(c.params)
			c.after = min(c.after, len(all))
			switch r.IntN(12) {
			case 8:
				c.when = nil
			case 9:
				c.when = drawConditions(r)
			case 10:
				c.after = r.IntN(len(all) + 1)
			case 11:
				c.asks = false
			case 0:
				c.params["p"] = drawValue(r)
			case 1:
				delete(c.params, "q")
			case 2:
				c.writes = drawnPaths[r.IntN(len(drawnPaths))]
			case 3:
				c.tool = []string{"t", "u", "v"}[r.IntN(3)]
			case 4:
				c.items = r.IntN(3)
			}
		}
		at := len(all)
		if c.after == 0 {
			at = r.IntN(len(all) + 1)
		}
		for i := range all {
			if all[i].after > at {
				all[i].after++
			}
		}
		all = slices.Insert(all, at, c)
	}
	return all
}

// without is a plan less a call; those that came after it come after nothing.
func without(plan []drawnCall, at int) []drawnCall {
	all := slices.Delete(plan, at, at+1)
	for i := range all {
		switch {
		case all[i].after == at+1:
			all[i].after = 0
		case all[i].after > at:
			all[i].after--
		}
	}
	return all
}

func drawnText(calls []drawnCall) string {
	var b strings.Builder
	b.WriteString("state: {a: 1, b: 2}\ntools:\n")
	for _, tool := range []string{"t", "u", "v"} {
		fmt.Fprintf(&b, "  %s: {properties: {p: {}, q: {}, _output: {}}}\n", tool)
	}
	b.WriteString("activities: {t: {exec: {argv: [t]}}, u: {exec: {argv: [u]}}, v: {exec: {argv: [v]}}}\ncalls:")
	if len(calls) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for i, c := range calls {
		fmt.Fprintf(&b, "- {_id: c%d, %s\n", i+1, strings.TrimPrefix(c.String(), "{"))
	}
	return b.String()
}

// An action is one thing that a run may come to do, with all that is in its values: a
// value that was read is known by its path and by who wrote it.
type action struct{ tool, values, writes, list string }

// actions are all that a call of a plan may come to do, whoever of those that may has
// written last what it reads: the calls listed before it, or what was there.
func actions(plan []drawnCall, at int) map[action]bool {
	c := plan[at]
	all := map[action]bool{{tool: c.tool, writes: c.writes, list: fmt.Sprint(c.items)}: true}
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		next := map[action]bool{}
		for a := range all {
			for _, value := range comesTo(plan, at, c.params[name]) {
				b := a
				b.values += name + "=" + value + ";"
				next[b] = true
			}
		}
		all = next
	}
	return all
}

// worlds are all in which a call may run: what stands at a path, and who wrote it.
func worlds(plan []drawnCall, at int) []string {
	all := []string{""}
	for _, path := range drawnPaths {
		var next []string
		is := slices.IndexFunc(plan[at].when, func(c drawnCondition) bool { return c.path == path })
		writers := []string{"start@", "t@", "u@", "v@"}
		if is >= 0 {
			writers = comesTo(plan, at, drawnValue{path: path})
		}
		for n := range 4 {
			if is >= 0 && !plan[at].when[is].holds(n) {
				continue
			}
			for _, world := range all {
				for _, writer := range writers {
					next = append(next, world+" "+strings.TrimSuffix(writer, path)+strconv.Itoa(n))
				}
			}
		}
		all = next
	}
	return all
}

// behind are the calls that one comes after, and whether they must be done: what it says,
// and those listed before it that write what it reads.
func behind(plan []drawnCall, at int) map[int]bool {
	all, c := map[int]bool{}, plan[at]
	reads := func(path string) bool {
		for _, v := range c.params {
			if v.literal == 0 && v.path == path {
				return true
			}
		}
		return slices.ContainsFunc(c.when, func(w drawnCondition) bool { return w.path == path })
	}
	for i := range plan[:at] {
		if plan[i].writes != "" && reads(plan[i].writes) {
			all[i] = false
		}
	}
	if c.after > 0 {
		all[c.after-1] = true
	}
	return all
}

// gated reports whether a call of a replan comes after calls, directly or by way of others, that do only what those do
// that a call of the plan comes after, one for each: they are done, or nothing has them be
// skipped that hadn't.
func gated(plan, replan []drawnCall, one, call int) bool {
	before := behind(replan, call)
	for b := replan[call].after; b > 0; b = replan[b-1].after {
		before[b-1] = true
	}
	class := func(at int) string { // the calls of a plan that are the same but for how often
		c := plan[at]
		c.after = 0
		return fmt.Sprint(c, behind(plan, at))
	}
	type count struct{ ended, done int }
	need := map[string]count{}
	gates := map[string]int{}
	for gate, done := range behind(plan, one) {
		n := need[class(gate)]
		if n.ended++; done {
			n.done++
		}
		need[class(gate)], gates[class(gate)] = n, gate
	}
	for of, n := range need {
		gate := gates[of]
		for b, done := range before {
			same := fmt.Sprint(plan[gate].when) == fmt.Sprint(replan[b].when)
			alike := same && (plan[gate].after > 0 || replan[b].after == 0) && replan[b].tries >= plan[gate].tries
			if !(done || alike) || replan[b].items > 0 && !same || !covers(plan, replan, gate, b) {
				continue
			}
			if n.ended--; done {
				n.done--
			}
		}
		if n.ended > 0 || n.done > 0 {
			return false
		}
	}
	return true
}

// covers reports whether all that a call of a replan may come to is what a call of the plan
// may come to.
func covers(plan, replan []drawnCall, one, call int) bool {
	may, c := actions(plan, one), replan[call]
	for a := range actions(replan, call) {
		if c.items == 0 {
			for b := range may {
				a.list = b.list // a list isn't demanded
				break
			}
		}
		if !may[a] {
			return false
		}
	}
	if when := plan[one].when; len(when) > 0 && fmt.Sprint(when) != fmt.Sprint(c.when) {
		return false // a condition has to be the same, and isn't compared by meaning
	}
	elsewhere := worlds(plan, one)
	for _, world := range worlds(replan, call) {
		if !slices.Contains(elsewhere, world) {
			return false
		}
	}
	return (c.asks || !plan[one].asks) && gated(plan, replan, one, call)
}

func comesTo(plan []drawnCall, at int, v drawnValue) []string {
	if v.literal > 0 {
		return []string{fmt.Sprint(v.literal)}
	}
	all := []string{"start@" + v.path} // where those that write there fail
	for _, c := range plan[:at] {
		if c.writes == v.path {
			all = append(all, c.tool+"@"+v.path)
		}
	}
	if v.adds {
		for i := range all {
			all[i] += "+1"
		}
	}
	return all
}

func times(c drawnCall) int { return c.tries * max(1, c.items) }

// A widened rule is what a person allows besides, and what it means.
type widened struct {
	said  map[string]any
	means func(a action, c drawnCall) bool
	tool  string
	times int
}

func drawWidened(r *rand.Rand, plan []drawnCall) *widened {
	w := &widened{tool: []string{"t", "u"}[r.IntN(2)], times: 1 + r.IntN(2)}
	rule := map[string]any{"_times": float64(w.times), "_outputPath": []string{"a", "†state.a"}[r.IntN(2)]}
	var p func(value string) bool
	switch r.IntN(4) {
	case 0:
		most := 1 + r.IntN(2)
		rule["p"] = map[string]any{"type": "number", "maximum": float64(most)}
		p = func(value string) bool { return value <= fmt.Sprint(most) && len(value) == 1 }
	case 1:
		rule["p"] = []any{1.0, 3.0}
		p = func(value string) bool { return value == "1" || value == "3" }
	case 2:
		path := drawnPaths[r.IntN(len(drawnPaths))]
		rule["p"] = "†state." + path
		p = func(value string) bool { // as the plan writes it
			writer, at, ok := strings.Cut(value, "@")
			return ok && at == path && (writer == "start" ||
				slices.ContainsFunc(plan, func(c drawnCall) bool { return c.tool == writer && c.writes == path }))
		}
	default:
		rule["p"] = map[string]any{}
		p = func(string) bool { return true }
	}
	w.said = map[string]any{"allow": map[string]any{w.tool: rule}}
	w.means = func(a action, c drawnCall) bool {
		value, ok := strings.CutPrefix(strings.TrimSuffix(a.values, ";"), "p=")
		return ok && a.tool == w.tool && !strings.Contains(value, ";") && (a.writes == "a" || a.writes == "") && p(value)
	}
	return w
}

// subset decides by enumeration whether a replan does nothing but what a plan does, or a
// person allows besides: every call, in every way it may come to, does what one call of
// the plan may do, and all of them together find room.
func subset(plan, replan []drawnCall, w *widened) bool {
	type room struct {
		covers func(call int) bool
		times  int
	}
	var rooms []room
	for i := range plan {
		rooms = append(rooms, room{func(call int) bool { return covers(plan, replan, i, call) }, times(plan[i])})
	}
	if w != nil {
		rooms = append(rooms, room{func(call int) bool {
			for a := range actions(replan, call) {
				if !w.means(a, replan[call]) {
					return false
				}
			}
			return true
		}, w.times})
	}
	known := map[[2]int]bool{}
	for i := range rooms {
		for call := range replan {
			known[[2]int{i, call}] = rooms[i].covers(call)
		}
	}
	left := make([]int, len(rooms))
	for i := range rooms {
		left[i] = rooms[i].times
	}
	// Every single time finds a place of its own; all ways to place them are tried.
	var one func(call, done int) bool
	one = func(call, done int) bool {
		if call == len(replan) {
			return true
		}
		c := replan[call]
		if done == times(c) {
			return one(call+1, 0)
		}
		for i := range rooms {
			if left[i] == 0 {
				continue
			}
			if known[[2]int{i, call}] {
				left[i]--
				if one(call, done+1) {
					return true
				}
				left[i]++
			}
		}
		return false
	}
	return one(0, 0)
}

// EXECUTION.md#permits: a replan that is within what was approved is a subset of it by enumeration. Few subsets aren't
// within: those that wait by way of other calls, or for which another call would have to be charged elsewhere.
func TestWithinAgreesWithEnumeration(t *testing.T) {
	within, outside, asked := 0, 0, 0
	for seed := range uint64(amount.Of(400, 3000, 10_000)) {
		r := rand.New(rand.NewPCG(seed, 16))
		var plan []drawnCall
		for i := range 1 + r.IntN(4) {
			plan = append(plan, drawCall(r))
			plan[i].after = max(0, r.IntN(2*i+1)-i)
		}
		replan := replanned(r, plan)
		f := facts.Of(compiled(t, drawnText(plan), nil), facts.Options{})
		e := permit.Of(f, nil)
		if left := e.Within(f, nil); len(left) > 0 {
			t.Fatalf("seed %d: a plan leaves its own envelope: %v\n%s", seed, left, drawnText(plan))
		}
		e.Budget = permit.Budget{}
		var w *widened
		if r.IntN(2) == 0 {
			w = drawWidened(r, plan)
			if err := e.Allow(f, w.said); err != nil {
				t.Fatal(err)
			}
		}
		left := e.Within(facts.Of(compiled(t, drawnText(replan), nil), facts.Options{}), nil)
		want := subset(plan, replan, w)
		if len(left) > 0 && want {
			asked++
		}
		if len(left) == 0 && !want {
			said := any(nil)
			if w != nil {
				said = w.said
			}
			t.Fatalf("seed %d: by enumeration it is within: %v; said to leave: %v\napproved:\n%s\nbesides: %v\nreplan:\n%s", seed, want, left, drawnText(plan), said, drawnText(replan))
		}
		if want {
			within++
		} else {
			outside++
		}
	}
	t.Logf("%d within, %d of which are asked about, %d outside", within, asked, outside)
	if asked > within/20 {
		t.Errorf("of %d that are within %d are asked about", within, asked)
	}
	if within < outside/5 || outside < within/5 {
		t.Error("the pairs are too much alike")
	}
}

// EXECUTION.md#permits: a literal is held against the schema that a person allows; of what is read, the value is known
// only in a run.
func TestSchemasDecideLiterals(t *testing.T) {
	plan := func(amount string) string {
		return "input: {n: 1}\ninputSchema: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 50}}}\n" +
			"tools: {pay: {properties: {amount: {}}}}\ncalls:\n- {_tool: pay, amount: " + amount + "}\n"
	}
	for amount, within := range map[string]bool{"100": true, "101": false, "†input.n": false, "†(†input.n + 1)": false} {
		f := facts.Of(compiled(t, plan("1"), nil), facts.Options{})
		e := permit.Of(f, nil)
		if err := e.Allow(f, map[string]any{"allow": map[string]any{"pay": map[string]any{"amount": map[string]any{"type": "number", "maximum": 100.0}}}}); err != nil {
			t.Fatal(err)
		}
		if left := e.Within(facts.Of(compiled(t, plan(amount), nil), facts.Options{}), nil); (len(left) == 0) != within {
			t.Errorf("%s: %v", amount, left)
		}
	}
}
