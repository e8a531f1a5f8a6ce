package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
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
}

// S7, S10.3: what stands under the name of a secret, or is one by its schema, isn't quoted
// by any command in a message, an excerpt, a drawing or SARIF, whatever is wrong with it.
func TestSecretsAreNeverQuoted(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, secret := range []struct{ written, bare string }{
		{"zq7Marker-4711-secret", "zq7Marker-4711"}, {"zqwv", "zqwv"}, {`"zq \" \\ ①wv Marker secret of many words, cut short by whoever quotes it, since it has no end"`, "①wv Mark"}, {"7351946.25", "7351946"},
	} {
		for i, plan := range withSecrets {
			if secret.written[0] == '"' && strings.Contains(plan, `\"M\"`) {
				continue // it has quotes of its own there
			}
			if len(secret.written) < 8 && strings.Contains(plan, "+ 'x'") {
				continue // a short one is only known by itself
			}
			text := strings.ReplaceAll(plan, "M", secret.written)
			name := "plan.yaml"
			if strings.HasPrefix(plan, "{") {
				name = "plan.json"
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"check"}, {"check", "--explain"}, {"check", "--format", "json", "--explain"}, {"check", "--format", "sarif"}, {"check", "--format", "github"}, {"check", "--strict-protocol"},
				{"graph"}, {"graph", "--format", "mermaid"},
			} {
				stdout, stderr, _ := obelus(strings.NewReader(""), append(args, name)...)
				if strings.Contains(stdout+stderr, secret.bare) {
					t.Errorf("plan %d: obelus %s quotes the secret:\n%s\n%s%s", i, strings.Join(args, " "), text, stdout, stderr)
				}
			}
			stdout, stderr, _ := obelus(strings.NewReader(""), "run", "--confirm", "never", "--no-journal", "--format", "json", name)
			if said := messagesOf(stdout) + stderr; strings.Contains(said, secret.bare) {
				t.Errorf("plan %d: a message of obelus run quotes the secret:\n%s\n%s", i, text, said)
			}
		}
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
		for _, values := range []string{"output", "state", "instances"} {
			delete(event, values)
		}
		fmt.Fprintln(&said, event)
	}
	return said.String()
}

// S11.8: what a run is given isn't quoted where it doesn't fit, nor what reads it.
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
		{"check", "."},
		{"check", "--format", "sarif", "."},
	} {
		stdout, stderr, status := obelus(strings.NewReader(""), append(args, map[bool][]string{true: {"--confirm", "never", "--no-journal", "--format", "json"}}[args[0] == "run"]...)...)
		if said := messagesOf(stdout) + stderr; strings.Contains(said, secret) || status == 0 {
			t.Errorf("%v: exit status %d\n%s", args, status, said)
		}
	}
}
