// Package policy reads policy files: which labels values have, what tools do to
// the world, and rules about both. A policy is data with a schema ([Schema]); each of
// its rules carries an example that it allows and one that it denies, and both are tried
// when it is read. What follows for a plan is for others to find: this package
// knows no plan.
package policy

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// File is what the policy of a workspace is called, beside its obelus.yaml.
const File = "obelus.policy.yaml"

// A Policy is one file.
type Policy struct {
	Name string
	File *source.File
	Root *source.Node
	// Counts says that the policy may relax rules: the user named it, or its content is trusted.
	// Restrictions always apply.
	Counts bool
	// Strict makes errors of flows through control alone.
	Strict bool
	// Hosts are the only ones that requests may go to; nil for no restriction.
	Hosts  *hosts.List
	Tools  []Tool
	Values []Value

	// The rules by their kinds, in the order of the text.
	Requires []Requires
	Bounds   []Bounds
	Only     []Only
	Orders   []Order
	Endorse  []Endorse

	// Named are the names of tools that it speaks of, as they stand there, in the order in
	// which they were met.
	Named []*source.Node
	// NamedParameters are those of the parameters of tools.
	NamedParameters []NamedParameter
}

// A NamedParameter is a parameter that a policy speaks of.
type NamedParameter struct {
	Tool string
	Node *source.Node
}

// Title is how messages name a policy.
func (p *Policy) Title() string {
	if p.Name == "" {
		return "the policy"
	}
	return fmt.Sprintf("the policy %q", p.Name)
}

// A Rule is what all rules have.
type Rule struct {
	Name string       // what it says, in words
	Node *source.Node // where it stands
}

// A Tool is what a policy says is so of one.
type Tool struct {
	Name    string
	Node    *source.Node
	Effects *Effects // nil when not declared
	Output  Said     // of its result
}

// A Value is what a policy says of what stands at a path from the start.
type Value struct {
	Path []expression.Segment // its kind first
	Node *source.Node
	Said Said
}

// AnyParameter means every parameter that isn't named beside it.
const AnyParameter = "*"

// A Requires says what parameters take: at least this integrity, at most this
// confidentiality.
type Requires struct {
	Rule
	Tools      []Subject
	Parameters map[string]Said
}

// Of is what a parameter requires, and whether the rule says anything of it.
func (r *Requires) Of(parameter string) (Said, bool) {
	said, ok := r.Parameters[parameter]
	if !ok {
		said, ok = r.Parameters[AnyParameter]
	}
	return said, ok
}

// A Bounds narrows parameters of tools.
type Bounds struct {
	Rule
	All []Bound
}

// A Bound is a parameter of a tool and the schema that its values must satisfy where it is given.
type Bound struct {
	Tool, Parameter string
	Node            *source.Node // the schema
	Schema          *schema.Schema
}

// NamesNoType reports whether values of every type are within a bound, and yet not all
// values: {maximum: 100} says nothing of "250" or null.
func (b *Bound) NamesNoType() bool {
	return b.Schema.Accepts(nil) && b.Schema.Accepts(false) &&
		schema.Contains(nil, b.Schema, schema.Budget{}).Relation != schema.Fits
}

// Refuses is the bound that parameters of some tools aren't within, and why; nil if there is none. What patterns cost
// is taken off an allowance; nil is none.
func (b *Bounds) Refuses(
	isTool func(name string) bool, parameters map[string]any, a *schema.Allowance,
) (*Bound, *schema.Violation) {
	for i := range b.All {
		one := &b.All[i]
		if value, given := parameters[one.Parameter]; given && isTool(one.Tool) {
			if why := one.Schema.ValidateWithin(value, a); why != nil {
				return one, why
			}
		}
	}
	return nil, nil
}

// An Only says which tools there may be.
type Only struct {
	Rule
	Tools []string
}

// Allows reports whether there may be a tool.
func (o *Only) Allows(tool string) bool { return slices.Contains(o.Tools, tool) }

// An Endorse makes untrusted values trusted: a part of a tool's result or one of
// its parameters, if it is one of a few values, or a parameter that a person approves.
type Endorse struct {
	Rule
	Tool      string
	Output    []expression.Segment // the part of the result; empty for all of it
	Parameter string               // "" when it is about the result
	Person    bool
	As        *schema.Schema // nil with Person
}

//go:embed policy.schema.json
var schemaText []byte

// Schema is the JSON Schema (draft 2020-12) of policy files, as the text of a JSON
// document. The caller may keep and change what it gets.
func Schema() []byte { return slices.Clone(schemaText) }
