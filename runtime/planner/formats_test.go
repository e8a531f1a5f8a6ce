package planner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime/planner/anthropic"
	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/openai"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
)

var formats = map[string]endpoint.Format{"openai": openai.Format("m", 0), "anthropic": anthropic.Format("m", 0)}

// PLANNERS.md#models: every form of every schema is a request that is JSON, and the last tells
// the model the schema in words, which any endpoint takes.
func TestFormsAreRequests(t *testing.T) {
	for name, f := range formats {
		for _, schema := range []string{`{}`, `true`, `false`, `null`, `{"type":"object"}`, `{"type":"string"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, `{"items":{"$ref":"#"}}`, `{"type":["object","null"],"properties":{}}`} {
			forms := f.Forms(value(schema))
			if len(forms) == 0 || forms[len(forms)-1].Schema != "" || forms[len(forms)-1].Wrapped {
				t.Errorf("%s, %s: the forms are %+v", name, schema, forms)
			}
			for _, form := range forms {
				if _, err := json.Marshal(f.Body(prompt.Prompt{System: "s", User: "u\u2028"}, form)); err != nil {
					t.Errorf("%s, %s, %s: %v", name, schema, form.Name, err)
				}
			}
		}
	}
}

// FuzzStreams: whatever an endpoint sends, a format neither panics nor says that a
// whole answer came that is refused or cut off at its bound.
func FuzzStreams(f *testing.F) {
	for _, p := range protocols {
		for event := range strings.SplitSeq(p.stream(solution)+p.failure("x", "y"), "\n\n") {
			kind, data, _ := strings.Cut(event, "data: ")
			f.Add(strings.TrimSuffix(strings.TrimPrefix(kind, "event: "), "\n"), data)
		}
	}
	f.Add("message_delta", `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"input_tokens":-1e999}}`)
	f.Add("", `{"choices":[{"index":-1,"delta":null,"finish_reason":null},null]}`)
	f.Fuzz(func(t *testing.T, kind, data string) {
		for name, format := range formats {
			for _, form := range format.Forms(value(`{"type":"object"}`)) {
				var end endpoint.Ending
				hear := format.Listen(form, &end, func(string) {})
				hear(kind, data)
				more, err := hear(kind, data)
				if err != nil && more || len(end.Words) > 64<<10 {
					t.Errorf("%s: %v, %v, %+v", name, more, err, end)
				}
			}
		}
	})
}
