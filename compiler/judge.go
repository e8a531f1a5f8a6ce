package compiler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/text/unicode/norm"
)

// judgeNames looks for ids and paths that a reader can't tell apart, or can't see.
func (c *compilation) judgeNames() {
	tools := newNames(c.Report, "plan's tools")
	for _, d := range c.toolDefs {
		tools.add(d.name, d.key.Span())
	}
	activities := newNames(c.Report, "plan's activities")
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		if a := c.plan.Activities[name]; a.NameNode != nil {
			activities.add(name, a.NameNode.Span())
		}
	}
	advisors := newNames(c.Report, "plan's advisors")
	for _, a := range c.plan.Advisors {
		advisors.add(a.ID, a.IDNode.Span())
	}
	instances := newNames(c.Report, "plan's instances")
	for _, i := range c.plan.Instances {
		instances.add(i.ID, i.Node.Span())
	}
	calls, paths := newNames(c.Report, "plan's calls"), newNames(c.Report, "plan's paths")
	p := c.plan
	for _, call := range p.Calls {
		if call.ID != "" {
			calls.add(call.ID, call.Node.Get("_id").Span())
		}
		if !tools.has(call.ToolName) {
			tools.add(call.ToolName, call.ToolNode.Span())
		}
	}
	if p.Paths.IsASCII() {
		return
	}
	// A path is judged where it first stands. Two spellings of one text (NFC, NFD) are left to the finding that the
	// path dangles, which names the other.
	seen, composed := make([]bool, p.Paths.Len()), map[string]bool{}
	judge := func(id pathtree.ID, at func() source.Span) {
		if seen[id] || id == pathtree.Root {
			return
		}
		seen[id] = true
		name := p.Paths.String(id)
		if written := norm.NFC.String(name); !composed[written] {
			composed[written] = true
			paths.add(name, at(), p.Paths.Keys(id)...)
		}
	}
	for _, call := range p.Calls {
		for _, path := range call.Paths() {
			judge(path.ID, path.Span)
		}
		for _, r := range call.Reads {
			judge(p.Reads[r].Path, p.Reads[r].Span)
		}
	}
	for i := range p.Reads {
		if r := &p.Reads[i]; r.Call < 0 {
			judge(r.Path, r.Span)
		}
	}
}

// names is one set of names that must be told apart.
type names struct {
	report    func(rule *diag.Rule, at source.Span, format string, args ...any) *diag.Diagnostic
	what      string // and whose
	seen      map[string]source.Span
	skeletons map[string]string
}

func newNames(report func(*diag.Rule, source.Span, string, ...any) *diag.Diagnostic, what string) *names {
	return &names{report: report, what: what, seen: map[string]source.Span{}, skeletons: map[string]string{}}
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
		n.report(diag.ConfusableName, at, "the name %q holds %s, %s", diag.Escape(name),
			fmt.Sprintf("U+%04X", r), what).
			Advise("remove it: a reader can't see it")
		return
	}
	skeleton := naming.Skeleton(name)
	if other, taken := n.skeletons[skeleton]; taken && other != name {
		f := n.report(diag.ConfusableName, at, "two of the %s look alike: %q and %q", n.what, naming.Spelled(name),
			naming.Spelled(other))
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
	if slices.ContainsFunc(parts, naming.IsMixed) {
		n.report(diag.ConfusableName, at, "the name %q mixes Latin letters with others that are drawn like them",
			naming.Spelled(name)).As(diag.Warning).
			Advise("a letter of another script is easily taken for one of the rest")
	}
}

// Shown is a name as a message prints it: as it is, unless it mixes scripts or looks like another that the message
// names. Then its characters beyond ASCII are spelt out, so that a reader sees what tells it from what it seems.
func Shown(name string, beside ...string) string {
	if naming.IsASCII(name) {
		return name
	}
	if naming.IsMixed(name) {
		return naming.Spelled(name)
	}
	for _, other := range beside {
		if other != name && naming.Skeleton(other) == naming.Skeleton(name) {
			return naming.Spelled(name)
		}
	}
	return name
}
