package planner

import (
	"strings"
	"testing"
)

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
			c, err := format.read(kind, data)
			if err != nil && (c.last || c.text != "") {
				t.Errorf("%v, %+v", err, c)
			}
		}
	})
}
