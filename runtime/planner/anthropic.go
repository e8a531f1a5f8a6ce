package planner

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/obelus-dev/obelus/compiler/source"
)

// claude is the format of Anthropic's messages.
type claude struct {
	client    anthropic.Client
	model     string
	maxTokens int
}

func openAnthropic(name string, o Options) (Planner, error) {
	const base, key = "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
	w, err := newWire(base, o)
	if err != nil {
		return nil, err
	}
	client := anthropic.NewClient(option.WithHTTPClient(w), option.WithMaxRetries(0))
	a := &claude{client, name, o.MaxTokens}
	if a.maxTokens <= 0 {
		a.maxTokens = 32_000
	}
	return newModel("anthropic:"+name, base, key, a, w, o), nil
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
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(a.model),
		MaxTokens: int64(a.maxTokens),
		System:    []anthropic.TextBlockParam{{Text: p.System}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(p.User))},
	}
	switch f.name {
	case outputFormat:
		params.OutputConfig.Format = param.Override[anthropic.JSONOutputFormatParam](json.RawMessage(`{"type":"json_schema","schema":` + f.schema + `}`))
	case forcedTool:
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name:        answerTool,
			Description: anthropic.String("Hands in the answer."),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](json.RawMessage(f.schema)),
			// Otherwise "calls" would come all at once, when its last call is written.
			EagerInputStreaming: anthropic.Bool(true),
		}}}
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(answerTool)
		params.ToolChoice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
	}
	stream := a.client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	l := listener{end: &end, say: say, byTool: f.name == forcedTool}
	for stream.Next() {
		l.hear(stream.Current())
	}
	return end, stream.Err()
}

const answerTool = "answer"

// A listener follows the events of a stream.
type listener struct {
	end    *ending
	say    func(string)
	byTool bool   // the answer is a tool's input
	inTool bool   // and that is what is coming
	came   bool   // some of it has come
	aside  string // text beside it, which is the answer if no tool is used
}

func (l *listener) hear(e anthropic.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		l.count(e.Message.Usage.InputTokens+e.Message.Usage.CacheCreationInputTokens+e.Message.Usage.CacheReadInputTokens, e.Message.Usage.OutputTokens)
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
		l.count(e.Usage.InputTokens+e.Usage.CacheCreationInputTokens+e.Usage.CacheReadInputTokens, e.Usage.OutputTokens)
		l.stop(e.Delta)
	}
}

func (l *listener) text(s string) {
	switch {
	case s == "":
	case l.byTool:
		l.aside += s
	default:
		l.say(s)
	}
}

// count takes the counts of a message, which later ones replace.
func (l *listener) count(input, output int64) {
	u := &l.end.usage
	u.InputTokens, u.OutputTokens = max(u.InputTokens, int(input)), max(u.OutputTokens, int(output))
}

func (l *listener) stop(d anthropic.MessageStreamEventUnionDelta) {
	switch d.StopReason {
	case "":
	case anthropic.StopReasonRefusal:
		l.end.refused, l.end.words = true, d.StopDetails.Explanation
		if l.end.words == "" {
			l.end.words = l.aside
		}
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		l.end.full = true
	default:
		l.end.whole = true
		if l.byTool && !l.came {
			l.say(l.aside)
		}
	}
}

func streamedByAnthropic(err error) []byte {
	if e := (*anthropic.Error)(nil); errors.As(err, &e) && e.StatusCode < 300 {
		return []byte(e.RawJSON())
	}
	return nil
}
