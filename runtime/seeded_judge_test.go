package runtime_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// A trial puts a sound plan and what was made of it to the naive interpreter, on
// the same branches. What it knows of the sound plan it keeps for the next fault.
type trial struct {
	sound    sketch
	branches []branch
	results  []result
}

// A branch is how the activity of each call ends, if it is started: with one of
// the call's alternatives, or by failing. Chance makes the values up.
type branch struct {
	ends   []int // by call of the sound plan; its alternatives in order, then the failure
	chance uint64
}

// mostBranches bounds how many branches one plan is put to. A plan that has more
// is put to those on which at most one activity does otherwise than usual, then
// to those with two, and to others at random.
const mostBranches = 300

// chances is how often values are made up anew for every branch of a small plan.
const chances = 3

func trialOf(s sketch) *trial {
	t := &trial{sound: s}
	ways, product := make([]int, len(s.calls)), chances
	for i, c := range readPlan(s.named(s.each())).calls {
		ways[i] = max(1, len(c.routes)) + 1
		product = min(product*ways[i], mostBranches+1)
	}
	if product <= mostBranches {
		for n := range product {
			b := branch{ends: make([]int, len(ways)), chance: uint64(n % chances)}
			n /= chances
			for i, w := range ways {
				b.ends[i] = n % w
				n /= w
			}
			t.branches = append(t.branches, b)
		}
		return t
	}
	r := rand.New(rand.NewPCG(uint64(len(ways)), 17))
	add := func(change map[int]int) {
		b := branch{ends: make([]int, len(ways)), chance: r.Uint64()}
		for call, end := range change {
			b.ends[call] = end
		}
		if len(t.branches) < mostBranches {
			t.branches = append(t.branches, b)
		}
	}
	var single []map[int]int
	add(nil)
	for call, w := range ways {
		for end := 1; end < w; end++ {
			single = append(single, map[int]int{call: end})
			add(single[len(single)-1])
		}
	}
	for _, i := range r.Perm(len(single) * len(single)) {
		pair := maps.Clone(single[i/len(single)])
		maps.Copy(pair, single[i%len(single)])
		if len(t.branches) < mostBranches*2/3 && len(pair) == 2 {
			add(pair)
		}
	}
	for len(t.branches) < mostBranches {
		some := map[int]int{}
		for call, w := range ways {
			some[call] = r.IntN(w)
		}
		add(some)
	}
	return t
}

// A result is what comes of a plan on one branch: its output and what is done for
// its effect, or, of a plan without an output, everything that is done. That a
// tool fails is the branch, and no part of it; that a call is given what its tool
// refuses is.
type result struct {
	Output any
	Given  map[string]map[string]any // by call
	Wrong  map[string]string         // by call: what no tool has to answer for
}

// harms is a branch on which a seeded plan comes to another result than the sound
// one, or nil.
func (t *trial) harms(f seeded) *branch {
	from := f.from
	if from == nil {
		from = t.sound.each()
	}
	sound, plan := readPlan(t.sound.named(t.sound.each())), readPlan(f.plan.named(from))
	for i, b := range t.branches {
		if i == len(t.results) {
			t.results = append(t.results, resultOf(sound, t.sound.each(), b))
		}
		if !reflect.DeepEqual(t.results[i].among(from), resultOf(plan, from, b)) {
			return &t.branches[i]
		}
	}
	return nil
}

// among leaves out what other calls than these are given.
func (r result) among(calls []int) result {
	given := maps.Clone(r.Given)
	maps.DeleteFunc(given, func(call string, _ map[string]any) bool {
		return !slices.ContainsFunc(calls, func(i int) bool { return nameOf(i) == call })
	})
	r.Given = given
	return r
}

func nameOf(call int) string { return fmt.Sprint("call", call) }

// named is the plan with names by which its calls are the same as the sound
// plan's.
func (s sketch) named(from []int) map[string]any {
	d := s.copy()
	for i, c := range d.calls {
		c["_id"] = nameOf(from[i])
	}
	return d.root
}

func resultOf(plan *planModel, from []int, b branch) result {
	r := result{Given: map[string]map[string]any{}, Wrong: map[string]string{}}
	act := func(name string, _ int, params map[string]any) (any, string, *failure) {
		i := slices.IndexFunc(plan.calls, func(c *callModel) bool { return c.name == name })
		c, end := plan.calls[i], b.ends[from[i]]
		if plan.output == nil || len(c.routes) == 0 {
			r.Given[name] = params
		}
		if end >= max(1, len(c.routes)) {
			return nil, "", &failure{Code: "down"}
		}
		path := ""
		if len(c.routes) > 0 {
			path = "†state" + c.routes[end][0].String()
		}
		return madeUp(c.result, b.chance, name), path, nil
	}
	out := (&model{plan: plan, act: act}).run(schedule(0))
	r.Output = out.Output
	for call, code := range out.Errors {
		if code != "down" {
			r.Wrong[call] = code
		}
	}
	return r
}

// madeUp is a value of a schema. What has the same name and the same type has
// the same value in each of them.
func madeUp(schema any, chance uint64, name string) any {
	h := fnv.New64a()
	fmt.Fprint(h, chance, name)
	n := h.Sum64() >> 8
	s, _ := schema.(map[string]any)
	if options, ok := s["enum"].([]any); ok {
		return options[n%uint64(len(options))]
	}
	switch s["type"] {
	case "object":
		object := map[string]any{}
		for key, property := range properties(s) {
			object[key] = madeUp(property, chance, name+"."+key)
		}
		return object
	case "array":
		list := []any{}
		for i := range n % 3 {
			list = append(list, madeUp(s["items"], chance, fmt.Sprint(name, i)))
		}
		return list
	case "number", "integer":
		return float64(n % 21)
	case "boolean":
		return n%2 == 0
	case "null":
		return nil
	}
	return fmt.Sprint("text", n%1000)
}

// text is a branch for a person.
func (b *branch) text() string {
	text, err := json.Marshal(map[string]any{"ends": b.ends, "chance": b.chance})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// The interpreter can tell: most faults that change what a plan does come to
// another result on some branch, and a plan comes to its own result on all.
func TestTrialsTellHarm(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("nothing here happens at the same time")
	}
	harmful, seen := map[string]int{}, map[string]int{}
	for n := range amount.Of(1, 2, 2) {
		sound := trialOf(sketchOf(soundPlan(n)))
		if at := sound.harms(seeded{plan: sound.sound}); at != nil {
			t.Errorf("plan %d is another than itself on %s", n, at.text())
		}
		for _, name := range []string{"read of a renamed path", "dropped writer", "swapped outputs of two tools", "removed fallback", "unreachable branch"} {
			for _, f := range faultKinds[kindNamed(name)].seed(sound.sound) {
				seen[name]++
				if sound.harms(f) != nil {
					harmful[name]++
				}
			}
		}
	}
	for name, n := range seen {
		t.Logf("%-30s %d of %d do harm", name, harmful[name], n)
		if harmful[name]*3 < n*2 {
			t.Errorf("%s: only %d of %d do harm", name, harmful[name], n)
		}
	}
}
