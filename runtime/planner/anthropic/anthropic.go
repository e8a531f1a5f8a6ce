// Package anthropic is the wire format of Anthropic's messages.
package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/obelus-dev/obelus/runtime/planner/endpoint"
	"github.com/obelus-dev/obelus/runtime/planner/prompt"
)

// Address is where requests go.
var Address = endpoint.Address{
	Base: "ANTHROPIC_BASE_URL", Usual: "https://api.anthropic.com", Path: "v1/messages",
	Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, Custom: "ANTHROPIC_CUSTOM_HEADERS",
	Headers: []endpoint.Header{
		{Name: "Anthropic-Version", Prefix: "2023-06-01"},
		{Name: "X-Api-Key", Variable: "ANTHROPIC_API_KEY"},
		{Name: "Authorization", Prefix: "Bearer ", Variable: "ANTHROPIC_AUTH_TOKEN"},
	},
}

type format struct {
	model     string
	maxTokens int
}

// maxTokens bounds an answer unless the user does: the endpoint has no bound of its own.
const maxTokens = 32_000

// Format is how a model is asked.
func Format(model string, maxTokens int) endpoint.Format { return &format{model, maxTokens} }

// The forms of the endpoint.
const (
	outputFormat = "format"  // the schema is enforced
	forcedTool   = "tool"    // the answer is the input of a tool of that schema
	anyText      = "nothing" // it is text
)

func (a *format) Forms(schema any) []endpoint.Form {
	return append(endpoint.Forms(schema, outputFormat, forcedTool), endpoint.Form{Name: anyText})
}

type object = map[string]any

func (a *format) Body(p prompt.Prompt, f endpoint.Form) any {
	body := object{
		"model": a.model, "stream": true, "max_tokens": cmp.Or(a.maxTokens, maxTokens),
		"system":   []object{{"type": "text", "text": p.System}},
		"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": p.User}}}},
	}
	switch f.Name {
	case outputFormat:
		body["output_config"] = object{"format": object{"type": "json_schema", "schema": json.RawMessage(f.Schema)}}
	case forcedTool:
		// Without eager_input_streaming "calls" would come all at once, when its last call is written.
		body["tools"] = []object{{
			"name": answerTool, "description": "Hands in the answer.", "eager_input_streaming": true,
			"input_schema": json.RawMessage(f.Schema),
		}}
		body["tool_choice"] = object{"type": "tool", "name": answerTool, "disable_parallel_tool_use": true}
	}
	return body
}

func (a *format) Listen(f endpoint.Form, end *endpoint.Ending, say func(string)) func(event,
	data string) (bool, error) {
	l := listener{end: end, say: say, byTool: f.Name == forcedTool}
	return func(kind, data string) (bool, error) {
		if kind == "error" {
			return false, &endpoint.StreamError{Data: []byte(data)}
		}
		var e event
		if json.Unmarshal([]byte(data), &e) != nil {
			return false, endpoint.ErrUnfit
		}
		l.hear(e)
		return e.Type != "message_stop" && e.Type != "message", nil
	}
}

// What an event of the stream says, where it is of use.
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
		Type, Text  string
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

const answerTool = "answer"

type listener struct {
	end    *endpoint.Ending
	say    func(string)
	byTool bool   // the answer is a tool's input
	inTool bool   // and that is what is coming
	input  string // as it began
	came   bool   // some of it has come
	aside  string // text beside it, which is the answer, if it is short, where no tool is used
}

func (l *listener) hear(e event) {
	switch e.Type {
	case "message_start":
		l.count(e.Message.Usage)
	case "message":
		for _, one := range e.Content {
			l.hear(event{Type: "content_block_start", ContentBlock: one})
			l.hear(event{Type: "content_block_stop"})
		}
		l.count(e.Usage)
		l.stop(e.delta)
	case "content_block_start":
		l.inTool, l.input = e.ContentBlock.Type == "tool_use", string(e.ContentBlock.Input)
		if e.ContentBlock.Type == "text" {
			l.text(e.ContentBlock.Text)
		}
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			l.text(e.Delta.Text)
		case "input_json_delta":
			if l.inTool && e.Delta.PartialJSON != "" {
				l.came = true
				l.say(e.Delta.PartialJSON)
			}
		}
	case "content_block_stop":
		if l.inTool && !l.came { // an input without properties comes without a delta, and one that isn't streamed
			l.came = true
			l.say(cmp.Or(l.input, "{}"))
		}
		l.inTool = false
	case "message_delta":
		l.count(e.Usage)
		l.stop(e.Delta)
	}
}

func (l *listener) text(s string) {
	if l.byTool {
		l.aside = endpoint.Words(l.aside, s)
	} else {
		l.say(s)
	}
}

// count takes the counts of a message, which later ones replace.
func (l *listener) count(c usage) {
	u := &l.end.Usage
	u.InputTokens, u.OutputTokens = max(u.InputTokens, c.Input+c.CacheCreation+c.CacheRead),
		max(u.OutputTokens, c.Output)
}

func (l *listener) stop(d delta) {
	switch d.StopReason {
	case "":
	case "refusal":
		l.end.Refused, l.end.Words = true, d.StopDetails.Explanation
		if l.end.Words == "" {
			l.end.Words = l.aside
		}
	case "max_tokens":
		l.end.Full = endpoint.TokenBound
	case "model_context_window_exceeded":
		l.end.Full = "the end of the model's context window"
	default:
		l.end.Complete = true
		if l.byTool && !l.came {
			l.say(l.aside)
		}
	}
}
