// Package mcp speaks with MCP servers: it begins a session, lists tools and calls them. It knows nothing of activities,
// processes or addresses; it is given a way to a server, and trusts nothing that comes from there: what a server sends
// is bounded in size, depth and number, and read as strictly as what any activity gives back.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of what a server may list and send.
const (
	maxTools         = 10_000
	maxPages         = 1_000
	maxNotifications = 20_000 // between two answers
	maxRequests      = 1_000  // of its own, between two answers
)

// versions are those of the protocol that obelus speaks; a session begins with the last. Later ones begin otherwise.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// A Way sends a message to a server, which may be answered or not. Of a way that gives the answer to [Session.Receive]
// itself, before it returns, the error is [io.EOF] when all of it was received.
type Way func(ctx context.Context, text []byte, isAnswered bool) error

// Decode reads one JSON value strictly.
type Decode func(text []byte) (any, error)

// A Session is a server that calls can be put to, from many goroutines at once.
type Session struct {
	over   context.Context // done when nothing more comes
	way    Way
	decode Decode

	mu      sync.Mutex
	version string // of the protocol, on which both sides agree; "" before it has begun
	last    int    // the last request's number
	waiting map[string]chan message
	unasked int  // what has come since the last answer
	asks    int  // and of that requests
	changed bool // it has said that its tools are others, and wasn't asked since
}

// New is a session that hasn't begun yet.
func New(over context.Context, way Way, decode Decode) *Session {
	return &Session{over: over, way: way, decode: decode, waiting: map[string]chan message{}}
}

type message struct {
	Protocol string         `json:"jsonrpc"`
	ID       jsontext.Value `json:"id,omitzero"`
	Method   string         `json:"method,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`
	Result   jsontext.Value `json:"result,omitzero"`
	Error    *problem       `json:"error,omitzero"`
}

type problem struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

func (s *Session) send(ctx context.Context, m message, isAnswered bool) error {
	m.Protocol = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.way(ctx, text, isAnswered)
}

// later sends a message that nobody waits for.
func (s *Session) later(m message) {
	go func() {
		ctx, cancel := context.WithTimeout(s.over, 10*time.Second)
		defer cancel()
		_ = s.send(ctx, m, false)
	}()
}

// Begin begins the session.
func (s *Session) Begin(ctx context.Context) error {
	came, err := s.ask(ctx, "initialize", object{"protocolVersion": versions[len(versions)-1], "capabilities": object{},
		"clientInfo": object{"name": "obelus", "version": "1"}})
	if err != nil {
		return err
	}
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(came, &result) != nil || !slices.Contains(versions, result.Version) {
		return fmt.Errorf("it speaks the version %.40q of the protocol, and obelus speaks those from %s to %s",
			result.Version, versions[0], versions[len(versions)-1])
	}
	s.mu.Lock()
	s.version = result.Version
	s.mu.Unlock()
	if err = s.send(ctx, message{Method: "notifications/initialized"}, false); err == io.EOF {
		err = nil
	}
	return err
}

// Version is that of the protocol; "" before the session has begun.
func (s *Session) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

type object = map[string]any

// A Refusal is an answer that isn't a result: the server won't, or has sent what it must not.
type Refusal struct {
	Code    int64 // JSON-RPC's; 0 when the server has answered with what isn't a result
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// ask sends a request and gives its result as it came. When ctx is done the server is notified, and nobody waits for
// what it does then.
func (s *Session) ask(ctx context.Context, method string, params any) (jsontext.Value, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.last++
	id, answered := strconv.Itoa(s.last), make(chan message, 1)
	s.waiting[id] = answered
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	err = s.send(ctx, message{ID: jsontext.Value(id), Method: method, Params: text}, true)
	if err == nil {
		select {
		case m := <-answered:
			return m.result()
		case <-ctx.Done():
		case <-s.over.Done():
		}
	}
	select {
	case m := <-answered:
		return m.result()
	default:
	}
	if ctx.Err() != nil && method != "initialize" {
		text, _ := json.Marshal(object{"requestId": jsontext.Value(id)})
		s.later(message{Method: "notifications/cancelled", Params: text})
	}
	if err == io.EOF {
		err = errors.New("it has answered something else")
	}
	return nil, cmp.Or(err, context.Cause(ctx), context.Cause(s.over))
}

func (m *message) result() (jsontext.Value, error) {
	switch {
	case m.Error != nil:
		return nil, &Refusal{m.Error.Code, cmp.Or(m.Error.Message, "it gives no reason")}
	case m.Result == nil:
		return nil, &Refusal{Message: "it is no mapping"}
	}
	return m.Result, nil
}

// Receive reads a message of the server, and reports whether it is the answer to a request. After an error nothing
// more that it sends can be trusted.
func (s *Session) Receive(text []byte) (isAnswer bool, err error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil || m.Protocol != "2.0" {
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			return false, fmt.Errorf("this is no JSON: %s", strings.TrimPrefix(syntax.Err.Error(), "jsontext: "))
		}
		return false, errors.New("this is no message of JSON-RPC 2.0")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(m.ID)
	if n, err := strconv.ParseFloat(id, 64); err == nil { // 3.0 is 3
		id = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if answered := s.waiting[id]; answered != nil && m.Method == "" {
		s.unasked, s.asks = 0, 0
		delete(s.waiting, id)
		answered <- m
		return true, nil
	}
	asks := m.Method != "" && m.ID != nil
	if s.unasked++; asks {
		s.asks++
	}
	if s.unasked > maxNotifications || s.asks > maxRequests {
		return false, fmt.Errorf("it has sent %d messages that answer nothing, and %d requests of its own among them",
			s.unasked, s.asks)
	}
	s.changed = s.changed || m.Method == "notifications/tools/list_changed"
	if asks {
		s.later(m.answer())
	}
	return false, nil
}

// answer is what a server gets that asks for something (a model's words, a person's, folders): there is none.
func (m *message) answer() message {
	switch m.Method {
	case "ping":
		return message{ID: m.ID, Result: jsontext.Value("{}")}
	case "roots/list":
		return message{ID: m.ID, Result: jsontext.Value(`{"roots":[]}`)}
	}
	return message{ID: m.ID, Error: &problem{-32601, "obelus answers no such request"}}
}

// Changed reports, once, whether the server has said since that its tools are others than it has listed.
func (s *Session) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.changed
	s.changed = false
	return was
}
