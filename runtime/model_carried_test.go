package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// The model of a carried plan: one tick after the other, each
// interpreted as a plan of its own in the light of what the ticks before it left.
//
// What the contract leaves open is as EXECUTION.md tells it: of the calls that are
// done, the nth of a tool, method and path belongs to the nth such of the list,
// whatever the parameters, and what it wrote is seen by those who are bound to that
// call, or to the one that repeats it. The calls that are done count in the order
// of the ticks and, within a tick, of the list.

// A past is what earlier ticks left.
type past struct {
	messages []pastMessage // in the order in which they count
	deeds    []deed
	ticks    int
}

type pastMessage struct {
	message
	tick, deed int // deed is -1 for what is no call's that is done
}

// A deed is a call that is done.
type deed struct{ identity, params string }

// carried is what a tick has besides its plan.
type carried struct {
	*past
	identities      []string
	volatile        []bool
	owner, repeater map[int]int // by deed: the call of the tick
	repeats         []int       // by call: the deed, or -1
	resolved        []string    // by call: its parameters, once they are
	rank            []int
}

// interpretTick interprets the calls of one tick, and adds to the past what they
// leave.
func interpretTick(doc map[string]any, before *past, order *rand.Rand) (*model, Outcome) {
	m := &model{plan: readPlan(doc), act: perform}
	m.carried = &carried{past: before, owner: map[int]int{}, repeater: map[int]int{}}
	m.carried.read(doc, m.plan)
	m.plan.live, m.plan.declared = m.stateBefore(), m.plan.declared || before.ticks > 0
	m.plan.relate() // what is known from the start is another matter now
	m.carried.order(m.plan)
	out := m.run(order)
	m.carried.add(m)
	return m, out
}

func (c *carried) read(doc map[string]any, p *planModel) {
	n := len(p.calls)
	c.identities, c.volatile, c.resolved, c.repeats = make([]string, n), make([]bool, n), make([]string, n), make([]int, n)
	counts := map[string]int{}
	for i, item := range doc["calls"].([]any) {
		call := p.calls[i]
		c.volatile[i] = call.tool["x-volatile"] == true
		c.identities[i] = fmt.Sprint(item.(map[string]any)["_tool"], " ", call.method, " ", call.routes)
		c.repeats[i] = -1
		if c.volatile[i] {
			continue
		}
		nth := 0
		for d, done := range c.deeds {
			if done.identity != c.identities[i] {
				continue
			}
			if nth == counts[c.identities[i]] {
				c.owner[d] = i
			}
			nth++
		}
		counts[c.identities[i]]++
	}
}

func (c *carried) order(p *planModel) {
	c.rank = make([]int, len(p.calls))
	for rank, i := range p.topology {
		c.rank[i] = rank
	}
}

// stateBefore is the state as the tick began, less what stands for calls that are
// listed again.
func (m *model) stateBefore() any {
	state, _ := m.made(nil, m.carried.entries(func(int) bool { return false }))
	return state
}

// tick is the number of the tick.
func (c *carried) tick() int {
	if c == nil {
		return 0
	}
	return c.ticks + 1
}

// entries are the messages of the past, seen by those who see these calls.
func (c *carried) entries(of func(call int) bool) []entry {
	if c == nil {
		return nil
	}
	var all []entry
	for _, msg := range c.messages {
		owner, owned := c.owner[msg.deed]
		repeater, repeated := c.repeater[msg.deed]
		all = append(all, entry{msg.message, msg.tick, !owned || of(owner) || repeated && of(repeater)})
	}
	return all
}

// stands reports whether an earlier tick has written over a path what counts.
func (c *carried) stands(p statePath, counts func(message) bool) bool {
	return c != nil && slices.ContainsFunc(c.messages, func(msg pastMessage) bool { return counts(msg.message) && overlap(msg.path, p) })
}

// repetition settles a call with these parameters as done if it is done already,
// and reports whether it may run; undecided is that another call of its kind comes
// first.
func (c *carried) repetition(m *model, call *callModel, params any) (repeated, undecided bool) {
	if c == nil || c.volatile[call.place] {
		return false, false
	}
	id := c.identities[call.place]
	if !slices.ContainsFunc(c.deeds, func(d deed) bool { return d.identity == id }) {
		return false, false
	}
	text, nth := asText(params), 0
	for j := range m.plan.calls {
		if c.identities[j] == id && c.rank[j] < c.rank[call.place] {
			if m.status[j] == "" {
				return false, true
			}
			if c.resolved[j] == text {
				nth++
			}
		}
	}
	c.resolved[call.place] = text
	for d, done := range c.deeds {
		if done.identity == id && done.params == text {
			if nth == 0 {
				c.repeater[d], c.repeats[call.place] = call.place, d
				return true, false
			}
			nth--
		}
	}
	return false, false
}

// add makes what the tick did part of the past.
func (c *carried) add(m *model) {
	c.ticks++
	numbers := map[int]int{}
	for i := range m.plan.calls {
		if m.status[i] == "done" && c.repeats[i] < 0 {
			numbers[i] = len(c.deeds)
			d := deed{c.identities[i], asText(m.params[i])}
			if c.volatile[i] {
				d.identity = ""
			}
			c.deeds = append(c.deeds, d)
		}
	}
	for _, i := range m.plan.topology {
		for _, msg := range m.log {
			if msg.call != i {
				continue
			}
			number, isDeed := numbers[i]
			if !isDeed {
				number = -1
			}
			c.messages = append(c.messages, pastMessage{msg, c.ticks, number})
		}
	}
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
