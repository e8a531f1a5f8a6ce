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

// Address is where requests go.
var Address = endpoint.Address{
	Base: "OPENAI_BASE_URL", Usual: "https://api.openai.com/v1", Path: "chat/completions",
	Keys: []string{"OPENAI_API_KEY"}, Custom: "OPENAI_CUSTOM_HEADERS",
	Headers: []endpoint.Header{
		{Name: "Authorization", Prefix: "Bearer ", Variable: "OPENAI_API_KEY"},
		{Name: "OpenAI-Organization", Variable: "OPENAI_ORG_ID"},
		{Name: "OpenAI-Project", Variable: "OPENAI_PROJECT_ID"},
	},
}

type format struct {
	model     string
	maxTokens int
}

// Format is how a model is asked.
func Format(model string, maxTokens int) endpoint.Format { return &format{model, maxTokens} }

// The forms of the endpoint; not all that speak its format know the first.
const (
	strictSchema  = "strict"  // the schema is enforced
	guidingSchema = "schema"  // the schema is given
	anyObject     = "object"  // it is JSON
	anyText       = "nothing" // it is text
)

func (a *format) Forms(schema any) []endpoint.Form {
	forms := endpoint.Forms(schema, strictSchema, guidingSchema)
	if !forms[0].Wrapped {
		forms = append(forms, endpoint.Form{Name: anyObject})
	}
	return append(forms, endpoint.Form{Name: anyText})
}

type object = map[string]any

func (a *format) Body(p prompt.Prompt, f endpoint.Form) any {
	body := object{
		"model": a.model, "stream": true, "stream_options": object{"include_usage": true},
		"messages": []object{{"role": "system", "content": p.System}, {"role": "user", "content": p.User}},
	}
	if a.maxTokens > 0 {
		body["max_completion_tokens"] = a.maxTokens
	}
	switch f.Name {
	case strictSchema, guidingSchema:
		body["response_format"] = object{"type": "json_schema", "json_schema": object{
			"name": "answer", "strict": f.Name == strictSchema, "schema": json.RawMessage(f.Schema),
		}}
	case anyObject:
		body["response_format"] = object{"type": "json_object"}
	default: // for the plainest of endpoints
		body["stream_options"] = object{}
	}
	return body
}

func (a *format) Listen(_ endpoint.Form, end *endpoint.Ending, say func(string)) func(event,
	data string) (bool, error) {
	return func(_, data string) (bool, error) {
		if strings.HasPrefix(data, "[DONE]") {
			return false, nil
		}
		var chunk struct {
			Object string
			Error  json.RawMessage
			Usage  struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			}
			Choices []choice
		}
		if json.Unmarshal([]byte(data), &chunk) != nil {
			return false, endpoint.ErrUnfit
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" || chunk.Object == "error" {
			return false, &endpoint.StreamError{Data: []byte(data)}
		}
		if u := chunk.Usage; u.Prompt > 0 || u.Completion > 0 {
			end.Usage = request.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion}
		}
		for _, c := range chunk.Choices {
			if c.Index == 0 {
				hear(end, c, say)
			}
		}
		return chunk.Object != "chat.completion", nil // as an answer is called that isn't streamed
	}
}

type choice struct {
	Index          int
	FinishReason   string `json:"finish_reason"`
	Delta, Message struct {
		Content content
		Refusal string
	}
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

func hear(e *endpoint.Ending, c choice, say func(string)) {
	if refusal := c.Delta.Refusal + c.Message.Refusal; refusal != "" {
		e.Refused, e.Words = true, endpoint.Words(e.Words, refusal)
	}
	say(string(c.Delta.Content + c.Message.Content))
	switch c.FinishReason {
	case "":
	case "length":
		e.Full = endpoint.TokenBound
	case "content_filter":
		e.Refused = true
	case "error", "abort", "insufficient_system_resource": // of vLLM and others
		e.Broken = true
	default:
		e.Complete = true
	}
}
