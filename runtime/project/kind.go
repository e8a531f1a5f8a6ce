package project

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Kind is what a file holds: a plan, or what lies beside plans.
type Kind uint8

const (
	Foreign Kind = iota // nothing that is checked
	Plan                // a document of a shape of LANGUAGE.md#documents
	// tools, activities, schemas, advisors: what plans import, the configuration names, or --activities brings
	Definitions
	Settings // obelus.yaml
	Policy   // who may do what
	Given    // recorded solutions, or instances of a run, one a line: what a run reports on
)

// Identify says what a document is, by what it holds and then by its name; root is nil
// where its text can't be read. It is sure where what it holds shows it: a file that
// nobody named, and of which only the name tells, may be somebody else's.
func Identify(file *source.File, root *source.Node) (kind Kind, sure bool) {
	byName := Foreign
	switch name := filepath.Base(file.Name); {
	case name == workspace.Settings:
		return Settings, true
	case name == policy.File:
		return Policy, true
	case strings.Contains(name, "policy."):
		byName = Policy
	}
	if root == nil {
		return byName, slices.ContainsFunc([]string{"_tool", "calls:", "tools:", "activities:"},
			func(word string) bool { return strings.Contains(string(file.Text), word) })
	}
	if inner := root.Get("document"); inner != nil && file.Row > 0 {
		root = inner
	}
	switch {
	case holdsPlan(root):
		return Plan, true
	case holdsSolutions(root),
		file.Row > 0 && root.Get("id") != nil && (root.Get("state") != nil || root.Get("input") != nil):
		return Given, true
	case holdsRules(root):
		return Policy, true
	case defines(root):
		return Definitions, true
	case intendedAsPlan(root):
		return Plan, root.Get("plan") != nil && (root.Get("tools") != nil || root.Get("activities") != nil)
	}
	isForeign := slices.ContainsFunc(root.Fields, func(f source.Field) bool { return signs[f.Key.Text] != nil })
	if byName == Foreign && isForeign {
		return Definitions, false
	}
	return byName, false
}

func holdsRules(root *source.Node) bool {
	rules := root.Get("rules")
	return rules != nil && slices.ContainsFunc(rules.Items, func(rule *source.Node) bool {
		return rule.Get("rule") != nil && rule.Get("allows") != nil && rule.Get("denies") != nil
	})
}

func holdsPlan(root *source.Node) bool {
	if holdsCalls(root) || holdsMessages(root) || root.Get("calls") != nil && root.Get("calls").Kind == source.Array {
		return true
	}
	return slices.ContainsFunc(root.Fields, func(f source.Field) bool {
		return holdsCalls(f.Value) || f.Key.Text == "context" && holdsMessages(f.Value)
	})
}

func holdsCalls(n *source.Node) bool {
	return n.Kind == source.Array && len(n.Items) > 0 && n.Items[0].Get("_tool") != nil
}

var messageTypes = []string{"tool", "input", "state", "data", "plan", "advisor", "error", "meta", "text"}

func holdsMessages(n *source.Node) bool {
	if n.Kind != source.Array || len(n.Items) == 0 {
		return false
	}
	kind := n.Items[0].Get("type")
	return kind != nil && slices.Contains(messageTypes, kind.Text)
}

func holdsSolutions(root *source.Node) bool {
	return root.Kind == source.Array && slices.ContainsFunc(root.Items, func(item *source.Node) bool {
		calls := item.Get("calls")
		return calls != nil && calls.Kind == source.Array || item.Get("latent") != nil ||
			item.Get("solution").Get("calls") != nil
	})
}

// signs are keys; an item of a list of definitions has one of them; see defines for
// "type", which is a word of many.
var signs = map[string][]string{
	"tools": {"properties", "inputSchema", "_output", "_outputPath", "_delegate", "parameters",
		"input_schema", "function"},
	"activities": kinds.Names(),
	"schemas":    {"properties", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "items"},
	"advisors":   {"role"},
}

// defines reports whether a document holds definitions for others and can't have been meant as a plan.
func defines(root *source.Node) bool {
	return !intendedAsPlan(root) && slices.ContainsFunc(root.Fields, func(f source.Field) bool {
		items := slices.Clone(f.Value.Items)
		for _, one := range f.Value.Fields {
			items = append(items, one.Value)
		}
		return slices.ContainsFunc(items, func(item *source.Node) bool {
			kind := item.Get("type")
			return slices.ContainsFunc(signs[f.Key.Text], func(sign string) bool { return item.Get(sign) != nil }) ||
				kind != nil && (f.Key.Text == "tools" && (kind.Text == "object" || kind.Text == "function") ||
					f.Key.Text == "schemas")
		})
	})
}

// intendedAsPlan reports whether a mapping without calls has a key that only plans have, or
// one that others call calls by.
func intendedAsPlan(root *source.Node) bool {
	return slices.ContainsFunc(root.Fields, func(f source.Field) bool {
		_, calls := decode.Foreign(f.Key.Text, []string{"calls"})
		return calls || slices.Contains([]string{"calls", "input", "inputSchema", "state", "stateSchema", "output",
			"outputSchema", "terminate"}, f.Key.Text)
	})
}

// As compiles a document as what it is.
func (d Document) As() (p *Program, kind Kind, sure bool) {
	p = d.Compile()
	kind, sure = Identify(d.File, p.Plan.Root)
	if kind == Definitions {
		d.Options.Definitions = true
		same := func(f *source.File) bool { return filepath.Clean(f.Name) == filepath.Clean(d.File.Name) }
		d.Options.Catalogues = slices.DeleteFunc(slices.Clone(d.Options.Catalogues), same)
		d.Options.Activities = slices.DeleteFunc(slices.Clone(d.Options.Activities), same)
		p = d.Compile()
	}
	return p, kind, sure
}
