package planner

import (
	"cmp"
	"encoding/json"

	"github.com/obelus-dev/obelus/runtime/request"
)

// anthropic is the wire format of Anthropic's messages.
var anthropic = format{
	base: "ANTHROPIC_BASE_URL", usual: "https://api.anthropic.com", path: "v1/messages",
	keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
	headers: []header{
		{name: "Anthropic-Version", prefix: "2023-06-01"},
		{name: "X-Api-Key", variable: "ANTHROPIC_API_KEY"},
		{name: "Authorization", prefix: "Bearer ", variable: "ANTHROPIC_AUTH_TOKEN"},
	},
	body: anthropicBody, read: readAnthropic,
	reasons: map[string]reason{
		"refusal": refused, "max_tokens": tokenBound,
		"model_context_window_exceeded": "the end of the model's context window",
	},
}

// usualTokens bounds an answer unless the user does: the endpoint has no bound of its own.
const usualTokens = 32_000

type object = map[string]any

// anthropicBody asks for the answer as the input of a tool of its schema. Without eager_input_streaming "calls" would
// come all at once, when its last call is written.
func anthropicBody(model string, maxTokens int, p prompt, schema json.RawMessage) any {
	const tool = "answer"
	body := object{
		"model": model, "stream": true, "max_tokens": cmp.Or(maxTokens, usualTokens),
		"system":   []object{{"type": "text", "text": p.system}},
		"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": p.user}}}},
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

func readAnthropic(kind, data string) (c chunk, err error) {
	var e event
	switch {
	case kind == "error":
		return c, streamError(data)
	case json.Unmarshal([]byte(data), &e) != nil:
		return c, errUnfit
	}
	used, d := e.Usage, e.Delta
	switch e.Type {
	case "message_start":
		used = e.Message.Usage
	case "message":
		d = e.delta
		for _, one := range e.Content {
			c.text, c.beside = cmp.Or(c.text, string(one.Input)), c.beside+one.Text
		}
	case "content_block_start": // an input without properties comes without a delta
		c.beside = e.ContentBlock.Text + string(e.ContentBlock.Input)
	}
	c.text, c.beside = c.text+d.PartialJSON, c.beside+d.Text
	c.reason, c.refusal = d.StopReason, d.StopDetails.Explanation
	c.usage = request.Usage{InputTokens: used.Input + used.CacheCreation + used.CacheRead, OutputTokens: used.Output}
	c.last = e.Type == "message_stop" || e.Type == "message"
	return c, nil
}
