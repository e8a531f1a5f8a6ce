package activity

import (
	"context"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/activity/mcp"
)

// Tools is what an MCP server lists as its tools, and what of it is refused. The server is
// started or reached for it, and ended; its folder is as this process sees it.
func Tools(ctx context.Context, of *plan.Server, o Options) ([]catalogue.Tool, []RefusedTool, error) {
	def := of.Activity
	def.Kind, def.Server = "mcp", of
	set, err := Open(map[string]*plan.Activity{of.Name: &def}, nil, o)
	if err != nil {
		return nil, nil, err
	}
	defer set.Close()
	s := set.byName[of.Name].(*tool).server
	c, err := s.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s.list(ctx, c)
}

// A RefusedTool is an entry of a server's list that isn't accepted as a tool.
type RefusedTool = mcp.Refused

// Changed says why a tool isn't what is recorded of it, given what its server lists and what
// of that is refused; "" if it is.
func Changed(recorded *catalogue.Tool, name string, listed []catalogue.Tool, refused []RefusedTool) string {
	if at := slices.IndexFunc(refused, func(r RefusedTool) bool { return r.Tool == name }); at >= 0 {
		return "it is refused: " + refused[at].Why
	}
	at := slices.IndexFunc(listed, func(t catalogue.Tool) bool { return t.Name == name })
	switch {
	case at < 0:
		return "the server doesn't list it"
	case recorded == nil:
		return "it isn't recorded"
	case recorded.Digest != listed[at].Digest || !maps.Equal(recorded.Hints, listed[at].Hints):
		return "its description, hints or schemas have changed"
	}
	return ""
}

// A Held server is how the tools of an MCP server that calls may need compare to what is recorded of them.
type Held struct {
	Server  *plan.Server
	Changed []string // what has changed of each tool that did; none where nothing is recorded
}

// Hold asks each recorded server that calls may need for its tools. A server that may not
// start yet is compared when it does. No tool is called.
func (s *Set) Hold(ctx context.Context, may func(*plan.Server) bool) (all []Held, err error) {
	used, of := map[*server]map[string]bool{}, []*server{}
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		t, ok := s.byName[name].(*tool)
		if !ok || !s.mayUse(name) {
			continue
		}
		if used[t.server] == nil {
			used[t.server] = map[string]bool{}
			of = append(of, t.server)
		}
		used[t.server][t.def.Remote] = true
	}
	for _, one := range of {
		h := Held{Server: one.of}
		if one.of.Lock != nil && may(one.of) {
			c, err := one.session(ctx)
			if err != nil {
				return nil, err
			}
			for _, tool := range slices.Sorted(maps.Keys(used[one])) {
				why, err := one.changed(ctx, c, tool)
				if err != nil {
					return nil, err
				}
				if why != "" {
					h.Changed = append(h.Changed, why)
				}
			}
		}
		all = append(all, h)
	}
	return all, nil
}
