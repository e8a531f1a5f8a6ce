package dot

import (
	"strings"
	"testing"
)

// LANGUAGE.md#documents: a box holds what a yes depends on, whole: the program with all of its words,
// the address, the condition, what is computed, who says that something leaves,
// and the parameters. Formats that break lines lose none of it.
func TestDetailIsWhole(t *testing.T) {
	p, _ := compile(t, "detail.yaml", `
input: {deployment: cart, namespace: shop, limit: 2}
calls:
  - {_id: undo, _tool: undo, z: 1, namespace: †input.namespace, deployment: †input.deployment, _outputPath: a, _confirm: true,
     _when: "†(input.limit > 90 or input.deployment == 'a rather long name of a deployment, which is compared with' or input.limit == 2)"}
  - {_id: post, _tool: post, text: †state.a, _outputPath: b}
  - {_id: keep, _tool: keep, text: †state.b, _outputPath: c}
  - {_id: sum, _tool: sum, n: †input.limit, _outputPath: d}
  - {_id: say, _tool: say, n: †state.d, _outputPath: e}
tools:
  undo: {type: object, properties: {deployment: {}, namespace: {}, z: {}}}
  sum: {type: object, properties: {n: {}}}
  say: {type: object, properties: {n: {}}}
activities:
  undo: {exec: {argv: [kubectl, rollout, undo, "deployment/{deployment}", -n, "{namespace}", --some-more-of-it, --and-yet-more-of-it, --to-the-very-end]}}
  post: {exec: {argv: [curl, --json, "@-", "https://hooks.a-rather-long-name.of-a-host.example/services/with/a/path/that/goes/on"]}, annotations: {openWorldHint: true}}
  keep: {exec: {argv: [tee, kept]}, annotations: {openWorldHint: false}}
  sum: {expr: "n * 2"}
`)
	v := FromPlan(p, nil, Options{Detail: true})
	words := func(text string) string { return strings.Join(strings.Fields(text), "") }
	drawn := map[string]string{"text": v.Text(), "svg": strings.Join(readSVG(t, v.SVG())["call-undo"].lines, " ") + " " + strings.Join(readSVG(t, v.SVG())["call-post"].lines, " ") + " " +
		strings.Join(readSVG(t, v.SVG())["call-keep"].lines, " ") + " " + strings.Join(readSVG(t, v.SVG())["call-sum"].lines, " ") + " " + strings.Join(readSVG(t, v.SVG())["call-say"].lines, " ")}
	for _, want := range []string{
		"starts: \"kubectl rollout undo deployment/{deployment} -n {namespace} --some-more-of-it --and-yet-more-of-it --to-the-very-end",
		"if †(input.limit > 90 or input.deployment == 'a rather long name of a deployment, which is compared with' or input.limit == 2)",
		"a person is asked", "starts: \"n * 2\"",
		"https://hooks.a-rather-long-name.of-a-host.example/services/with/a/path/that/goes/on",
		"may leave the machine", "a model answers", "context: †input, †state",
	} {
		for format, text := range drawn {
			if !strings.Contains(words(text), words(want)) {
				t.Errorf("%s hasn't %q:\n%s", format, want, text)
			}
		}
	}
	if !strings.Contains(v.Text(), "value z: 1") {
		t.Errorf("the parameters aren't there:\n%s", v.Text())
	}
	draw(t, "detail", v)
}
