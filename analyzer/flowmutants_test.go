package analyzer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/testdata/corpus"
)

// LANGUAGE.md#findings: a type that is changed in a sound plan is found at the reference that it
// spoils: the parameter's, the source's, or the results of two tools swapped.
func TestTypeMutants(t *testing.T) {
	made, found := map[string]int{}, map[string]int{}
	for _, r := range rows(t, "nestools.jsonl") {
		for _, m := range typeMutants(t, r.Document) {
			made[m.name]++
			text, err := json.Marshal(m.document)
			if err != nil {
				t.Fatal(err)
			}
			plan, _, all := judged(r.ID+".json", string(text))
			node := plan.Calls[m.call].Node.Along(m.at)
			if slices.ContainsFunc(all, func(d diag.Diagnostic) bool {
				return strings.Contains(m.code, d.Rule.Code) && d.Severity > diag.Info && d.Call == plan.Calls[m.call].Name && analysis.Within(node, d.Span.Start)
			}) {
				found[m.name]++
				continue
			}
			t.Errorf("%s, %s: nothing is found at %s\n%s", r.ID, m.name, node.Text, every(all))
		}
	}
	t.Log(made, found)
	for _, kind := range []string{"changed parameter", "changed source", "swapped results"} {
		if made[kind] < corpus.Enough(200, 30) {
			t.Errorf("only %d mutants of the kind %q", made[kind], kind)
		}
	}
}

// typeMutants makes up to three of a plan.
func typeMutants(t *testing.T, document []byte) []mutant {
	t.Helper()
	fresh := func() (map[string]any, []any) {
		var d map[string]any
		if err := json.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		return d, d["calls"].([]any)
	}
	d, calls := fresh()
	tool := func(d map[string]any, call any) map[string]any {
		return d["tools"].(map[string]any)[call.(map[string]any)["_tool"].(string)].(map[string]any)["properties"].(map[string]any)
	}
	for i, c := range calls {
		for _, l := range references(c, nil, "†state.") {
			name, isKey := l.at[0].(string)
			if !isKey || len(l.at) > 1 {
				continue
			}
			for w, other := range calls {
				path := other.(map[string]any)["_outputPath"].(string)
				field, ok := strings.CutPrefix(l.text, path+".")
				if !ok || strings.ContainsAny(field, ".[") {
					continue
				}
				output, _ := tool(d, other)["_output"].(map[string]any)
				properties, _ := output["properties"].(map[string]any)
				source, _ := properties[field].(map[string]any)
				wanted, _ := tool(d, c)[name].(map[string]any)
				if source["type"] == nil || wanted["type"] == nil {
					continue
				}
				another := "boolean"
				if source["type"] == another || wanted["type"] == another {
					another = "null"
				}
				var all []mutant
				changed, list := fresh()
				tool(changed, list[i])[name] = map[string]any{"type": another}
				all = append(all, mutant{name: "changed parameter", code: "OB505", document: changed, call: i, at: l.at})

				changed, list = fresh()
				tool(changed, list[w])["_output"].(map[string]any)["properties"].(map[string]any)[field] = map[string]any{"type": another}
				all = append(all, mutant{name: "changed source", code: "OB505", document: changed, call: i, at: l.at})

				changed, list = fresh()
				mine, reader := tool(changed, list[w]), tool(changed, list[i])
				theirs, _ := reader["_output"].(map[string]any)
				fields, _ := theirs["properties"].(map[string]any)
				same, _ := fields[field].(map[string]any)
				if list[i].(map[string]any)["_tool"] != list[w].(map[string]any)["_tool"] && len(fields) > 0 && same["type"] != wanted["type"] {
					mine["_output"], reader["_output"] = reader["_output"], mine["_output"]
					all = append(all, mutant{name: "swapped results", code: "OB505 OB506 OB513", document: changed, call: i, at: l.at})
				}
				return all
			}
		}
	}
	return nil
}
