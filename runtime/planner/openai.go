package planner

import (
	"encoding/json"
	"strings"

	"github.com/obelus-dev/obelus/runtime/request"
)

// openai is the wire format of OpenAI's chat completions, which many other endpoints accept.
var openai = format{
	base: "OPENAI_BASE_URL", usual: "https://api.openai.com/v1", path: "chat/completions",
	keys: []string{"OPENAI_API_KEY"},
	headers: []header{
		{name: "Authorization", prefix: "Bearer ", variable: "OPENAI_API_KEY"},
		{name: "OpenAI-Organization", variable: "OPENAI_ORG_ID"},
		{name: "OpenAI-Project", variable: "OPENAI_PROJECT_ID"},
	},
	body: openaiBody, read: readOpenAI,
	reasons: map[string]reason{
		"length": tokenBound, "content_filter": refused,
		// of vLLM and others
		"error": broken, "abort": broken, "insufficient_system_resource": broken,
	},
}

func openaiBody(model string, maxTokens int, p prompt, schema json.RawMessage) any {
	body := object{
		"model": model, "stream": true,
		"messages": []object{{"role": "system", "content": p.system}, {"role": "user", "content": p.user}},
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

func readOpenAI(_, data string) (c chunk, err error) {
	if strings.HasPrefix(data, "[DONE]") {
		return chunk{last: true}, nil
	}
	var got struct {
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
	if json.Unmarshal([]byte(data), &got) != nil {
		return c, errUnfit
	}
	if len(got.Error) > 0 && string(got.Error) != "null" || got.Object == "error" {
		return c, streamError(data)
	}
	c.usage = request.Usage{InputTokens: got.Usage.Prompt, OutputTokens: got.Usage.Completion}
	c.last = got.Object == "chat.completion" // as an answer is called that isn't streamed
	for _, one := range got.Choices {
		if one.Index == 0 {
			c.text += string(one.Delta.Content + one.Message.Content)
			c.refusal += one.Delta.Refusal + one.Message.Refusal
			c.reason = one.FinishReason
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
