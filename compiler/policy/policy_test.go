package policy

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

func parse(text string) (*Policy, []diag.Diagnostic) {
	return Parse(source.NewFile("obelus.policy.yaml", []byte(text)), source.Limits{})
}

func example(t testing.TB) string {
	text, err := os.ReadFile("testdata/payments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// LANGUAGE.md#policies-and-labels: every kind of rule is read, with its places, and validates against the schema
// that editors get.
func TestRead(t *testing.T) {
	p, found := parse(example(t))
	for _, d := range found {
		t.Errorf("%s: %s", d.Span.Where(), d.Message)
	}
	if p.Name != "payments" || !p.Strict || len(p.Tools) != 3 || len(p.Values) != 2 || len(p.Requires) != 2 || len(p.Bounds) != 1 ||
		len(p.Only) != 1 || len(p.Checks) != 3 || len(p.Endorse) != 3 {
		t.Errorf("%+v", p)
	}
	if *p.Tools[0].Effects != Read|External || p.Tools[0].Output.Over(Label{}) != (Label{Untrusted, Private}) {
		t.Errorf("%+v", p.Tools[0])
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", bytes.NewReader(Schema())); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("policy.json").Validate(p.Root.Value()); err != nil {
		t.Errorf("%#v", err)
	}
	if !json.Valid(Schema()) {
		t.Error("the schema isn't JSON")
	}
}

// LANGUAGE.md#policies-and-labels: the policy of the reference is sound.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("../LANGUAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, policy, found := strings.Cut(string(text), "```yaml\n# check: clean\npolicy: payments")
	policy, _, _ = strings.Cut(policy, "```")
	p, wrong := parse("policy: payments" + policy)
	if !found || len(wrong) > 0 || len(p.Checks) != 2 || len(p.Endorse) != 2 {
		t.Errorf("%v: %v", found, wrong)
	}
}

// LANGUAGE.md#policies-and-labels: what is wrong with a policy is said at its place, and each rule whose examples
// contradict it is an error there.
func TestWrong(t *testing.T) {
	const rule = "rules:\n- rule: r\n  "
	for _, c := range []struct{ text, want string }{
		{"[1]", `1:1 a policy is a list`},
		{"polcy: x", `1:1 the policy has no key "polcy" | did you mean "policy"?`},
		{"strict: maybe", `1:9 the policy: .strict: expected a boolean`},
		{"tools: {a: {effect: [read]}}", `1:13 the policy's .tools.a has no key "effect" | did you mean "effects"?`},
		{"tools: {a: {effects: [raed]}}", `1:23 the policy: .tools.a.effects[0]`},
		{"tools: {a: {output: {integrity: untrustd}}}", `1:33 the policy: .tools.a.output.integrity`},
		{"values: {'state..x': {}}", `1:10 "state..x" isn't a path`},
		{"values: {inputs.x: {}}", `1:10 the label is of †inputs, and nothing but a message's kind is called that | did you mean "input"?`},
		{rule + "only: [a]\n  allows: a", `2:3 the rule "r": "denies" is missing`},
		{rule + "onyl: [a]\n  allows: a\n  denies: b", `2:3 the rule "r" needs exactly one of requires, bounds, only, order, endorse; it has 0 | did you mean "only"?`},
		{rule + "only: [a]\n  allows: b\n  denies: c", `4:11 the rule "r" refuses its own example of what it allows: "b" isn't among`},
		{rule + "only: [a]\n  allows: a\n  denies: a", `5:11 the rule "r" lets its own example of what it denies through`},
		{rule + "tool: t\n  requires: {to: {integrity: trusted}}\n  allows: {to: {}}\n  denies: {to: {integrity: trusted}}", `6:11 the rule "r" lets its own`},
		{rule + "tool: effect:dangerous\n  requires: {}\n  allows: {}\n  denies: {}", `3:9 there is no "effect:dangerous"`},
		{rule + "bounds: {pay: {amount: {maximum: 10}}}\n  allows: {pay: {amount: 11}}\n  denies: {pay: {amount: 11}}", `4:26 the rule "r" refuses its own example of what it allows: "amount"`},
		{rule + "bounds: {\"effect:external\": {to: {maxLength: 2}}}\n  allows: {pay: {to: a}}\n  denies: {pay: {to: abc}}", `3:12 bounds are of single tools, and "effect:external" is none | name each tool`},
		{rule + "bounds: {pay: {amount: {maximum: x}}}\n  allows: {pay: {amount: 1}}\n  denies: {pay: {amount: 11}}", `3:36 the schema of "amount" isn't a valid JSON Schema`},
		{rule + "order: {a: {only-after: b}}\n  allows: [a]\n  denies: [a]", `4:12 the rule "r" refuses its own example of what it allows: "a" can't be number 1`},
		{rule + "order: {a: {at-most: 1, per: id}}\n  allows: [{a: {id: 1}}, {a: {id: 2}}]\n  denies: [{a: {id: 1}}, {a: {id: 2}}]", `5:11 the rule "r" lets its own example`},
		{rule + "endorse: {tool: a, output: x, as: {type: string}}\n  allows: a\n  denies: b", `3:44 the rule "r": .endorse.as.type`},
		{rule + "endorse: {tool: a, output: x, as: {type: number, minimum: 1}}\n  allows: 1\n  denies: b", `3:44 the rule "r": .endorse.as.type`},
	} {
		_, found := parse(c.text)
		var all []string
		for _, d := range found {
			text := strings.TrimSpace(strings.Join([]string{d.Span.Where()[len("obelus.policy.yaml:"):], d.Message}, " "))
			if d.Help != "" {
				text += " | " + d.Help
			}
			all = append(all, text)
		}
		if len(all) == 0 || !strings.Contains(all[0], c.want) {
			t.Errorf("%s\n got %q\nwant %s", c.text, all, c.want)
		}
	}
}

// FuzzPolicy reads any text without a panic, gives the same findings for the same text,
// and places within it.
func FuzzPolicy(f *testing.F) {
	f.Add(example(f))
	f.Add("rules: [{rule: r, order: {a: {at-most: 1}}, allows: [a], denies: [a, a]}]")
	f.Fuzz(func(t *testing.T, text string) {
		_, first := parse(text)
		_, second := parse(text)
		if len(first) != len(second) {
			t.Fatalf("%d and then %d findings", len(first), len(second))
		}
		for i, d := range first {
			if d.Message != second[i].Message || d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End {
				t.Errorf("%+v", d)
			}
		}
	})
}
