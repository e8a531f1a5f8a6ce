package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// Plans with something wrong about a secret, at every place where a document can hold one:
// M is the secret as the document writes it.
var withSecrets = []string{
	"tools: {t: {type: object, properties: {password: {type: [array]}}}}\ncalls: [{_tool: t, password: M}]",
	"tools: {t: {type: object, properties: {pin: {type: array, writeOnly: true}}}}\ncalls: [{_tool: t, pin: M}]",
	"tools: {t: {type: object, properties: {pin: {type: array, format: password}}}}\ncalls: [{_tool: t, pin: M}]",
	"tools: {t: {type: object, properties: {deep: {type: object, properties: {pins: {type: array, items: {$ref: '#/schemas/pin'}}}}}}}\nschemas: {pin: {type: array, writeOnly: true}}\ncalls: [{_tool: t, deep: {pins: [M]}}]",
	"tools: {t: {type: object, properties: {login: {type: object, properties: {apiToken: {enum: [x]}}}}}}\ncalls: [{_tool: t, login: {apiToken: M, user: a}}]",
	"tools: {t: {type: object, properties: {credentials: {type: integer}}}}\ncalls: [{_tool: t, credentials: [{a: M}]}]",
	"tools: {t: {type: object, properties: {pasword: {type: string}}}}\ncalls: [{_tool: t, password: M}]",
	"tools: {t: {type: object, properties: {a: {maxLength: 1, type: string}}}}\ninput: {password: M}\ncalls: [{_tool: t, a: †input.password}, {_tool: t, a: †(†input.password + 'x')}]",
	"tools: {t: {type: object, properties: {a: {type: array}}}}\ninput: {token: M}\ninputSchema: {type: object, properties: {token: {const: M}}}\ncalls: [{_tool: t, a: †input.token}]",
	"tools: {t: {type: object, properties: {a: {type: string, enum: [x]}}}}\ninputSchema: {type: object, properties: {token: {type: [string, number], enum: [M, x]}}}\ncalls: [{_tool: t, a: †input.token}]",
	"input: {password: M}\ninputSchema: {type: object, properties: {password: {type: array}}}\ncalls: []",
	"input: {pin: M}\ninputSchema: {type: object, properties: {pin: {type: array, writeOnly: true}}}\ncalls: []",
	"inputSchema: {type: object, properties: {password: {type: array, default: M, enum: [[]]}}}\ncalls: [{_tool: t, a: †input.password.x}]",
	"state: {secrets: {a: [M]}}\nstateSchema: {type: object, properties: {secrets: {type: object, properties: {a: {type: array, items: {type: array}}}}}}\ncalls: []",
	"state: {password: M}\nstateSchema: {type: object, properties: {name: {}}, additionalProperties: false}\ncalls: []",
	"instances: {a: {input: {password: M}, state: {token: M}}}\ninputSchema: {type: object, properties: {password: {type: array}}}\nstateSchema: {type: object, properties: {token: {type: array}}}\ncalls: []",
	"- {type: data, kind: user, data: {password: M}, schema: {type: object, properties: {password: {type: array}}}}\n- {type: input, password: M, schema: {type: object, properties: {password: {type: array}}}}\n- {type: plan, plan: []}",
	"tools: {t: {type: object, properties: {password: {type: string}, _output: {type: object, properties: {token: {type: array}}}}}}\ncalls: [{_tool: t, _output: {token: M}}]",
	"tools: {t: {type: object, properties: {password: {type: array}}}}\ncalls: [{_tool: t, password: '†(\"M\" + 1)'}, {_tool: t, password: 'x M †{state.a}'}]",
	"tools: {t: {type: object, properties: {a: {}}}}\ninput: {password: M, n: 1}\ncalls: [{_tool: t, _id: same, a: 1, a: 2}]",
	"tools: {t: {type: object, properties: {a: {}}, _mock: {password: M}, _output: {type: object, properties: {password: {type: array}}}}}\ncalls: [{_tool: t, _outputPath: a}]",
	"tools: {t: {type: object, properties: {a: {}}}}\nactivities: {t: {exec: {argv: [\"true\"], env: {API_TOKEN: M, bad-name: x}}}}\ncalls: [{_tool: t}]",
	"output: {password: M, b: †state.none}\noutputSchema: {type: object, properties: {password: {type: array}}}\ncalls: []",
	"input: {password: M, password: M}\ncalls: []",
	"input: {password: M, a: [}\ncalls: []",
	"input: {password: M, a: &x [*x]}\ncalls: []",
	"{\"input\": {\"password\": M, \"a\": 1,}, \"calls\": []}",
	"input: {password: M, a: 0777, \"b\u200b\": 1}\ncalls: [{_tool: none, passphrase: M, _foo: 1}]",
	"calls: [{_tool: t, password: {a: M}, password2: M, _outputPath: state}, {_tool: t, password: {a: M}, password2: M, _outputPath: state}]",
	"tools: {t: {type: object, properties: {password: {type: string}}}}\nactivities: {t: {expr: 'int(password) + †x'}}\ncalls: [{_tool: t, password: M}]",
	"tools: {t: {type: object, properties: {password: {type: string}, user: {type: string}}}}\ncalls: [{_tool: t, _each: [{user: x, password: M}], user: †item.user, password: †item.pasword}]",
	"tools: {t: {type: object, properties: {a: {type: array}}}}\nactivities: {t: {http: {url: 'http://me:U@127.0.0.1:9/{a}', timeout: 1s}}, u: {mcp: {server: s, tool: x}}, v: {exec: {argv: ['true', 'http://me:U@h.example/']}}}\n" +
		"servers: {s: {url: 'http://me:U@127.0.0.1:9/x', timeout: 1s}}\ncalls: [{_tool: t, a: 1}, {_tool: t, a: 'http://me:U@h.example/'}, {_tool: u, _outputPath: a}, {_tool: v, _outputPath: a}]",
	elsewhere + "tools: {t: {type: object, properties: {password: {type: string}, user: {type: array}}}}\ncalls: [{_tool: t, password: M}, {_tool: t, user: M, password: 5}]\noutput: [M, †state.none]",
}

// elsewhere begins plans in which the secret stands under other names, too: one that is
// short is hidden in messages alone then.
const elsewhere = "# elsewhere\n"

// LANGUAGE.md#environment-and-secrets: what stands under the name of a secret, is one by its schema or stands in an address as a password isn't quoted
// by any command in a message, an excerpt, a drawing or SARIF, whatever is wrong with it.
func TestSecretsAreNeverQuoted(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty.yaml", []byte("calls: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, secret := range []struct{ written, bare string }{
		{"zq7Marker-4711-secret", "zq7Marker-4711"}, {"zqwv", "zqwv"}, {`"zq \" \\ ①wv Marker secret of many words, cut short by whoever quotes it, since it has no end"`, "①wv Mark"}, {"7351946.25", "7351946"},
	} {
		for i, plan := range withSecrets {
			if secret.written[0] == '"' && strings.Contains(plan, `\"M\"`) {
				continue // it has quotes of its own there
			}
			if len(secret.written) < 8 && (strings.Contains(plan, "+ 'x'") || strings.HasPrefix(plan, elsewhere)) {
				continue // a short one is only known by itself
			}
			text := strings.ReplaceAll(plan, "M", secret.written)
			if strings.Contains(plan, ":U@") {
				if strings.ContainsAny(secret.written, ` "`) {
					continue // which stands in no address
				}
				text = strings.ReplaceAll(plan, ":U@", ":"+secret.written+"@")
			}
			name := "plan.yaml"
			if strings.HasPrefix(plan, "{") {
				name = "plan.json"
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for k, args := range [][]string{
				{"check"}, {"check", "--explain"}, {"check", "--format", "json", "--explain"}, {"check", "--format", "sarif"}, {"check", "--format", "github"}, {"check", "--strict-protocol"},
				{"graph"}, {"graph", "--format", "mermaid"}, {"graph", "--format", "svg", "--detail"}, {"graph", "--format", "text", "--detail"}, {"graph", "--format", "html"},
				{"approve", "--show"}, {"approve", "--show", "--format", "json"}, {"approve", "--show", "--format", "markdown"},
				{"diff", "empty.yaml"}, {"diff", "empty.yaml", "--format", "json"}, {"diff", "empty.yaml", "--format", "markdown"}, {"diff", "empty.yaml", "--format", "dot"},
			} {
				if every := amount.Of(6, 1, 1); (i+n+k)%every != 0 {
					continue
				}
				stdout, stderr, _ := obelus(strings.NewReader(""), append(args, name)...)
				if strings.Contains(stdout+stderr, secret.bare) {
					t.Errorf("plan %d: obelus %s quotes the secret:\n%s\n%s%s", i, strings.Join(args, " "), text, stdout, stderr)
				}
			}
			for _, args := range [][]string{{"run", "--confirm", "never", "--no-journal"}, {"simulate"}} {
				stdout, stderr, _ := obelus(strings.NewReader(""), append(args, "--format", "json", name)...)
				if said := messagesOf(stdout) + stderr; strings.Contains(said, secret.bare) {
					t.Errorf("plan %d: a message of obelus %s quotes the secret:\n%s\n%s", i, args[0], text, said)
				}
			}
		}
	}
}

// EXECUTION.md#reviewers: a question about a request shows no password of its address; one about another is
// another question.
func TestQuestionsShowNoPassword(t *testing.T) {
	t.Chdir(t.TempDir())
	ids := map[string]bool{}
	for _, secret := range []string{"zq7Marker-4711", "zq8Marker-4711"} {
		text := "activities: {t: {http: {url: 'https://me:" + secret + "@h.example/{a}'}}, u: {mcp: {server: s, tool: x}}}\nservers: {s: {url: 'https://me:" + secret + "@h.example/x'}}\n" +
			"calls: [{_tool: t, a: b, _outputPath: a}, {_tool: u, _outputPath: b}]\n"
		if err := os.WriteFile("plan.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, _ := obelus(strings.NewReader(""), "run", "--confirm", "always", "--no-journal", "--format", "json", "plan.yaml")
		if strings.Contains(stdout+stderr, secret) || strings.Count(stdout, "https://me:[hidden password]@h.example/") != 3 {
			t.Error(stdout, stderr)
		}
		for _, id := range regexp.MustCompile(`"id":"\w+"`).FindAllString(stdout, -1) {
			ids[id] = true
		}
	}
	if len(ids) != 4 {
		t.Errorf("%v", ids)
	}
}

// EXECUTION.md#secrets: a failure record isn't a secret for the name of its route, whose words other failures
// may need; what it holds under the name of a secret is one.
func TestFailureRecordsArentSecret(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "activities:\n  first: {exec: {argv: ['false']}}\n  second: {exec: {argv: [sh, -c, 'echo an error of its own >&2; exit 3']}}\n" +
		"calls:\n  - {_tool: first, _id: first, _outputPath: †state.token || †state.tokenError}\n  - {_tool: second, _after: [{settled: first}], _outputPath: b}\noutput: †state.tokenError.code\n"
	if err := os.WriteFile("plan.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, _ := obelus(strings.NewReader(""), "run", "--confirm", "never", "--no-journal", "plan.yaml")
	if !strings.Contains(stdout, "an error of its own") {
		t.Error(stdout, stderr)
	}
}

// messagesOf are the lines of a run's events without the values of calls and of state.
func messagesOf(events string) string {
	var said strings.Builder
	for line := range strings.Lines(events) {
		var event map[string]any
		if json.Unmarshal([]byte(line), &event) != nil {
			said.WriteString(line)
			continue
		}
		for _, values := range []string{"output", "state", "input", "instances"} {
			delete(event, values)
		}
		if calls, ok := event["calls"].([]any); ok { // of a simulation
			for _, call := range calls {
				delete(call.(map[string]any), "output")
			}
		}
		fmt.Fprintln(&said, event)
	}
	return said.String()
}

// LANGUAGE.md#environment-and-secrets: no failure of a run or of a simulation quotes what came into it under the name of a
// secret, on whatever way, whoever says it; nor does what refuses a state or an instance.
func TestFailuresQuoteNoSecret(t *testing.T) {
	t.Chdir(t.TempDir())
	const secret, head = "zq7Marker-4711-secret", `
tools:
  t: {type: object, properties: {x: {type: string, maxLength: 4}}}
  n: {type: object, properties: {x: {}, _output: {type: integer}}}
  w: {type: object, properties: {x: {}, _output: {}}}
  f: {type: object, properties: {x: {}, password: {}, _output: {}}}
  d: {type: object, properties: {x: {}}}
activities:
  t: {expr: "1"}
  n: {expr: "int(x)"}
  w: {expr: x}
  f: {exec: {argv: [sh, -c, 'cat >&2; exit 4']}}
  d: {plan: d.yaml}
`
	values := `{"password": "` + secret + `", "wo": "` + secret + `", "deep": {"apiToken": ["` + secret + `"]}}`
	files := map[string]string{
		"d.yaml":     "tools: {i: {type: object, properties: {x: {type: integer}}}}\nactivities: {i: {expr: '1'}}\ncalls: [{_tool: i, x: '†input.x.apiToken[0]'}]",
		"input.json": values, "state.json": values,
		"one.jsonl": `{"id": "a", "input": ` + values + `, "state": ` + values + "}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := []string{"†$.password", "x†{$.password}", "†$.deep.apiToken[0]", "†$.wo", "†(†$.password + 'x')"}
	var calls strings.Builder
	for _, kind := range []string{"input", "state"} {
		for _, x := range read {
			for _, tool := range []string{"t", "n", "f"} {
				fmt.Fprintf(&calls, "  - {_tool: %s, x: %q}\n", tool, strings.ReplaceAll(x, "$", kind))
			}
		}
		fmt.Fprintf(&calls, "  - {_tool: f, _each: [\"†%s.password\", a], x: †item, _onItemFailure: collect, _outputPath: c%s}\n", kind, kind)
		fmt.Fprintf(&calls, "  - {_tool: f, _each: †%s.deep.apiToken, x: †item, _outputPath: e%s || r%s}\n", kind, kind, kind)
		fmt.Fprintf(&calls, "  - {_tool: f, _each: †%s.password, x: †item}\n", kind)
		fmt.Fprintf(&calls, "  - {_tool: w, x: †%s.deep, _outputPath: own%s}\n", kind, kind)
		fmt.Fprintf(&calls, "  - {_tool: f, x: †state.own%s.apiToken}\n", kind)
	}
	calls.WriteString("  - {_tool: d, x: †input.deep}\n  - {_tool: f, password: '†input.deep.apiToken[0]'}\n")
	rest := `
inputSchema: {type: object, properties: {wo: {writeOnly: true}, deep: {}, password: {}}}
STATE
output: {x: '†(int(†input.password))'}
calls:
`
	state := func(password string) string {
		return strings.Replace(rest, "STATE", "stateSchema: {type: object, properties: {password: "+password+", deep: {}, wo: {format: password}}}", 1)
	}
	for name, text := range map[string]string{"plan.yaml": head + state("{}") + calls.String(), "typed.yaml": head + state("{type: integer}") + calls.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := []string{"--input", "@input.json", "--state", "@state.json"}
	for _, args := range [][]string{
		append([]string{"run", "plan.yaml"}, given...), append([]string{"simulate", "plan.yaml"}, given...),
		{"run", "plan.yaml", "--instances", "one.jsonl"}, {"simulate", "plan.yaml", "--instances", "one.jsonl"},
		append([]string{"run", "typed.yaml"}, given...), {"run", "typed.yaml", "--instances", "one.jsonl"},
	} {
		if args[0] == "run" {
			args = append(args, "--confirm", "never", "--no-journal")
		}
		stdout, stderr, status := obelus(strings.NewReader(""), append(args, "--format", "json")...)
		said := messagesOf(stdout) + stderr
		if strings.Contains(said, secret) || status == 0 || strings.Contains(stderr, "error[") {
			t.Errorf("%v: exit status %d\n%s", args, status, said)
		}
		stdout, stderr, _ = obelus(strings.NewReader(""), args...)
		said = ""
		for line := range strings.Lines(stdout + stderr) {
			if strings.Contains(line, "✗") || strings.Contains(line, "!") || strings.HasPrefix(line, "failed") || strings.HasPrefix(line, "obelus") {
				said += line
			}
		}
		if strings.Contains(said, secret) {
			t.Errorf("%v: as text:\n%s", args, said)
		}
	}
}

// EXECUTION.md#secrets: what a run is given isn't quoted where it doesn't fit, nor what reads it.
func TestGivenSecretsAreNeverQuoted(t *testing.T) {
	t.Chdir(t.TempDir())
	const secret = "zq7Marker-4711-secret"
	for name, text := range map[string]string{
		"typed.yaml":  "inputSchema: {type: object, properties: {password: {type: string, maxLength: 3}, pin: {type: string, pattern: '^[0-9]+$', writeOnly: true}}}\ncalls: []\noutput: [†input.password || 1, †input.pin || 1]",
		"reads.yaml":  "tools: {t: {type: object, properties: {password: {maxLength: 3}, a: {}}}}\nactivities: {t: {expr: '1'}}\ncalls: [{_tool: t, password: †input.password}, {_tool: t, a: †(int(†input.password))}]",
		"lines.yaml":  "inputSchema: {type: object, properties: {password: {maxLength: 3}}}\ncalls: [{_tool: t, a: †input.password}]\nactivities: {t: {expr: '1'}}",
		"lines.jsonl": `{"id": "a", "input": {"password": "` + secret + `"}}` + "\n" + `{"id": "a", "input": {"password": "` + secret + `"}, "x": 1}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "typed.yaml", "--input", "password=" + secret},
		{"run", "typed.yaml", "--input", "pin=" + secret},
		{"run", "reads.yaml", "--input", "password=" + secret},
		{"run", "lines.yaml", "--instances", "lines.jsonl"},
	} {
		stdout, stderr, status := obelus(strings.NewReader(""), append(args, map[bool][]string{true: {"--confirm", "never", "--no-journal", "--format", "json"}}[args[0] == "run"]...)...)
		if said := messagesOf(stdout) + stderr; strings.Contains(said, secret) || status == 0 {
			t.Errorf("%v: exit status %d\n%s", args, status, said)
		}
	}
}
