package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A crowd is a generated plan that runs over several instances.
type crowd struct {
	doc map[string]any
	ids []string
	own map[string]map[string]any // what the document gives each
}

// crowded makes a plan one for 2 to 6 instances, which begin with values at the
// same paths. Some values are shared, some are each instance's own, of some
// objects a part is. Some calls are for one instance alone.
func crowded(r *rand.Rand, doc map[string]any) *crowd {
	c := &crowd{doc: maps.Clone(doc), own: map[string]map[string]any{}}
	for _, at := range r.Perm(6)[:2+r.IntN(5)] {
		id := []string{"①", "②", "employee_B", "d", "e e", "†"}[at]
		c.ids, c.own[id] = append(c.ids, id), map[string]any{}
	}
	for _, kind := range []string{"input", "state"} {
		values, _ := doc[kind].(map[string]any)
		common := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			object, _ := values[key].(map[string]any)
			switch pick := r.IntN(4); {
			case pick == 0:
				common[key] = values[key]
			case pick == 1 && len(object) > 1:
				keys := slices.Sorted(maps.Keys(object))
				part := keys[r.IntN(len(keys))]
				rest := maps.Clone(object)
				delete(rest, part)
				common[key] = rest
				c.give(kind, key, map[string]any{part: object[part]})
			default:
				c.give(kind, key, values[key])
			}
		}
		if _, there := doc[kind]; there {
			c.doc[kind] = common
		}
	}
	var calls []any
	for i, one := range doc["calls"].([]any) {
		call := maps.Clone(one.(map[string]any))
		if call["_id"] == nil {
			call["_id"] = fmt.Sprint("call", i)
		}
		if r.IntN(6) == 0 {
			call["_instance"] = c.ids[r.IntN(len(c.ids))]
		}
		calls = append(calls, call)
	}
	c.doc["calls"] = calls
	if r.IntN(4) == 0 { // a run that reaches it is resumed, and has as many calls again
		limits, _ := c.doc["limits"].(map[string]any)
		limits = maps.Clone(limits)
		if limits == nil {
			limits = map[string]any{}
		}
		limits["calls"] = float64(1 + r.IntN(5))
		c.doc["limits"] = limits
	}
	return c
}

// give gives every instance a value of its own at one place.
func (c *crowd) give(kind, key string, value any) {
	for i, id := range c.ids {
		own, _ := c.own[id][kind].(map[string]any)
		if own == nil {
			own = map[string]any{}
			c.own[id][kind] = own
		}
		own[key] = varied(value, i)
	}
}

// varied is another value with the same paths.
func varied(value any, by int) any {
	switch v := value.(type) {
	case float64:
		return v + float64(by)
	case string:
		return fmt.Sprint(v, by)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = varied(item, by)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for key, item := range v {
			object[key] = varied(item, by)
		}
		return object
	}
	return value
}

// together is the document with all instances.
func (c *crowd) together() map[string]any { return c.among(c.ids, c.doc["calls"].([]any)) }

// alone is the document with one instance and the calls that it runs.
func (c *crowd) alone(id string) map[string]any { return c.among([]string{id}, c.callsOf(id)) }

func (c *crowd) callsOf(id string) []any {
	return slices.DeleteFunc(slices.Clone(c.doc["calls"].([]any)), func(call any) bool {
		of := call.(map[string]any)["_instance"]
		return of != nil && of != id
	})
}

func (c *crowd) among(ids []string, calls []any) map[string]any {
	doc, instances := maps.Clone(c.doc), map[string]any{}
	for _, id := range ids {
		instances[id] = c.own[id]
	}
	doc["instances"], doc["calls"] = instances, calls
	return doc
}

// plain is a document without instances that does what one of them does.
func (c *crowd) plain(id string) map[string]any {
	doc := maps.Clone(c.doc)
	for _, kind := range []string{"input", "state"} {
		if own, ok := c.own[id][kind]; ok {
			doc[kind] = overlaid(doc[kind], own)
		}
	}
	var calls []any
	for _, call := range c.callsOf(id) {
		own := maps.Clone(call.(map[string]any))
		delete(own, "_instance")
		calls = append(calls, own)
	}
	doc["calls"] = calls
	return doc
}

func overlaid(under, over any) any {
	u, both := under.(map[string]any)
	o, ok := over.(map[string]any)
	if !both || !ok {
		return over
	}
	merged := maps.Clone(u)
	for key, value := range o {
		merged[key] = overlaid(merged[key], value)
	}
	return merged
}

// lives are how a run went for each of its instances, as far as it may not depend
// on timing.
func (r *simulator) lives() map[string]map[string]any {
	lives := map[string]map[string]any{}
	for _, end := range r.out.Instances {
		lives[end.ID] = r.lived(end.ID+"/", end)
		if !r.options.Planned {
			lives[end.ID]["told"] = inJSON(end.Errors) // in this order
		}
	}
	return lives
}

// life is how a run without instances went, in the same words.
func (r *simulator) life() map[string]any {
	return r.lived("", runtime.InstanceEnd{Status: r.out.Status, State: r.out.State, Output: r.out.Output, Errors: r.out.Errors})
}

func (r *simulator) lived(prefix string, end runtime.InstanceEnd) map[string]any {
	errors := []string{}
	for _, e := range end.Errors {
		e.Instance = ""
		errors = append(errors, inJSON(e))
	}
	slices.Sort(errors)
	life := map[string]any{"status": end.Status, "state": end.State, "output": end.Output, "errors": errors}
	for what, values := range map[string]map[string]string{"settled ": r.settled, "started ": r.begun} {
		for key, value := range values {
			if call, ok := strings.CutPrefix(key, prefix); ok {
				life[what+call] = value
			}
		}
	}
	return life
}

// Instances are independent: what becomes of each is what becomes of it alone,
// whatever happens to the others, under any schedule, with any number of
// activities at once, with kills and stops, and whether the plan is there or is
// being written; and it is what a plan without instances does with its values.
func TestInstancesAreIndependent(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(12, 50, 6000), map[string]int{}
	for n := range plans {
		c := crowded(rand.New(rand.NewPCG(uint64(n), 12)), planNumber(t, n))
		together, alone, plain := c.sound(t)
		if together == nil {
			count["unsound"]++
			continue
		}
		count["run"]++
		want := map[string]map[string]any{}
		for _, id := range c.ids {
			want[id] = simulateOnce(t, alone[id], nil, unlucky(uint64(n)), uint64(n), 0).lives()[id]
			of := func(call string, attempt int, params map[string]any) (any, string, *failure) {
				return unlucky(uint64(n))(id+"/"+call, attempt, params)
			}
			if asksPeople(uint64(n)) {
				continue // who would know for which instance
			}
			same := simulateOnce(t, plain[id], nil, of, uint64(n), 0).life()
			same["told"] = want[id]["told"] // by each in its own words
			if differs := difference(same, want[id]); differs != "" {
				t.Fatalf("plan %d, of\n%s\nas a plan of its own the instance %s\n%s", n, inJSON(c.together()), id, differs)
			}
		}
		for seed := uint64(1); seed < 4; seed++ {
			r := simulateOnce(t, together, nil, unlucky(uint64(n)), uint64(n), seed)
			count["disturbed"] += int(seed)%3 - r.kills + int(seed)*2%5 - r.stops
			c.compare(t, n, seed, r.lives(), want)
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["run"]*3 < plans {
		t.Errorf("only %d of %d plans run", count["run"], plans)
	}
}

// sound compiles a crowd's plan in all its forms; nil if one isn't sound.
func (c *crowd) sound(t *testing.T) (together *analyzer.Verified, alone, plain map[string]*analyzer.Verified) {
	alone, plain = map[string]*analyzer.Verified{}, map[string]*analyzer.Verified{}
	all := compiler.Options{Functions: toolNames} // those that the calls of others use are there as well
	if together, _ = compileWith(t, c.together(), all); together == nil {
		return nil, nil, nil
	}
	for _, id := range c.ids {
		alone[id], _ = compileWith(t, c.alone(id), all)
		plain[id], _ = compileWith(t, c.plain(id), all)
		if alone[id] == nil || plain[id] == nil {
			return nil, nil, nil
		}
	}
	return together, alone, plain
}

func simulateOnce(t *testing.T, v *analyzer.Verified, solutions []string, act behaviour, n, seed uint64) *simulator {
	r := &simulator{
		t: t, verified: v, solutions: solutions, act: act, order: rand.New(rand.NewPCG(seed, n)),
		kills: int(seed) % 3, stops: int(seed) * 2 % 5, decide: moodyOf(n),
	}
	if asksPeople(n) {
		r.options.Confirm.Policy = runtime.Always
	}
	r.options.Planned, r.options.Parallel = solutions != nil, []int{0, 1, 3, 0, 70}[seed]
	r.run()
	return r
}

// asksPeople reports whether people are asked about every call of a plan.
func asksPeople(n uint64) bool { return n%3 == 0 }

// moodyOf is a person who answers in each instance otherwise.
func moodyOf(n uint64) func(q *runtime.Question) runtime.Decision {
	return func(q *runtime.Question) runtime.Decision {
		of := *q
		of.Call = q.Instance + "/" + q.Call
		return moody(n)(&of)
	}
}

func (c *crowd) compare(t *testing.T, n int, seed uint64, got, want map[string]map[string]any) {
	t.Helper()
	for _, id := range c.ids {
		if differs := difference(got[id], want[id]); differs != "" {
			t.Fatalf("plan %d, seed %d, of\n%s\nthe instance %s among others\n%s", n, seed, inJSON(c.together()), id, differs)
		}
	}
}

// So it is when a planner writes the plan, however it comes in: what one instance
// does with a solution is what it does with its own calls alone.
func TestPlannedInstancesAreIndependent(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(15, 26, 4000), map[string]int{}
	for n := range plans {
		c := crowded(rand.New(rand.NewPCG(uint64(n), 13)), planNumber(t, n))
		if together, _, _ := c.sound(t); together == nil {
			count["unsound"]++
			continue
		}
		count["run"]++
		run := func(doc map[string]any, seed uint64) *simulator {
			delete(doc, "output")
			v, solution := asSolution(t, doc)
			return simulateOnce(t, v, []string{solution, noMore}, unlucky(uint64(n)), uint64(n), seed)
		}
		want := map[string]map[string]any{}
		for _, id := range c.ids {
			want[id] = run(c.alone(id), 0).lives()[id]
		}
		for seed := uint64(1); seed < 4; seed++ {
			r := run(c.together(), seed)
			count["disturbed"] += int(seed)%3 - r.kills + int(seed)*2%5 - r.stops
			c.compare(t, n, seed, r.lives(), want)
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["run"]*3 < plans {
		t.Errorf("only %d of %d plans run", count["run"], plans)
	}
}

// Instances that come from outside, a few at a time, end as they do when the plan
// lists them, though some leave before others join.
func TestJoiningInstances(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(12, 60, 3000), map[string]int{}
	awaiting := compiler.Options{Instances: true}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 14))
		c := crowded(r, planNumber(t, n))
		all, _ := compileWith(t, c.together(), awaiting)
		listed := r.IntN(len(c.ids))
		some, _ := compileWith(t, c.among(c.ids[:listed], c.doc["calls"].([]any)), awaiting)
		if all == nil || some == nil {
			count["unsound"]++
			continue
		}
		count["run"]++
		act := unlucky(uint64(n))
		want := simulateOnce(t, all, nil, act, uint64(n), 0).lives()
		for seed := uint64(1); seed < 4; seed++ {
			r := &simulator{t: t, verified: some, act: act, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed), stops: int(seed), decide: moodyOf(uint64(n))}
			r.options = runtime.Options{Joining: true, Parallel: int(seed) - 1}
			if asksPeople(uint64(n)) {
				r.options.Confirm.Policy = runtime.Always
			}
			for _, id := range c.ids[listed:] {
				r.joining = append(r.joining, runtime.Instance{ID: id, Input: asObject(c.own[id]["input"]), State: asObject(c.own[id]["state"])})
			}
			r.run()
			c.compare(t, n, seed, r.lives(), want)
		}
	}
	t.Logf("%d plans: %v", plans, count)
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// Over several ticks, with a plan that is carried and calls that are done already
// in some instances and not in others, every schedule, kill and stop ends alike.
func TestCarriedInstances(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(10, 20, 3000), map[string]int{}
	for n := range plans {
		c := crowded(rand.New(rand.NewPCG(uint64(n), 17)), planNumber(t, n))
		doc := c.together()
		if v, _ := compileGenerated(t, doc); v == nil {
			count["unsound"]++
			continue
		}
		count["run"]++
		delete(doc, "output")
		v, _ := asSolution(t, doc)
		var want map[string]any
		for seed := range uint64(4) {
			r := simulateOnce(t, v, inTwoTicks(doc), unlucky(uint64(n)), uint64(n), seed)
			got := r.ending()
			maps.DeleteFunc(got, func(key string, _ any) bool { return strings.HasPrefix(key, "request ") }) // why a call was skipped is folded away, or not
			got["lives"] = r.lives()
			if seed == 0 {
				want = got
				count["repeated"] += r.repeated
			}
			if differs := difference(got, want); differs != "" {
				t.Fatalf("plan %d, seed %d, of\n%s\n%s", n, seed, inJSON(doc), differs)
			}
		}
	}
	t.Logf("%d plans: %v", plans, count)
}
