package planner

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime/planner/anthropic"
	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/openai"
)

var formats = []endpoint.Format{openai.Format, anthropic.Format}

// FuzzStreams: whatever an endpoint sends, a format doesn't panic.
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
		for _, format := range formats {
			c, err := format.Read(kind, data)
			if err != nil && (c.Last || c.Text != "") {
				t.Errorf("%v, %+v", err, c)
			}
		}
	})
}
