package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/obelus-dev/obelus/runtime/request"
)

// A format is a wire format of models: where requests go and which variables say so, what is sent, and how what comes
// is read.
type format struct {
	base    string   // the variable that may hold the address
	usual   string   // the address where it doesn't
	path    string   // of requests, below the address
	keys    []string // the variables that may hold a key, the usual first
	headers []header
	// body is what is sent, to be encoded as JSON. The schema is that of the answer, an object's; nil where the prompt
	// describes it.
	body func(model string, maxTokens int, p prompt, schema json.RawMessage) any
	// read reads one event of a stream, or an answer that isn't streamed.
	read func(event, data string) (chunk, error)
	// reasons are what the format calls the ends of an answer that isn't whole.
	reasons map[string]reason
}

var formats = map[string]*format{"openai": &openai, "anthropic": &anthropic}

// A header is one of a request: the value of a variable behind a prefix, if the
// variable is set; or the prefix itself where there is no variable.
type header struct{ name, prefix, variable string }

// A chunk is what one event brings.
type chunk struct {
	text    string // of the answer
	beside  string // text beside an answer that was asked for by a schema, and otherwise the answer's
	refusal string // words of a refusal
	reason  string // of the end; "" before it
	usage   request.Usage
	last    bool // nothing follows
}

// A reason is why an answer isn't whole: one of these, or the bound that it reached.
type reason string

const (
	refused    reason = "refused"
	broken     reason = "broken"
	tokenBound reason = "the bound on what a model may write in one answer (see --max-tokens)"
)

// A streamError is an error that a stream brought, as it came.
type streamError string

func (e streamError) Error() string { return "the stream brought an error" }

// errUnfit is the error for an event of a stream that isn't in its format.
var errUnfit = errors.New("it brought an event of another form")

// address is that of the endpoint. The error is for settings that hold none, or nothing that a planner could ask
// with: neither a key nor the address of an endpoint that may want none.
func (f *format) address(planner string) (*url.URL, error) {
	text, set := os.LookupEnv(f.base)
	if !set {
		text = f.usual
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		// It isn't shown: there may be a password in it.
		return nil, fmt.Errorf(
			"%s holds no address of an endpoint; write it like https://example.com/v1, or unset it", f.base)
	}
	for _, variable := range append(f.keys, f.base) {
		if os.Getenv(variable) != "" {
			return at.JoinPath(f.path), nil
		}
	}
	return nil, &request.Unavailable{Planner: planner, Why: "there is no key for it",
		Remedy: fmt.Sprintf("set %s, or %s to the address of an endpoint that wants none", f.keys[0], f.base)}
}
