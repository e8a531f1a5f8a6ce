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
	Bounds   []Bound
	Only     []Only
	Checks   []Check
	Endorse  []Endorse

	// Named are the tools that it names, and their parameters, in the order in which they were met.
	Named []Named
}

// A Named is a tool that a policy names, or a parameter of one.
type Named struct {
	Tool string // of a parameter; "" where the tool itself is named
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

// A Bound is a parameter of a tool and the schema that its values must satisfy where it is passed.
type Bound struct {
	Rule
	Tool, Parameter string
	Node            *source.Node // the schema
	Schema          *schema.Schema
}

// Refuses is why the parameters of a call of the tool aren't within the bound; nil if they are. What patterns cost is
// taken off an allowance; nil is none.
func (b *Bound) Refuses(parameters map[string]any, a *schema.Allowance) *schema.Violation {
	value, isPassed := parameters[b.Parameter]
	if !isPassed {
		return nil
	}
	return b.Schema.ValidateWithin(value, a)
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
