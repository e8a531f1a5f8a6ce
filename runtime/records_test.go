package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// The record of every tick holds all that the tick began with: gone on from with the
// same solutions, the run ends each tick in the state that it ended in, does nothing
// again that was done, and tells the planner the same; and played by itself, where its
// solution is sound and so valid against its own schema, it ends where the tick did.
func TestRecordsAreGoneOnFrom(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(4, 33, 500), map[string]int{}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 21))
		doc, solutions, open := recordable(t, n, r)
		v, why := compileWith(t, doc, compiler.Options{Functions: toolNames, Open: open, Name: "plan.json"})
		if v == nil {
			t.Fatalf("plan %d: %s\n%s", n, why, inJSON(doc))
		}
		whole := recorded(t, n, v, solutions, 0)
		for tick := 1; tick <= whole.ticks; tick++ {
			text := whole.records[tick]
			count["ticks"]++
			about := func() string {
				return fmt.Sprintf("plan %d, tick %d, of\n%s\nrecorded as\n%s", n, tick, inJSON(doc), text)
			}
			if v, _ := ofRecord(text, false); v == nil {
				_, why := ofRecord(text, false)
				t.Fatalf("%s\nwithout its solution: %s", about(), why)
			} else {
				again := recorded(t, n, v, solutions, tick)
				for later := tick; later <= whole.ticks; later++ {
					if differs := difference(again.ends[later], whole.ends[later]); differs != "" {
						t.Fatalf("%s\ntick %d:\n%s", about(), later, differs)
					}
					if later > tick && again.told[later] != whole.told[later] {
						t.Fatalf("%s\nin tick %d %s", about(), later, firstDifference(again.told[later], whole.told[later]))
					}
				}
				count["repeated"] += again.repeated
			}
			v, _ := ofRecord(text, true)
			if v == nil {
				count["unsound"]++
				continue
			}
			if outOfTurn(t, text) {
				count["out of turn"]++
			} else if why := unfitSolution(t, text); why != "" {
				t.Fatalf("%s\nits solution isn't valid against its own schema: %s", about(), why)
			} else if doc["advisors"] != nil {
				count["advised"]++
			}
			alone := recorded(t, n, v, nil, tick)
			if differs := difference(alone.ends[tick], whole.ends[tick]); differs != "" {
				t.Fatalf("%s\nplayed:\n%s", about(), differs)
			}
			count["played"]++
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["played"] < count["ticks"]/3 || count["repeated"] < count["ticks"]/2 || count["advised"] == 0 {
		t.Error("too little happens")
	}
}

// recordable is a planned run of one of four kinds: carried from tick to tick, over
// instances, with delegates, or with advisors.
func recordable(t *testing.T, n int, r *rand.Rand) (doc map[string]any, solutions []string, open func(string) ([]byte, error)) {
	switch n % 4 {
	case 0:
		doc = carriedDocument(t, n, r)
	case 1:
		doc = crowded(r, planNumber(t, n)).together()
	case 2:
		m := &mason{r, map[string][]byte{}}
		doc = m.plan(straight(r), []string{"size", "user"}, 2)
		doc["input"] = map[string]any{"size": 3.0, "user": map[string]any{"name": "ann", "tags": []any{"x"}}}
		open = m.open
	default:
		doc, solutions = advised(r)
		return doc, solutions, nil
	}
	if r.IntN(2) == 0 {
		doc = maps.Clone(doc)
		doc["calls"] = append(slices.Clone(doc["calls"].([]any)), map[string]any{"_id": "all", "_tool": "fetch", "_each": "†input.user.tags", "v": "†item", "shape": "text", "_outputPath": "all"})
	}
	drafts := []map[string]any{doc}
	for range 2 + r.IntN(2) {
		drafts = append(drafts, replan(r, drafts[len(drafts)-1]))
	}
	for _, draft := range drafts {
		solutions = append(solutions, fmt.Sprintf(`{"calls":%s,"output":null}`, inJSON(draft["calls"])))
	}
	doc = maps.Clone(doc)
	doc["calls"] = []any{}
	delete(doc, "output")
	return doc, append(solutions, noMore), open
}

// A recordedRun is what became of a run in each of its ticks.
type recordedRun struct {
	ticks, repeated int
	records         map[int]string // with their solutions
	ends            map[int]map[string]any
	told            map[int]string
}

// recorded runs a plan, or goes on from the record of a tick.
func recorded(t *testing.T, n int, v *analyzer.Verified, solutions []string, from int) *recordedRun {
	run := &recordedRun{records: map[int]string{}, ends: map[int]map[string]any{}, told: map[int]string{}}
	r := &simulator{t: t, verified: v, solutions: solutions, act: unlucky(uint64(n)), order: rand.New(rand.NewPCG(uint64(from), uint64(n)))}
	r.options.Planned = solutions != nil
	r.decide = moody(uint64(n))
	r.watch = func(c runtime.Command) {
		switch c.Kind {
		case runtime.Plan:
			record := c.Request.Record(func(at time.Duration) string { return at.String() })
			record = record.With("solution", json.RawMessage(solutions[c.Tick-1]))
			run.records[c.Tick], run.told[c.Tick] = recordText(record), values(c.Request)
		case runtime.EndTick:
			run.ticks, run.ends[c.Tick] = c.Tick, stands(r.machine.Stands())
		}
	}
	r.run()
	run.repeated = r.repeated
	if _, there := run.ends[from]; from > 0 && !there && solutions == nil {
		run.ends[from] = stands(r.out)
	}
	return run
}

// stands is the state of a run, in all of its instances.
func stands(o *runtime.Outcome) map[string]any {
	all := map[string]any{"": o.State}
	for _, one := range o.Instances {
		all[one.ID] = one.State
	}
	return all
}

// ofRecord compiles a record as a document of its own, without a workspace: with its
// solution, or only what its tick began with.
func ofRecord(text string, whole bool) (*analyzer.Verified, string) {
	if !whole {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			return nil, err.Error()
		}
		delete(fields, "solution")
		text = inJSON(fields)
	}
	p, found := compiler.Compile(source.NewFile("record.json", []byte(text)), compiler.Options{Functions: toolNames})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	for _, f := range analysis.Findings {
		if f.Severity.String() == "error" {
			return nil, f.Rule.Code + ": " + f.Message
		}
	}
	return analysis.Verified, ""
}

// outOfTurn reports whether an advisor speaks in the solution of a record whom its schema
// doesn't ask for in that tick; that does no harm.
func outOfTurn(t *testing.T, text string) bool {
	t.Helper()
	var record struct {
		Schema   map[string]any
		Solution struct{ Advisors []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatal(err)
	}
	asked := inJSON(record.Schema)
	return slices.ContainsFunc(record.Solution.Advisors, func(a struct{ ID string }) bool { return !strings.Contains(asked, `{"const":"`+a.ID+`"}`) })
}

// unfitSolution is what the schema of a record has against its solution, or "".
func unfitSolution(t *testing.T, text string) string {
	t.Helper()
	var record map[string]any
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatal(err)
	}
	if v := schema.New(record["schema"], schema.Options{}).Validate(record["solution"]); v != nil {
		return v.Error()
	}
	return ""
}

// firstDifference shows where two texts begin to differ.
func firstDifference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-150):min(len(text), at+150)] }
	return fmt.Sprintf("the planner is told\n… %s …\nand was told\n… %s …", around(got), around(want))
}

func recordText(record request.Object) string { return request.JSON(record) }

// values are what a planner is told and asked for, but for what it is told in passing of
// calls of earlier ticks: a record hands that on as it stands.
func values(r *runtime.Request) string {
	var messages []map[string]any
	if err := json.Unmarshal(request.Append(nil, r.Messages), &messages); err != nil {
		panic(err)
	}
	messages = slices.DeleteFunc(messages, func(m map[string]any) bool { return m["type"] == "meta" })
	schema := strings.Replace(request.JSON(r.Schema), `"meta":{"type":"object"},`, "", 1)
	return inJSON(messages) + "\n" + schema
}
