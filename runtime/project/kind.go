package project

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Kind is what a file holds: a plan, or what lies beside plans.
type Kind uint8

const (
	Plan Kind = iota // a document of a shape of LANGUAGE.md#documents, or anything else
	// tools, activities, schemas, advisors: what plans import, the configuration names, or --activities brings
	Definitions
	Policy // who may do what
	Given  // recorded solutions, or instances of a run, one a line: what a run reports on
)

// Identify says what a document is, by what it holds and then by its name; root is nil where its text can't be read. It
// is sure where what it holds shows it: a file that nobody named, and of which only the name tells, may be somebody
// else's.
func Identify(file *source.File, root *source.Node) (kind Kind, sure bool) {
	if inner := root.Get("document"); inner != nil && file.Row > 0 {
		root = inner
	}
	calls := root.Get("calls")
	switch {
	case filepath.Base(file.Name) == policy.File:
		return Policy, true
	case root == nil:
		return Plan, ours.Match(file.Text)
	case isList(calls), isPlan(root), isPlan(root.Get("context")),
		slices.ContainsFunc(root.Fields, func(f source.Field) bool { return begins(f.Value, "_tool") }):
		return Plan, true
	case slices.ContainsFunc(root.Items, isSolution), file.Row > 0 && has(root, "id") && has(root, "state", "input"):
		return Given, true
	case slices.ContainsFunc(members(root.Get("rules")), isRule):
		return Policy, true
	case slices.ContainsFunc(root.Fields, ofPlan):
		return Plan, has(root, "plan") && has(root, "tools", "activities")
	}
	for key, keys := range signs {
		if list := root.Get(key); list != nil {
			kind = Definitions
			sure = sure || slices.ContainsFunc(members(list), func(n *source.Node) bool {
				return has(n, keys...) || key == "tools" && typeIn(n, "object", "function")
			})
		}
	}
	if !sure && strings.Contains(filepath.Base(file.Name), "policy.") {
		kind = Policy
	}
	return kind, sure
}

// ours are words of a plan, in a text that can't be read.
var ours = regexp.MustCompile(`_tool|calls:|tools:|activities:`)

// signs are keys; an item of a list of definitions has one of them, or a tool the type of one.
var signs = map[string][]string{
	"tools": {"properties", "inputSchema", "_output", "_outputPath", "_delegate", "parameters", "input_schema",
		"function"},
	"activities": kinds.Names(),
	"schemas":    {"properties", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "items", "type"},
	"advisors":   {"role"},
}

// members are the items of a list, or the values of a mapping.
func members(n *source.Node) []*source.Node {
	if n == nil {
		return nil
	}
	all := slices.Clone(n.Items)
	for _, f := range n.Fields {
		all = append(all, f.Value)
	}
	return all
}

func has(n *source.Node, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return n.Get(key) != nil })
}

func typeIn(n *source.Node, types ...string) bool {
	of := n.Get("type")
	return of != nil && slices.Contains(types, of.Text)
}

func isList(n *source.Node) bool { return n != nil && n.Kind == source.Array }

func isRule(n *source.Node) bool { return has(n, "rule") && has(n, "allows") && has(n, "denies") }

// isSolution reports whether an item is a recorded answer of a model.
func isSolution(n *source.Node) bool {
	return isList(n.Get("calls")) || has(n, "latent") || has(n.Get("solution"), "calls")
}

// begins reports whether a list begins with an item that has a key.
func begins(n *source.Node, key string) bool {
	return n != nil && len(n.Items) > 0 && has(n.Items[0], key)
}

// isPlan reports whether a list is one of calls or of messages.
func isPlan(n *source.Node) bool {
	return begins(n, "_tool") || begins(n, "type") && typeIn(n.Items[0], "tool", "input", "state", "data", "plan",
		"advisor", "error", "meta", "text")
}

// ofPlan reports whether only plans have a key, or others call calls by it.
func ofPlan(f source.Field) bool {
	_, calls := decode.Foreign(f.Key.Text, []string{"calls"})
	return calls || slices.Contains([]string{"calls", "input", "inputSchema", "state", "stateSchema", "output",
		"outputSchema", "terminate"}, f.Key.Text)
}

// As compiles a document as what it is.
func (d Document) As() (p *Program, kind Kind, sure bool) {
	p = d.Compile()
	kind, sure = Identify(d.File, p.Plan.Root)
	if kind == Definitions {
		same := func(f *source.File) bool { return filepath.Clean(f.Name) == filepath.Clean(d.File.Name) }
		d.Options.Definitions = true
		d.Options.Catalogues = slices.DeleteFunc(slices.Clone(d.Options.Catalogues), same)
		d.Options.Activities = slices.DeleteFunc(slices.Clone(d.Options.Activities), same)
		p = d.Compile()
	}
	return p, kind, sure
}
