package label_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// What the plans of the generator stand under: sources of each taint, tools that make
// something of what they are given, and sinks.
const generatedPolicy = `
tools:
  mail: {effects: [read, external], output: {integrity: untrusted}}
  vault: {effects: [read], output: {integrity: trusted, confidentiality: secret}}
  files: {effects: [read], output: {integrity: trusted, confidentiality: private}}
  clean: {effects: [read], output: {integrity: trusted}}
  mix: {effects: [read], output: {integrity: trusted}}
  choose: {effects: [read], output: {integrity: trusted}}
  ask: {effects: [read], output: {integrity: trusted}}
values:
  input.q: {integrity: untrusted}
  state.iban: {confidentiality: secret}
rules:
- rule: sinks
  tool: sink
  requires: {to: {integrity: trusted, confidentiality: public}, body: {confidentiality: private}}
  allows: {to: {integrity: trusted}}
  denies: {to: {integrity: untrusted}}
- rule: one bit
  endorse: {tool: ask, output: yes, as: {type: boolean}}
  allows: true
  denies: x
`

const generatedTools = `
tools:
  mail: {type: object}
  vault: {type: object}
  files: {type: object}
  clean: {type: object}
  mix: {type: object, additionalProperties: true}
  choose: {type: object, additionalProperties: true}
  ask: {type: object, additionalProperties: true}
  think: {type: object, additionalProperties: true}
  aside: {type: object, additionalProperties: true, _scopes: {const: []}}
  sink: {type: object, additionalProperties: true}
  below: {type: object, properties: {x: true, y: true, fail: true}, _delegate: below.yaml}
input: {q: q, p: p}
state: {iban: iban, name: name}
`

const generatedDelegate = `
inputSchema: {type: object, properties: {x: true, y: true, fail: true}}
tools:
  mix: {type: object, additionalProperties: true}
  mail: {type: object}
  sink: {type: object, additionalProperties: true}
calls:
  - {_tool: mix, v: †input.x, fail: †(†input.fail ?? false), _outputPath: †state.a}
  - {_tool: mail, _outputPath: †state.m}
  - {_tool: sink, to: †input.y, body: †state.a, _outputPath: †state.b}
output: {a: †state.a, y: †input.y, m: †state.m.a}
`

var generatedFunctions = []string{"mail", "vault", "files", "clean", "mix", "choose", "ask", "sink"}

// generate writes a plan: calls that read what those before them may have written, in all
// the ways in which a plan can say so.
func generate(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(generatedTools + "calls:\n")
	var paths, names []string
	leaf := func() string { // a path or a part of it
		all := []string{"input.q", "input.p", "state.iban", "state.name", "state"}
		for _, p := range paths {
			all = append(all, p, p, p+".a", p+".out", p+".flag", p+".list")
		}
		return "†" + all[r.IntN(len(all))]
	}
	value := func() string {
		switch r.IntN(12) {
		case 0:
			return `"literal"`
		case 1:
			return fmt.Sprintf("%q", leaf()+" || "+leaf())
		case 2:
			return fmt.Sprintf("%q", leaf()+" && "+leaf())
		case 3:
			return fmt.Sprintf("%q", leaf()+" || \"none\"")
		case 4:
			return fmt.Sprintf("%q", "†(toJSON("+leaf()+"))")
		case 5:
			return fmt.Sprintf("%q", "†("+leaf()+" == "+leaf()+" ? \"one\" : \"other\")")
		case 6:
			return fmt.Sprintf(`{deep: [%q, 1]}`, leaf())
		case 7:
			return fmt.Sprintf("%q", "†(toJSON("+leaf()+") + \"x\")")
		}
		return fmt.Sprintf("%q", leaf())
	}
	n := 4 + r.IntN(7)
	for i := range n {
		tool := []string{"mail", "vault", "files", "clean", "mix", "mix", "choose", "ask", "think", "aside", "sink",
			"sink", "sink", "below"}[r.IntN(14)]
		if i == n-1 {
			tool = "sink"
		}
		fmt.Fprintf(&b, "- {_tool: %s, _id: c%d", tool, i)
		switch tool {
		case "below":
			fmt.Fprintf(&b, ", x: %s, y: %s", value(), value())
		case "sink":
			fmt.Fprintf(&b, ", to: %s, body: %s", value(), value())
		case "mix", "choose", "ask", "think", "aside":
			fmt.Fprintf(&b, ", v: %s, w: %s", value(), value())
		}
		if (tool == "mix" || tool == "below") && r.IntN(4) == 0 {
			b.WriteString(", fail: true")
		}
		switch r.IntN(9) {
		case 0:
			fmt.Fprintf(&b, ", _when: %q", "†(toJSON("+leaf()+") contains \"1-\")")
		case 1:
			if len(names) > 0 {
				fmt.Fprintf(&b, ", _after: %s", names[r.IntN(len(names))])
			}
		case 2:
			if len(paths) > 0 && tool != "below" {
				fmt.Fprintf(&b, ", _each: †%s.list, item: %q", paths[r.IntN(len(paths))],
					[]string{"†item", "†index", "literal"}[r.IntN(3)])
			}
		case 3:
			if tool == "mix" || tool == "think" || tool == "aside" {
				fmt.Fprintf(&b, ", _scopes: [%q]", leaf())
			}
		}
		path := fmt.Sprintf("state.s%d", i)
		switch {
		case tool == "choose" || r.IntN(5) == 0:
			fmt.Fprintf(&b, ", _outputPath: †%s || †%st", path, path)
			paths = append(paths, path, path+"t")
		case r.IntN(5) == 0:
			fmt.Fprintf(&b, ", _outputPath: †%s && †%st", path, path)
			paths = append(paths, path, path+"t")
		case r.IntN(6) == 0 && len(paths) > 0 && tool != "think":
			at := paths[r.IntN(len(paths))]
			fmt.Fprintf(&b, ", _outputPath: †%s.more", at)
		default:
			fmt.Fprintf(&b, ", _outputPath: †%s", path)
			paths = append(paths, path)
		}
		b.WriteString("}\n")
		names = append(names, fmt.Sprintf("c%d", i))
	}
	return b.String()
}

// A world is what sources give: what is of a taint is another matter in each world of it.
type world struct{ untrusted, private, secret int }

func hash(v any) uint64 {
	text, _ := json.Marshal(v)
	h := fnv.New64a()
	h.Write(text)
	return h.Sum64()
}

var token = regexp.MustCompile(`(UNTRUSTED|PRIVATE|SECRET)\d-\w`)

// made is a text that is made of a value: it holds its tokens.
func made(v any) string {
	text, _ := json.Marshal(v)
	all := token.FindAllString(string(text), -1)
	slices.Sort(all)
	return fmt.Sprint(strings.Join(slices.Compact(all), " "), " ", hash(v)%1000)
}

// gives is what comes of a call: of sources what the world says, of others something made
// of all that they are given.
func (w world) gives(c *runtime.Command, input, state map[string]any) (value any, route int, failure *runtime.Failure) {
	source := func(token string, variant int) any {
		list := []any{token + "-l"}
		for range variant {
			list = append(list, token+"-m")
		}
		return map[string]any{"a": token + "-a", "out": token + "-o", "flag": variant%2 == 0, "list": list}
	}
	seen := map[string]any{"params": c.Params, "context": c.Context}
	switch c.Of.ToolName {
	case "mail":
		return source(fmt.Sprintf("UNTRUSTED%d", w.untrusted), w.untrusted), -1, nil
	case "vault":
		return source(fmt.Sprintf("SECRET%d", w.secret), w.secret), -1, nil
	case "files":
		return source(fmt.Sprintf("PRIVATE%d", w.private), w.private), -1, nil
	case "clean":
		return source("CLEAN", 1), -1, nil
	case "think":
		if c.Context == nil { // without scopes
			seen["state"], seen["input"] = state, input
		}
	case "choose":
		text := made(c.Params)
		return map[string]any{"a": text, "out": 1.0, "flag": true, "list": []any{text}}, int(hash(c.Params) % 2), nil
	}
	text := made(seen)
	if c.Params["fail"] == true {
		return nil, -1, &runtime.Failure{Code: "error", Message: "it failed over " + text}
	}
	h := hash(seen)
	list := []any{text}
	for range h % 3 {
		list = append(list, "more")
	}
	return map[string]any{"a": text, "out": text, "flag": h%2 == 0, "yes": h%2 == 0, "list": list}, -1, nil
}

// run carries a plan out in a world, and gives what each of its calls was given, by the
// call, its delegate and its item.
func (w world) run(v *analyzer.Verified) (map[string]*runtime.Command, map[string]any) {
	input := map[string]any{"q": fmt.Sprintf("UNTRUSTED%d-q", w.untrusted), "p": "p"}
	state := map[string]any{"iban": fmt.Sprintf("SECRET%d-i", w.secret), "name": "name"}
	return w.from(v, input, state)
}

// from is run with what stands there.
func (w world) from(v *analyzer.Verified, input, state map[string]any) (map[string]*runtime.Command, map[string]any) {
	m := runtime.New(v, runtime.Options{Input: input, State: state})
	taken := map[string]*runtime.Command{}
	events := []runtime.Event{{Kind: runtime.RunBegan}}
	for len(events) > 0 {
		commands := m.Step(events[0])
		events = events[1:]
		for _, c := range commands {
			if c.Kind != runtime.Start {
				continue
			}
			item, above := -1, c.Under
			if c.Of.ItemOf != nil {
				item, above = c.Call, runtime.Path(c.Under, c.Of.ItemOf.Name)
			}
			taken[fmt.Sprintf("%s/%s[%d]", above, c.Of.Name, item)] = &c
			value, route, failure := w.gives(&c, input, state)
			if route >= len(compiler.RepeatedCall(c.Of).Output) {
				route = -1
			}
			events = append(events, runtime.Event{Kind: runtime.Ended, Try: c.Try, Value: value, Route: route, Failure: failure})
		}
	}
	full, _ := m.Stands().State.(map[string]any)
	return taken, full
}

// A judged is what the analysis says of a plan.
type judged struct {
	*label.Labels
	plan *plan.Plan
}

func has(l policy.Label, taint string) bool {
	switch taint {
	case "UNTRUSTED":
		return l[policy.Integrity] == policy.Untrusted
	case "PRIVATE":
		return l[policy.Confidentiality] >= policy.Private
	}
	return l[policy.Confidentiality] == policy.Secret
}

// is reports whether a flow is of what has a taint.
func is(f *label.Flow, taint string) bool {
	var l policy.Label
	l[f.Respect] = f.Is
	return has(l, taint)
}

// of is what the analysis says of a parameter of a call of the plan itself.
func (j judged) of(c *plan.Call, parameter string) (data, control policy.Label) {
	full := j.plan.Calls[compiler.RepeatedCall(c).Place]
	for at, f := range full.Params.Fields {
		if f.Key == parameter {
			return j.Parameter(full.Index, at)
		}
	}
	return data, control
}

// forbids reports whether a flow into a call within a delegate is among those that are
// forbidden.
func (j judged) forbids(c *runtime.Command, parameter, taint string) bool {
	return slices.ContainsFunc(j.Flows, func(f label.Flow) bool {
		return f.Of != f.Call && f.Of.Name == c.Under && f.Call.Name == c.Of.Name &&
			(f.Parameter == parameter || f.Control) && is(&f, taint)
	})
}

// LANGUAGE.md#policies-and-labels: whatever reaches a parameter when a plan runs has the label that the
// analysis gives the parameter. Every value of a source holds a token that is looked for
// wherever calls are given something; and the plan is run in two worlds that differ only
// in what the sources of one taint give: a parameter that differs, or a call that only one
// of the two has, hangs on them. The machine is the interpreter: it knows no labels.
func TestNoFlowIsMissed(t *testing.T) {
	const seed = 17_002
	r := rand.New(rand.NewPCG(seed, 0))
	plans := amount.Of(80, 1000, 10_000)
	open := func(string) ([]byte, error) { return []byte(generatedDelegate), nil }
	tried, sound, flows, falseAlarms := 0, 0, map[string]int{}, map[string]int{}
	kinds := map[string]int{}
	for sound < plans {
		tried++
		text := generate(r)
		options := compiler.Options{Name: "plan.yaml", Functions: generatedFunctions, Open: open}
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), options)
		v := analyzer.Analyze(p, found, analyzer.Config{}).Verified
		if v == nil {
			if tried > 100*(sound+1) {
				t.Fatalf("seed %d: hardly any plan is sound:\n%s\n%v", seed, text, found)
			}
			continue
		}
		sound++
		options.Policies =
			[]compiler.PolicyFile{{File: source.NewFile("policy.yaml", []byte(generatedPolicy)), Counts: true}}
		under, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), options)
		if len(found) > 0 && found[0].Rule.Code == "OB104" {
			t.Fatal(found)
		}
		j := judged{label.Of(under), under}
		base, left := world{1, 1, 1}.run(v)
		afterwards(t, r, p, j, left, flows)
		hit := map[string]bool{}
		for variant := 2; variant <= 2 || variant <= 6 && amount.Long(); variant++ {
			for taint, other := range map[string]world{"UNTRUSTED": {variant, 1, 1}, "PRIVATE": {1, variant, 1},
				"SECRET": {1, 1, variant}} {
				again, _ := other.run(v)
				compareWorlds(t, j, taint, base, again, hit, flows)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, plan %d:\n%s", seed, sound, text)
		}
		for _, f := range j.Flows {
			kind := "data"
			if f.Control {
				kind = "control"
			}
			for taint, wrong := range map[string]bool{"UNTRUSTED": is(&f, "UNTRUSTED"), "SECRET": is(&f, "SECRET"),
				"PRIVATE": is(&f, "PRIVATE") && !is(&f, "SECRET")} {
				switch {
				case !wrong:
				case hit[taint+f.Of.Name]:
					flows["forbidden "+kind]++
				case !hit[f.Of.Name]:
					falseAlarms["where nothing ran"]++
				default:
					falseAlarms["by "+kind+", "+taint]++
					kinds[kind+": "+alarmKind(&f)]++
				}
			}
		}
	}
	t.Logf("%d plans of %d, flows %v, forbidden where nothing was seen to flow %v, by kind %v", sound, tried, flows,
		falseAlarms, kinds)
	if flows["by token"] < plans || flows["by difference"] < plans/10 {
		t.Errorf("too few flows happen: %v", flows)
	}
}

// alarmKind is what in the way of a flow may keep it from happening in any run that was
// looked at: what is nearest to the sink. A flow is followed over all branches, and through
// whatever an expression looks at.
func alarmKind(f *label.Flow) string {
	kinds := []struct{ says, text string }{
		{"a choice of constants", "? "}, {"a comparison in a condition", "_when"},
		{"an operand of || that isn't taken", "||"}, {"a gate", "&&"},
		{"items of a list that may be empty", "_each"}, {"a call after another", "_after"},
		{"one of two alternatives", "choose"}, {"a delegate's inner calls", "below"},
		{"a failure record", "fail"}, {"the whole state", "†state\""}, {"a model that was shown it", "think"},
	}
	for at := len(f.Way) - 1; at >= 0; at-- {
		if hop := &f.Way[at]; hop.Call != "" { // calls are lines
			text := string(hop.Span.File.Text)
			line, _, _ := strings.Cut(text[strings.LastIndex(text[:hop.Span.Start], "\n")+1:], "\n")
			for _, k := range kinds {
				if strings.Contains(line, k.text) {
					return k.says
				}
			}
		}
	}
	return "other"
}

// afterwards holds what the calls of a next tick are given against what the first has left
// behind: whatever they read of the state has the label that it was written with.
func afterwards(t *testing.T, r *rand.Rand, p *plan.Plan, j judged, left map[string]any, flows map[string]int) {
	var b strings.Builder
	b.WriteString("calls:\n")
	for _, path := range p.Calls {
		for _, route := range path.Output {
			at := p.Paths.String(route[r.IntN(len(route))].ID)
			fmt.Fprintf(&b, "- {_tool: mix, v: %q, w: %q}\n", at,
				at+[]string{".a", ".out", ".list", ".a || †state"}[r.IntN(4)])
		}
	}
	live := label.Beginning(j.plan)
	j.Leave(live, func(int) bool { return true })
	setting := compiler.Setting{Plan: j.plan, State: left, Paths: j.plan.Paths.Clone(), Live: live}
	next, _ := setting.Solve(source.NewFile("next.yaml", []byte(b.String())), compiler.Options{})
	labels := label.Of(next)
	file := source.NewFile("next.yaml", []byte("tools: {mix: {type: object, additionalProperties: true}}\n"+b.String()))
	alone, found := compiler.Compile(file, compiler.Options{Functions: generatedFunctions})
	if len(alone.Calls) != len(next.Calls) {
		t.Fatal(found)
	}
	for _, call := range alone.Calls {
		for at, f := range call.Params.Fields {
			for _, read := range f.Value.Reads {
				value, _ := pathtree.Walk(any(left), alone.Reads[read].Ref.Path)
				text, _ := json.Marshal(value)
				for _, taint := range []string{"UNTRUSTED", "PRIVATE", "SECRET"} {
					if !strings.Contains(string(text), taint) {
						continue
					}
					flows["in the next tick"]++
					if data, _ := labels.Parameter(call.Index, at); !has(data, taint) {
						t.Errorf("in the next tick %s %s holds %s: %s, and is %s", call.Name, f.Key, taint, text, data)
					}
				}
			}
		}
	}
}

func compareWorlds(t *testing.T, j judged, taint string, one, other map[string]*runtime.Command, hit map[string]bool,
	flows map[string]int) {
	for key, c := range one {
		hit[compiler.RepeatedCall(c.Of).Name], hit[strings.Split(c.Under, "/")[0]] = true, true
		if c.Of.ToolName == "think" && c.Context == nil { // its model is shown the rest
			hit["SECRET"+compiler.RepeatedCall(c.Of).Name] = true
		}
		top := c.Under == ""
		for name, value := range c.Params {
			text, _ := json.Marshal(value)
			token := strings.Contains(string(text), taint)
			another, both := other[key]
			differs := both && !reflect.DeepEqual(value, another.Params[name])
			if !token && !differs {
				continue
			}
			hit[taint+compiler.RepeatedCall(c.Of).Name], hit[taint+c.Under] = true, true
			if top {
				data, control := j.of(c.Of, name)
				switch {
				case token && !has(data, taint):
					t.Errorf("%s: %q holds %s: %s, and is %s", key, name, taint, text, data)
				case differs && !has(data.Join(control), taint):
					t.Errorf("%s: %q hangs on what is %s, and is %s, by control %s", key, name, taint, data, control)
				case token:
					flows["by token"]++
				default:
					flows["by difference"]++
				}
			} else if c.Of.ToolName == "sink" && token && (name == "to" || name == "body" && taint == "SECRET") &&
				!(name == "to" && taint == "PRIVATE") && !j.forbids(c, name, taint) {
				t.Errorf("%s: %q holds %s: %s, and nothing forbids it", key, name, taint, text)
			}
		}
		if c.Context != nil && top {
			text, _ := json.Marshal(c.Context)
			if strings.Contains(string(text), taint) &&
				!has(j.Sees(j.plan.Calls[compiler.RepeatedCall(c.Of).Place].Index), taint) {
				t.Errorf("%s: its context holds %s: %s", key, taint, text)
			}
		}
		if other[key] == nil && top {
			hit[taint+compiler.RepeatedCall(c.Of).Name] = true
			flows["by running"]++
			if _, control := j.of(c.Of, firstParameter(c)); len(c.Params) > 0 && !has(control, taint) {
				t.Errorf("%s: that it runs hangs on what is %s, and its control is %s", key, taint, control)
			}
		}
	}
}

func firstParameter(c *runtime.Command) string {
	for name := range c.Params {
		return name
	}
	return ""
}

// Whether a schema of many parts has a secret is known soon, by the first that is found.
func TestRecursiveSchemasAreLookedAtSoon(t *testing.T) {
	for secret, some := range map[string]bool{"password": true, "word": false} {
		text :=
			"tools: {t: {type: object, properties: {v: {}, _output: {$ref: '#/schemas/n'}}}}\nschemas: {n: " +
				"{type: object, properties: {z: {type: object, properties: {" + secret + ": {type: string}}}"
		for i := range 6 {
			text += fmt.Sprintf(", p%d: {$ref: '#/schemas/n'}", i)
		}
		text += "}}}\nactivities: {t: {expr: v}}\ncalls:\n- {_tool: t, v: 1, _outputPath: x}\n- {_tool: t, v: " +
			"†state.x.p1, _outputPath: y}\n"
		took, soon := cputime.Within(2*time.Second, func() {
			p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{
				Policies: []compiler.PolicyFile{{File: source.NewFile("policy.yaml", []byte(generatedPolicy)),
					Counts: true}}})
			analyzer.Analyze(p, found, analyzer.Config{})
		})
		if !soon {
			t.Errorf("with a secret %v: %v", some, took)
		}
	}
}
