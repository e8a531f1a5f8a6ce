package activity

import (
	"context"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/lock"
	"github.com/obelus-dev/obelus/runtime/activity/mcp"
)

// Tools is what an MCP server lists as its tools, as it is locked, and what of it is refused.
// The server is started or reached for it, and ended; its folder is as this process sees it.
func Tools(ctx context.Context, of *compiler.Server, o Options) (lock.Server, []RefusedTool, error) {
	def := of.Activity
	def.Kind, def.Server = "mcp", of
	set, err := Open(map[string]*compiler.Activity{of.Name: &def}, nil, o)
	if err != nil {
		return lock.Server{}, nil, err
	}
	defer set.Close()
	s := set.byName[of.Name].(*tool).server
	c, err := s.session(ctx)
	if err != nil {
		return lock.Server{}, nil, err
	}
	tools, refused, err := s.list(ctx, c)
	return lock.Server{Name: of.Name, Tools: tools}, refused, err
}

// A RefusedTool is an entry of a server's list that isn't taken for a tool.
type RefusedTool = mcp.Refused

// WhyRefused says of tools that aren't there any more, and are refused, why.
func WhyRefused(drifts []lock.Drift, refused []RefusedTool) []lock.Drift {
	for i, d := range drifts {
		if at := slices.IndexFunc(refused, func(r RefusedTool) bool { return r.Tool == d.Tool }); at >= 0 {
			drifts[i].What = "it is refused: " + refused[at].Why
		}
	}
	return drifts
}

// A Held server is how the tools of an MCP server that calls may need stand to what is
// locked of them.
type Held struct {
	Server *compiler.Server
	Drifts []lock.Drift // of the tools that calls may need; none where nothing is locked
}

// Hold asks each server that calls may need and of which something is locked for its
// tools, but for those that may not begin yet: they are held to their locks when they do.
// Nothing is called.
func (s *Set) Hold(ctx context.Context, may func(*compiler.Server) bool) (all []Held, err error) {
	used, of := map[*server]map[string]bool{}, []*server{}
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		t, ok := s.byName[name].(*tool)
		if !ok || s.inUse != nil && !s.inUse(name) {
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
				drifts, err := one.drifts(ctx, c, tool)
				if err != nil {
					return nil, err
				}
				h.Drifts = append(h.Drifts, drifts...)
			}
		}
		all = append(all, h)
	}
	return all, nil
}
