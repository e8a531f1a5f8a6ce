package facts_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A nest is plans of which each runs those behind it.
type nest struct {
	names []string
	plans [][]nested
	seen  map[string]map[string]bool // who has chosen the value of a call, as it is worked out
}

// A nested is a call of a nest: of a program, a model, an expression or another plan.
type nested struct {
	tool  string
	runs  int // a plan, or -1
	value string
	parts []string // or an object of these, "" is literal
}

func nestOf(r *rand.Rand) *nest {
	n := &nest{names: []string{"", "one.yaml", "two.yaml"}, seen: map[string]map[string]bool{}}
	for at := range n.names {
		var calls []nested
		some := func() string {
			from := []string{"†input.a", "†input.a.x", "†input.a.y", "†input", "†input.a || †input"}
			if at == 0 {
				from = from[3:4]
			}
			for i := range calls {
				if calls[i].tool != "put" {
					from = append(from, fmt.Sprintf("†state.p%d", i), fmt.Sprintf("†state.p%d", i))
				}
			}
			return from[r.IntN(len(from))]
		}
		for range 2 + r.IntN(5) {
			c := nested{tool: []string{"get", "put", "ask", "calc", "sub", "sub"}[r.IntN(6)], runs: -1, value: some()}
			if c.tool == "sub" {
				if c.runs = at + 1 + r.IntN(2); c.runs >= len(n.names) {
					c.tool, c.runs = "put", -1
				}
			}
			if r.IntN(3) == 0 {
				c.parts = []string{some(), ""}
				if r.IntN(2) == 0 {
					slices.Reverse(c.parts)
				}
			}
			calls = append(calls, c)
		}
		n.plans = append(n.plans, calls)
	}
	return n
}

func (n *nest) text(at int) string {
	var b strings.Builder
	b.WriteString("input: {}\ntools:\n")
	for _, tool := range []string{"get", "put", "ask", "calc", "sub"} {
		fmt.Fprintf(&b, "  %s: {properties: {a: {}, _output: {}}}\n", tool)
	}
	b.WriteString("activities: {get: {exec: {argv: [get]}}, put: {exec: {argv: [put]}}, calc: {expr: a}}\ncalls:\n")
	output := "†input || 1"
	for i, c := range n.plans[at] {
		value := fmt.Sprintf("%q", c.value)
		if c.parts != nil {
			value = fmt.Sprintf("{x: %q, y: %q}", c.parts[0], c.parts[1])
		}
		fmt.Fprintf(&b, "- {_tool: %s, a: %s", c.tool, value)
		if c.tool != "put" {
			fmt.Fprintf(&b, ", _outputPath: p%d", i)
			output = fmt.Sprintf("†state.p%d || 1", i)
		}
		if c.runs >= 0 {
			fmt.Fprintf(&b, ", _delegate: %s", n.names[c.runs])
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "output: %q\n", output)
	return b.String()
}

// play works out what one run of a plan gives, with who has chosen what it is given: all of it,
// and its parts x and y.
func (n *nest) play(at int, given [3]map[string]bool) map[string]bool {
	gives := make([]map[string]bool, len(n.plans[at]))
	read := func(text string) map[string]bool {
		all := map[string]bool{}
		for one := range strings.SplitSeq(text, " || ") {
			i := 0
			switch _, err := fmt.Sscanf(one, "†state.p%d", &i); {
			case err == nil:
				maps.Copy(all, gives[i])
			case at == 0:
			case strings.HasSuffix(one, ".x"):
				maps.Copy(all, given[1])
			case strings.HasSuffix(one, ".y"):
				maps.Copy(all, given[2])
			case one != "":
				maps.Copy(all, given[0])
			}
		}
		return all
	}
	last := read("†input")
	for i, c := range n.plans[at] {
		whole := read(c.value)
		hands := [3]map[string]bool{whole, whole, whole}
		if c.parts != nil {
			hands[1], hands[2] = read(c.parts[0]), read(c.parts[1])
			hands[0] = maps.Clone(hands[1])
			maps.Copy(hands[0], hands[2])
		}
		name := strings.TrimPrefix(fmt.Sprintf("%s: %s#%d", n.names[at], c.tool, i+1), ": ")
		gives[i] = map[string]bool{}
		switch c.tool {
		case "get", "put":
			if n.seen[name] == nil {
				n.seen[name] = map[string]bool{}
			}
			maps.Copy(n.seen[name], hands[0])
		case "ask":
			gives[i][name] = true
		case "calc":
			gives[i] = hands[0]
		case "sub":
			gives[i] = n.play(c.runs, hands)
		}
		if c.tool != "put" {
			last = gives[i]
		}
	}
	return last
}

// What a model has chosen of a value that leaves or destroys is told through the doors of plans
// that are run as calls, in and out, however deep: by name, or that it may be anything.
func TestChosenThroughDelegates(t *testing.T) {
	within := 0
	for seed := range uint64(amount.Of(150, 1500, 50_000)) {
		n := nestOf(rand.New(rand.NewPCG(seed, 7)))
		n.play(0, [3]map[string]bool{})
		f := facts.Of(compiled(t, "plan.yaml", n.text(0), map[string]string{"one.yaml": n.text(1), "two.yaml": n.text(2)}), facts.Options{})
		for at, path := range n.names {
			calls := f.Calls
			if at > 0 {
				if f.Delegates[path] == nil {
					continue
				}
				calls = f.Delegates[path].Calls
			}
			for i := range calls {
				name := strings.TrimPrefix(path+": "+calls[i].Name, ": ")
				if tool := calls[i].Tool; tool != "get" && tool != "put" {
					continue
				}
				if got, want := models(&calls[i]), n.seen[name]; !maps.Equal(got, want) && !got[facts.Anything] {
					t.Fatalf("seed %d: the values of %s are chosen by %v, want %v\n%s\n--\n%s\n--\n%s", seed, name, got, want, n.text(0), n.text(1), n.text(2))
				}
				for of := range n.seen[name] {
					if before, _, _ := strings.Cut(of+": ", ": "); at > 0 && before != path {
						within++
					}
				}
			}
		}
	}
	if within < 20 {
		t.Errorf("only %d values within plans were chosen outside of them", within)
	}
}
