package openai

import (
	"encoding/json"

	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
	"github.com/obelus-dev/obelus/runtime/request"
)

// responses is the format of OpenAI's responses. It takes the forms of chat completions.
type responses struct{ format }

// OpenResponses makes the planner of a model that is asked by responses.
func OpenResponses(model string, o endpoint.Options) (*endpoint.Planner, error) {
	at := address
	at.Path = "responses"
	return endpoint.Open("openai-responses:"+model, at, Responses(model, o.MaxTokens), o)
}

// Responses is how a model is asked by responses; maxTokens bounds an answer, and 0 leaves
// that to the endpoint.
func Responses(model string, maxTokens int) endpoint.Format {
	return &responses{format{model, maxTokens}}
}

func (a *responses) Body(p prompt.Prompt, f endpoint.Form) any {
	body := object{"model": a.model, "stream": true, "store": false, "instructions": p.System, "input": p.User}
	if a.maxTokens > 0 {
		body["max_output_tokens"] = a.maxTokens
	}
	switch f.Name {
	case strictSchema, guidingSchema:
		body["text"] = object{"format": object{"type": "json_schema", "name": "answer", "strict": f.Name == strictSchema, "schema": json.RawMessage(f.Schema)}}
	case anyObject:
		body["text"] = object{"format": object{"type": "json_object"}}
	}
	return body
}

// A happening is what an event of the stream says, as far as it is of use.
type happening struct {
	Type     string
	Delta    json.RawMessage // a text in the events that are heard
	Error    json.RawMessage
	Response struct {
		Error             json.RawMessage
		IncompleteDetails struct{ Reason string } `json:"incomplete_details"`
		Usage             struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		}
	}
}

func (a *responses) Listen(_ endpoint.Form, end *endpoint.Ending, say func(string)) func(event, data string) (bool, error) {
	return func(_, data string) (bool, error) {
		var h happening
		if err := json.Unmarshal([]byte(data), &h); err != nil {
			return false, endpoint.Unfit(err)
		}
		switch h.Type {
		case "response.output_text.delta", "response.refusal.delta":
			var text string
			if err := json.Unmarshal(h.Delta, &text); err != nil {
				return false, endpoint.Unfit(err)
			}
			if h.Type == "response.output_text.delta" {
				say(text)
			} else {
				end.Refused, end.Words = true, endpoint.Words(end.Words, text)
			}
			return true, nil
		case "error":
			if h.Error != nil {
				data = `{"error":` + string(h.Error) + `}`
			}
			return false, &endpoint.StreamError{Data: []byte(data)}
		case "response.failed":
			return false, &endpoint.StreamError{Data: []byte(`{"error":` + string(h.Response.Error) + `}`)}
		case "response.completed":
			end.Whole = true
		case "response.incomplete":
			end.Full = h.Response.IncompleteDetails.Reason != "content_filter"
			end.Refused = end.Refused || !end.Full
		default:
			return true, nil
		}
		end.Usage = request.Usage{InputTokens: h.Response.Usage.Input, OutputTokens: h.Response.Usage.Output}
		return false, nil
	}
}
