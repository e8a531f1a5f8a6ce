package runtime_test

import (
	"fmt"
	"slices"
	"strings"
)

// How the model reads a plan: its calls, what each read is bound to, and who
// depends on whom.

type planModel struct {
	calls    []*callModel
	tools    map[string]any
	state    any
	declared bool // the document has a state
	live     any  // in a replan: the state as its tick began, which is there from the start; else nil
	input    any
	output   any
	once     bool
	parallel int
	topology []int // LANGUAGE.md#output-paths-and-state's order; shorter than calls when there is a cycle
}

type callModel struct {
	place    int
	name     string
	toolName string
	tool     map[string]any
	result   any // the schema of what the tool gives, or nil
	params   map[string]any
	when     any // nil: none
	routes   [][]statePath
	method   string
	attempts int
	after    map[int]bool // calls named in _after
	done     map[int]bool // those of them that must be done
	needs    map[int]bool // LANGUAGE.md#the-graph
	allNeeds map[int]bool // directly or not
}

func readPlan(doc map[string]any) *planModel {
	p := &planModel{input: doc["input"], output: doc["output"], once: doc["writes"] == "once"}
	p.tools, _ = doc["tools"].(map[string]any)
	p.state = doc["state"]
	p.declared = p.state != nil
	if !p.declared {
		p.state = map[string]any{}
	}
	if limits, ok := doc["limits"].(map[string]any); ok {
		p.parallel = number(limits["parallel"])
	}
	for i, item := range doc["calls"].([]any) {
		c := readCall(i, item.(map[string]any))
		c.tool, _ = p.tools[item.(map[string]any)["_tool"].(string)].(map[string]any)
		if c.result = c.tool["_output"]; c.result == nil { // LANGUAGE.md#tools
			properties, _ := c.tool["properties"].(map[string]any)
			c.result = properties["_output"]
		}
		p.calls = append(p.calls, c)
	}
	for i, item := range doc["calls"].([]any) {
		p.comesAfter(p.calls[i], item.(map[string]any)["_after"], true)
	}
	p.relate()
	return p
}

// comesAfter reads an _after: ids, tools that one call has, {settled: …}, or a
// list of these.
func (p *planModel) comesAfter(c *callModel, named any, done bool) {
	switch named := named.(type) {
	case []any:
		for _, item := range named {
			p.comesAfter(c, item, done)
		}
	case map[string]any:
		p.comesAfter(c, named["settled"], false)
	case string:
		for _, other := range p.calls {
			if other.name == named || other.toolName == named {
				c.after[other.place] = true
				c.done[other.place] = c.done[other.place] || done
			}
		}
	}
}

// relate works out who depends on whom.
func (p *planModel) relate() {
	for _, c := range p.calls {
		c.needs = p.needed(c)
	}
	for _, c := range p.calls {
		c.allNeeds = p.reachable(c.place)
	}
	p.topology = p.sorted()
}

func readCall(place int, item map[string]any) *callModel {
	tool := item["_tool"].(string)
	c := &callModel{
		place: place, name: fmt.Sprintf("%s#%d", tool, place+1), params: map[string]any{},
		when: item["_when"], method: "set", attempts: 1, after: map[int]bool{}, done: map[int]bool{}, toolName: tool,
	}
	if id, ok := item["_id"].(string); ok {
		c.name = id
	}
	if method, ok := item["_outputMethod"].(string); ok {
		c.method = method
	}
	if retry, ok := item["_retry"].(map[string]any); ok {
		c.attempts = max(1, number(retry["attempts"]))
	}
	if tries, ok := item["_retry"].(float64); ok {
		c.attempts = int(tries)
	}
	if output, ok := item["_outputPath"].(string); ok {
		c.routes = readRoutes(output)
	}
	for key, value := range item {
		if !strings.HasPrefix(key, "_") {
			c.params[key] = value
		}
	}
	return c
}

// failureRoute is the last of several alternatives, or nil.
func (c *callModel) failureRoute() []statePath {
	if len(c.routes) < 2 {
		return nil
	}
	return c.routes[len(c.routes)-1]
}

// mayWrite reports whether one of the call's paths overlaps p.
func (c *callModel) mayWrite(p statePath) bool {
	for _, route := range c.routes {
		if overlapsAny(route, p) {
			return true
		}
	}
	return false
}

// neighbours reports whether two calls may write one place or the same list.
func (c *callModel) neighbours(other *callModel) bool {
	for _, route := range c.routes {
		for _, p := range route {
			for _, theirs := range other.routes {
				if slices.ContainsFunc(theirs, func(q statePath) bool { return overlap(p.toList(), q.toList()) }) {
					return true
				}
			}
		}
	}
	return false
}

// meets reports whether two calls may write overlapping paths, failure route
// against failure route aside.
func (c *callModel) meets(other *callModel) bool {
	for i, mine := range c.routes {
		for j, theirs := range other.routes {
			bothFail := len(c.routes) > 1 && i == len(c.routes)-1 && len(other.routes) > 1 && j == len(other.routes)-1
			if !bothFail && slices.ContainsFunc(mine, func(p statePath) bool { return overlapsAny(theirs, p) }) {
				return true
			}
		}
	}
	return false
}

// references are all that the call reads: its parameters' and its condition's.
func (c *callModel) references() []reference {
	found := referencesIn(c.params)
	if c.when != nil {
		found = append(found, referencesIn(c.when)...)
	}
	return found
}

// bound is LANGUAGE.md#the-graph: the calls whose writes the reader at this place sees at p.
// The plan's output reads from the place after the last call.
func (p *planModel) bound(reader int, r reference) map[int]bool {
	earlier, later := map[int]bool{}, map[int]bool{}
	if r.kind == "state" {
		for _, c := range p.calls {
			if c.mayWrite(r.path) && c.place < reader {
				earlier[c.place] = true
			}
			if c.mayWrite(r.path) && c.place > reader {
				later[c.place] = true
			}
		}
	}
	switch {
	case p.once:
		return union(earlier, later)
	case len(earlier) > 0:
		return earlier
	case p.knownFromTheStart(r):
		return nil
	}
	return later
}

// initially reports whether the document's state has something at a path.
func (p *planModel) initially(at statePath) bool {
	value, there := valueAt(p.state, at)
	return there && value != nil
}

func (p *planModel) knownFromTheStart(r reference) bool {
	root := p.state
	if p.live != nil {
		root = p.live
	}
	if r.kind == "input" {
		root = p.input
	}
	if r.kind == "state" && !p.declared {
		return false // not even the whole of it
	}
	value, there := valueAt(root, r.path)
	return there && value != nil
}

// needed is LANGUAGE.md#the-graph: the calls that c depends on directly.
func (p *planModel) needed(c *callModel) map[int]bool {
	needs := union(c.after)
	for _, r := range c.references() {
		needs = union(needs, p.bound(c.place, r))
	}
	for _, w := range p.calls[:c.place] {
		if p.once && w.meets(c) {
			needs[w.place] = true
		}
	}
	return needs
}

func (p *planModel) reachable(from int) map[int]bool {
	seen := map[int]bool{}
	var visit func(int)
	visit = func(i int) {
		for need := range p.calls[i].needs {
			if !seen[need] {
				seen[need] = true
				visit(need)
			}
		}
	}
	visit(from)
	return seen
}

// sorted is the topological order that takes the earliest-listed ready call
// first; calls on a cycle, or behind one, aren't in it.
func (p *planModel) sorted() []int {
	var order []int
	placed := map[int]bool{}
	for {
		next := slices.IndexFunc(p.calls, func(c *callModel) bool { return !placed[c.place] && subset(c.needs, placed) })
		if next < 0 {
			return order
		}
		placed[next] = true
		order = append(order, next)
	}
}

func union(sets ...map[int]bool) map[int]bool {
	all := map[int]bool{}
	for _, set := range sets {
		for i := range set {
			all[i] = true
		}
	}
	return all
}

func subset(a, b map[int]bool) bool {
	for i := range a {
		if !b[i] {
			return false
		}
	}
	return true
}
