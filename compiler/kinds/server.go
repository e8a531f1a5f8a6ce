package kinds

import (
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

type mcpKeys struct {
	Server  string        `key:"server" need:"write mcp: {server: NAME, tool: NAME}"`
	Tool    string        `key:"tool" need:"write mcp: {server: NAME, tool: NAME}"`
	Timeout time.Duration `key:"timeout"`
}

var _ = register(Kind{
	Name: "mcp", Keys: mcpKeys{}, About: "A tool of an MCP server.",
	read: func(r *Reader, a *plan.Activity, n *source.Node, what string) {
		var keys mcpKeys
		r.Mapping(n, what, &keys, nil)
		a.Remote, a.Timeout = keys.Tool, keys.Timeout
	},
})

type serverKeys struct {
	programKeys
	Command     *source.Node     `key:"command" schema:"argv"`
	URL         *source.Node     `key:"url"`
	Headers     []decode.Setting `key:"headers" pattern:""`
	Lock        *source.Node     `key:"lock"`
	Description *source.Node     `key:"description"`
}

// Server reads the definition of an MCP server.
func (r *Reader) Server(s *plan.Server) {
	a, n, what := &s.Activity, s.Node, "the server \""+s.Name+"\""
	var keys serverKeys
	if !r.Mapping(n, what, &keys, nil) {
		return
	}
	if keys.Lock != nil {
		s.Lock = catalogue.ReadRecord(s.Name, keys.Lock, r.Reader)
	}
	r.argv(a, keys.Command, "command")
	r.program(a, n, keys.programKeys)
	if keys.URL != nil {
		s.URL = keys.URL.Text
		a.HTTP = &plan.HTTP{}
		r.httpURL(a, keys.URL)
		a.HTTP = nil
	}
	s.Headers = keys.Headers
	r.headerNames(n.Get("headers"))
	r.note(a, n.Get("headers"), false, false)
	switch {
	case keys.Command != nil && keys.URL != nil:
		r.Report(diag.WrongType, keys.URL.Span(), "%s has both a \"command\" and a \"url\"", what).
			Advise("leave one of them out")
	case keys.Command == nil && keys.URL == nil:
		r.Report(diag.WrongType, n.Span().Head(), "%s has neither a \"command\" nor a \"url\"", what).
			Advise("write {command: [program, argument, …]} or {url: \"https://…\"}")
	case keys.Command != nil:
		r.onlyWith(n, what, "a \"url\"", "headers")
	default:
		r.onlyWith(n, what, "a \"command\"", "env", "inherit", "cwd")
	}
	r.startedOnce(a, what)
}

// onlyWith reports keys that belong to something else.
func (r *Reader) onlyWith(n *source.Node, what, other string, keys ...string) {
	for _, f := range n.Fields {
		if slices.Contains(keys, f.Key.Text) {
			r.Report(diag.WrongType, f.Key.Span(), "%s has %q, which belongs to %s", what, f.Key.Text, other).
				Advise("leave it out")
		}
	}
}
