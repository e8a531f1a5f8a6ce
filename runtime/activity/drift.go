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
	c := s.contact()
	if err = s.wait(ctx, c); err != nil {
		return nil, nil, err
	}
	all, err := s.list(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return all.tools, all.refused, nil
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

// Hold asks each server that calls may need for its tools, and reports the first tool that isn't what is recorded
// of it, as a [*Failure] of the code [CodeDrifted]. It passes on servers without a record. One that may
// not start yet is compared when it does. No tool is called.
func (s *Set) Hold(ctx context.Context, may func(*plan.Server) bool, unrecorded func(*plan.Server)) error {
	met := map[*server]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		t, ok := s.byName[name].(*tool)
		if !ok || !s.mayUse(name) {
			continue
		}
		if t.of.Lock == nil && !met[t.server] {
			unrecorded(t.of)
		}
		if met[t.server] = true; t.of.Lock == nil || !may(t.of) {
			continue
		}
		c := t.contact()
		err := t.wait(ctx, c)
		if err == nil {
			err = t.held(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
