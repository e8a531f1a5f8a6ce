package analyzer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/tags"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

func settingsOf(t testing.TB, text string) (*Settings, []diag.Diagnostic) {
	t.Helper()
	return ReadSettings(source.NewFile("obelus.yaml", []byte(text)))
}

func judgedWith(t testing.TB, name, text, settings string) Judgement {
	t.Helper()
	s, wrong := settingsOf(t, settings)
	if len(wrong) > 0 {
		t.Fatalf("the settings don't read:\n%s", every(wrong))
	}
	plan, found := compiler.Compile(source.NewFile(name, []byte(text)), compiler.Options{Name: name})
	return Analyze(plan, found, Config{Settings: s, SampleRun: SampleRuns})
}

const unsound = `
tools: {fetch: {type: object, properties: {url: {type: string}}, required: [url]}}
activities: {fetch: {expr: url}}
calls:
  - _tool: fetch
`

func codes(found []diag.Diagnostic) string {
	var all []string
	for _, d := range found {
		all = append(all, d.Rule.Code+" "+d.Severity.String())
	}
	return strings.Join(all, ", ")
}

// LANGUAGE.md#findings: a rule's severity can be changed and a finding suppressed, from inside and
// from outside the plan; none of it makes an error less of one for a run.
func TestWhatIsSuppressedStillCounts(t *testing.T) {
	for _, c := range []struct{ name, text, settings, shown string }{
		{"as it is", unsound, "", "OB502 error"},
		{"lowered", unsound, "rules: {OB502: info}", "OB502 info"},
		{"by name", unsound, "rules: {missing-parameter: warning}", "OB502 warning"},
		{"off", unsound, "rules: {OB502: off}", ""},
		{"ignored", unsound, "ignore: [{code: OB502, path: '*.yaml', reason: known}]", ""},
		{"ignored for the call", unsound, "ignore: [{code: OB502, path: plan.yaml, call: 'fetch#1', reason: known}]", ""},
		{"ignored for another call", unsound, "ignore: [{code: OB502, path: plan.yaml, call: 'fetch#2', reason: known}]", "OB502 error"},
		{"ignored elsewhere", unsound, "ignore: [{code: OB502, path: plans/, reason: known}]", "OB502 error"},
		{"beside it", strings.Replace(unsound, "_tool: fetch\n", "_tool: fetch # obelus:ignore OB502 known\n", 1), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judgedWith(t, "plan.yaml", c.text, c.settings)
			if got := codes(j.Findings); got != c.shown {
				t.Errorf("shown are %q, want %q", got, c.shown)
			}
			if j.Verified != nil || codes(j.Errors) != "OB502 error" {
				t.Errorf("verified: %v, errors %q", j.Verified != nil, codes(j.Errors))
			}
			if suppressed := strings.Contains(c.settings, "ignore") || strings.Contains(c.text, "obelus:"); suppressed && c.shown == "" {
				if len(j.Suppressed) != 1 || j.Suppressed[0].Reason != "known" || !j.Suppressed[0].At.Known() || j.Suppressed[0].Severity != diag.Error {
					t.Errorf("suppressed are %+v", j.Suppressed)
				}
			}
		})
	}
}

// LANGUAGE.md#findings: a raised finding counts for who looks, and an unverified plan stays so
// only for its rules' own errors.
func TestRaisedFindingsDontForbidARun(t *testing.T) {
	text := "tools: {fetch: {type: object, properties: {}}}\ncalls: [{_tool: fetch}]\n"
	j := judgedWith(t, "plan.yaml", text, "rules: {OB602: error}")
	if codes(j.Findings) != "OB602 error" || j.Verified == nil {
		t.Errorf("found %q, verified: %v", codes(j.Findings), j.Verified != nil)
	}
}

// LANGUAGE.md#findings: paths of ignores are globs.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{"plan.yaml", []string{"plan.yaml", "a/plan.yaml"}, []string{"xplan.yaml", "plan.yamlx", "planxyaml"}},
		{"./plans/*.yaml", []string{"plans/a.yaml"}, []string{"plans/b/a.yaml", "x/plans/a.yaml"}},
		{"plans/**/a?.yaml", []string{"plans/ab.yaml", "plans/x/y/ab.yaml"}, []string{"plans/a.yaml", "plans/a/.yaml"}},
		{"plans/**", []string{"plans/a.yaml", "plans/b/c"}, []string{"plan/a.yaml"}},
		{"old/", []string{"old/a.yaml", "x/old/b/c"}, []string{"older/a.yaml"}},
		{"**", []string{"a", "a/b"}, nil},
		{"a+(b)", []string{"a+(b)"}, []string{"aab"}},
		{"/plan.yaml", []string{"plan.yaml"}, []string{"a/plan.yaml"}},
	} {
		one := Ignore{paths: (&settingsReader{}).pattern(&source.Node{Text: c.pattern})}
		for _, path := range c.yes {
			if !one.Covers(path) {
				t.Errorf("%q doesn't cover %q", c.pattern, path)
			}
		}
		for _, path := range c.not {
			if one.Covers(path) {
				t.Errorf("%q covers %q", c.pattern, path)
			}
		}
	}
}

var settingsCases = []struct{ text, want string }{
	{"", ""},
	{"rules: {OB407: off, dead-call: info}\nx-note: mine\n", "OB104"}, // the second isn't a rule everywhere
	{"rule: {}", `OB102 "rules"`},
	{"rules: [OB407]", "OB104 a mapping"},
	{"rules: {OB501: warnin}", `OB104 "warning"`},
	{"rules: {OB501: true}", "OB104 off, info"},
	{"rules: {unknown-tol: off}", `OB104 "unknown-tool"`},
	{"rules: {OB501: off, unknown-tool: info}", "OB103 twice"},
	{"ignore: {}", "OB104 a list"},
	{"ignore: [{code: OB501, path: a}]", "OB104 \"reason\""},
	{"ignore: [{code: OB501, path: a, reason: ' '}]", "OB104 a text"},
	{"ignore: [{code: OB501, path: a, reason: b, cal: c}]", `OB102 "call"`},
	{"ignore: [x]", "OB104 a mapping"},
	{"ignore: [{code: OB501, reason: b, path: '" + strings.Repeat("*a", 600) + "'}]", "OB105 longer"},
	{"ignore: [" + strings.Repeat("{code: OB501, path: a, reason: b}, ", 1001) + "]", "OB105 more than 1000"},
	{"tools: 3", "OB104 a list"},
	{"tools: [a.yaml, [b]]", "OB104 files that declare tools"},
	{"tools: a.yaml", ""},
	{"exclude: [plans/old/**, '*.draft.yaml']\nmin-severity: warning", ""},
	{"exclude: old/", ""},
	{"exclude: {old: true}", "OB104 a list of paths"},
	{"exclude: [3]", "OB104 paths"},
	{"exclude: ['!a']", "OB104 taken back"},
	{"exclude: ['" + strings.Repeat("*a", 600) + "']", "OB105 longer"},
	{"exclude: [" + strings.Repeat("a, ", 1001) + "]", "OB105 more than 1000"},
	{"exlude: [a]", `OB102 "exclude"`},
	{"minSeverity: warning", `OB102 "min-severity"`},
	{"min_severity: warning", `OB102 "min-severity"`},
	{"min-severity: warnin", `OB104 "warning"`},
	{"min-severity: off", "OB104 info, warning, error"},
	{"- x", "OB104 a mapping"},
	{"a: [", "OB101"},
}

// LANGUAGE.md#findings: what is wrong in obelus.yaml is said at its place, with the near name.
func TestSettingsAreJudged(t *testing.T) {
	for _, c := range settingsCases[2:] {
		_, found := settingsOf(t, c.text)
		if c.want == "" {
			if len(found) > 0 {
				t.Errorf("%s:\n%s", c.text, every(found))
			}
			continue
		}
		code, words, _ := strings.Cut(c.want, " ")
		if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
			return d.Rule.Code == code && strings.Contains(d.Message+" "+d.Help, words) && d.Span.Known()
		}) {
			t.Errorf("%s: %s isn't said:\n%s", c.text, c.want, every(found))
		}
	}
}

// LANGUAGE.md#findings: the JSON Schema of obelus.yaml takes what the reader takes, and refuses
// what has the wrong shape.
func TestSettingsSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("config.json", bytes.NewReader(ConfigSchema())); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range settingsCases {
		root, problems := source.Parse(source.NewFile("obelus.yaml", []byte(c.text)), source.DefaultLimits())
		if root == nil || len(problems) > 0 {
			continue
		}
		_, found := settingsOf(t, c.text)
		err := s.Validate(root.Value())
		if len(found) == 0 && err != nil {
			t.Errorf("%s is fine, but the schema refuses it: %v", c.text, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("the schema refuses only %d of the bad files", refused)
	}
	var v any
	if err := json.Unmarshal(ConfigSchema(), &v); err != nil {
		t.Fatal(err)
	}
	tags.Agree(t, v, Settings{})
	tags.Agree(t, v, Ignore{}, "properties", "ignore", "items")
}

// LANGUAGE.md#findings: of suppressions that reach the same finding the innermost has its use, and
// one that repeats another has none.
func TestInnermostSuppressionCounts(t *testing.T) {
	text := `tools: {fetch: {type: object, properties: {url: {type: string}}, required: [url]}}
activities: {fetch: {expr: url}}
# obelus:ignore OB502 outer
calls: [{_tool: fetch, x-obelus-ignore: OB502 inner}, {_tool: fetch}, {_tool: fetch, url: x, x-obelus-ignore: [OB503 once, OB503 twice], link: y}]
`
	j := judgedWith(t, "plan.yaml", text, "")
	var reasons []string
	for _, s := range j.Suppressed {
		reasons = append(reasons, s.Rule.Code+" "+s.Reason)
	}
	if got := strings.Join(reasons, ", "); got != "OB502 inner, OB502 outer, OB503 once" {
		t.Errorf("suppressed are %s", got)
	}
	if codes(j.Findings) != "OB901 warning" || !strings.Contains(j.Findings[0].Span.Text(), "twice") {
		t.Errorf("found:\n%s", every(j.Findings))
	}
}
