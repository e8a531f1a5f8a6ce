package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// openAI is the format of OpenAI's chat completions, which many others speak.
type openAI struct {
	client    openai.Client
	model     string
	maxTokens int
}

func openOpenAI(name string, o Options) (Planner, error) {
	const base, key = "OPENAI_BASE_URL", "OPENAI_API_KEY"
	w, err := newWire(base, o)
	if err != nil {
		return nil, err
	}
	if os.Getenv(base) == "" && os.Getenv(key) == "" {
		return nil, &Unavailable{Planner: "openai:" + name, Why: "there is no key for it",
			Remedy: fmt.Sprintf("set %s, or %s to the address of an endpoint that wants none", key, base)}
	}
	client := openai.NewClient(option.WithHTTPClient(w), option.WithMaxRetries(0))
	return newModel("openai:"+name, base, key, &openAI{client, name, o.MaxTokens}, w, o), nil
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

func (a *openAI) ask(ctx context.Context, p Prompt, f form, say func(string)) (end ending, err error) {
	params := openai.ChatCompletionNewParams{
		Model:         shared.ChatModel(a.model),
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(p.System), openai.UserMessage(p.User)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if a.maxTokens > 0 {
		params.MaxCompletionTokens = openai.Int(int64(a.maxTokens))
	}
	switch f.name {
	case strictSchema, guidingSchema:
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "answer", Strict: openai.Bool(f.name == strictSchema), Schema: json.RawMessage(f.schema),
		}}
	case anyObject:
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	default: // for the plainest of endpoints
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	}
	stream := a.client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	for stream.Next() {
		chunk := stream.Current()
		if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
			end.usage = runtime.Usage{InputTokens: int(u.PromptTokens), OutputTokens: int(u.CompletionTokens)}
		}
		for _, choice := range chunk.Choices {
			if choice.Index == 0 {
				end.hear(choice, say)
			}
		}
	}
	return end, stream.Err()
}

func (e *ending) hear(choice openai.ChatCompletionChunkChoice, say func(string)) {
	if choice.Delta.Refusal != "" {
		e.refused, e.words = true, e.words+choice.Delta.Refusal
	}
	if choice.Delta.Content != "" {
		say(choice.Delta.Content)
	}
	switch choice.FinishReason {
	case "":
	case "length":
		e.full = true
	case "content_filter":
		e.refused = true
	default:
		e.whole = true
	}
}

// streamed is the error that a stream brought, as it came; nil when it brought
// none.
func streamed(err error) []byte {
	if e := (*ssestream.StreamError)(nil); errors.As(err, &e) {
		return e.Event.Data
	}
	return streamedByAnthropic(err)
}
