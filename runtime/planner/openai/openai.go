// Package openai is the wire format of OpenAI's chat completions, which many other
// endpoints accept.
package openai

import (
	"encoding/json"
	"strings"

	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
	"github.com/obelus-dev/obelus/runtime/request"
)

// Format is the wire format.
var Format = endpoint.Format{
	Address: endpoint.Address{
		Base: "OPENAI_BASE_URL", Usual: "https://api.openai.com/v1", Path: "chat/completions",
		Keys: []string{"OPENAI_API_KEY"}, Custom: "OPENAI_CUSTOM_HEADERS",
		Headers: []endpoint.Header{
			{Name: "Authorization", Prefix: "Bearer ", Variable: "OPENAI_API_KEY"},
			{Name: "OpenAI-Organization", Variable: "OPENAI_ORG_ID"},
			{Name: "OpenAI-Project", Variable: "OPENAI_PROJECT_ID"},
		},
	},
	Body: body, Read: read,
	Reasons: map[string]endpoint.Reason{
		"length": endpoint.TokenBound, "content_filter": endpoint.Refused,
		// of vLLM and others
		"error": endpoint.Broken, "abort": endpoint.Broken, "insufficient_system_resource": endpoint.Broken,
	},
}

type object = map[string]any

func body(model string, maxTokens int, p prompt.Prompt, schema json.RawMessage) any {
	body := object{
		"model": model, "stream": true,
		"messages": []object{{"role": "system", "content": p.System}, {"role": "user", "content": p.User}},
	}
	if maxTokens > 0 {
		body["max_completion_tokens"] = maxTokens
	}
	if schema != nil { // the plainest of endpoints know neither
		body["stream_options"] = object{"include_usage": true}
		body["response_format"] = object{"type": "json_schema", "json_schema": object{
			"name": "answer", "strict": false, "schema": schema,
		}}
	}
	return body
}

func read(_, data string) (c endpoint.Chunk, err error) {
	if strings.HasPrefix(data, "[DONE]") {
		return endpoint.Chunk{Last: true}, nil
	}
	var chunk struct {
		Object string
		Error  json.RawMessage
		Usage  struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
		Choices []struct {
			Index          int
			FinishReason   string `json:"finish_reason"`
			Delta, Message struct {
				Content content
				Refusal string
			}
		}
	}
	if json.Unmarshal([]byte(data), &chunk) != nil {
		return c, endpoint.ErrUnfit
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" || chunk.Object == "error" {
		return c, &endpoint.StreamError{Data: []byte(data)}
	}
	c.Usage = request.Usage{InputTokens: chunk.Usage.Prompt, OutputTokens: chunk.Usage.Completion}
	c.Last = chunk.Object == "chat.completion" // as an answer is called that isn't streamed
	for _, one := range chunk.Choices {
		if one.Index == 0 {
			c.Text += string(one.Delta.Content + one.Message.Content)
			c.Refusal += one.Delta.Refusal + one.Message.Refusal
			c.Reason = one.FinishReason
		}
	}
	return c, nil
}

// A content is text, or comes in parts.
type content string

// UnmarshalJSON reads either.
func (c *content) UnmarshalJSON(text []byte) error {
	var parts []struct{ Type, Text string }
	if json.Unmarshal(text, &parts) != nil {
		return json.Unmarshal(text, (*string)(c))
	}
	for _, part := range parts {
		if part.Type == "text" {
			*c += content(part.Text)
		}
	}
	return nil
}
