package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/source"
)

// An Argument is an item of an argv: a text, or an option of several that a
// call's parameters leave out or repeat together.
type Argument struct {
	Texts  []string
	Option bool // it stands as a list in the argv
}

// Origin is where a definition comes from. It decides whether the definition may say that something is harmless: a
// document can't declare that of itself, and neither can what it imports or delegates to.
type Origin uint8

const (
	// Document is the document itself, an import of it or a plan that it runs.
	Document Origin = iota
	// Untrusted is a catalogue that the workspace's configuration names, where the user
	// hasn't said that its content is trusted: it may have come from anywhere.
	Untrusted
	// Workspace is a catalogue of a configuration that the user trusts.
	Workspace
	// CommandLine is a file of activities that the user who runs the plan names.
	CommandLine
	// Program is the program that embeds this one, which registers a function.
	Program
)

// An HTTP is how an activity makes a request of a call's parameters.
type HTTP struct {
	Method string
	// Host is where it goes, with the port if one is written; no parameter decides it.
	Host string
	// Sends says how the body is written: [StreamJSON], [BodyForm], [StreamText], or
	// [StreamNone]; "" is JSON where there is a parameter for it, and else none.
	Sends string
	// Response is the form of the result: [StreamJSON], [StreamText], [ResponseFull],
	// [StreamNone]; "" is JSON if the call has a result, and else none.
	Response string

	Scheme, User, Path, Search string // of the url, as they are written
	Query, Headers             []HTTPField
	Body                       *source.Node    // a template; nil takes the parameters that nothing else does
	Taken                      map[string]bool // the parameters that stand somewhere by name
}

// The forms of what programs read and write, and of bodies and results; programs don't have the last two.
const (
	StreamJSON   = "json"
	StreamText   = "text"  // less the end of its last line
	StreamLines  = "lines" // a list of texts
	StreamNone   = "none"
	BodyForm     = "form" // as the forms of pages are sent
	ResponseFull = "full" // {status, headers, body}
)

// An HTTPField is a field of a query or a header.
type HTTPField struct {
	Name  string
	Value *source.Node
	Join  string // what the items of a list are joined with; "" repeats the field
}

// A WebRequest is what is sent for one call.
type WebRequest struct {
	Method, URL string
	Headers     [][2]string // in the order in which they are listed
	// Body is what is sent: a JSON value, or the text of a form or a text; Sends says which.
	Body  any
	Sends string
}

// HttpAddress takes an address apart: its scheme, who asks, the host with its port, the
// path, the query and the fragment.
var HttpAddress = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#@]*)@)?` +
	`([^/?#@]*)(/[^?#]*)?(?:\?([^#]*))?(#.*)?$`)

// Base is the address that requests go to, without a path.
func (h *HTTP) Base() string { return h.Scheme + "://" + h.Host }

// IsForm reports whether a parameter is all of a form, and so an object.
func (h *HTTP) IsForm(parameter string) bool {
	return h.Sends == BodyForm && h.Body != nil && h.Body.Kind == source.String && h.Body.Text == "†"+parameter
}

// A Server is an MCP server that activities of the kind mcp name: a program that
// is spoken to on its standard streams, or an address.
type Server struct {
	// Activity is the program, as an activity would start it: its argv, environment, folder
	// and variables; and how long it may take to start. Of an address it has the variables.
	Activity
	URL     string // "" of a program
	Headers []EnvSetting
	Lock    *catalogue.Record // what its tools were when they were imported; nil if that isn't recorded
}

// Host is where the requests to a server at an address go: its scheme, host and port.
func (s *Server) Host() string {
	part := HttpAddress.FindStringSubmatch(s.URL)
	if part == nil || strings.ContainsAny(part[3], "{}") {
		return ""
	}
	return part[1] + "://" + part[3]
}

// Tool is the definition of a name that counts, or nil.
func (p *Plan) Tool(name string) *Tool {
	at, ok := slices.BinarySearchFunc(p.Tools, name,
		func(t *Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil
	}
	return p.Tools[at]
}

// SourceOf is where what carries a call out was defined: of a tool of an MCP server, the server
// as well. The least of it counts.
func SourceOf(a *Activity) Origin {
	if s := a.Server; s != nil {
		return min(a.Origin, s.Origin)
	}
	return a.Origin
}

// DefinedIn is where what an activity starts was defined: its server, or it itself.
func DefinedIn(a *Activity) Origin {
	if a.Server != nil {
		return a.Server.Origin
	}
	return a.Origin
}
