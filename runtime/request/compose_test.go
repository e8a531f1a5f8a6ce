package request

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	corpora "github.com/obelus-dev/obelus/testdata/corpus"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected requests in testdata")

// compiled compiles a document, and analyses it.
func compiled(t testing.TB, name string, text []byte) (*plan.Plan, []diag.Diagnostic) {
	t.Helper()
	plan, found := compiler.Compile(source.NewFile(name, text), compiler.Options{Name: name})
	found = analyzer.Analyze(plan, found, analyzer.Config{}).Findings
	return plan, found
}

// beginning is the context at the first tick of a run with a planner.
func beginning(p *plan.Plan) Context {
	s := Context{Plan: p, Tick: 1, Input: p.Input, State: p.State, Data: p.Data, Errors: p.Errors,
		Carries: p.CallsNode != nil}
	for _, call := range p.Calls {
		s.Carried = append(s.Carried, Standing{Call: call.Node, Name: call.Name})
	}
	for _, i := range p.Instances {
		input, _ := i.Input.(map[string]any)
		state, _ := i.State.(map[string]any)
		s.Instances = append(s.Instances, Instance{ID: i.ID, Input: input, State: state})
	}
	return s
}

// contextOf changes the context at the beginning as a JSON text says.
func contextOf(t *testing.T, p *plan.Plan, text []byte) Context {
	t.Helper()
	s := beginning(p)
	var told struct {
		Tick         int
		Input, State any
		Data         map[string]any
		Errors       []any
		Carries      *bool
		Carried      []struct {
			Name, Status, Reason string
		}
		Advisors []string
		Only     map[string]any
	}
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	if told.Tick > 0 {
		s.Tick, s.Input, s.State, s.Data, s.Errors = told.Tick, told.Input, told.State, told.Data, told.Errors
	}
	if told.Carries != nil {
		s.Carries, s.Carried = *told.Carries, nil
	}
	if told.Carried != nil {
		s.Carries, s.Carried = true, nil
		root, problems := source.Parse(source.NewFile("situation.json", text), source.Limits{})
		if root == nil {
			t.Fatal(problems)
		}
		for i, one := range told.Carried {
			item := root.Get("carried").Items[i]
			decision, _ := Of(item.Get("decision")).(Object)
			s.Carried = append(s.Carried, Standing{Call: item.Get("call"), Name: one.Name, Status: one.Status,
				Reason: one.Reason, Decision: decision})
		}
	}
	s.Only = told.Only
	for _, id := range told.Advisors {
		s.Advisors = append(s.Advisors, p.Advisor(id))
	}
	return s
}

func pretty(t *testing.T, v any) string {
	t.Helper()
	text := Append(nil, v)
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return b.String() + "\n"
}

// requestFields are a request in the order in which a reader wants it.
func requestFields(r *Request) Object {
	out := Object{{"tick", r.Tick}}
	if r.Lazy {
		out = append(out, Member{"lazy", true})
	}
	if r.Call != nil {
		out = append(out, Member{"call",
			Object{{"name", r.Call.Name}, {"tool", r.Call.Tool}, {"params", r.Call.Params}}})
		if paths := r.Call.Paths; paths != nil {
			out[len(out)-1].Value = append(out[len(out)-1].Value.(Object), Member{"paths", strings.Join(paths, ", ")})
		}
	}
	return append(out, Member{"context", r.Messages}, Member{"schema", r.Schema})
}

// TestRequests composes the requests of testdata: a document, where the run stands, and what a model is
// asked then.
func TestRequests(t *testing.T) {
	archives, _ := filepath.Glob("testdata/request-*.txtar")
	if len(archives) == 0 {
		t.Fatal("no cases in testdata")
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var plan *plan.Plan
			var s Context
			for i, f := range archive.Files {
				var got string
				switch base := strings.TrimSuffix(f.Name, filepath.Ext(f.Name)); base {
				case "plan":
					var found []diag.Diagnostic
					if plan, found = compiled(t, f.Name, f.Data); diag.HasErrors(found) {
						t.Fatal(found)
					}
					s = beginning(plan)
					continue
				case "situation":
					s = contextOf(t, plan, f.Data)
					continue
				case "request":
					r := Compose(s)
					got = pretty(t, requestFields(r))
					checkSchema(t, r.Schema)
				default: // latent-N: of the call N, counted from 1
					var at int
					if _, err := fmt.Sscanf(base, "latent-%d", &at); err != nil {
						t.Fatalf("what is %s?", f.Name)
					}
					call := plan.Calls[at-1]
					params, _ := call.Params.Node.Value().(map[string]any)
					for key := range params {
						if strings.HasPrefix(key, "_") {
							delete(params, key)
						}
					}
					s := s
					s.Offered = compiler.Offered(plan, call)
					r := ComposeLatent(s, call, params)
					got = pretty(t, requestFields(r))
					checkSchema(t, r.Schema)
				}
				if *update {
					archive.Files[i].Data = []byte(got)
				} else if got != string(f.Data) {
					t.Errorf("%s has changed (go test ./runtime/request -run TestRequests -update):\n%s", f.Name, got)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A process record is asked about as its context is.
func TestRequestOfRecord(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/request-context.txtar")
	if err != nil {
		t.Fatal(err)
	}
	context, _ := compiled(t, "context.yaml", archive.Files[0].Data)
	record, found := compiled(t, "record.json",
		Append(nil, Object{{"context", Of(context.Root)}, {"solution", Object{{"calls", []any{}}, {"output", nil}}}}))
	if diag.HasErrors(found) || record.Form != plan.ProcessRecord {
		t.Fatal(record.Form, found)
	}
	one, other := beginning(context), beginning(record)
	one.Carries, other.Carries = false, false
	if a, b := pretty(t, requestFields(Compose(one))), pretty(t, requestFields(Compose(other))); a != b {
		t.Errorf("of the context:\n%s\nof the record:\n%s", a, b)
	}
}

// checkSchema compiles a schema with the ordinary validator, which gets nothing
// but this one text.
func checkSchema(t testing.TB, schema any) *jsonschema.Schema {
	t.Helper()
	c, text := jsonschema.NewCompiler(), Append(nil, schema)
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("request.json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("request.json")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

// accepts reports whether a composed schema accepts a solution as it comes: as
// text.
func accepts(t testing.TB, s *jsonschema.Schema, solution any) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(Append(nil, solution), &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// checkRecord holds a request and a solution against LANGUAGE.md#documents and EXECUTION.md#process-records: together
// they are a document, and no part of it has an error.
func checkRecord(t testing.TB, name string, p *plan.Plan, r *Request, solution any) {
	t.Helper()
	record := Append(nil, Object{{"schema", r.Schema}, {"context", r.Messages}, {"solution", solution}})
	thePlan, found := compiled(t, name+".json", record)
	if thePlan.Form != plan.ProcessRecord {
		t.Errorf("%s: it is read as a %v", name, thePlan.Form)
	}
	for _, d := range found {
		if d.Rule.Name == "write-conflict" && p.Writes == plan.Once {
			continue // a record has no place for the policy that allows it
		}
		if d.Severity == diag.Error {
			at := d.Span.From().Offset
			t.Errorf("%s: %s %s at …%s…", name, d.Rule.Code, d.Message, record[max(0, at-80):min(len(record), at+80)])
		}
	}
}

// solutionOf is a plan's own calls and output, as a model would repeat them.
func solutionOf(p *plan.Plan, output *source.Node) Object {
	return Object{{"calls", Of(p.CallsNode)}, {"output", Of(output)}}
}

// documents gives the examples and the plans of the corpus that have no error.
func documents(t *testing.T, each func(name string, p *plan.Plan)) {
	t.Helper()
	take := func(name string, text []byte) {
		p, found := compiled(t, name, text)
		if !diag.HasErrors(found) && p.Form == plan.PlanFile {
			each(name, p)
		}
	}
	examples, _ := filepath.Glob("../../examples/*.yaml")
	if len(examples) == 0 {
		t.Fatal("no examples")
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		take(filepath.Base(name), text)
	}
	corpus(t, func(id string, text []byte) { take(id+".json", text) })
}

// corpus gives documents that others wrote: all that have known faults or none,
// and every tenth of the many alike.
func corpus(t *testing.T, each func(id string, text []byte)) {
	t.Helper()
	for _, name := range corpora.Plans {
		for n, row := range corpora.Rows[corpora.Plan](t, name) {
			if n%amount.Of(6, 1, 1) > 0 || corpora.Whole() && n%10 > 0 && name == "mathqa.jsonl" {
				continue
			}
			each(row.ID, row.Document)
		}
	}
}

// The schema of a request accepts every solution that has no error, and the two
// are a document again. It refuses a tool that there
// isn't, a parameter that is missing, and one that the tool doesn't have.
func TestSchemaOfSolutions(t *testing.T) {
	count, refusals := 0, 0
	documents(t, func(name string, p *plan.Plan) {
		r := Compose(beginning(p))
		again := Compose(beginning(p))
		if !bytes.Equal(Append(nil, r.Messages), Append(nil, again.Messages)) || JSON(r.Schema) != JSON(again.Schema) {
			t.Errorf("%s: composed again, the request differs", name)
		}
		s := checkSchema(t, r.Schema)
		solution := solutionOf(p, p.Root.Get("output"))
		if err := accepts(t, s, solution); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
		checkRecord(t, name, p, r, solution)
		count++

		random := rand.New(rand.NewPCG(uint64(count), 11))
		for _, call := range p.Calls {
			for _, spoilt := range spoil(random, p, call) {
				refusals++
				if accepts(t, s, Object{{"calls", []any{spoilt}}}) == nil {
					t.Errorf("%s accepts %s", name, JSON(spoilt))
				}
			}
		}
	})
	t.Logf("%d documents, %d spoilt calls", count, refusals)
	if count < 8 || refusals < 2*count {
		t.Errorf("only %d documents, %d spoilt calls", count, refusals)
	}
}

// spoil makes calls with one fault each out of a good one.
func spoil(r *rand.Rand, p *plan.Plan, call *plan.Call) []Object {
	if call.Tool == nil {
		return nil
	}
	good := Of(call.Node).(Object)
	with := func(m Member) Object { return append(slices.Clip(good), m) }
	without := func(key string) Object {
		return slices.DeleteFunc(slices.Clone(good), func(m Member) bool { return m.Key == key })
	}
	spoilt := []Object{append(without("_tool"), Member{"_tool", "noSuchTool"}), without("_tool"),
		with(Member{"_outputMethod", "pile"})}
	if required := call.Tool.Parameters.Required(); len(required) > 0 {
		spoilt = append(spoilt, without(required[r.IntN(len(required))]))
	}
	if !call.Tool.Open {
		spoilt = append(spoilt, with(Member{"noSuchParameter", 1}))
	}
	return spoilt
}

// What a tool, a plan or a run says otherwise shows in the schema.
func TestSchemaCases(t *testing.T) {
	const plan = `
mode: %s
instances: {①: {}, ②: {}}
tools:
  latent: {type: object, properties: {text: {type: string, maxLength: 3}, _output: {type: object, properties: {mood: {enum: [good, bad]}}, required: [mood]}}, required: [text]}
  explicit: {type: object, properties: {n: {type: integer}, deep: {type: array, items: {type: object, properties: {a: {type: integer}}}}, _output: {type: integer}, _outputPath: {enum: [total, sum]}, _scopes: {type: array, items: {enum: [state, input]}}}, required: [_tool, n, _outputPath], additionalProperties: {type: integer}}
  mcp: {name: mcp, description: of MCP, inputSchema: {$schema: "http://json-schema.org/draft-07/schema#", type: object, properties: {q: {$ref: "#/definitions/q"}}, required: [q], definitions: {q: {type: [string, "null"], const: x}}}, outputSchema: {type: object}}
  both: {type: object, properties: {m: {$ref: "#/schemas/Mood"}, _output: {$ref: "#/schemas/Mood"}}, patternProperties: {"^n": {type: integer}}}
  older: {$schema: "http://json-schema.org/draft-07/schema#", type: object, properties: {_output: {type: array, items: {maximum: 3}}}}
  mixed: {type: object, properties: {_output: {type: object, properties: {old: {$schema: "http://json-schema.org/draft-07/schema#", exclusiveMaximum: 3}, named: {$ref: "#/schemas/Older"}, part: {$ref: "#/schemas/Older/properties/n"}, now: {type: string}}}}}
  refers: {type: object, properties: {_scopes: {type: array, items: {$ref: "#/$defs/scope"}, $defs: {scope: {enum: [state]}}}}}
schemas: {Mood: {type: object, properties: {mood: {enum: [good, bad]}}}, Older: {$schema: "http://json-schema.org/draft-07/schema#", properties: {n: {exclusiveMaximum: 3}}}}
activities: {explicit: {expr: n}, mcp: {expr: "{}"}}
outputSchema: {type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}
advisors:
  - {id: risk, role: looks out, "on": request, schema: {type: object, properties: {thought: {type: string}}, required: [thought], additionalProperties: false}}
  - {id: each, role: looks at each, isInstanced: true}
  - {id: older, role: is of another draft, schema: {$schema: "http://json-schema.org/draft-07/schema#", type: object, properties: {n: {exclusiveMaximum: 3}}}}
calls: [{_tool: latent, text: a, _id: one}, {_tool: older, _id: two}]
`
	for _, c := range []struct {
		mode     string
		solution string
		fine     bool
	}{
		{"eager", `{"calls":[],"output":null}`, true},
		{"eager", `{"calls":[]}`, true},
		{"eager", `{"output":null}`, false},
		{"eager", `{"calls":[],"more":1}`, false},
		{"eager", `{"calls":[],"meta":{}}`, false}, // no message of the context has it
		{"eager", `{"calls":[],"output":{"n":1}}`, true},
		{"eager", `{"calls":[],"output":{"n":"†state.n"}}`, true},
		{"eager", `{"calls":[],"output":"†state.all"}`, true},
		{"eager", `{"calls":[{"_tool":"latent","text":"abc","_output":{"mood":"good"}}]}`, true},
		{"lazy", `{"calls":[{"_tool":"latent","text":"abc","_output":{"mood":"good"}}]}`, false},
		{"lazy", `{"calls":[{"_tool":"latent","text":"abc"}]}`, true},
		{"eager",
			`{"calls":[{"_tool":"latent","text":"†state.text","_instance":"②","_id":"one","_reasoningForCall":"why"}]}`,
			true},
		{"eager", `{"calls":[{"_tool":"latent","text":"†state.text","_instance":"③"}]}`, false},
		{"eager", `{"calls":[{"_tool":"latent","text":"a","_when":"†state.x"}]}`, true},
		{"eager", `{"calls":[{"_tool":"latent","text":"a","_when":"state.x"}]}`, false},
		{"eager", `{"calls":[{"_tool":"latent","text":"a","_after":["one",{"settled":"two"}]}]}`, true},
		{"eager", `{"calls":[{"_tool":"latent","text":"a","_timeout":"3s"}]}`, false}, // no call of the plan uses it
		{"eager", `{"calls":[{"_tool":"explicit","n":"†input.n","_outputPath":"sum"}]}`, true},
		{"eager", `{"calls":[{"_tool":"mcp","q":"x","_output":{}}]}`, false}, // it isn't the model's to answer
		{"eager", `{"calls":[{"_tool":"explicit","n":1}]}`, false},
		{"eager", `{"calls":[{"_tool":"explicit","n":1,"_outputPath":"sum","more":2,"most":"†state.x"}]}`, true},
		{"eager", `{"calls":[{"_tool":"explicit","n":1,"_outputPath":"sum","_scopes":["state"]}]}`, true},
		{"eager",
			`{"calls":[{"_tool":"explicit","n":1,"_outputPath":"sum","deep":[{"a":"†state.a"},"†state.b",{"a":1}]}]}`,
			true},
		{"eager", `{"calls":[{"_tool":"mcp","q":"x"},{"_tool":"mcp","q":"†state.q"}]}`, true},
		{"eager", `{"calls":[{"_tool":"mcp"}]}`, false},
		{"eager", `{"calls":[{"_tool":"both","m":{"mood":"†state.m"},"n1":1,"_output":{"mood":"good"}}]}`, true},
		{"eager", `{"calls":[{"_tool":"older","_output":[2]},{"_tool":"mixed","_output":{"old":2,"now":"a"}}]}`, true},
		{"eager", `{"calls":[{"_tool":"refers","_scopes":["state"]}]}`, true},
		{"advised", `{"advisors":[{"id":"risk","thought":"no","calls":"{}"},{"id":"each","_instance":"①","calls":"{\"mcp\": 1}"}],"calls":[]}`, true},
		{"advised", `{"calls":[]}`, false},
		{"advised", `{"advisors":[{"id":"risk","calls":"{}"}],"calls":[]}`, false},
		{"advised", `{"advisors":[{"id":"risk","thought":"no"}],"calls":[]}`, false},
		{"advised", `{"advisors":[{"id":"each","calls":"{}"}],"calls":[]}`, false},
		{"advised", `{"advisors":[{"id":"nobody","calls":"{}"}],"calls":[]}`, false},
	} {
		mode, advised := c.mode, c.mode == "advised"
		if advised {
			mode = "eager"
		}
		p, found := compiled(t, "plan.yaml", fmt.Appendf(nil, plan, mode))
		if diag.HasErrors(found) {
			t.Fatal(found)
		}
		s := beginning(p)
		if advised {
			s.Advisors = p.Advisors
		}
		r := Compose(s)
		if r.Lazy != (mode == "lazy") {
			t.Errorf("%s: lazy is %v", c.mode, r.Lazy)
		}
		checkSchema(t, ComposeLatent(s, p.Calls[1], nil).Schema)
		err := accepts(t, checkSchema(t, r.Schema), json.RawMessage(c.solution))
		if (err == nil) != c.fine {
			t.Errorf("%s: %s: %v", c.mode, c.solution, err)
		}
	}
}

// A model writes in the order of the properties, and therefore thinks in it.
func TestSchemaOrder(t *testing.T) {
	p, _ := compiled(t, "context.yaml", []byte(`
- {type: meta, meta: {version: 1.0.0}}
- {type: tool, tool: {judge: {type: object, properties: {zeal: {type: string}, age: {type: string}, _output: {type: object, properties: {why: {type: string}, verdict: {type: string}}}}}}}
- {type: advisor, id: a, role: r, "on": request, schema: {type: object, properties: {thought: {type: string}, risk: {type: number}}}}
`))
	s := beginning(p)
	s.Advisors = p.Advisors
	schema := JSON(Compose(s).Schema)
	at := 0
	for _, key := range []string{"advisors", "id", "thought", "risk", "calls", "meta", "calls", "_tool",
		"_reasoningForCall", "zeal", "age", "_outputPath", "_outputMethod", "_output", "output"} {
		next := strings.Index(schema[at:], `"`+key+`":`)
		if next < 0 {
			t.Fatalf("%q isn't behind %q in\n%s", key, schema[:at], schema)
		}
		at += next + 1
	}
}

// LANGUAGE.md#tools-and-activities: a latent call's request shows its own tool and no other, and
// neither plan nor errors.
func TestLatentRequestIsItsOwn(t *testing.T) {
	documents(t, func(name string, p *plan.Plan) {
		s := beginning(p)
		s.Errors = []any{map[string]any{"call": nil, "error": map[string]any{"code": "x", "message": "y"}}}
		if len(p.Calls) == 0 {
			return
		}
		call := p.Calls[len(p.Calls)/2]
		r := ComposeLatent(s, call, map[string]any{})
		checkSchema(t, r.Schema)
		var context []struct {
			Type string
			Tool map[string]any
		}
		if err := json.Unmarshal(Append(nil, r.Messages), &context); err != nil {
			t.Fatal(err)
		}
		for _, m := range context {
			if m.Type == "plan" || m.Type == "error" || m.Type == "advisor" ||
				m.Type == "tool" && (len(m.Tool) != 1 || m.Tool[call.ToolName] == nil) {
				t.Errorf("%s: the request for %s has %+v", name, call.Name, m)
			}
		}
		if r.Call == nil || r.Call.Name != call.Name || r.Call.Tool != call.ToolName || r.Lazy {
			t.Errorf("%s: %+v", name, r.Call)
		}
	})
}

// Requests keep to JSON whatever the values hold, and don't write it as for a
// page.
func TestEncode(t *testing.T) {
	v :=
		Object{{"b", map[string]any{"z": 1.5, "a": []any{nil, true, "†<&>\u2028\"\\\n", math.Copysign(0, -1), 1e300,
			9007199254740993.0, float64(1 << 40)}}}, {"a", json.RawMessage(`{"x": 1}`)},
			{"", struct{ Reason string }{"<no>\u0085"}}, {"n", Number("12.50")}}
	const want = `{"b":{"a":[null,true,"†<&>\u2028\"\\\n",0,1e+300,9007199254740992,1099511627776],"z":1.5},"a":{"x":1},"":{"Reason":"<no>\u0085"},"n":12.50}`
	if got := JSON(v); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}
