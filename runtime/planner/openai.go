package planner

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// openAI is the format of OpenAI's chat completions, which many others speak.
type openAI struct {
	wire      *wire
	model     string
	maxTokens int
}

// The variables that hold the address of OpenAI's endpoint and its key.
const (
	openAIBase = "OPENAI_BASE_URL"
	openAIKey  = "OPENAI_API_KEY"
)

func openOpenAI(name string, o Options) (Planner, error) {
	w, err := newWire(openAIBase, o)
	if err != nil {
		return nil, err
	}
	if err := needKey("openai:"+name, openAIBase, openAIKey); err != nil {
		return nil, err
	}
	return newModel("openai:"+name, openAIBase, openAIKey, &openAI{w, name, o.MaxTokens}, w, o), nil
}

// The forms of OpenAI's endpoint; not all that speak its format know the first.
const (
	strictSchema  = "strict"  // the schema is enforced
	guidingSchema = "schema"  // the schema is given
	anyObject     = "object"  // it is JSON
	anyText       = "nothing" // it is text
)

func (a *openAI) forms(schema *source.Node) []form {
	whole, wraps := schema, false
	if !isType(schema, "object") {
		whole, wraps = wrapped(schema), true
	}
	told := []form{{name: anyText}}
	if whole == nil {
		return told
	}
	if !wraps {
		told = []form{{name: anyObject}, {name: anyText}}
	}
	forms := append([]form{{name: guidingSchema, schema: compact(whole), wrapped: wraps}}, told...)
	if fitted, ok := openAIStrict.fit(whole); ok {
		forms = append([]form{{name: strictSchema, schema: compact(fitted), wrapped: wraps}}, forms...)
	}
	return forms
}

type jsonObject = map[string]any

func (a *openAI) ask(ctx context.Context, p Prompt, f form, say func(string)) (end ending, err error) {
	body := jsonObject{
		"model": a.model, "stream": true, "stream_options": jsonObject{"include_usage": true},
		"messages": []jsonObject{{"role": "system", "content": p.System}, {"role": "user", "content": p.User}},
	}
	if a.maxTokens > 0 {
		body["max_completion_tokens"] = a.maxTokens
	}
	switch f.name {
	case strictSchema, guidingSchema:
		body["response_format"] = jsonObject{"type": "json_schema", "json_schema": jsonObject{
			"name": "answer", "strict": f.name == strictSchema, "schema": json.RawMessage(f.schema),
		}}
	case anyObject:
		body["response_format"] = jsonObject{"type": "json_object"}
	default: // for the plainest of endpoints
		body["stream_options"] = jsonObject{}
	}
	r, err := post(ctx, openAIBase, "https://api.openai.com/v1", "chat/completions", "OPENAI_CUSTOM_HEADERS", body)
	if err != nil {
		return end, err
	}
	setHeader(r, "Authorization", "Bearer ", openAIKey)
	setHeader(r, "OpenAI-Organization", "", "OPENAI_ORG_ID")
	setHeader(r, "OpenAI-Project", "", "OPENAI_PROJECT_ID")
	return end, a.wire.events(r, func(_, data string) (bool, error) {
		if strings.HasPrefix(data, "[DONE]") {
			return false, nil
		}
		var chunk struct {
			Error json.RawMessage
			Usage struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			}
			Choices []choice
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return false, err
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
			return false, &streamError{[]byte(data)}
		}
		if u := chunk.Usage; u.Prompt > 0 || u.Completion > 0 {
			end.usage = runtime.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion}
		}
		for _, c := range chunk.Choices {
			if c.Index == 0 {
				end.hear(c, say)
			}
		}
		return true, nil
	})
}

// A choice is a piece of one of the answers in an event.
type choice struct {
	Index        int
	FinishReason string `json:"finish_reason"`
	Delta        struct{ Content, Refusal string }
}

// hear takes in a piece of the answer.
func (e *ending) hear(c choice, say func(string)) {
	if c.Delta.Refusal != "" {
		e.refused, e.words = true, more(e.words, c.Delta.Refusal)
	}
	if c.Delta.Content != "" {
		say(c.Delta.Content)
	}
	switch c.FinishReason {
	case "":
	case "length":
		e.full = true
	case "content_filter":
		e.refused = true
	default:
		e.whole = true
	}
}
