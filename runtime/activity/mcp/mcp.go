// Package mcp speaks with MCP servers: it begins a session, lists tools and calls them. It knows nothing of activities,
// processes or addresses; it is given a way to and from a server, and trusts nothing that comes from there: what a
// server sends is bounded in size, depth and number, and read as strictly as what any activity gives back.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/catalogue"
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
// words, a person's, folders) gets an error.
func Begin(ctx context.Context, by sdk.Transport, decode Decode) (*Session, error) {
	_, lines := by.(*Lines)
	t := &tapped{by: by, tap: &tap{strict: !lines, calls: map[jsonrpc.ID]*exchange{}}}
	client := sdk.NewClient(&sdk.Implementation{Name: "obelus", Version: "1"},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{},
			MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
	inner, err := client.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		var refused *jsonrpc.Error // the server's own words
		if _, other, ok := strings.Cut(err.Error(), "unsupported protocol version: "); ok && !errors.As(err, &refused) {
			known := sdk.SupportedProtocolVersions() // the newest first
			err = fmt.Errorf("it speaks the version %s of the protocol, and obelus speaks those from %s to %s", other,
				known[len(known)-1], version)
		}
		return nil, err
	}
	return &Session{inner: inner, tap: t.tap, decode: decode}, nil
}

// Version is that of the protocol on which both sides agree.
func (s *Session) Version() string { return s.inner.InitializeResult().ProtocolVersion }

// Close ends the session.
func (s *Session) Close() error { return s.inner.Close() }

// A Refusal is an answer that isn't a result: the server won't, or has sent what it must not.
type Refusal struct {
	Code    int64 // JSON-RPC's; 0 when the server has answered with what isn't a result
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// put sends one request, which send puts together, and gives its result as it came; the
// error is what the protocol's library says, which may be of a result, too.
func (s *Session) put(ctx context.Context, x *exchange,
	send func(ctx context.Context) error) (came json.RawMessage, err error) {
	err = send(context.WithValue(ctx, exchangeKey{}, x))
	replied, came := s.tap.reply(x)
	var refused *jsonrpc.Error
	if came == nil && replied && errors.As(err, &refused) {
		err = &Refusal{refused.Code, cmp.Or(refused.Message, "it gives no reason")}
	}
	return came, err
}

func (s *Session) ask(ctx context.Context, x *exchange, send func(ctx context.Context) error) (map[string]any, error) {
	came, err := s.put(ctx, x, send)
	if came == nil {
		return nil, cmp.Or(err, error(&Refusal{Message: "it is no mapping"}))
	}
	value, err := s.decode(came) // whatever the library makes of it
	result, ok := value.(map[string]any)
	switch {
	case err != nil:
		return nil, &Refusal{Message: err.Error()}
	case !ok:
		return nil, &Refusal{Message: "it is no mapping"}
	}
	return result, nil
}

// Plain is an error without what the protocol's library puts before it.
func Plain(err error) string {
	return noise.ReplaceAllString(err.Error(), "")
}

var noise = regexp.MustCompile(`^(?:(?:calling|sending) "(?:tools/call|tools/list|initialize)": ` +
	`|rejected by transport: )+`)

// Changed reports, once, whether the server has said since that its tools are others than it has listed.
func (s *Session) Changed() bool { return s.tap.change(false) }

// A Refused entry of a server's list is a tool that isn't taken for one.
type Refused struct{ Tool, Why string }

// Tools are the tools that the server lists, by name, and what of its list is refused: an odd
// entry spoils no other one, and of two tools of one name neither is believed.
func (s *Session) Tools(ctx context.Context) (tools []catalogue.Tool, refused []Refused, err error) {
	type entry struct {
		tool catalogue.Tool
		why  string // it is refused
	}
	listed, seen, entries := map[string][]entry{}, map[string]bool{}, 0
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		if pages == maxPages {
			return nil, nil, &Refusal{Message: fmt.Sprintf("it has more than %d pages of tools", maxPages)}
		}
		list, next, err := s.page(ctx, cursor)
		if err != nil {
			return nil, nil, err
		}
		if entries+len(list) > maxTools {
			return nil, nil, &Refusal{Message: fmt.Sprintf("it has more than %d tools", maxTools)}
		}
		for _, one := range list {
			t, why := s.toolOf(one)
			if entries++; t.Name == "" {
				refused = append(refused, Refused{fmt.Sprintf("(entry %d)", entries), why})
			} else {
				listed[t.Name] = append(listed[t.Name], entry{t, why})
			}
		}
		if next != "" && seen[next] {
			return nil, nil, &Refusal{Message: "its pages of tools go round in a circle"}
		}
		cursor, seen[next] = next, true
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		switch all := listed[name]; {
		case len(all) > 1:
			why := fmt.Sprintf("%d tools of this name are listed, and none is believed", len(all))
			refused = append(refused, Refused{name, why})
		case all[0].why != "":
			refused = append(refused, Refused{name, all[0].why})
		default:
			tools = append(tools, all[0].tool)
		}
	}
	slices.SortStableFunc(refused, func(a, b Refused) int { return strings.Compare(a.Tool, b.Tool) })
	return tools, refused, nil
}

// page is one of the pages of tools, and where they go on; "" at the end. What the library
// makes of it is nothing to us: it reads all or none.
func (s *Session) page(ctx context.Context, cursor string) (list []json.RawMessage, next string, err error) {
	came, err := s.put(ctx, &exchange{sent: func() {}}, func(ctx context.Context) error {
		_, err := s.inner.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		return err
	})
	if came == nil {
		return nil, "", cmp.Or(err, error(&Refusal{Message: "it is no mapping"}))
	}
	var page map[string]json.RawMessage
	if json.Unmarshal(came, &page) != nil {
		return nil, "", &Refusal{Message: "it is no mapping"}
	}
	if json.Unmarshal(page["tools"], &list) != nil || list == nil {
		return nil, "", &Refusal{Message: "it has no list \"tools\""}
	}
	if at := page["nextCursor"]; at != nil && json.Unmarshal(at, &next) != nil {
		return nil, "", &Refusal{Message: "where its list goes on (\"nextCursor\") is no text"}
	}
	return list, next, nil
}

// toolOf reads an entry of a list of tools; why says what is odd about one.
func (s *Session) toolOf(entry json.RawMessage) (t catalogue.Tool, why string) {
	var called map[string]json.RawMessage
	if json.Unmarshal(entry, &called) != nil {
		return t, "it is no mapping"
	}
	if json.Unmarshal(called["name"], &t.Name) != nil || t.Name == "" {
		return t, "it has no \"name\""
	}
	value, err := s.decode(entry)
	said, ok := value.(map[string]any)
	if err != nil || !ok {
		return t, fmt.Sprintf("it can't be read: %v", err)
	}
	t.Input, t.Output = said["inputSchema"], said["outputSchema"]
	for _, key := range []string{"inputSchema", "outputSchema", "annotations"} {
		if _, ok := said[key].(map[string]any); !ok && said[key] != nil {
			return t, fmt.Sprintf("its %q is no mapping", key)
		}
	}
	description, isText := said["description"].(string)
	if !isText && said["description"] != nil {
		return t, "its \"description\" is no text"
	}
	t.Description = description
	hints, _ := said["annotations"].(map[string]any)
	for _, name := range catalogue.Hints {
		is, ok := hints[name].(bool)
		if !ok && hints[name] != nil {
			return t, fmt.Sprintf("its %q is neither true nor false", name)
		} else if !ok {
			continue
		}
		if t.Hints == nil {
			t.Hints = map[string]bool{}
		}
		t.Hints[name] = is
	}
	t.SetDigest()
	return t, ""
}

// A Call is one call of a tool.
type Call struct {
	Tool   string
	Params json.RawMessage
	// Sent is called once the call is on its way, or never will be.
	Sent func()
}

// An Answer is what a tool gave back.
type Answer struct {
	Failed     bool
	Structured any    // structuredContent; nil where there is none
	Text       string // the texts of its content
	Content    []any  // all of its content, if that isn't all text
}

// Call calls a tool. The error is a [*Refusal] if the server has answered with one; when
// ctx is done the server is notified, and nobody waits for what it does then.
func (s *Session) Call(ctx context.Context, c Call) (*Answer, error) {
	params := &sdk.CallToolParams{Name: c.Tool, Arguments: c.Params}
	result, err := s.ask(ctx, &exchange{sent: c.Sent}, func(ctx context.Context) error {
		_, err := s.inner.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := &Answer{Failed: result["isError"] != nil && result["isError"] != false,
		Structured: result["structuredContent"]}
	if _, asks := result["inputRequests"]; asks {
		return nil, &Refusal{Message: "it asks for more before it answers, which nobody here can give"}
	}
	content, ok := result["content"].([]any)
	if !ok && a.Structured == nil {
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
