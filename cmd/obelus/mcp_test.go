package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/examples"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
)

// served begins "obelus mcp" over a folder, and gives a client of it.
func served(t *testing.T, root string, o *mcp.ClientOptions, flags ...string) *mcp.ClientSession {
	t.Helper()
	return servedTo(t, root, o, io.Discard, flags...)
}

// servedTo writes all that the server, a process of its own, sends to the client besides.
func servedTo(t *testing.T, root string, o *mcp.ClientOptions, sent io.Writer, flags ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"mcp", "--root", root}, flags...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	in, wrong := cmd.StdinPipe()
	out, err := cmd.StdoutPipe()
	if err = errors.Join(wrong, err); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	session, err := client(o).Connect(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(io.TeeReader(out, sent)), Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		in.Close()
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("%v: %s", err, said.String())
		}
	})
	return session
}

func client(o *mcp.ClientOptions) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
}

// called is what a tool answers: the text, and the findings and the summary that it has as lines of JSON.
func called(t testing.TB, s *mcp.ClientSession, tool string, arguments any) (text string, value map[string]any, failed bool) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return "", nil, true
	}
	for _, one := range result.Content {
		text += one.(*mcp.TextContent).Text
	}
	all := []any{}
	for line := range strings.Lines(text) {
		var one map[string]any
		if json.Unmarshal([]byte(line), &one) == nil {
			all = append(all, one)
		}
	}
	if last := len(all) - 1; last >= 0 {
		value = map[string]any{"findings": all[:last], "summary": all[last]}
	}
	return text, value, result.IsError
}

// put writes files into a new folder.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const (
	goodPlan = "tools:\n  fetch: {type: object, properties: {city: {type: string}, _output: {type: string}}, required: [city]}\n" +
		"input: {city: Oslo}\ncalls:\n  - {_tool: fetch, city: †input.city, _outputPath: weather}\noutput: {today: †state.weather}\n"
	badPlan = "tools:\n  fetch: {type: object, properties: {city: {type: string}, _output: {type: string}}, required: [city]}\n" +
		"calls:\n  - {_tool: fetch, city: †state.nowhere, _outputPath: weather}\n"
	nowhere = `"†state.nowhere\" never has a value`
)

// EXECUTION.md#obelus-mcp: each tool answers for a good and for a bad plan, given as text or as a file, and
// what can't be answered is an error of the tool that says where, why and what to do.
func TestMCPTools(t *testing.T) {
	type in = map[string]any
	plan := func(text string) in { return in{"plan": text} }
	s := served(t, put(t, map[string]string{"plans/good.yaml": goodPlan, "plans/import.yaml": "import: [tools.yaml]\n" + strings.SplitN(goodPlan, "\n", 3)[2]}), nil)
	for _, one := range []struct {
		tool   string
		in     in
		failed bool
		text   string // that is in the answer
	}{
		{"check", plan(goodPlan), false, `"kind":"summary","files":1,"errors":0,"warnings":0,"infos":1`},
		{"check", plan(badPlan), false, nowhere},
		{"check", in{"path": "plans/good.yaml"}, false, `"file":"plans/good.yaml"`},
		{"check", in{"path": "plans/import.yaml"}, false, `"file":"plans/import.yaml"`},
		{"check", in{"path": "../other.yaml"}, true, "isn't a path below the workspace's root\n  help: name a file by its path from the root"},
		{"check", in{"path": "plans/gone.yaml"}, true, `can't read "plans/gone.yaml": there is no such file`},
		{"check", in{}, true, "there is no plan, or there are two\n  help:"},
		{"check", in{"plane": ""}, true, "check has no argument \"plane\"; it has path and plan\n  help: did you mean \"plan\"?"},
		{"check", in{"plan": in{"calls": 1}}, true, "Plan of type string"},
		{"simulate", in{"plan": goodPlan, "seed": "x"}, true, `invalid argument "x" for "--seed" flag`},
		{"diff", in{"old": in{"file": "a"}, "new": plan(goodPlan)}, true, `a file of the workspace as "path", or give a text as "plan"`},
		{"explain", in{"code": "ob203"}, false, "# OB203 dangling-reference"},
		{"explain", in{"code": "OB40"}, true, "did you mean"},
		{"explain", in{}, false, "OB203  dangling-reference"},
		{"graph", in{"plan": goodPlan, "focus": "fetch#2"}, true, `the plan has no call "fetch#2"`},
		{"graph", plan(goodPlan), false, "✦ fetch#1"},
		{"graph", in{"plan": badPlan, "format": "mermaid"}, false, "nothing writes it"},
		{"graph", in{"plan": goodPlan, "format": "gif"}, true, "expected dot, mermaid, svg, text or html"},
		{"graph", plan("calls: ["), true, "error[OB101]"},
		{"simulate", plan(goodPlan), false, `"makespan":100,`},
		{"simulate", in{"plan": goodPlan, "branches": true}, false, `"problem":{"kind":"failure","call":"fetch#1"`},
		{"simulate", in{"plan": goodPlan, "schedules": 3}, false, `"deterministic":true`},
		{"simulate", in{"plan": goodPlan, "fail": []string{"fetch"}}, false, `"message":"it fails as requested"`},
		{"simulate", in{"plan": goodPlan, "fail": []string{"fetsh"}}, true, "no call of the plan that could fail is \"fetsh\" or uses that tool\n  help: did you mean \"fetch\"?"},
		{"simulate", plan(badPlan), true, nowhere},
		{"diff", in{"old": plan(goodPlan), "new": plan(strings.Replace(goodPlan, "Oslo", "Rome", 1))}, false, `"new":{"literal":"Rome"}`},
		{"diff", in{"old": plan(goodPlan), "new": in{"path": "plans/good.yaml"}}, false, `"same":true`},
		{"diff", in{"old": plan(goodPlan), "new": plan("calls: [")}, true, `"code":"OB101"`},
	} {
		text, _, failed := called(t, s, one.tool, one.in)
		if failed != one.failed || !strings.Contains(text, one.text) || strings.Contains(text, "goroutine 1") {
			t.Errorf("%s %v: failed %v\n%s", one.tool, one.in, failed, text)
		}
	}
}

// EXECUTION.md#obelus-mcp: what tools say of themselves is true: they only read.
func TestMCPLists(t *testing.T) {
	s := served(t, t.TempDir(), nil)
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		if a := tool.Annotations; tool.InputSchema == nil || !a.ReadOnlyHint || *a.OpenWorldHint || *a.DestructiveHint || !a.IdempotentHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
	if got := strings.Join(names, " "); got != "check diff explain graph simulate" {
		t.Error(got)
	}
}

// The language's reference and the examples are resources.
func TestMCPReference(t *testing.T) {
	s := served(t, t.TempDir(), nil)
	read := func(uri string) string {
		got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			return ""
		}
		return got.Contents[0].Text
	}
	for uri, text := range map[string]string{
		"obelus://language": "append-only log", "obelus://execution": "## Stopping", "obelus://examples/weather.yaml": "plan: weather", "obelus://schemas/plan": `"$schema"`,
	} {
		if got := read(uri); !strings.Contains(got, text) {
			t.Errorf("%s: %.300s", uri, got)
		}
	}
	for _, uri := range []string{"obelus://language/walking", "obelus://examples/..%2fexamples.go", "obelus://examples/../go.mod", "file:///etc/passwd"} {
		if got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %.100s", uri, got.Contents[0].Text)
		}
	}
	parts := 0
	for one, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if parts++; read(one.URI) == "" {
			t.Errorf("%s is empty", one.URI)
		}
	}
	if parts < 10 {
		t.Errorf("only %d resources", parts)
	}
}

// EXECUTION.md#obelus-mcp: what check answers is what "obelus check --format json" writes, of examples and of
// plans that others wrote; but nothing is said of what this machine lacks (OB609).
func TestMCPChecksAsTheCommand(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := served(t, root, nil)
	texts := []string{goodPlan, badPlan, "", "\n", "calls: [", "[]", "{\"calls\": 1}", "\x00"}
	plans, _ := fs.Glob(examples.Plans, "*")
	if len(plans) == 0 {
		t.Fatal("there are no examples")
	}
	for _, name := range plans {
		text, err := examples.Plans.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, name := range corpus.Plans {
		rows := corpus.Rows[corpus.Plan](t, name)
		each := max(1, len(rows)/amount.Of(10, 30, 300))
		for i := 0; i < len(rows); i += each {
			texts = append(texts, string(rows[i].Document))
		}
	}
	compared := 0
	for _, text := range texts {
		if text == "" {
			continue // which isn't a plan for who gives texts
		}
		stdout, stderr, status := obelus(strings.NewReader(text), "check", "--format", "json", "--root", root, "-")
		if status == statusError {
			t.Fatal(stderr)
		}
		var want []any
		var summary any
		lacks := false
		for line := range strings.Lines(stdout) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			switch {
			case one["kind"] == "summary":
				summary = one
			case one["code"] == "OB609":
				lacks = true
			default:
				want = append(want, one)
			}
		}
		_, last, _ := called(t, s, "check", map[string]any{"plan": text})
		got, _ := last["findings"].([]any)
		if len(want)+len(got) > 0 && !reflect.DeepEqual(got, want) || !lacks && !reflect.DeepEqual(last["summary"], summary) {
			t.Errorf("%.300q:\n%v\nand by the command\n%v, %v", text, last, want, summary)
		}
		compared += len(want)
	}
	if compared < 20 {
		t.Errorf("only %d findings were compared", compared)
	}
}

// Any number of requests are answered at once, each as it would be alone.
func TestMCPAnswersManyAtOnce(t *testing.T) {
	s := served(t, t.TempDir(), nil)
	plans := []string{goodPlan, badPlan, strings.ReplaceAll(badPlan, "nowhere", "elsewhere")}
	var want []string
	for _, plan := range plans {
		text, _, _ := called(t, s, "check", map[string]any{"plan": plan})
		want = append(want, text)
	}
	answers := make(chan error, 100)
	for i := range cap(answers) {
		go func() {
			tool, in := "check", map[string]any{"plan": plans[i%3]}
			if i%10 == 9 {
				tool, in["branches"] = "simulate", true
			}
			if text, _, _ := called(t, s, tool, in); tool == "check" && text != want[i%3] {
				answers <- fmt.Errorf("%s\nis answered by\n%s", plans[i%3], text)
				return
			}
			answers <- nil
		}()
	}
	for range cap(answers) {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// The Go client of the protocol, to a process of its own, which ends when its standard
// input does.
func TestMCPProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], "mcp", "--root", t.TempDir())
	cmd.Env = append(os.Environ(), asCommand+"=1")
	s, err := client(nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, _, failed := called(t, s, "check", map[string]any{"plan": badPlan}); failed || !strings.Contains(text, nowhere) {
		t.Error(text)
	}
	if err := s.Close(); err != nil || cmd.ProcessState.ExitCode() != statusOK {
		t.Errorf("%v, %v", err, cmd.ProcessState)
	}
}

// The names of the workspace's files don't say where on this machine they lie.
func TestMCPNamesFilesFromTheRoot(t *testing.T) {
	root := put(t, map[string]string{"a/plan.yaml": "import: [tools.yaml]\n" + badPlan, "a/tools.yaml": "tools: 3\n", "a/good.yaml": goodPlan})
	s := served(t, root, nil)
	for _, one := range []struct {
		tool string
		in   map[string]any
	}{
		{"check", map[string]any{"path": "a/plan.yaml"}}, {"check", map[string]any{"path": "a/gone.yaml"}}, {"simulate", map[string]any{"path": "a/plan.yaml"}},
		{"diff", map[string]any{"old": map[string]any{"path": "a/good.yaml"}, "new": map[string]any{"plan": "calls: []\n"}}},
		{"graph", map[string]any{"path": "a/good.yaml", "format": "html"}}, {"graph", map[string]any{"path": "a/good.yaml", "format": "svg", "detail": true}},
		{"graph", map[string]any{"path": "a/plan.yaml"}}, {"diff", map[string]any{"old": map[string]any{"path": "a/plan.yaml"}, "new": map[string]any{"plan": goodPlan}}},
	} {
		text, value, _ := called(t, s, one.tool, one.in)
		whole, _ := json.Marshal(value)
		if strings.Contains(text+string(whole), root) {
			t.Errorf("%s: %s\n%s", one.tool, text, whole)
		}
	}
	of := map[string]any{"plan": strings.Replace(goodPlan, "city: †input.city", "city: "+root+"/city", 1)}
	for tool, in := range map[string]map[string]any{"graph": {"plan": of["plan"], "detail": true}, "diff": {"old": map[string]any{"plan": goodPlan}, "new": of}} {
		if text, _, _ := called(t, s, tool, in); !strings.Contains(text, root+"/city") {
			t.Errorf("%s: a value isn't as the plan has it: %s", tool, text)
		}
	}
}

// An answer that is too long is an error that says so.
func TestMCPLongPlans(t *testing.T) {
	s := served(t, t.TempDir(), nil)
	plan := "state: {a0: 1}\ntools: {t: {properties: {p: {type: integer}}}}\ncalls:\n" + strings.Repeat("- {_tool: t, q: 1}\n", 900)
	for i := range 190 {
		plan += fmt.Sprintf("- {_tool: t, p: †state.a%d, _outputPath: a%d}\n", i, i+1)
	}
	for tool, in := range map[string]map[string]any{"check": {"plan": plan}, "graph": {"plan": plan, "format": "html"}} {
		text, value, failed := called(t, s, tool, in)
		if !failed || value != nil || len(text) > 1000 || !strings.Contains(text, "ask for less") {
			t.Errorf("%s: %d bytes: %.300s", tool, len(text), text)
		}
	}
}

// A client in another language, the protocol's own in TypeScript.
func TestMCPOtherClient(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("OBELUS_MCP_CLIENT")
	if folder == "" {
		folder = filepath.Join("..", "..", ".tools", "mcp")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@modelcontextprotocol", "sdk")); err != nil {
		t.Skip("@modelcontextprotocol/sdk isn't installed: .ci/install installs it, or OBELUS_MCP_CLIENT names the folder that has its node_modules")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the other client needs node, which isn't installed")
	}
	root := put(t, map[string]string{"plan.yaml": goodPlan})
	jobs, err := json.Marshal(map[string]any{"command": os.Args[0], "args": []string{"mcp", "--root", root}, "env": asCommand, "good": goodPlan, "bad": badPlan, "long": ladder(800)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join("testdata", "mcp", "client.mjs"), folder)
	cmd.Stdin = bytes.NewReader(jobs)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "all is well\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
