// Package schema is JSON Schema as plans need it: checking a schema and
// validating values against it, following a path into a schema, making up
// values that it accepts, and telling whether every value of one schema fits
// another.
//
// There is one vocabulary, that of draft 2020-12, in which keywords that older
// drafts alone have keep their meaning: definitions, dependencies, a list of items
// with additionalItems, a boolean exclusiveMinimum. Where $schema names draft 4, 6 or
// 7, nothing beside a $ref counts, and format is asserted. What the standards leave
// open is decided so:
//
//   - format is an annotation in later drafts; Options.AssertFormat asserts it everywhere.
//   - patterns are ECMA-262's, in Unicode mode (package regex), without look-around
//     and back-references.
//   - a $ref reaches places inside its own schema ("#/$defs/x", "#anchor", a
//     $id that the schema itself declares) and the document's named schemas
//     ("#/schemas/Name", and on into them). Nothing else is ever read, no file and
//     no URL. Inside a named schema "#" is that schema.
//   - numbers mean what is written: 0.3 is a multiple of 0.1, and 1.0 is an
//     integer.
//
// The validator here has to be quick and bounded, because the machine asks it
// about every call. [Schema.Ordinary] compiles the same schema with
// github.com/santhosh-tekuri/jsonschema/v5; tests hold the two against each
// other, and evidence that people will read is confirmed by it.
package schema

import (
	"sync"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

// What package ast says of schemas and values.
type (
	Kinds       = ast.Kinds
	Step        = ast.Step
	Options     = ast.Options
	SchemaError = ast.SchemaError
	Violation   = ast.Violation
	Allowance   = ast.Allowance
)

// The kinds, and the keyword of a violation that says that the value couldn't be judged.
const (
	Null     = ast.Null
	Boolean  = ast.Boolean
	Integer  = ast.Integer
	Fraction = ast.Fraction
	String   = ast.String
	Array    = ast.Array
	Object   = ast.Object
	Number   = ast.Number
	Anything = ast.Anything
	Limit    = ast.Limit
)

// KindOf is the kind of a value; 0 for what isn't a JSON value, such as an infinity.
func KindOf(v any) Kinds { return ast.KindOf(v) }

// Equal reports whether two JSON values are the same value: 1 and 1.0 are, and the order of keys doesn't count.
func Equal(a, b any) bool { return ast.Equal(a, b) }

// Key is a step to a property.
func Key(name string) Step { return ast.Key(name) }

// Index is a step to an item.
func Index(i int) Step { return ast.Index(i) }

// NewAllowance is that of a run before anything has come from outside.
func NewAllowance() Allowance { return ast.NewAllowance() }

// A Schema is one JSON Schema, or a place in one, or a combination of such
// places. It is immutable and safe for concurrent use. A nil *Schema accepts
// everything.
type Schema struct {
	raw     any
	options Options

	build sync.Once
	node  *ast.Node
	err   *SchemaError

	compile  sync.Once
	compiled *ordinary.Schema
	broken   error

	secretsOnce sync.Once
	hasSecrets  bool
}

// New makes a schema of a decoded JSON value: a boolean or a map[string]any,
// with float64 (or any Go number) for numbers. It costs next to nothing and
// never fails: [Schema.Compile] tells what is wrong. The value must not be
// changed afterwards.
func New(raw any, o Options) *Schema { return &Schema{raw: raw, options: o} }

// of makes a schema of a node that is already sound.
func of(n *ast.Node) *Schema {
	if n == nil || n.Verdict == ast.Always {
		return nil
	}
	return &Schema{node: n}
}

// Compile reads the schema, once. The error, if any, is a *[SchemaError]. A
// schema with an error accepts everything and says nothing about any path.
func (s *Schema) Compile() error {
	if s == nil {
		return nil
	}
	s.ready()
	if s.err != nil {
		return s.err
	}
	return nil
}

// ready is the node of the schema; of one that is broken, the node that
// accepts everything.
func (s *Schema) ready() *ast.Node {
	if s == nil {
		return ast.Everything
	}
	s.build.Do(func() {
		if s.node == nil {
			s.node, s.err = ast.Read(s.raw, s.options)
		}
		if s.err != nil {
			s.node = ast.Everything
		}
	})
	return s.node
}

// Raw is the schema as a JSON value. References in it are relative to the
// schema that it was taken from.
func (s *Schema) Raw() any {
	if s == nil {
		return true
	}
	if s.raw != nil {
		return s.raw
	}
	return s.ready().JSON()
}

// AnyOf is the schema of what any of several schemas accepts: the join over
// several writers of one path. Without schemas it accepts nothing; a nil among
// them makes it accept everything.
func AnyOf(schemas ...*Schema) *Schema { return of(ast.Union(nodesOf(schemas))) }

// AllOf is the schema of what all of several schemas accept.
func AllOf(schemas ...*Schema) *Schema { return of(ast.Both(nodesOf(schemas))) }

func nodesOf(schemas []*Schema) []*ast.Node {
	nodes := make([]*ast.Node, len(schemas))
	for i, s := range schemas {
		nodes[i] = s.ready()
	}
	return nodes
}

// Const is the schema of one value.
func Const(v any) *Schema {
	return of(&ast.Node{Unit: ast.Detached, Kinds: KindOf(v), Values: []any{v}})
}

// Validate is nil when the schema accepts the value. Of several faults it tells
// one, always the same. Values are what encoding/json decodes; other Go numbers
// are read as float64. A value nested more than 1,000 deep where the schema
// looks, or one that would take more than a second, isn't accepted.
func (s *Schema) Validate(v any) *Violation {
	return s.ValidateWithin(v, nil)
}

// ValidateWithin is Validate that takes what its regular patterns cost off an allowance;
// nil is none.
func (s *Schema) ValidateWithin(v any, a *Allowance) *Violation {
	return ast.Validate(s.ready(), v, a)
}

// Accepts reports whether the schema accepts a value, without saying why not.
func (s *Schema) Accepts(v any) bool { return ast.Accepts(s.ready(), v) }

// AcceptsWithin is Accepts within a budget of steps like that of [Contains], off which
// it takes what it cost. It is undecided when they don't last.
func (s *Schema) AcceptsWithin(v any, steps *int) (accepted, decided bool) {
	c := ast.Bounded(*steps * ast.ChecksPerStep)
	accepted = c.Accepts(s.ready(), v)
	*steps -= c.Steps / ast.ChecksPerStep
	return accepted && !c.Spent, !c.Spent
}
