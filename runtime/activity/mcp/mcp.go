// Package mcp speaks with MCP servers: it begins a session, lists tools and calls them.
// It knows nothing of activities, processes or addresses; it is given a way to and from a
// server, and trusts nothing that comes from there: what a server sends is bounded in
// size, depth and number, and read as strictly as what any activity gives back.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/lock"
)

// The bounds of what a server may list and send.
const (
	maxTools         = 10_000
	maxPages         = 1_000
	maxNotifications = 20_000 // between two answers
	maxRequests      = 1_000  // of its own, between two answers
)

// version is the protocol that a session begins with. Later ones begin otherwise, and
// there are servers that never answer what they don't know; all answer this.
const version = "2025-11-25"

// Decode reads one JSON value strictly.
type Decode func(text []byte) (any, error)

// A Session is a server that calls can be put to, from many goroutines at once.
type Session struct {
	inner  *sdk.ClientSession
	tap    *tap
	decode Decode
}

// Begin begins a session over a transport. A server that asks for anything (a model's
// words, a person's, folders) is told that there is none.
func Begin(ctx context.Context, by sdk.Transport, decode Decode) (*Session, error) {
	t := &tapped{by: by, tap: &tap{calls: map[jsonrpc.ID]*exchange{}, progress: map[string]*exchange{}}}
	client := sdk.NewClient(&sdk.Implementation{Name: "obelus", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
	inner, err := client.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		var refused *jsonrpc.Error // the server's own words
		if _, other, ok := strings.Cut(err.Error(), "unsupported protocol version: "); ok && !errors.As(err, &refused) {
			known := sdk.SupportedProtocolVersions() // the newest first
			err = fmt.Errorf("it speaks the version %s of the protocol, and obelus speaks those from %s to %s", other, known[len(known)-1], version)
		}
		return nil, err
	}
	return &Session{inner: inner, tap: t.tap, decode: decode}, nil
}

// Version is that of the protocol on which both sides agree.
func (s *Session) Version() string { return s.inner.InitializeResult().ProtocolVersion }

// Close ends the session.
func (s *Session) Close() error { return s.inner.Close() }

// A Refusal is an answer that isn't a result: the server won't, or has sent what it must
// not.
type Refusal struct {
	Code    int64 // JSON-RPC's; 0 when the server has answered with what isn't a result
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// ask sends one request, which send puts together, and reads its result as it came.
func (s *Session) ask(ctx context.Context, x *exchange, send func(ctx context.Context) error) (map[string]any, error) {
	x.sentOnce = func() {}
	if x.Sent != nil {
		x.sentOnce = x.Sent
	}
	err := send(context.WithValue(ctx, exchangeKey{}, x))
	replied, came := s.tap.reply(x)
	var refused *jsonrpc.Error
	switch {
	case replied && errors.As(err, &refused): // the library makes such errors of its own as well
		return nil, &Refusal{refused.Code, cmp.Or(refused.Message, "it gives no reason")}
	case err != nil && came == nil:
		return nil, err
	}
	value, bad := s.decode(came)
	result, ok := value.(map[string]any)
	switch {
	case bad != nil:
		return nil, &Refusal{Message: bad.Error()}
	case !ok:
		return nil, &Refusal{Message: "it is no mapping"}
	case err != nil:
		return nil, &Refusal{Message: Plain(err)}
	}
	return result, nil
}

// Plain is an error without what the protocol's library puts before it.
func Plain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"calling \"tools/call\": ", "calling \"tools/list\": ", "calling \"initialize\": "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// Changed reports, once, whether the server has said since that its tools are others than
// it has listed.
func (s *Session) Changed() bool { return s.tap.change(false) }

// Tools are all tools that the server lists, by name.
func (s *Session) Tools(ctx context.Context) ([]lock.Tool, error) {
	var tools []lock.Tool
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		if pages == maxPages {
			return nil, &Refusal{Message: fmt.Sprintf("it has more than %d pages of tools", maxPages)}
		}
		page, err := s.ask(ctx, &exchange{}, func(ctx context.Context) error {
			_, err := s.inner.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return nil, err
		}
		list, ok := page["tools"].([]any)
		if !ok {
			return nil, &Refusal{Message: "it has no list \"tools\""}
		}
		for _, one := range list {
			t, err := toolOf(one)
			if err != nil {
				return nil, err
			}
			if tools = append(tools, t); len(tools) > maxTools {
				return nil, &Refusal{Message: fmt.Sprintf("it has more than %d tools", maxTools)}
			}
		}
		cursor, _ = page["nextCursor"].(string)
		if cursor == "" {
			break
		}
		if seen[cursor] {
			return nil, &Refusal{Message: "its pages of tools go round in a circle"}
		}
		seen[cursor] = true
	}
	slices.SortFunc(tools, func(a, b lock.Tool) int { return strings.Compare(a.Name, b.Name) })
	for i := range tools[min(1, len(tools)):] {
		if tools[i].Name == tools[i+1].Name {
			return nil, &Refusal{Message: fmt.Sprintf("it lists the tool %q twice", tools[i].Name)}
		}
	}
	return tools, nil
}

func toolOf(v any) (lock.Tool, error) {
	said, _ := v.(map[string]any)
	t := lock.Tool{}
	if t.Name, _ = said["name"].(string); t.Name == "" {
		return t, &Refusal{Message: "it lists a tool without a \"name\""}
	}
	t.Input, t.Output = said["inputSchema"], said["outputSchema"]
	for what, schema := range map[string]any{"inputSchema": t.Input, "outputSchema": t.Output} {
		if _, ok := schema.(map[string]any); !ok && schema != nil {
			return t, &Refusal{Message: fmt.Sprintf("the %q of its tool %q is no mapping", what, t.Name)}
		}
	}
	if description, _ := said["description"].(string); description != "" {
		t.Description, t.Says = lock.Digest(description), description
	}
	hints, _ := said["annotations"].(map[string]any)
	for _, name := range lock.Hints {
		if is, ok := hints[name].(bool); ok {
			if t.Annotations == nil {
				t.Annotations = map[string]bool{}
			}
			t.Annotations[name] = is
		}
	}
	return t, nil
}

// A Call is one call of a tool.
type Call struct {
	Tool   string
	Params json.RawMessage
	// Meta is said besides, such as the span that the call is a part of.
	Meta map[string]string
	// Sent, if given, is called once the call is on its way, or never will be.
	Sent func()
	// Progress, if given, is told how far the server says that it is; total is 0 when it
	// doesn't know.
	Progress func(done, total float64, message string)
}

// An Answer is what a tool gave back.
type Answer struct {
	Failed     bool
	Structured any    // structuredContent, if that is there
	Is         bool   // it is
	Text       string // the texts of its content
	Content    []any  // all of its content, if that isn't all text
}

// Call calls a tool. The error is a [*Refusal] if the server has answered with one; when
// ctx is done the server is told so, and nobody waits for what it does then.
func (s *Session) Call(ctx context.Context, c Call) (*Answer, error) {
	params := &sdk.CallToolParams{Name: c.Tool, Arguments: c.Params}
	for key, value := range c.Meta {
		if params.Meta == nil {
			params.Meta = sdk.Meta{}
		}
		params.Meta[key] = value
	}
	x := &exchange{Sent: c.Sent, Progress: c.Progress}
	if c.Progress != nil {
		token := s.tap.follow(x)
		params.SetProgressToken(token)
		defer s.tap.unfollow(token)
	}
	result, err := s.ask(ctx, x, func(ctx context.Context) error {
		_, err := s.inner.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := &Answer{}
	a.Failed, _ = result["isError"].(bool)
	a.Structured, a.Is = result["structuredContent"]
	if _, asks := result["inputRequests"]; asks {
		return nil, &Refusal{Message: "it asks for more before it answers, which nobody here can give"}
	}
	content, ok := result["content"].([]any)
	if !ok && !a.Is {
		return nil, &Refusal{Message: "it has neither \"structuredContent\" nor a list \"content\""}
	}
	var texts []string
	for _, one := range content {
		block, _ := one.(map[string]any)
		if text, ok := block["text"].(string); ok && block["type"] == "text" {
			texts = append(texts, text)
		} else {
			a.Content = content
		}
	}
	a.Text = strings.Join(texts, "\n")
	return a, nil
}
