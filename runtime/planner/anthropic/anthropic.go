// Package anthropic is the wire format of Anthropic's messages.
package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Format is the wire format.
var Format = endpoint.Format{
	Address: endpoint.Address{
		Base: "ANTHROPIC_BASE_URL", Usual: "https://api.anthropic.com", Path: "v1/messages",
		Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, Custom: "ANTHROPIC_CUSTOM_HEADERS",
		Headers: []endpoint.Header{
			{Name: "Anthropic-Version", Prefix: "2023-06-01"},
			{Name: "X-Api-Key", Variable: "ANTHROPIC_API_KEY"},
			{Name: "Authorization", Prefix: "Bearer ", Variable: "ANTHROPIC_AUTH_TOKEN"},
		},
	},
	Body: body, Read: read,
	Reasons: map[string]endpoint.Reason{
		"refusal": endpoint.Refused, "max_tokens": endpoint.TokenBound,
		"model_context_window_exceeded": "the end of the model's context window",
	},
}

// usualTokens bounds an answer unless the user does: the endpoint has no bound of its own.
const usualTokens = 32_000

type object = map[string]any

// body asks for the answer as the input of a tool of its schema. Without eager_input_streaming "calls" would come all
// at once, when its last call is written.
func body(model string, maxTokens int, p prompt.Prompt, schema json.RawMessage) any {
	const tool = "answer"
	body := object{
		"model": model, "stream": true, "max_tokens": cmp.Or(maxTokens, usualTokens),
		"system":   []object{{"type": "text", "text": p.System}},
		"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": p.User}}}},
	}
	if schema != nil {
		body["tools"] = []object{{"name": tool, "description": "Hands in the answer.", "eager_input_streaming": true,
			"input_schema": schema}}
		body["tool_choice"] = object{"type": "tool", "name": tool, "disable_parallel_tool_use": true}
	}
	return body
}

// What an event of the stream, or a message that isn't streamed, says where it is of use.
type (
	event struct {
		delta        // of a message that isn't streamed
		Type         string
		Message      struct{ Usage usage }
		ContentBlock block `json:"content_block"`
		Content      []block
		Delta        delta
		Usage        usage
	}
	block struct {
		Type, Text string
		Input      json.RawMessage
	}
	delta struct {
		Text        string
		PartialJSON string                       `json:"partial_json"`
		StopReason  string                       `json:"stop_reason"`
		StopDetails struct{ Explanation string } `json:"stop_details"`
	}
	usage struct {
		Input         int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		Output        int `json:"output_tokens"`
	}
)

func read(kind, data string) (c endpoint.Chunk, err error) {
	var e event
	switch {
	case kind == "error":
		return c, &endpoint.StreamError{Data: []byte(data)}
	case json.Unmarshal([]byte(data), &e) != nil:
		return c, endpoint.ErrUnfit
	}
	used, d := e.Usage, e.Delta
	switch e.Type {
	case "message_start":
		used = e.Message.Usage
	case "message":
		d = e.delta
		for _, one := range e.Content {
			c.Text, c.Beside = c.Text+string(one.Input), c.Beside+one.Text
		}
	case "content_block_start": // an input without properties comes without a delta
		c.Beside = e.ContentBlock.Text + string(e.ContentBlock.Input)
	}
	c.Text, c.Beside = c.Text+d.PartialJSON, c.Beside+d.Text
	c.Reason, c.Refusal = d.StopReason, d.StopDetails.Explanation
	c.Usage = request.Usage{InputTokens: used.Input + used.CacheCreation + used.CacheRead, OutputTokens: used.Output}
	c.Last = e.Type == "message_stop" || e.Type == "message"
	return c, nil
}
