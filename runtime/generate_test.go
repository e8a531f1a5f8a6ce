package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generatePlan makes a document of 2 to 14 calls, as generic JSON. Some seven
// of eight plans are sound by the model's own judgement (see faults); the
// others are left as they came out, with their cycles, dangling references and
// conflicts. Whatever the tools, perform carries all of them out.
func generatePlan(r *rand.Rand) map[string]any {
	anythingGoes := r.IntN(8) == 0
	for range 60 {
		doc := attemptPlan(r)
		if anythingGoes || len(faults(doc)) == 0 {
			return doc
		}
	}
	return attemptPlan(r)
}

// An author writes one plan.
type author struct {
	*rand.Rand
	once   bool
	calls  []map[string]any
	state  map[string]any
	input  map[string]any
	places []place  // what can be read
	fresh  []string // names of the state that nothing has taken
	ids    int
}

// A place is a path that can be read, and the shape of what stands there.
type place struct{ path, shape string }

func attemptPlan(r *rand.Rand) map[string]any {
	a := &author{Rand: r, once: r.IntN(2) == 0, state: map[string]any{}, input: map[string]any{}}
	for _, i := range r.Perm(len(words)) {
		a.fresh = append(a.fresh, words[i])
	}
	a.beginWithValues()
	if a.chance(30) {
		a.writeWildly()
	} else {
		a.writeMotifs()
	}
	a.shuffleALittle()
	return a.document()
}

var words = []string{
	"profile", "order", "offer", "notes", "route", "weather", "budget", "answer", "ticket", "invoice",
	"account", "journey", "menu", "garden", "letter", "quote", "market", "harbour", "bridge", "window",
	"record.first", "record.second.deep", "record.third", "basket.top", "basket.inner.bottom", "report.head", "report.body.text",
}

func (a *author) chance(percent int) bool { return a.IntN(100) < percent }

func (a *author) beginWithValues() {
	a.input["size"] = float64(a.IntN(9))
	a.input["user"] = map[string]any{"name": "ann", "tags": []any{"x", "y"}}
	if a.chance(60) {
		a.state["known"] = shaped("object", a.Uint32(), false)
		a.places = append(a.places, place{"†state.known", "object"})
	}
	if a.chance(30) {
		a.state["shelf"] = []any{1.0, shaped("object", a.Uint32(), false)}
		a.places = append(a.places, place{"†state.shelf", "list"})
	}
	if a.chance(10) {
		a.state["blank"] = nil // not there, and an empty base
		a.fresh = append([]string{"blank"}, a.fresh...)
	}
	a.places = append(a.places, place{"†input.size", "number"}, place{"†input.user", "user"})
}

func (a *author) freshPath() string {
	if len(a.fresh) == 0 {
		a.ids++
		return fmt.Sprintf("extra%d.part", a.ids)
	}
	p := a.fresh[0]
	a.fresh = a.fresh[1:]
	return p
}

// call adds a call of any tool whose result has this shape, and gives it back
// for more to be put on it.
func (a *author) call(output, shape string, params map[string]any) map[string]any {
	c := map[string]any{"_tool": toolNames[a.IntN(5)], "seed": float64(a.IntN(1000)), "shape": shape}
	if output != "" {
		c["_outputPath"] = output
	}
	for key, value := range params {
		c[key] = value
	}
	a.calls = append(a.calls, c)
	return c
}

func (a *author) named(c map[string]any) string {
	if id, ok := c["_id"].(string); ok {
		return id
	}
	a.ids++
	id := fmt.Sprintf("step%d", a.ids)
	c["_id"] = id
	return id
}

// offer makes a path readable.
func (a *author) offer(path, shape string) {
	a.places = append(a.places, place{"†state." + path, shape})
}

// writeMotifs strings together small patterns that real plans are made of.
func (a *author) writeMotifs() {
	size := 2 + a.IntN(11)
	motifs := []func(){
		a.chain, a.chain, a.join, a.earlyFallback, a.earlyFallback, a.condition, a.orderOnly, a.branch, a.failing, a.failing,
		a.fanOut, a.gather, a.forward, a.forward, a.effect, a.typed, a.condition, a.listItems, a.sharedTrouble, a.crowdedTrouble, a.refused, a.hasty,
	}
	own := a.rewrite // what only one of the two policies makes sense of
	if a.once {
		own = a.contest
	}
	motifs = append(motifs, own, own, own)
	if a.chance(85) {
		own()
	}
	if a.chance(35) {
		a.earlyFallback()
	}
	for len(a.calls) < size {
		motifs[a.IntN(len(motifs))]()
	}
	if len(a.calls) > 14 {
		a.calls = a.calls[:14]
	}
}

func (a *author) anyShape() string {
	return []string{"object", "object", "object", "list", "number", "text", "flag", "nothing"}[a.IntN(8)]
}

func (a *author) chain() {
	for range 1 + a.IntN(2) {
		path, shape := a.freshPath(), a.anyShape()
		a.call(path, shape, map[string]any{"from": a.value()})
		a.offer(path, shape)
	}
}

func (a *author) join() {
	path := a.freshPath()
	a.call(path, "object", map[string]any{"left": a.value(), "right": a.value(), "third": a.spot()})
	a.offer(path, "object")
}

// earlyFallback offers a reader something that is soon there, and another that
// takes longer.
func (a *author) earlyFallback() {
	slow, path := a.freshPath(), a.freshPath()
	quick := []string{"†input.size", "†input.user.name", a.spot()}[a.IntN(3)]
	a.call(slow, "object", map[string]any{"from": a.spot()})
	a.call(path, "object", map[string]any{"from": quick + " || †state." + slow})
	a.offer(slow, "object")
	a.offer(path, "object")
}

func (a *author) condition() {
	flag, path := a.freshPath(), a.freshPath()
	a.call(flag, "flag", map[string]any{"from": a.spot()})
	c := a.call(path, "object", map[string]any{"from": a.value()})
	c["_when"] = "†state." + flag
	if a.chance(20) {
		c["_when"] = a.spot() + " && †state." + flag
	}
	a.offer(path, "object")
}

func (a *author) orderOnly() {
	before := a.calls
	path := a.freshPath()
	c := a.call(path, "object", map[string]any{"from": a.value()})
	if len(before) > 0 {
		c["_after"] = a.after(before)
	}
	a.offer(path, "object")
}

// branch takes one of two or three ways, and may join them again.
func (a *author) branch() {
	ways := []string{a.freshPath(), a.freshPath()}
	if a.chance(30) {
		ways = append(ways, a.freshPath())
	}
	params := map[string]any{"from": a.value()}
	if a.chance(80) {
		params["choose"] = ways[a.IntN(len(ways))]
	}
	a.call(strings.Join(ways, " || "), "object", params)
	var ends []string
	for _, way := range ways {
		if a.chance(70) {
			end := a.freshPath()
			a.call(end, "object", map[string]any{"from": "†state." + way})
			ends = append(ends, "†state."+end)
		}
		a.offer(way, "object")
	}
	if len(ends) > 1 {
		path := a.freshPath()
		a.call(path, "object", map[string]any{"from": strings.Join(ends, " || ")})
		a.offer(path, "object")
	}
}

// failing has a call that fails, for good or not, mostly with a failure route.
func (a *author) failing() {
	path, trouble := a.freshPath(), a.freshPath()
	params := map[string]any{"from": a.value(), "fails": float64(1 + a.IntN(3))}
	if a.chance(50) {
		params["code"] = []string{"declined", "timeout", "busy"}[a.IntN(3)]
	}
	output := path + " || " + trouble
	if a.chance(12) {
		output = path
	} else if a.chance(15) {
		output = fmt.Sprintf("%s || %s && %s", path, trouble, a.freshPath())
	}
	c := a.call(output, "object", params)
	if a.chance(30) {
		c["_retry"] = map[string]any{"attempts": float64(2 + a.IntN(2))}
		if a.chance(30) {
			c["_retry"] = float64(2 + a.IntN(2))
		}
	}
	a.offer(path, "object")
	if output != path {
		a.offer(trouble, "record")
		if a.chance(50) {
			end := a.freshPath()
			a.call(end, "object", map[string]any{"code": "†state." + trouble + ".code"})
			a.offer(end, "object")
		}
	}
	if a.chance(40) {
		end := a.freshPath()
		a.call(end, "object", map[string]any{"from": "†state." + path})
		a.offer(end, "object")
	}
}

// sharedTrouble has calls that may fail into one path, or into one above the
// other. One may also put its result there.
func (a *author) sharedTrouble() {
	trouble := a.freshPath()
	for range 2 + a.IntN(2) {
		path, end := a.freshPath(), trouble
		params := map[string]any{"from": a.spot(), "fails": float64(min(1, a.IntN(4)))}
		if a.chance(15) {
			end += ".deep"
		}
		if a.chance(15) {
			params["choose"] = end
		}
		a.call(path+" || "+end, "object", params)
		a.offer(path, "object")
	}
	a.offer(trouble, "record")
}

// crowdedTrouble has a call fail to where something stands already: the record
// may find no place there, and under once it isn't let in.
func (a *author) crowdedTrouble() {
	path, end := a.freshPath(), a.freshPath()
	a.call(path, a.anyShape(), map[string]any{"from": a.spot()})
	trouble := path + []string{"", ".why"}[a.IntN(2)]
	c := a.call(end+" || "+trouble, "object", map[string]any{"from": a.spot(), "fails": float64(min(1, a.IntN(4)))})
	if !a.once {
		c["other"] = "†state." + path + " || 0"
	}
	a.offer(path, "")
	a.offer(end, "object")
}

func (a *author) fanOut() {
	one, other := a.freshPath(), a.freshPath()
	shape := a.anyShape()
	a.call(one+" && "+other, shape, map[string]any{"from": a.value()})
	a.offer(one, shape)
	a.offer(other, shape)
}

// gather has several calls that add to one path, without order among them.
func (a *author) gather() {
	path := a.freshPath()
	method := []string{"push", "concat", "merge", "assign"}[a.IntN(4)]
	shape := map[string]string{"push": a.anyShape(), "concat": "list", "merge": "object", "assign": "object"}[method]
	for range 2 + a.IntN(2) {
		c := a.call(path, shape, map[string]any{"from": a.value()})
		c["_outputMethod"] = method
		if a.chance(25) {
			c["_outputMethod"] = []string{"push", "merge"}[a.IntN(2)]
		}
		if a.chance(10) {
			c["_outputPath"] = path + " || " + a.freshPath()
		}
	}
	a.offer(path, map[string]string{"push": "list", "concat": "list"}[method])
}

// forward lists a reader before what it reads.
func (a *author) forward() {
	path, end := a.freshPath(), a.freshPath()
	a.call(end, "object", map[string]any{"from": "†state." + path})
	a.call(path, "object", map[string]any{"from": a.spot()})
	a.offer(path, "object")
	a.offer(end, "object")
}

// refused writes below a path, or adds to it, though what stands there may be
// of a kind that can't take it.
func (a *author) refused() {
	path, trouble := a.freshPath(), a.freshPath()
	a.call(path, a.anyShape(), map[string]any{"from": a.spot()})
	output := path + []string{".city", "[0]", ""}[a.IntN(3)]
	if a.chance(60) {
		output += " || " + trouble
		a.offer(trouble, "record")
	}
	c := a.call(output, "object", map[string]any{"from": "†state." + path + " || 0"})
	c["_outputMethod"] = []string{"set", "push", "merge", "assign"}[a.IntN(4)]
	a.offer(path, "")
}

func (a *author) effect() {
	a.call("", "object", map[string]any{"from": a.value(), "fails": float64(max(0, a.IntN(8)-6))})
}

// typed uses the tools that have schemas, and at times breaks them.
func (a *author) typed() {
	path, trouble := a.freshPath(), a.freshPath()
	params := map[string]any{"from": a.value(), "wrong": float64(max(0, a.IntN(4)-1))}
	c := a.call(path+" || "+trouble, "total", params)
	c["_tool"] = "measure"
	if a.chance(40) {
		c["_retry"] = map[string]any{"attempts": 2.0}
	}
	a.offer(path, "total")
	a.offer(trouble, "record")
	if a.chance(70) {
		load, end := a.freshPath(), a.freshPath()
		a.call(load, []string{"object", "text"}[a.IntN(2)], map[string]any{"from": a.spot()})
		a.call(end, "object", map[string]any{"load": "†state." + load})["_tool"] = "weigh"
		a.offer(load, "object")
		a.offer(end, "object")
	}
}

// listItems writes items of a list, and keys below them.
func (a *author) listItems() {
	path := a.freshPath()
	a.call(path+"[0]", "object", map[string]any{"from": a.value()})
	a.offer(path, "list")
	if a.chance(50) {
		c := a.call(path+"[0].extra", "number", map[string]any{"from": "†state." + path + "[0].price"})
		c["_outputMethod"] = []string{"set", "set", "merge"}[a.IntN(3)]
	}
	if a.chance(40) {
		before := "†state." + path + "[0]"
		if a.chance(40) {
			before = "†input.size || " + before
		}
		a.call(path+"[1]", "object", map[string]any{"from": before})
	}
}

// rewrite writes one path again and again: draft, polish, publish. A reader
// listed between two of them sees the first alone, however late it comes.
func (a *author) rewrite() {
	path := a.freshPath()
	if _, there := a.state["known"]; there && a.chance(30) {
		path = "known"
		a.between(path)
	}
	a.call(path, "object", map[string]any{"from": a.value()})
	for range 1 + a.IntN(2) {
		if a.chance(35) {
			a.between(path)
		}
		before := "†state." + path + []string{"", ".name || 1", ".price"}[a.IntN(3)]
		if a.chance(25) {
			before = "†input.size || " + before
		}
		c := a.call(path, "object", map[string]any{"before": before, "from": a.value()})
		if a.chance(20) {
			c["_outputPath"] = path + ".city"
		}
		if a.chance(20) {
			c["_outputMethod"] = []string{"merge", "assign"}[a.IntN(2)]
		}
	}
	a.offer(path, "object")
}

// between reads a path that is about to be written again, and may have to wait
// for something else before it can start.
func (a *author) between(path string) {
	end := a.freshPath()
	params := map[string]any{"now": "†state." + path}
	if a.chance(60) {
		slow := a.freshPath()
		a.call(slow, "object", map[string]any{"from": a.spot()})
		params["slow"] = "†state." + slow
	}
	a.call(end, "object", params)
	a.offer(end, "object")
}

// hasty has a call that could start early, but writes where one that it depends
// on does: the rule of EXECUTION.md#order-of-calls on overlapping paths holds it back.
func (a *author) hasty() {
	other, path, middle := a.freshPath(), a.freshPath(), a.freshPath()
	a.call(other+" && "+path, a.anyShape(), map[string]any{"from": a.value()})
	read := "†state." + other
	if a.chance(50) {
		a.call(middle, "object", map[string]any{"from": read})
		read = "†state." + middle
	}
	c := a.call(path+[]string{"", ".city", "[0]"}[a.IntN(3)], "object", map[string]any{"from": "†input.size || " + read})
	c["_outputMethod"] = []string{"set", "set", "merge", "push"}[a.IntN(4)]
	if a.chance(30) {
		c["_after"] = a.after(a.calls[:1])
	}
	a.offer(other, "")
	a.offer(path, "")
}

// contest has several calls that offer a value for one path: under `once` the
// first that can gives it.
func (a *author) contest() {
	path := a.freshPath()
	for i := range 2 + a.IntN(2) {
		params := map[string]any{"from": a.spot()}
		output := path
		if i == 0 && a.chance(40) {
			params["fails"] = 1.0
			output = path + " || " + a.freshPath()
		}
		if i > 0 && a.chance(20) {
			output = path + ".city"
		}
		a.call(output, "object", params)
	}
	a.offer(path, "object")
}

// writeWildly makes calls over few paths at random: sound ones are rare among
// such plans, but unlike any that a person would write.
func (a *author) writeWildly() {
	paths := []string{"a", "a.b", "a.b.c", "d", "d.e", "list", "list[0]", "list[0].k", "g"}
	shapes := []string{"object", "object", "list", "number", "nothing", "flag"}
	for _, p := range paths {
		a.offer(p, "")
	}
	if a.chance(40) {
		a.state["a"] = map[string]any{"b": map[string]any{"name": "n"}}
	}
	if a.chance(30) {
		a.state["list"] = []any{map[string]any{"k": 1.0}, 2.0}
	}
	for range 2 + a.IntN(5) {
		output := paths[a.IntN(len(paths))]
		params := map[string]any{"fails": float64(max(0, a.IntN(5)-3))}
		for i := range 1 + a.IntN(2) {
			params[fmt.Sprint("from", i)] = a.value()
		}
		switch a.IntN(6) {
		case 0:
			params["choose"] = output
			output += " || " + a.freshPath()
		case 1:
			trouble := []string{"trouble", "mishap"}[a.IntN(2)]
			output += " || " + trouble
			a.offer(trouble, "record")
		case 2:
			output += " && " + a.freshPath()
		}
		c := a.call(output, shapes[a.IntN(len(shapes))], params)
		if a.chance(25) {
			c["_outputMethod"] = []string{"merge", "assign", "push", "concat"}[a.IntN(4)]
		}
		if a.chance(15) {
			c["_when"] = a.spot()
		}
	}
}

// shuffleALittle moves calls about in the list: where that changes what a
// reader is bound to, a sound plan remains a sound one or is thrown away.
func (a *author) shuffleALittle() {
	for range a.IntN(4) {
		from, to := a.IntN(len(a.calls)), a.IntN(len(a.calls))
		moved := a.calls[from]
		a.calls = append(a.calls[:from:from], a.calls[from+1:]...)
		a.calls = append(a.calls[:to:to], append([]map[string]any{moved}, a.calls[to:]...)...)
	}
}

func (a *author) document() map[string]any {
	calls := make([]any, len(a.calls))
	for i, c := range a.calls {
		calls[i] = c
	}
	doc := map[string]any{"plan": "generated", "tools": toolDefinitions(), "input": a.input, "calls": calls}
	if len(a.state) > 0 {
		doc["state"] = a.state
	}
	if a.once {
		doc["writes"] = "once"
	} else if a.chance(30) {
		doc["writes"] = "last"
	}
	if a.chance(15) {
		doc["limits"] = map[string]any{"parallel": float64(1 + a.IntN(3))}
	}
	switch a.IntN(4) {
	case 0:
		doc["output"] = a.spot()
	case 1, 2:
		doc["output"] = map[string]any{"one": a.spot(), "other": a.value(), "all": []any{a.spot(), a.spot(), "end"}}
	}
	return doc
}
