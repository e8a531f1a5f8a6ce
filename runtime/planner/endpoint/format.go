package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/obelus-dev/obelus/runtime/planner/prompt"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A Format is a wire format of models. It does nothing by itself: it says what is
// sent, and reads what comes.
type Format struct {
	Address
	// Body is what is sent, to be encoded as JSON. The schema is that of the answer, an object's; nil where the prompt
	// describes it.
	Body func(model string, maxTokens int, p prompt.Prompt, schema json.RawMessage) any
	// Read reads one event of a stream, or an answer that isn't streamed.
	Read func(event, data string) (Chunk, error)
	// Reasons are what the format calls the ends of an answer that isn't whole.
	Reasons map[string]Reason
}

// A Chunk is what one event brings.
type Chunk struct {
	Text    string // of the answer
	Beside  string // text beside an answer that was asked for by a schema, and otherwise the answer's
	Refusal string // words of a refusal
	Reason  string // of the end; "" before it
	Usage   request.Usage
	Last    bool // nothing follows
}

// A Reason is why an answer isn't whole: one of these, or the bound that it reached.
type Reason string

// The reasons.
const (
	Refused    Reason = "refused"
	Broken     Reason = "broken"
	TokenBound Reason = "the bound on what a model may write in one answer (see --max-tokens)"
)

// A StreamError is an error that a stream brought, as it came.
type StreamError struct{ Data []byte }

func (e *StreamError) Error() string { return "the stream brought an error" }

// ErrUnfit is the error for an event of a stream that isn't in its format.
var ErrUnfit = errors.New("it brought an event of another form")

// An Address is where requests go, and which variables say so.
type Address struct {
	Base    string   // the variable that may hold the address
	Usual   string   // the address where it doesn't
	Path    string   // of requests, below the address
	Keys    []string // the variables that may hold a key, the usual first
	Custom  string   // the variable that may hold further headers, one "Name: value" a line, as gateways want them
	Headers []Header
}

// A Header is one of a request: the value of a variable behind a prefix, if the
// variable is set; or the prefix itself where there is no variable.
type Header struct{ Name, Prefix, Variable string }

// open gives the endpoint's address. The error is for settings that hold none, or nothing that a planner could ask
// with: neither a key nor the address of an endpoint that may want none.
func (a Address) open(planner string) (*url.URL, error) {
	text, set := os.LookupEnv(a.Base)
	if !set {
		text = a.Usual
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		// It isn't shown: there may be a password in it.
		return nil, fmt.Errorf(
			"%s holds no address of an endpoint; write it like https://example.com/v1, or unset it", a.Base)
	}
	for line := range strings.Lines(os.Getenv(a.Custom)) {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, ":") {
			return nil, fmt.Errorf("%s holds a line that is no header; write each like \"X-Team: search\"", a.Custom)
		}
	}
	for _, variable := range append(a.Keys, a.Base) {
		if os.Getenv(variable) != "" {
			return at.JoinPath(a.Path), nil
		}
	}
	return nil, &request.Unavailable{Planner: planner, Why: "there is no key for it",
		Remedy: fmt.Sprintf("set %s, or %s to the address of an endpoint that wants none", a.Keys[0], a.Base)}
}
