package compiler

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/source"
)

// judgeNames looks for ids and paths that a reader can't tell apart, or can't
// see (S2.6).
func (c *compilation) judgeNames() {
	tools := newNames(c, "tools")
	for _, d := range c.toolDefs {
		tools.add(d.name, d.key.Span())
	}
	activities := newNames(c, "activities")
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		if a := c.plan.Activities[name]; a.NameNode != nil {
			activities.add(name, a.NameNode.Span())
		}
	}
	advisors := newNames(c, "advisors")
	for _, a := range c.plan.Advisors {
		advisors.add(a.ID, a.IDNode.Span())
	}
	instances := newNames(c, "instances")
	for _, i := range c.plan.Instances {
		instances.add(i.ID, i.Node.Span())
	}
	calls := newNames(c, "calls")
	for _, call := range c.plan.Calls {
		if call.ID != "" {
			calls.add(call.ID, call.Node.Get("_id").Span())
		}
		if !tools.has(call.ToolName) {
			tools.add(call.ToolName, call.ToolNode.Span())
		}
	}
	c.judgePaths()
}

// judgePaths looks at every path that is written or read, where it first
// stands. Two spellings of one text (NFC, NFD) are left to the finding that the
// path dangles, which names the other.
func (c *compilation) judgePaths() {
	p := c.plan
	if p.Paths.IsASCII() {
		return
	}
	paths := newNames(c, "paths")
	seen := make([]bool, p.Paths.Len())
	seen[pathtree.Root] = true
	spellings := map[string]bool{}
	place := func(id pathtree.ID, at func() source.Span) {
		if seen[id] {
			return
		}
		seen[id] = true
		name := p.Paths.String(id)
		if spelling := norm.NFC.String(name); !spellings[spelling] {
			spellings[spelling] = true
			paths.add(name, at(), p.Paths.Keys(id)...)
		}
	}
	for _, call := range p.Calls {
		for _, route := range call.Output {
			for _, path := range route {
				place(path.ID, path.Span)
			}
		}
	}
	for i := range p.Reads {
		place(p.Reads[i].Path, p.Reads[i].Span)
	}
}

// names is one set of names that must be told apart.
type names struct {
	c         *compilation
	what      string
	seen      map[string]source.Span
	skeletons map[string]string
}

func newNames(c *compilation, what string) *names {
	return &names{c: c, what: what, seen: map[string]source.Span{}, skeletons: map[string]string{}}
}

func (n *names) has(name string) bool { _, ok := n.seen[name]; return ok }

// add takes a name that is found at a place. One that is made of parts may have
// each in a script of its own: the word "state" before a key is nobody's choice.
func (n *names) add(name string, at source.Span, parts ...string) {
	if n.has(name) {
		return
	}
	n.seen[name] = at
	if r, _, what, bad := naming.BadCharacter(name); bad {
		n.c.report(diag.ConfusableName, at, "the name %q holds %s, %s", diag.Escape(name), fmt.Sprintf("U+%04X", r), what).
			Advise("remove it: a reader can't see it")
		return
	}
	skeleton := naming.Skeleton(name)
	if other, taken := n.skeletons[skeleton]; taken && other != name {
		f := n.c.report(diag.ConfusableName, at, "two of the plan's %s look alike: %q and %q", n.what, naming.Spelled(name), naming.Spelled(other))
		if first, ok := n.seen[other]; ok {
			f.Note(first, "the other is here")
		}
		f.Advise("spell both alike, or choose names that differ to the eye")
		return
	}
	n.skeletons[skeleton] = name
	if len(parts) == 0 {
		parts = []string{name}
	}
	for _, part := range parts {
		a, b, mixed := naming.MixedScripts(part)
		if !mixed {
			continue
		}
		f := n.c.report(diag.ConfusableName, at, "the name %q mixes %s and %s letters", naming.Spelled(name), a, b)
		f.Severity = diag.Warning
		f.Advise("a letter of another script is easily taken for one of the rest")
		return
	}
}

// Shown is a name as a message prints it: as it is, unless it mixes scripts or
// looks like another that the message names. Then its characters beyond ASCII
// are spelt out (S2.6), so that a reader sees what tells it from what it seems.
func Shown(name string, beside ...string) string {
	if naming.IsASCII(name) {
		return name
	}
	if _, _, mixed := naming.MixedScripts(name); mixed {
		return naming.Spelled(name)
	}
	for _, other := range beside {
		if other != name && naming.Skeleton(other) == naming.Skeleton(name) {
			return naming.Spelled(name)
		}
	}
	return name
}
