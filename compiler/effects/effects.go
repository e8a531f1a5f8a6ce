// Package effects says what carrying a call out may do to the world, and which definition declares it. It trusts no
// document about itself: only what lies outside of it makes a risk less.
package effects

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Vouches reports whether a definition of that origin may lower a risk.
func Vouches(o plan.Origin) bool { return o >= plan.Workspace }

// The kinds of an [Effect], in the words of events.
const (
	ReadOnly    = "read-only"
	Writes      = "writes" // adds things and destroys none
	Destructive = "destructive"
	Unknown     = "unknown"
)

// An Effect is what carrying a call out may do to the world, and who says so.
type Effect struct {
	Kind      string `json:"kind"`              // [ReadOnly], [Writes], [Destructive] or [Unknown]
	By        string `json:"by,omitempty"`      // which definition declares it; "" for none that is trusted
	Claimed   string `json:"claimed,omitempty"` // a smaller effect that is declared and doesn't count
	ClaimedBy string `json:"-"`                 // which definition declares it
	// that is in the workspace, which isn't trusted; else in the document
	Untrusted  bool `json:"untrusted,omitempty"`
	Idempotent bool `json:"idempotent,omitempty"` // a second time does no more than the first
	OpenWorld  bool `json:"openWorld,omitempty"`  // it may reach beyond this machine
}

// A claim is what one definition says of the activity that carries a call out.
type claim struct {
	hints plan.Hints
	by    string
	from  plan.Origin // the least of those that it takes for it to lower a risk
}

// Of is what the activity that carries a call out may do, and who says so. Not the call's tool is judged but what
// runs: the hints of a tool speak for an activity that the tool itself names, or that has its name, and for no other
// that a call puts in its place. Anyone who says that something is harmful is believed; that it is harmless only counts
// where both the activity and the word for it come from outside of the document. A tool that merely has the activity's
// name speaks for it if fits says that the call's parameters are such as that tool takes; nil says it of all.
//
// An expression changes nothing, and neither does a model that writes a result. A
// plan has no effect but that of its own calls.
func Of(p *plan.Plan, call *plan.Call, fits func(*plan.Tool) bool) Effect {
	a := p.Activities[call.Activity]
	switch {
	case call.Delegate != "":
		return Effect{Kind: Unknown, OpenWorld: true}
	case call.Activity == "" || kinds.IsPure(a):
		return Effect{Kind: ReadOnly, Idempotent: true}
	}
	claims := claims(p, call, a, fits)
	e := judge(claims, plan.Workspace)
	for _, from := range []plan.Origin{plan.Untrusted, plan.Document} {
		if said := judge(claims, from); Risk(said.Kind) < Risk(e.Kind) {
			e.Claimed, e.ClaimedBy, e.Untrusted = said.Kind, said.By, from == plan.Untrusted
			break
		}
	}
	return e
}

// Declared is what carrying a call out does by what anybody says, the document
// included: where its author is only told that it contradicts itself.
func Declared(p *plan.Plan, call *plan.Call) Effect {
	if e := Of(p, call, nil); e.Kind == ReadOnly {
		return e
	}
	return judge(claims(p, call, p.Activities[call.Activity], nil), plan.Document)
}

// claims collects what is declared of an activity. What can only make it worse is
// taken from the call's tool in any case.
func claims(p *plan.Plan, call *plan.Call, a *plan.Activity, fits func(*plan.Tool) bool) []claim {
	var all []claim
	from := plan.Document
	if a != nil {
		from = plan.SourceOf(a)
		all = append(all, claim{a.Hints, fmt.Sprintf("the activity %q%s", a.Name, whereabouts(a.NameNode)), from})
		if a.Server != nil {
			if said, any := says(a.Server, a.Remote); any {
				all = append(all, said)
			}
		}
	}
	of := func(t *plan.Tool, speaks bool) {
		hints := t.Hints
		if !speaks {
			hints = worse(hints)
		}
		all = append(all, claim{hints, fmt.Sprintf("the tool %q%s", t.Name, whereabouts(t.NameNode)),
			min(from, t.Origin)})
	}
	if call.Tool != nil {
		of(call.Tool, MayRun(call.Tool, call.Activity))
	}
	if t := p.Tool(call.Activity); t != nil && t.Name != call.ToolName {
		of(t, MayRun(t, call.Activity) && (fits == nil || fits(t)))
	}
	for _, one := range p.Policies {
		for _, t := range one.Tools {
			if t.Effects == nil || t.Name != call.Activity && t.Name != call.ToolName {
				continue
			}
			said := claim{hintsOfPolicy(*t.Effects), one.Title() + whereabouts(t.Node), from}
			if t.Name != call.Activity { // it speaks of the tool
				if call.Tool == nil || !MayRun(call.Tool, call.Activity) {
					said.hints = worse(said.hints)
				} else {
					said.from = min(from, call.Tool.Origin)
				}
			}
			if !one.Counts {
				said.from = min(said.from, plan.Untrusted)
			}
			all = append(all, said)
		}
	}
	return all
}

// hintsOfPolicy are what a policy says of a tool's effects.
func hintsOfPolicy(e policy.Effects) plan.Hints {
	is := func(some policy.Effects) *bool {
		yes := e&some != 0
		return &yes
	}
	reads := e&(policy.Write|policy.Destructive) == 0
	return plan.Hints{ReadOnly: &reads, Destructive: is(policy.Destructive), OpenWorld: is(policy.External)}
}

// says is what a server declares of one of its tools' effects, as it is recorded, which each start of the server is
// held to (OB610). It only makes them worse.
func says(s *plan.Server, tool string) (said claim, any bool) {
	recorded := s.Lock.Tool(tool)
	if recorded == nil {
		return said, false
	}
	var hints plan.Hints
	for i, hint := range each(&hints) {
		if is, ok := recorded.Hints[catalogue.Hints[i]]; ok {
			*hint = &is
		}
	}
	if yes(hints.ReadOnly) {
		hints.Destructive = nil // MCP: it means nothing beside readOnlyHint
	}
	return claim{worse(hints), fmt.Sprintf("the MCP server %q", s.Name), plan.Document}, true
}

// judge puts claims together: the worst counts, and for something to be harmless there must be one of that origin or a
// more trusted one, and none against it.
func judge(claims []claim, least plan.Origin) Effect {
	says := func(hint int, value bool, from plan.Origin) (by string, ok bool) {
		for _, c := range claims {
			h := c.hints
			if yes(h.ReadOnly) {
				h.Destructive = nil // MCP: it means nothing beside readOnlyHint
			}
			is := *each(&h)[hint]
			if is != nil && *is == value && c.from >= from {
				return c.by, true
			}
		}
		return "", false
	}
	harmful, isHarmful := says(destructive, true, plan.Document)
	_, denied := says(readOnly, false, plan.Document)
	reader, reads := says(readOnly, true, least)
	adder, adds := says(destructive, false, least)
	_, twice := says(idempotent, true, least)
	_, once := says(idempotent, false, plan.Document)
	_, closed := says(openWorld, false, least)
	_, opened := says(openWorld, true, plan.Document)
	e := Effect{Kind: Unknown, OpenWorld: opened || !closed}
	switch {
	case isHarmful:
		e.Kind, e.By = Destructive, harmful
	case reads && !denied:
		e.Kind, e.By = ReadOnly, reader
	case adds:
		e.Kind, e.By = Writes, adder
	}
	e.Idempotent = e.Kind == ReadOnly || twice && !once
	return e
}

// Kinds are the kinds of an [Effect], the one with the least risk first.
var Kinds = []string{ReadOnly, Writes, Unknown, Destructive}

// Risk is the place of a kind among [Kinds]; -1 for what is none.
func Risk(kind string) int { return slices.Index(Kinds, kind) }

func yes(hint *bool) bool { return hint != nil && *hint }

// The places of hints in what each gives, as [catalogue.Hints] has them.
const readOnly, destructive, idempotent, openWorld = 0, 1, 2, 3

func each(h *plan.Hints) [4]**bool {
	return [4]**bool{&h.ReadOnly, &h.Destructive, &h.Idempotent, &h.OpenWorld}
}

// worse are the hints that make things worse.
func worse(h plan.Hints) plan.Hints {
	for i, hint := range each(&h) {
		if *hint != nil && **hint != (i == destructive || i == openWorld) {
			*hint = nil
		}
	}
	return h
}

// whereabouts names the file of a definition; a registered function has none.
func whereabouts(n *source.Node) string {
	if n == nil || n.File == nil {
		return ""
	}
	return " in " + diag.Escape(n.File.Name)
}

// MayRun reports whether a tool is carried out by an activity, or lets its calls
// choose it: one that it names, or without a word about it the one of its name.
func MayRun(t *plan.Tool, activity string) bool {
	return t.Activity == activity || activity != "" && slices.Contains(t.Activities, activity)
}
