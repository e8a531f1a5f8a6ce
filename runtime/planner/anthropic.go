package planner

import (
	"context"
	"encoding/json"

	"github.com/obelus-dev/obelus/compiler/source"
)

// claude is the format of Anthropic's messages.
type claude struct {
	wire      *wire
	model     string
	maxTokens int
}

// The variables that hold the address of Anthropic's endpoint, and its key or
// token.
const (
	anthropicBase  = "ANTHROPIC_BASE_URL"
	anthropicKey   = "ANTHROPIC_API_KEY"
	anthropicToken = "ANTHROPIC_AUTH_TOKEN"
)

func openAnthropic(name string, o Options) (Planner, error) {
	w, err := newWire(anthropicBase, o)
	if err != nil {
		return nil, err
	}
	if err := needKey("anthropic:"+name, anthropicBase, anthropicKey, anthropicToken); err != nil {
		return nil, err
	}
	a := &claude{w, name, o.MaxTokens}
	if a.maxTokens <= 0 {
		a.maxTokens = 32_000
	}
	return newModel("anthropic:"+name, anthropicBase, anthropicKey, a, w, o), nil
}

// The forms of Anthropic's endpoint, besides anyText.
const (
	outputFormat = "format" // the schema is enforced
	forcedTool   = "tool"   // the answer is the input of a tool of that schema
)

func (a *claude) forms(schema *source.Node) []form {
	whole, wraps := schema, false
	if !isType(schema, "object") {
		whole, wraps = wrapped(schema), true
	}
	forms := []form{{name: anyText}}
	if whole == nil {
		return forms
	}
	forms = append([]form{{name: forcedTool, schema: compact(whole), wrapped: wraps}}, forms...)
	if fitted, ok := anthropicFormat.fit(whole); ok {
		forms = append([]form{{name: outputFormat, schema: compact(fitted), wrapped: wraps}}, forms...)
	}
	return forms
}

func (a *claude) ask(ctx context.Context, p Prompt, f form, say func(string)) (end ending, err error) {
	body := jsonObject{
		"model": a.model, "stream": true, "max_tokens": a.maxTokens,
		"system":   []jsonObject{{"type": "text", "text": p.System}},
		"messages": []jsonObject{{"role": "user", "content": []jsonObject{{"type": "text", "text": p.User}}}},
	}
	switch f.name {
	case outputFormat:
		body["output_config"] = jsonObject{"format": jsonObject{"type": "json_schema", "schema": json.RawMessage(f.schema)}}
	case forcedTool:
		// Without eager_input_streaming "calls" would come all at once, when its last call is written.
		body["tools"] = []jsonObject{{
			"name": answerTool, "description": "Hands in the answer.", "eager_input_streaming": true, "input_schema": json.RawMessage(f.schema),
		}}
		body["tool_choice"] = jsonObject{"type": "tool", "name": answerTool, "disable_parallel_tool_use": true}
	}
	r, err := post(ctx, anthropicBase, "https://api.anthropic.com", "v1/messages", "ANTHROPIC_CUSTOM_HEADERS", body)
	if err != nil {
		return end, err
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	setHeader(r, "X-Api-Key", "", anthropicKey)
	setHeader(r, "Authorization", "Bearer ", anthropicToken)
	l := listener{end: &end, say: say, byTool: f.name == forcedTool}
	return end, a.wire.events(r, func(kind, data string) (bool, error) {
		if kind == "error" {
			return false, &streamError{[]byte(data)}
		}
		var e claudeEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return false, err
		}
		l.hear(e)
		return e.Type != "message_stop", nil
	})
}

// What an event of the stream says, as far as it is of use.
type (
	claudeEvent struct {
		Type         string
		Message      struct{ Usage claudeUsage }
		ContentBlock struct{ Type, Text string } `json:"content_block"`
		Delta        claudeDelta
		Usage        claudeUsage
	}
	claudeDelta struct {
		Type, Text  string
		PartialJSON string                       `json:"partial_json"`
		StopReason  string                       `json:"stop_reason"`
		StopDetails struct{ Explanation string } `json:"stop_details"`
	}
	claudeUsage struct {
		Input         int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		Output        int `json:"output_tokens"`
	}
)

const answerTool = "answer"

// A listener follows the events of a stream.
type listener struct {
	end    *ending
	say    func(string)
	byTool bool   // the answer is a tool's input
	inTool bool   // and that is what is coming
	came   bool   // some of it has come
	aside  string // text beside it, which is the answer, if it is short, where no tool is used
}

func (l *listener) hear(e claudeEvent) {
	switch e.Type {
	case "message_start":
		l.count(e.Message.Usage)
	case "content_block_start":
		l.inTool = e.ContentBlock.Type == "tool_use"
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
		if l.inTool && !l.came { // an input without properties comes without a delta
			l.came = true
			l.say("{}")
		}
		l.inTool = false
	case "message_delta":
		l.count(e.Usage)
		l.stop(e.Delta)
	}
}

func (l *listener) text(s string) {
	switch {
	case s == "":
	case l.byTool:
		l.aside = more(l.aside, s)
	default:
		l.say(s)
	}
}

// count takes the counts of a message, which later ones replace.
func (l *listener) count(c claudeUsage) {
	u := &l.end.usage
	u.InputTokens, u.OutputTokens = max(u.InputTokens, c.Input+c.CacheCreation+c.CacheRead), max(u.OutputTokens, c.Output)
}

func (l *listener) stop(d claudeDelta) {
	switch d.StopReason {
	case "":
	case "refusal":
		l.end.refused, l.end.words = true, d.StopDetails.Explanation
		if l.end.words == "" {
			l.end.words = l.aside
		}
	case "max_tokens", "model_context_window_exceeded":
		l.end.full = true
	default:
		l.end.whole = true
		if l.byTool && !l.came {
			l.say(l.aside)
		}
	}
}
