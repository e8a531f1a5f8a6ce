package analyzer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/corpus"
)

// A row is one plan of the corpus.
type row struct {
	ID       string
	Document json.RawMessage
	Faults   []fault
}

// A fault is what another checker has found in a row. Call is nil for the
// plan's output, whose param is then "output.name".
type fault struct {
	Code, Param, Detail string
	Call                *int
}

// rows reads a file of the corpus.
func rows(t testing.TB, name string) []row {
	t.Helper()
	return corpus.Rows[row](t, name)
}

// judged compiles and analyses a text.
func judged(name, text string) (*plan.Plan, *Verified, []diag.Diagnostic) {
	plan, found := compiler.Compile(source.NewFile(name, []byte(text)), compiler.Options{Name: name, Policies: policiesOf(text)})
	analysis := Analyze(plan, found, asked(text))
	verified, found := analysis.Verified, analysis.Findings
	return plan, verified, found
}

// policiesOf is the policy that a case or a page stands under: the comment lines after
// "# obelus.policy.yaml:". It counts, as one does that is named on the command line.
func policiesOf(text string) []compiler.PolicyFile {
	policy := commented(text, "obelus.policy.yaml")
	if policy == "" {
		return nil
	}
	return []compiler.PolicyFile{{File: source.NewFile("obelus.policy.yaml", []byte(policy)), Counts: true}}
}

// commented is a file in comments of a case, below one with its name.
func commented(text, name string) string {
	_, rest, _ := strings.Cut(text, "# "+name+":\n")
	var file strings.Builder
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(line, "#   ")
		if !ok {
			break
		}
		file.WriteString(line)
	}
	return file.String()
}

// asked is the configuration that a case asks for: with "# strict protocol", and
// with the optional rules that a comment names ("# judge OB408", "# want OB408").
func asked(text string) Config {
	c := Config{SampleRun: SampleRuns, StrictProtocol: strings.Contains(text, "# strict protocol"), Settings: &Settings{Rules: map[*diag.Rule]Level{}}}
	if strings.Contains(text, "OB609") { // a machine that runs no http
		c.Machine = &Machine{Unrunnable: func(a *plan.Activity, tell func(what, help string, at source.Span)) {
			if a.Kind == "mcp" {
				tell("it is of kind mcp", "use another", a.NameNode.Span())
			} else if a.HTTP != nil && hosts.Rules(nil).Refuse(a.HTTP.Host, "", false) != nil {
				tell("its host is private", "use another", a.NameNode.Span())
			}
		}}
	}
	if text := commented(text, "approved.yaml"); text != "" {
		p, _ := compiler.Compile(source.NewFile("approved.yaml", []byte(text)), compiler.Options{Name: "approved.yaml"})
		parts, _ := p.Parts() // it has no files
		c.Permit = permit.Of(facts.Of(p, facts.Options{}), parts)
	}
	for _, r := range rules.Registered {
		if r.Optional && (strings.Contains(text, "# judge "+r.Code) || strings.Contains(text, "# want "+r.Code)) {
			c.Settings.Rules[r.Rule] = Level{Severity: r.Default}
		}
	}
	return c
}

// shown is a finding in a line.
func shown(d diag.Diagnostic) string {
	at := d.Span.From()
	return fmt.Sprintf("%d:%d %s %s: %s (%s)", at.Line, at.Column, d.Severity, d.Rule.Code, d.Message, d.Help)
}

// LANGUAGE.md#findings: plans without a known fault have no error and no warning.
func TestSoundPlansOfTheCorpus(t *testing.T) {
	for _, name := range []string{"mathqa.jsonl", "nestools.jsonl"} {
		t.Run(name, func(t *testing.T) {
			for _, r := range rows(t, name) {
				_, verified, found := judged(r.ID+".json", string(r.Document))
				for _, d := range found {
					if d.Severity > diag.Info {
						t.Errorf("%s: %s", r.ID, shown(d))
					}
				}
				if verified == nil {
					t.Errorf("%s isn't verified", r.ID)
				}
			}
		})
	}
}

// A mutant is a plan with one fault, and where it must be found.
type mutant struct {
	name, code string
	document   map[string]any
	call       int      // index of the call in the mutated list
	at         []any    // the way from the call to the value that is at fault
	key        bool     // not that value but its key
	length     int      // how much of a text is the reference; 0 is all
	related    []string // codes of errors that follow from the fault itself
}

// A leaf is a string somewhere in a call, and the way to it.
type leaf struct {
	at   []any
	text string
}

// references are the references among a call's parameters, at any depth.
func references(v any, at []any, prefix string) []leaf {
	var all []leaf
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, prefix) {
			all = append(all, leaf{slices.Clone(at), v})
		}
	case []any:
		for i, item := range v {
			all = append(all, references(item, append(at, i), prefix)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if len(at) > 0 || !strings.HasPrefix(k, "_") {
				all = append(all, references(v[k], append(at, k), prefix)...)
			}
		}
	}
	return all
}

// put changes the value at the end of a way.
func put(v any, at []any, to any) {
	for _, step := range at[:len(at)-1] {
		switch step := step.(type) {
		case int:
			v = v.([]any)[step]
		case string:
			v = v.(map[string]any)[step]
		}
	}
	switch step := at[len(at)-1].(type) {
	case int:
		v.([]any)[step] = to
	case string:
		v.(map[string]any)[step] = to
	}
}

// mutants makes five of a plan: a renamed path, a dropped writer, a misspelt
// tool, a misspelt parameter and a closed cycle.
func mutants(t *testing.T, document []byte) []mutant {
	t.Helper()
	fresh := func() (map[string]any, []any) {
		var d map[string]any
		if err := json.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		return d, d["calls"].([]any)
	}
	_, calls := fresh()
	reader, writer := -1, -1
	var ref leaf
	for i, c := range calls {
		for _, l := range references(c, nil, "†state.") {
			for w, other := range calls {
				path := other.(map[string]any)["_outputPath"].(string)
				if l.text == path || strings.HasPrefix(l.text, path+".") || strings.HasPrefix(l.text, path+"[") {
					reader, ref, writer = i, l, w
				}
			}
		}
	}
	if reader < 0 { // a plan without references gets one
		d, list := fresh()
		put(list[len(list)-1], []any{parameter(t, list[len(list)-1])}, list[0].(map[string]any)["_outputPath"])
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return mutants(t, text)
	}
	path := calls[writer].(map[string]any)["_outputPath"].(string)
	var all []mutant

	d, list := fresh()
	put(list[reader], ref.at, "†state.elsewhere"+strings.TrimPrefix(ref.text, path))
	all = append(all, mutant{name: "renamed path", code: "OB203", document: d, call: reader, at: ref.at})

	d, list = fresh()
	d["calls"] = slices.Delete(list, writer, writer+1)
	at := reader
	if writer < reader {
		at--
	}
	all = append(all, mutant{name: "dropped writer", code: "OB203", document: d, call: at, at: ref.at})

	d, list = fresh()
	put(list[writer], []any{"_tool"}, list[writer].(map[string]any)["_tool"].(string)+"x")
	all = append(all, mutant{name: "misspelt tool", code: "OB501", document: d, call: writer, at: []any{"_tool"}})

	d, list = fresh()
	key := ref.at[0].(string)
	put(list[reader], []any{key + "x"}, list[reader].(map[string]any)[key])
	delete(list[reader].(map[string]any), key)
	all = append(all, mutant{name: "misspelt parameter", code: "OB503", document: d, call: reader, at: []any{key + "x"}, key: true, related: []string{"OB502"}})

	// The writer reads what its reader writes.
	d, list = fresh()
	key = parameter(t, list[writer])
	back := list[reader].(map[string]any)["_outputPath"].(string)
	put(list[writer], []any{key}, back)
	if key == "_when" {
		put(list[writer], []any{key}, back+" != null")
	}
	return append(all, mutant{name: "closed cycle", code: "OB301", document: d, call: writer, at: []any{key}, length: len(back), related: []string{"OB505"}})
}

// parameter is the first parameter of a call, or _when when it has none.
func parameter(t *testing.T, call any) string {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(call.(map[string]any))) {
		if !strings.HasPrefix(k, "_") {
			return k
		}
	}
	return "_when"
}

// LANGUAGE.md#findings: a fault put into a sound plan is found, where it is, and nothing else.
func TestMutants(t *testing.T) {
	made := map[string]int{}
	all := rows(t, "nestools.jsonl")
	for _, r := range all {
		for _, m := range mutants(t, r.Document) {
			made[m.name]++
			text, err := json.Marshal(m.document)
			if err != nil {
				t.Fatal(err)
			}
			plan, verified, found := judged(r.ID+".json", string(text))
			var path []string
			for _, step := range m.at {
				path = append(path, fmt.Sprint(step))
			}
			node := plan.Calls[m.call].Node.Follow(path)
			want := node.Span()
			switch {
			case m.key:
				for _, f := range plan.Calls[m.call].Node.Fields {
					if f.Value == node {
						want = f.Key.Span()
					}
				}
			case strings.HasPrefix(node.Text, "†"):
				want = node.Within(0, cmp.Or(m.length, len(node.Text)))
			}
			seen := false
			for _, d := range found {
				if d.Severity < diag.Error {
					continue
				}
				seen = seen || d.Rule.Code == m.code && d.Span == want && d.Call == plan.Calls[m.call].Name
				if d.Rule.Code != m.code && !slices.Contains(m.related, d.Rule.Code) {
					t.Errorf("%s, %s: found besides: %s", r.ID, m.name, shown(d))
				}
			}
			if !seen || verified != nil {
				t.Errorf("%s, %s: %s isn't found at %+v\n%s", r.ID, m.name, m.code, want.From(), text)
				for _, d := range found {
					t.Log(shown(d))
				}
			}
		}
	}
	for _, name := range []string{"renamed path", "dropped writer", "misspelt tool", "misspelt parameter", "closed cycle"} {
		if made[name] != len(all) {
			t.Errorf("only %d mutants of the kind %q", made[name], name)
		}
	}
}

// Faults that another checker lists and that are none here, with the reason.
var notFaults = map[string]string{
	"nestful1-glaive-94 self_ref amount": "the call before it writes †state.var1 as well, and that is what the read is bound to",
}

// LANGUAGE.md#findings: what an independent checker has found in real plans is found here, at its
// call and parameter.
func TestFaultyPlansOfTheCorpus(t *testing.T) {
	for _, name := range []string{"taskbench.jsonl", "nestful.jsonl"} {
		t.Run(name, func(t *testing.T) {
			checked, excused := map[string]int{}, 0
			for _, r := range rows(t, name) {
				plan, _, found := judged(r.ID+".json", string(r.Document))
				for _, f := range r.Faults {
					codes, ok := codesOf[f.Code]
					if !ok {
						continue
					}
					checked[f.Code]++
					id := fmt.Sprintf("%s %s %s", r.ID, f.Code, f.Param)
					if notFaults[id] != "" {
						excused++
						continue
					}
					if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return f.isFoundBy(plan, d, codes) }) {
						t.Errorf("%s at call %v isn't found: %s", id, place(f.Call), f.Detail)
						for _, d := range found {
							t.Log(shown(d))
						}
					}
				}
				if cyclic := isCyclic(plan); cyclic != slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
					return d.Rule == diag.Cycle && strings.Contains(d.Message, "wait for each other")
				}) {
					t.Errorf("%s: a cycle is there: %v; %v", r.ID, cyclic, found)
				} else if cyclic {
					checked["cycle"]++
				}
			}
			t.Log(checked, excused, "excused")
			if len(checked) < 4 {
				t.Errorf("too few kinds of fault: %v", checked)
			}
		})
	}
}

func place(call *int) any {
	if call == nil {
		return "output"
	}
	return *call
}

var codesOf = map[string][]string{
	"self_ref":              {"OB301"},
	"dangling_ref":          {"OB203"},
	"unknown_tool":          {"OB501"},
	"missing_required":      {"OB502"},
	"unknown_param":         {"OB503"},
	"literal_type_mismatch": {"OB504", "OB505"},
	"ref_type_mismatch":     {"OB505", "OB506"},
	"unknown_output_field":  {"OB513"},
}

// isFoundBy reports whether a finding says what a fault says, where it is.
func (f fault) isFoundBy(plan *plan.Plan, d diag.Diagnostic, codes []string) bool {
	if !slices.Contains(codes, d.Rule.Code) || d.Severity < diag.Warning {
		return false
	}
	if f.Call == nil || *f.Call < 0 {
		n := plan.Root.Get("output")
		return n.Start <= d.Span.Start && d.Span.End <= n.End && d.Span.Text() == f.Detail
	}
	call := plan.Calls[*f.Call]
	if d.Call != call.Name {
		return false
	}
	switch f.Code {
	case "unknown_tool":
		return d.Span == call.ToolNode.Span()
	case "missing_required":
		return d.Span == call.ToolNode.Span() && strings.Contains(d.Message, "needs the parameter \""+f.Param+"\"")
	case "unknown_param":
		return slices.ContainsFunc(call.Node.Fields, func(x source.Field) bool { return x.Key.Text == f.Param && x.Key.Span() == d.Span })
	}
	n := call.Node.Get(f.Param)
	return n != nil && n.Start <= d.Span.Start && d.Span.End <= n.End
}

// isCyclic looks for a cycle of more than one call in the plainest way: each
// reference waits for the calls that write the first key after †state, those
// listed before the reader if there are any.
func isCyclic(plan *plan.Plan) bool {
	writers := map[string][]int{}
	for i, call := range plan.Calls {
		if n := call.Node.Get("_outputPath"); n != nil {
			writers[n.Text] = append(writers[n.Text], i)
		}
	}
	waits := make([][]int, len(plan.Calls))
	var collect func(i int, n *source.Node)
	collect = func(i int, n *source.Node) {
		if n.Kind == source.String && strings.HasPrefix(n.Text, "†state.") {
			path := strings.Join(strings.SplitN(n.Text, ".", 3)[:2], ".")
			before := slices.DeleteFunc(slices.Clone(writers[path]), func(w int) bool { return w >= i })
			if len(before) == 0 {
				before = slices.DeleteFunc(slices.Clone(writers[path]), func(w int) bool { return w == i })
			}
			waits[i] = append(waits[i], before...)
		}
		for _, item := range n.Items {
			collect(i, item)
		}
		for _, f := range n.Fields {
			if f.Key.Text != "_outputPath" {
				collect(i, f.Value)
			}
		}
	}
	for i, call := range plan.Calls {
		collect(i, call.Node)
	}
	for start := range waits {
		seen := map[int]bool{}
		queue := slices.Clone(waits[start])
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			if at == start {
				return true
			}
			if !seen[at] {
				seen[at] = true
				queue = append(queue, waits[at]...)
			}
		}
	}
	return false
}
